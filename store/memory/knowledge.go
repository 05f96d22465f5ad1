package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/store"
)

// facts is what is known beside the turns.
type facts struct {
	acts    []knowledge.Recorded // by Seq
	opened  []dag.Seq            // of each that began a version: since when its statement is believed
	ends    map[string][]int     // by subject and object: which acts began versions
	about   map[knowledge.ID][]int
	aliases *normalize.Table
}

// PutActs records acts of knowledge.
func (s *Store) PutActs(ctx context.Context, name dag.Tenant, acts []knowledge.Act, at dag.Time) ([]knowledge.Outcome, error) {
	if _, err := dag.ParseTenant(string(name)); err != nil {
		return nil, err
	}
	prepared, err := store.PrepareActs(acts, at)
	if err != nil {
		return nil, err
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.disk.mu.Unlock()
	t := s.disk.tenant(name)
	planned, err := prepared.Plan(t.recall(prepared, t.head), at)
	if err != nil {
		return nil, fmt.Errorf("memory: put acts: %w", err)
	}
	if len(planned.Recorded) == 0 {
		return planned.Outcomes, nil
	}
	err = s.commit(ctx, func() {
		t.learn(planned)
		t.head = planned.Head
		s.disk.keep(name, t)
	}, "acts", "edges", "head")
	if err != nil {
		return nil, err
	}
	return planned.Outcomes, nil
}

// recall gives what planning acts asks for.
func (f *facts) recall(p *knowledge.Prepared, head dag.Seq) knowledge.Known {
	k := knowledge.Known{Head: head, Believed: map[knowledge.ID]knowledge.Belief{}, Recorded: map[dag.Digest]dag.Seq{}, Aliases: f.aliases}
	for _, id := range p.Touched() {
		for _, i := range f.about[id] {
			r := &f.acts[i]
			if r.Act.Kind != knowledge.Assert {
				continue
			}
			k.Recorded[r.Leaf] = r.Seq
			if r.Until == dag.MaxSeq {
				k.Believed[id] = knowledge.Belief{Since: r.Seq, Opened: f.opened[i], Confidence: r.Act.Fact.Confidence}
			}
		}
	}
	return k
}

// learn does what was planned.
func (f *facts) learn(p *knowledge.Planned) {
	for _, e := range p.Ended {
		f.acts[f.at(e.Since)].Until = e.Until
	}
	for i := range p.Recorded {
		f.acts = append(f.acts, copied(&p.Recorded[i]))
		f.opened = append(f.opened, p.Opened[i])
		if f.ends == nil {
			f.ends, f.about = map[string][]int{}, map[knowledge.ID][]int{}
		}
		if id, ok := p.Recorded[i].Act.About(); ok {
			f.about[id] = append(f.about[id], len(f.acts)-1)
		}
		if v, ok := p.Recorded[i].Version(); ok {
			f.ends[v.Subject] = append(f.ends[v.Subject], len(f.acts)-1)
			if v.Object != v.Subject {
				f.ends[v.Object] = append(f.ends[v.Object], len(f.acts)-1)
			}
		}
	}
	f.aliases = p.Aliases
}

// at finds the act of a number, or where it would stand.
func (f *facts) at(seq dag.Seq) int {
	at, _ := slices.BinarySearchFunc(f.acts, seq, func(r knowledge.Recorded, seq dag.Seq) int { return cmp.Compare(r.Seq, seq) })
	return at
}

func copied(r *knowledge.Recorded) knowledge.Recorded {
	c := *r
	c.Act.Supersedes = slices.Clone(r.Act.Supersedes)
	return c
}

// Acts gives acts by ascending number.
func (s *Store) Acts(ctx context.Context, name dag.Tenant, after dag.Seq, limit int) ([]knowledge.Recorded, error) {
	return s.actsThat(ctx, name, after, limit, func(*knowledge.Recorded) bool { return true })
}

// ActsAt gives the acts of some numbers.
func (s *Store) ActsAt(ctx context.Context, name dag.Tenant, seqs []dag.Seq) ([]knowledge.Recorded, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.disk.mu.Unlock()
	f := &s.disk.tenant(name).facts
	list := empty[knowledge.Recorded](s)
	for _, seq := range slices.Compact(slices.Sorted(slices.Values(seqs))) {
		if i := f.at(seq); i < len(f.acts) && f.acts[i].Seq == seq {
			list = append(list, copied(&f.acts[i]))
		}
	}
	return list, nil
}

// ActsOf gives the acts about a statement.
func (s *Store) ActsOf(ctx context.Context, name dag.Tenant, id knowledge.ID, after dag.Seq, limit int) ([]knowledge.Recorded, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.disk.mu.Unlock()
	f := &s.disk.tenant(name).facts
	list := empty[knowledge.Recorded](s)
	for _, i := range f.about[id] {
		if r := &f.acts[i]; r.Seq > after && len(list) < limit {
			list = append(list, copied(r))
		}
	}
	return list, nil
}

// ActsIn gives the acts of spans.
func (s *Store) ActsIn(ctx context.Context, name dag.Tenant, spans []knowledge.Span) ([][]knowledge.Recorded, error) {
	if err := store.CheckSpans(spans); err != nil {
		return nil, err
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.disk.mu.Unlock()
	f := &s.disk.tenant(name).facts
	lists := make([][]knowledge.Recorded, len(spans))
	for n, span := range spans {
		list := empty[knowledge.Recorded](s)
		for _, i := range f.about[span.Statement] {
			if r := &f.acts[i]; span.After < r.Seq && r.Seq <= span.UpTo {
				list = append(list, copied(r))
			}
		}
		lists[n] = list
	}
	return lists, nil
}

// Aliases gives the acts about aliases.
func (s *Store) Aliases(ctx context.Context, name dag.Tenant, after dag.Seq) ([]knowledge.Recorded, error) {
	return s.actsThat(ctx, name, after, int(^uint(0)>>1), func(r *knowledge.Recorded) bool {
		return r.Act.Kind == knowledge.Alias || r.Act.Kind == knowledge.Unalias
	})
}

func (s *Store) actsThat(ctx context.Context, name dag.Tenant, after dag.Seq, limit int, fits func(*knowledge.Recorded) bool) ([]knowledge.Recorded, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.disk.mu.Unlock()
	f := &s.disk.tenant(name).facts
	list := empty[knowledge.Recorded](s)
	for i := range f.acts {
		if r := &f.acts[i]; r.Seq > after && len(list) < limit && fits(r) {
			list = append(list, copied(r))
		}
	}
	return list, nil
}

// Edges answers as knowledge.Graph says.
func (s *Store) Edges(ctx context.Context, name dag.Tenant, asks []knowledge.Ask) ([][]knowledge.Edge, error) {
	if err := store.CheckAsks(asks); err != nil {
		return nil, err
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.disk.mu.Unlock()
	f := &s.disk.tenant(name).facts
	lists := make([][]knowledge.Edge, len(asks))
	for i, ask := range asks {
		list := empty[knowledge.Edge](s)
		for _, n := range f.ends[ask.Name] {
			v, _ := f.acts[n].Version()
			e := knowledge.Edge{Version: v, Incoming: ask.Incoming}
			if ask.Of(&v) && ask.After.Before(&e) {
				list = append(list, e)
			}
		}
		slices.SortFunc(list, func(a, b knowledge.Edge) int { return a.Compare(&b) })
		lists[i] = list[:min(len(list), ask.Limit)]
	}
	return lists, nil
}

// Versions gives the versions that are looked for.
func (s *Store) Versions(ctx context.Context, name dag.Tenant, find knowledge.Find) ([]knowledge.Recorded, int, error) {
	if err := s.enter(ctx); err != nil {
		return nil, 0, err
	}
	defer s.disk.mu.Unlock()
	f := &s.disk.tenant(name).facts
	list, total := empty[knowledge.Recorded](s), 0
	for i := range f.acts {
		r := &f.acts[i]
		v, ok := r.Version()
		if !ok || !find.Matches(&v, r.Act.Fact.Rule) {
			continue
		}
		if total++; r.Seq > find.After && len(list) < find.Limit {
			list = append(list, copied(r))
		}
	}
	return list, total, nil
}
