package inmem

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// A past contains a tenant's entries and terms.
type past struct {
	entries []history.Entry // by Seq
	terms   []*history.Term // sorted; without those in fresh
	fresh   []*history.Term // begun since terms were read last; in no order
}

// Write carries out the plan of a change.
func (s *Store) Write(ctx context.Context, name dag.Tenant, c history.Change) error {
	if _, err := dag.ParseTenant(string(name)); err != nil {
		return err
	}
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.disk.mu.Unlock()
	t := s.disk.tenant(name)
	p, err := t.planned(c, name)
	if err != nil {
		return fmt.Errorf("inmem: write: %w", err)
	}
	if p.Empty() {
		return nil
	}
	grown, err := t.plan(p.Records)
	if err != nil {
		return err
	}
	return s.commit(ctx, func() {
		t.change(p)
		t.grow(grown)
		t.head = p.Head(t.head)
		s.disk.keep(name, t)
	}, grown.steps("entries", "terms", "private halves", "snapshots", "bodies", "head")...)
}

// planned returns the plan of a change, after checking it.
func (t *tenant) planned(c history.Change, name dag.Tenant) (*history.Plan, error) {
	known, err := history.Know(c, name, t.head, t.answer)
	if err != nil {
		return nil, err
	}
	plan, err := history.PlanOf(c, known)
	if err != nil {
		return nil, err
	}
	for i := range plan.End {
		if e := &plan.End[i]; t.find(e) == nil {
			return nil, fmt.Errorf("a term of index %d that began with number %d should end but is missing", e.Index, e.Since)
		}
	}
	return plan, plan.Check(t.head, dag.Seq(t.tree.Size()))
}

// answer reads the entries and terms that a change needs.
func (t *tenant) answer(n *history.Needs, k *history.State) error {
	for _, key := range n.Newest {
		last := history.Term{Index: key.Index, Key: []byte(key.Key), Since: dag.MaxSeq + 1}
		at, _ := slices.BinarySearchFunc(t.sorted(), &last, (*history.Term).Compare)
		if at > 0 && t.terms[at-1].Index == key.Index && string(t.terms[at-1].Key) == key.Key {
			k.AddNewest(copiedTerm(t.terms[at-1]))
		}
	}
	for i := range n.Ranges {
		k.Ranges = append(k.Ranges, t.rangeOf(&n.Ranges[i], nil))
	}
	k.AddEntries(history.Known, at(t.past.entries, n.Entries))
	k.AddEntries(history.Record, at(t.log.leaves, n.Records))
	k.Size = dag.Seq(t.tree.Size())
	for _, id := range n.Turns {
		if r := t.byID[id]; r != nil {
			k.Turns[id] = history.Admitted{Seq: r.Seq, Body: r.Body != nil, Withheld: r.Withheld}
		}
	}
	for _, name := range n.Snapshots {
		if value, ok := t.snapshots[name]; ok {
			k.Snapshots[name] = bytes.Clone(value)
		}
	}
	return nil
}

// change carries out a plan for entries and terms.
func (p *past) change(plan *history.Plan) {
	for i := range plan.End {
		t := p.find(&plan.End[i])
		if t.Until = plan.End[i].Until; t.Until == 0 {
			p.terms = slices.DeleteFunc(p.terms, func(o *history.Term) bool { return o == t })
		}
	}
	forget(p.entries, plan.Forget)
	for i := range plan.Entries {
		p.entries = append(p.entries, copiedEntry(&plan.Entries[i]))
	}
	for i := range plan.Begin {
		t := copiedTerm(&plan.Begin[i])
		p.fresh = append(p.fresh, &t)
	}
}

// forget removes the private halves of entries.
func forget(entries []history.Entry, seqs []dag.Seq) {
	for i := range entries {
		if slices.Contains(seqs, entries[i].Seq) {
			entries[i].Private = nil
		}
	}
}

