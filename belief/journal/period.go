package journal

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// An Ending is the reason why a period ended.
type Ending string

// The endings.
const (
	GivenUp      Ending = "given_up"     // the item no longer states the literal
	Contradicted Ending = "contradicted" // like GivenUp, and an element that contradicts the literal is believed from then on
	Deprecated   Ending = "deprecated"   // the item was deprecated
	Moved        Ending = "moved"        // current was pointed to another revision of the item
	Policy       Ending = "policy"       // the space came under another policy, under which the literal did not follow
)

// A Period is a time in which a literal was believed without interruption: it was stated, or rules and constraints derived it.
type Period struct {
	Since, Until dag.Seq    // the last entries of the changes that began and ended the period; Until is history.Forever while the literal is believed
	Derived      bool       // no element stated the literal when the period ended
	Support      []Believed // a minimal set of elements from which the literal followed when the period ended

	// These are set if the period has ended.
	Lost    []Believed // the elements of Support that ended with the period
	Ending  Ending
	At      dag.Time
	By      string    // the caller who ended the period
	Why     string    // the reason that the caller gave
	Instead *Believed // if Ending is Contradicted, the element that is believed instead
}

// mostMoments bounds the changes that Periods examines: the newest changes of elements from which the literal could follow.
const mostMoments = 512

// A stretch is a period in which one element was believed.
type stretch struct {
	Believed
	until dag.Seq
}

// Periods returns the periods up to the number asOf in which a literal was believed in a space, ascending. It examines only the newest mostMoments changes of
// elements from which the literal could follow. under lists the policies of the space, ascending; constraints returns the constraints of a policy. Erased
// revisions count as if they had never been recorded.
func (b Elements) Periods(ctx context.Context, tenant dag.Tenant, s belief.Space, of belief.Literal, asOf dag.Seq, under []SpacePolicy, constraints func(policy string) (*belief.Constraints, error)) ([]Period, error) {
	all, err := b.stretches(ctx, tenant, s, of)
	if err != nil {
		return nil, err
	}
	moments := map[dag.Seq]bool{}
	for i := range all {
		moments[all[i].Since] = true
		if all[i].until != history.Forever {
			moments[all[i].until] = true
		}
	}
	for i := range under {
		moments[under[i].Seq] = true
	}
	order := slices.DeleteFunc(slices.Sorted(maps.Keys(moments)), func(seq dag.Seq) bool { return seq > asOf })
	order = order[max(0, len(order)-mostMoments):]
	marks, err := b.marks(ctx, tenant, order)
	if err != nil {
		return nil, err
	}
	c := &belief.Constraints{}
	var list []Period
	var open *Period
	for n, seq := range order {
		for i := range under {
			if under[i].Seq <= seq {
				if c, err = constraints(under[i].Policy); err != nil {
					return nil, err
				}
			}
		}
		if n+1 < len(order) && marks[n+1].whole == marks[n].whole {
			continue // between the entries of one change nothing is believed
		}
		live := slices.DeleteFunc(slices.Clone(all), func(x stretch) bool { return x.Since > seq || x.until <= seq })
		support := supporting(c, live, of)
		switch {
		case support != nil:
			if open == nil {
				list = append(list, Period{Since: seq, Until: history.Forever})
				open = &list[len(list)-1]
			}
			open.Support = support
			open.Derived = !slices.ContainsFunc(live, func(x stretch) bool { s := x.Stated(); return s.Literal == of && s.Premises == nil })
		case open != nil:
			open.ended(seq, marks[n], c, live)
			open = nil
		}
	}
	return list, nil
}

// A mark describes the entry that began or ended a stretch: who recorded it, when and why.
type mark struct {
	record  record
	whole   dag.Seq // the number of the last entry of the entry's change
	at      dag.Time
	by, why string
}

// marks reads the entries with some numbers, in the order of the numbers.
func (b Elements) marks(ctx context.Context, tenant dag.Tenant, seqs []dag.Seq) ([]mark, error) {
	entries, err := b.entriesAt(ctx, tenant, seqs)
	if err != nil {
		return nil, err
	}
	list := make([]mark, len(seqs))
	for i, seq := range seqs {
		e, ok := entries[seq]
		if !ok || !IsKind(e.Kind) {
			return nil, fmt.Errorf("%w: number %d changed beliefs, but its entry is missing or of another kind", history.ErrDamaged, seq)
		}
		r, err := readEntry(&e)
		if err != nil {
			return nil, err
		}
		m := mark{record: r, whole: e.Whole(), at: e.At}
		switch r := r.(type) {
		case *Revision:
			m.by, m.why = r.By, r.Reason
		case *Tag:
			m.by, m.why = r.By, r.Reason
		case *Deprecation:
			m.by, m.why = r.By, r.Reason
		case *SpacePolicy:
			m.by = r.By
		}
		list[i] = m
	}
	return list, nil
}

// supporting returns a minimal set of elements from which a literal follows, nil if the literal does not follow.
func supporting(c *belief.Constraints, live []stretch, of belief.Literal) (list []Believed) {
	base := make(belief.Base, len(live))
	for i := range live {
		base[i] = live[i].Element()
	}
	for _, i := range belief.Support(c, base, of, belief.Always) {
		list = append(list, live[i].Believed)
	}
	return list
}

