package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/normalize"
)

// A Base is the knowledge in a history. It writes acts, and reads acts, versions and edges.
type Base struct{ history.History }

// MaxAsks bounds the asks of one call of Edges, and the spans of one call of ActsIn.
const MaxAsks = 8 << 10

// Learn records acts with the given time, all of them or none, and returns the outcome of each. Each act that changes something
// takes the next sequence number, in the given order. Learn decides as [Prepared.Plan] does, by the beliefs at the commit:
// of two writers that would end one belief, the second gets ErrNotBelieved or the result Absent. At most MaxBatch acts.
func (b Base) Learn(ctx context.Context, tenant dag.Tenant, acts []Act, at dag.Time) ([]Outcome, error) {
	if !at.Valid() {
		return nil, fmt.Errorf("%w: acts of %d", dag.ErrForm, at)
	}
	if err := refuseHeld(acts); err != nil {
		return nil, err
	}
	p, err := Prepare(acts)
	if err != nil {
		return nil, err
	}
	p.public = true
	c := &change{Prepared: p, at: at}
	if err := b.Write(ctx, tenant, c); err != nil {
		return nil, err
	}
	return c.outcomes, nil
}

// Acts returns up to limit acts numbered above after, ascending, including erased ones. Until and Opened are not set; see [Base.Complete].
func (b Base) Acts(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) ([]Recorded, error) {
	var list []Recorded
	for lacking := limit; lacking > 0; lacking = limit - len(list) {
		entries, err := b.Entries(ctx, tenant, history.Page{After: after, Limit: lacking})
		if err != nil {
			return nil, err
		}
		if list, err = appendActs(list, entries); err != nil || len(entries) < lacking {
			return list, err
		}
		after = entries[len(entries)-1].Seq
	}
	return list, nil
}

func appendActs(list []Recorded, entries []history.Entry) ([]Recorded, error) {
	list = slices.Grow(list, len(entries))
	for i := range entries {
		if !IsKind(entries[i].Kind) {
			continue
		}
		r, err := FromEntry(&entries[i])
		if err != nil {
			return nil, fmt.Errorf("%w: %w", history.ErrDamaged, err)
		}
		list = append(list, r)
	}
	return list, nil
}

// ActsAt returns the acts with the given numbers, ascending, including erased
// ones. Until and Opened are not set. Numbers without an act are left out.
func (b Base) ActsAt(ctx context.Context, tenant dag.Tenant, seqs []dag.Seq) ([]Recorded, error) {
	if len(seqs) == 0 {
		return nil, nil
	}
	entries, err := b.Entries(ctx, tenant, history.Page{At: seqs})
	if err != nil {
		return nil, err
	}
	return appendActs(nil, entries)
}

// Complete sets Until and Opened of acts. It takes one query for every MaxAsks acts.
func (b Base) Complete(ctx context.Context, tenant dag.Tenant, acts []Recorded) error {
	for some := range slices.Chunk(acts, MaxAsks) {
		var ranges []history.Range
		var of []*Recorded
		for i := range some {
			if r := &some[i]; r.Act.Kind == Assert && !r.Erased {
				id := r.Act.Fact.Chain()
				ranges, of = append(ranges, history.Range{Index: indexVersions, Prefix: id[:], After: &history.Place{Key: id[:], Since: r.Seq - 1}, Limit: 1}), append(of, r)
			}
		}
		if len(ranges) == 0 {
			continue
		}
		lists, err := b.Terms(ctx, tenant, ranges)
		if err != nil {
			return err
		}
		for i, list := range lists {
			of[i].Until, of[i].Opened = 0, 0
			if len(list) == 0 || list[0].Since != of[i].Seq {
				continue
			}
			v, _, err := readVersion(&list[0])
			if err != nil {
				return err
			}
			of[i].Until, of[i].Opened = list[0].Until, v.Opened
		}
	}
	return nil
}

// A Span selects the acts about a statement that are numbered above After and up to UpTo.
type Span struct {
	Statement   ID
	After, UpTo dag.Seq
}

// Counting returns the acts about a statement that count as of a number: the assertions of the belief that holds at that number.
func Counting(acts []Recorded, asOf dag.Seq) (counting []Recorded) {
	ended := dag.Seq(0) // the last version that ended before this number and was not replaced
	for i := range acts {
		r := &acts[i]
		if r.Seq > asOf {
			break
		}
		if r.Act.Kind != Assert {
			counting, ended = nil, 0
			continue
		}
		if ended != 0 && r.Seq > ended {
			counting = nil // another act superseded the assertions so far
		}
		counting = append(counting, *r)
		if r.Until != 0 {
			ended = r.Until
		}
	}
	if ended != 0 && ended <= asOf {
		return nil
	}
	return counting
}

// ActsOf returns up to limit acts about a statement numbered above after, ascending:
// its assertions and retractions. An act that superseded it is about another statement.
func (b Base) ActsOf(ctx context.Context, tenant dag.Tenant, id ID, after dag.Seq, limit int) ([]Recorded, error) {
	lists, err := b.actsIn(ctx, tenant, []Span{{id, after, dag.MaxSeq}}, max(limit, 0))
	if err != nil {
		return nil, err
	}
	return lists[0], nil
}

// ActsFrom returns the assertions that name the turns as their evidence, ascending. It takes one query for every MaxAsks turns, and one more.
func (b Base) ActsFrom(ctx context.Context, tenant dag.Tenant, turns []dag.TurnID) ([]Recorded, error) {
	var numbers []dag.Seq
	for some := range slices.Chunk(turns, MaxAsks) {
		ranges := make([]history.Range, len(some))
		for i := range some {
			ranges[i] = history.Range{Index: indexEvidence, Prefix: some[i][:]}
		}
		lists, err := b.Terms(ctx, tenant, ranges)
		if err != nil {
			return nil, err
		}
		for _, list := range lists {
			for i := range list {
				numbers = append(numbers, list[i].Since)
			}
		}
	}
	slices.Sort(numbers)
	return b.ActsAt(ctx, tenant, numbers)
}