func (p *past) find(e *history.Ending) *history.Term {
	want := history.Term{Index: e.Index, Key: e.Key, Since: e.Since}
	if at, ok := slices.BinarySearchFunc(p.sorted(), &want, (*history.Term).Compare); ok && p.terms[at].Until > e.Until {
		return p.terms[at]
	}
	return nil
}

// sorted returns all terms, sorted.
func (p *past) sorted() []*history.Term {
	if len(p.fresh) == 0 {
		return p.terms
	}
	slices.SortFunc(p.fresh, (*history.Term).Compare)
	merged := make([]*history.Term, 0, len(p.terms)+len(p.fresh))
	old := p.terms
	for _, t := range p.fresh {
		at, _ := slices.BinarySearchFunc(old, t, (*history.Term).Compare)
		merged, old = append(append(merged, old[:at]...), t), old[at:]
	}
	p.terms, p.fresh = append(merged, old...), nil
	return p.terms
}

func (p *past) rangeOf(r *history.Range, list []history.Term) []history.Term {
	lower := r.Lower()
	first := history.Term{Index: r.Index, Key: lower.Key, Since: lower.Since}
	at, _ := slices.BinarySearchFunc(p.sorted(), &first, (*history.Term).Compare)
	in := p.terms[at:]
	beyond := history.Term{Index: r.Index, Key: r.Upper()}
	end, _ := slices.BinarySearchFunc(in, &beyond, (*history.Term).Compare)
	in = in[:end]
	if r.Last {
		in = slices.Clone(in)
		slices.Reverse(in)
	}
	for _, t := range in {
		if r.Limit > 0 && len(list) == r.Limit {
			break
		}
		if r.Holds(t) {
			list = append(list, copiedTerm(t))
		}
	}
	return list
}

// at returns the entries with the given numbers.
func at(entries []history.Entry, seqs []dag.Seq) (list []history.Entry) {
	for _, seq := range slices.Compact(slices.Sorted(slices.Values(seqs))) {
		at, ok := slices.BinarySearchFunc(entries, seq, func(e history.Entry, seq dag.Seq) int { return cmp.Compare(e.Seq, seq) })
		if ok {
			list = append(list, copiedEntry(&entries[at]))
		}
	}
	return list
}

func copiedEntry(e *history.Entry) history.Entry {
	c := *e
	c.Public, c.Detail, c.Private = bytes.Clone(e.Public), bytes.Clone(e.Detail), bytes.Clone(e.Private)
	return c
}

func copiedTerm(t *history.Term) history.Term {
	c := *t
	c.Key, c.Value = bytes.Clone(t.Key), bytes.Clone(t.Value)
	return c
}

// Entries returns the entries of a page, by ascending number.
func (s *Store) Entries(ctx context.Context, name dag.Tenant, page history.Page) ([]history.Entry, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.disk.mu.Unlock()
	t := s.disk.tenant(name)
	entries := t.past.entries
	if page.Stream == history.Record {
		entries = t.log.leaves
	}
	list := empty[history.Entry](s)
	if page.At != nil {
		return append(list, at(entries, page.At)...), nil
	}
	for i := range entries {
		if e := &entries[i]; e.Seq > page.After && len(list) < page.Limit {
			list = append(list, copiedEntry(e))
		}
	}
	return list, nil
}

// Terms returns the terms of each range.
func (s *Store) Terms(ctx context.Context, name dag.Tenant, ranges []history.Range) ([][]history.Term, error) {
	if err := history.CheckRanges(ranges); err != nil {
		return nil, err
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.disk.mu.Unlock()
	p := &s.disk.tenant(name).past
	lists := make([][]history.Term, len(ranges))
	for i := range ranges {
		lists[i] = p.rangeOf(&ranges[i], empty[history.Term](s))
		for n := range lists[i] {
			if t := &lists[i][n]; ranges[i].Entries {
				began := at(p.entries, []dag.Seq{t.Since})
				t.Entry = &began[0]
			}
		}
	}
	return lists, nil
}