// stretches returns the stretches of all elements from which a literal can have followed at any time: the elements of its slot, of the slots of their premises, and
// so on.
func (b Elements) stretches(ctx context.Context, tenant dag.Tenant, s belief.Space, of belief.Literal) (list []stretch, _ error) {
	asked, next := map[belief.Slot]bool{of.Slot(): true}, []belief.Slot{of.Slot()}
	for len(next) > 0 {
		ranges := make([]history.Range, len(next))
		for i, slot := range next {
			ranges[i] = history.Range{Index: indexElements, Prefix: slotPrefix(s, slot)}
		}
		now := next
		next = nil
		for from := 0; from < len(ranges); from += history.MaxRanges {
			lists, err := b.Terms(ctx, tenant, ranges[from:min(from+history.MaxRanges, len(ranges))])
			if err != nil {
				return nil, err
			}
			for n := range lists {
				found, err := b.stretchesOf(ctx, tenant, lists[n], now[from+n])
				if err != nil {
					return nil, err
				}
				for i := range found {
					for _, p := range found[i].Stated().Premises {
						if slot := p.Slot(); !asked[slot] {
							asked[slot] = true
							next = append(next, slot)
						}
					}
				}
				list = append(list, found...)
			}
		}
		if len(list) > MaxNeighbours {
			return nil, fmt.Errorf("%w: %d, at most %d", ErrTooWide, len(list), MaxNeighbours)
		}
	}
	slices.SortFunc(list, func(x, y stretch) int {
		return cmp.Or(cmp.Compare(x.Since, y.Since), cmp.Compare(x.Revision.Seq, y.Revision.Seq), cmp.Compare(x.Part.At, y.Part.At))
	})
	return list, nil
}

// stretchesOf makes stretches of the terms of a slot. A rule has terms in several slots; it is included only for the slot of its conclusion.
func (b Elements) stretchesOf(ctx context.Context, tenant dag.Tenant, terms []history.Term, slot belief.Slot) (list []stretch, _ error) {
	entries, err := b.entriesAt(ctx, tenant, entriesOf(terms))
	if err != nil {
		return nil, err
	}
	revisions := map[dag.Seq]*Revision{}
	for i := range terms {
		held, err := believed(terms[i:i+1], revisions, entries)
		if err != nil {
			return nil, err
		}
		if len(held) == 1 && held[0].Stated().Slot() == slot {
			list = append(list, stretch{held[0], terms[i].Until})
		}
	}
	return list, nil
}

// ended sets the fields of a period that ended with the entry seq. live lists the stretches that are believed from then on.
func (p *Period) ended(seq dag.Seq, m mark, c *belief.Constraints, live []stretch) {
	p.Until, p.Ending, p.At, p.By, p.Why = seq, GivenUp, m.at, m.by, m.why
	for _, was := range p.Support {
		if !slices.ContainsFunc(live, func(x stretch) bool {
			return x.Part.At == was.Part.At && x.Revision.Seq == was.Revision.Seq && x.Since == was.Since
		}) {
			p.Lost = append(p.Lost, was)
		}
	}
	switch r := m.record.(type) {
	case *Tag:
		if r.Number != 0 {
			p.Ending = Moved
		}
	case *Deprecation:
		p.Ending = Deprecated
		return
	case *SpacePolicy:
		p.Ending = Policy
		return
	}
	for _, lost := range p.Lost {
		for i := range live {
			if s := live[i].Stated(); s.Premises == nil && lost.Stated().Premises == nil && c.Conflict(s.Literal, lost.Stated().Literal) && s.Span.Overlaps(lost.Stated().Span) {
				p.Ending, p.Instead = Contradicted, &live[i].Believed
				return
			}
		}
	}
}

// Policies returns the policies that a space came under up to a number, ascending.
func (b Elements) Policies(ctx context.Context, tenant dag.Tenant, s belief.Space, asOf dag.Seq) (list []SpacePolicy, _ error) {
	lists, err := b.Terms(ctx, tenant, []history.Range{{Index: indexSpaces, Prefix: []byte(s)}})
	if err != nil {
		return nil, err
	}
	for i := range lists[0] {
		if t := &lists[0][i]; string(t.Key) == string(s) && t.Since <= asOf {
			list = append(list, SpacePolicy{Space: s, Policy: string(t.Value), Seq: t.Since})
		}
	}
	slices.SortFunc(list, func(x, y SpacePolicy) int { return cmp.Compare(x.Seq, y.Seq) })
	return list, nil
}

// Erased returns the revisions of items of a space, up to a number and ascending, that rest on some turns and whose private half was erased.
func (b Items) Erased(ctx context.Context, tenant dag.Tenant, s belief.Space, turns []dag.TurnID, asOf dag.Seq) (list []*Revision, _ error) {
	seen := map[dag.Seq]bool{}
	for some := range slices.Chunk(turns, history.MaxRanges) {
		ranges := make([]history.Range, len(some))
		for i, turn := range some {
			ranges[i] = history.Range{Index: indexRests, Prefix: turn[:]}
		}
		err := b.collect(ctx, tenant, ranges, func(_ int, e *history.Entry) error {
			if e.Kind != KindRevision || e.Private != nil || e.Seq > asOf || seen[e.Seq] {
				return nil
			}
			seen[e.Seq] = true
			r, err := ReadRevision(e)
			if err == nil && r.Item.Space() == s {
				list = append(list, r)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(list, func(x, y *Revision) int { return cmp.Compare(x.Seq, y.Seq) })
	return list, nil
}