// ActsIn returns, for each span, all its acts, ascending. At most MaxAsks spans. It takes two queries.
func (b Base) ActsIn(ctx context.Context, tenant dag.Tenant, spans []Span) ([][]Recorded, error) {
	return b.actsIn(ctx, tenant, spans, -1)
}

func (b Base) actsIn(ctx context.Context, tenant dag.Tenant, spans []Span, limit int) ([][]Recorded, error) {
	if len(spans) > MaxAsks {
		return nil, fmt.Errorf("%w: the request has %d spans, at most %d", dag.ErrForm, len(spans), MaxAsks)
	}
	lists := make([][]Recorded, len(spans))
	if len(spans) == 0 {
		return lists, nil
	}
	ranges := make([]history.Range, 0, 2*len(spans))
	for i := range spans {
		id := &spans[i].Statement
		ranges = append(ranges, history.Range{Index: indexVersions, Prefix: id[:]}, history.Range{Index: indexMentions, Prefix: id[:]})
	}
	terms, err := b.Terms(ctx, tenant, ranges)
	if err != nil {
		return nil, err
	}
	found := make([][]history.Term, len(spans))
	var numbers []dag.Seq
	for i := range spans {
		for _, list := range terms[2*i : 2*i+2] {
			for k := range list {
				if t := &list[k]; spans[i].After < t.Since && t.Since <= spans[i].UpTo {
					found[i] = append(found[i], *t)
				}
			}
		}
		slices.SortFunc(found[i], func(x, y history.Term) int { return cmp.Compare(x.Since, y.Since) })
		if limit >= 0 && len(found[i]) > limit {
			found[i] = found[i][:limit]
		}
		for k := range found[i] {
			numbers = append(numbers, found[i][k].Since)
		}
	}
	acts, err := b.ActsAt(ctx, tenant, numbers)
	if err != nil {
		return nil, err
	}
	for i := range spans {
		for k := range found[i] {
			t := &found[i][k]
			at, ok := slices.BinarySearchFunc(acts, t.Since, func(r Recorded, seq dag.Seq) int { return cmp.Compare(r.Seq, seq) })
			if !ok {
				return nil, fmt.Errorf("%w: number %d, an act about statement %s, is missing", history.ErrDamaged, t.Since, spans[i].Statement)
			}
			r := acts[at]
			if r.Erased {
				continue // erased after the terms were read
			}
			if t.Index == indexVersions {
				v, _, err := readVersion(t)
				if err != nil {
					return nil, err
				}
				r.Until, r.Opened = t.Until, v.Opened
			}
			lists[i] = append(lists[i], r)
		}
	}
	return lists, nil
}

// Aliases returns the acts about aliases that are numbered above after, ascending.
func (b Base) Aliases(ctx context.Context, tenant dag.Tenant, after dag.Seq) ([]Recorded, error) {
	lists, err := b.Terms(ctx, tenant, []history.Range{{Index: indexAliases, After: &history.Place{Since: after}}})
	if err != nil {
		return nil, err
	}
	numbers := make([]dag.Seq, len(lists[0]))
	for i := range lists[0] {
		numbers[i] = lists[0][i].Since
	}
	return b.ActsAt(ctx, tenant, numbers)
}

// Edges answers asks as [Graph] says, with up to Limit edges each; fewer mean that there are no more. At most MaxAsks asks, in one query, and
// in further ones if erased entries take up a limit.
func (b Base) Edges(ctx context.Context, tenant dag.Tenant, asks []Ask) ([][]Edge, error) {
	if len(asks) > MaxAsks {
		return nil, fmt.Errorf("%w: the request has %d questions for edges, at most %d", dag.ErrForm, len(asks), MaxAsks)
	}
	lists := make([][]Edge, len(asks))
	ranges, of := make([]history.Range, 0, len(asks)), make([]int, 0, len(asks))
	for i := range asks {
		a := &asks[i]
		if a.Limit <= 0 {
			return nil, fmt.Errorf("%w: question %d for edges has the limit %d, want at least 1", dag.ErrForm, i+1, a.Limit)
		}
		if len(a.Name) > normalize.MaxName {
			continue // nothing has such a name
		}
		r := history.Range{Index: edgesIndex(a.Incoming), Prefix: edgesPrefix(a.Name), Limit: a.Limit, Entries: true}
		if m := &a.After; m.Since != 0 {
			r.After = &history.Place{Key: edgeKey(a.Name, min(m.Confidence, dag.One), &m.ID), Since: m.Since}
		}
		ranges, of = append(ranges, r), append(of, i)
	}
	for len(ranges) > 0 {
		terms, err := b.Terms(ctx, tenant, ranges)
		if err != nil {
			return nil, err
		}
		more, moreOf := ranges[:0:0], of[:0:0]
		for n, list := range terms {
			edges := slices.Grow(lists[of[n]], len(list))
			lacks := ranges[n].Limit
			for i := range list {
				if outlived(&list[i]) {
					continue
				}
				edge, err := readEdge(&list[i])
				if err != nil {
					return nil, err
				}
				edges = append(edges, edge)
				lacks--
			}
			lists[of[n]] = edges
			if last := len(list) - 1; lacks > 0 && last+1 == ranges[n].Limit {
				r := ranges[n]
				r.Limit, r.After = lacks, &history.Place{Key: list[last].Key, Since: list[last].Since}
				more, moreOf = append(more, r), append(moreOf, of[n])
			}
		}
		ranges, of = more, moreOf
	}
	return lists, nil
}
