package kernel

import (
	"context"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/policy"
)

// A BeliefWhy explains why a literal is believed in a space, or when and how the belief in it ended.
type BeliefWhy struct {
	AsOf    dag.Seq
	Of      belief.Literal
	Wording journal.Wording
	Support []journal.Believed // a set of elements from which it follows, none of which can be left out; nil: it is not believed
	Ended   []journal.Period   // times in which it was believed and that have ended
	Erased  []ErasedRevision   // if nothing that is left ever made it believed: what may have
}

// An ErasedRevision is a revision whose words are gone, with the erasure that took them.
type ErasedRevision struct {
	*journal.Revision
	By erasures.Erasure
}

// Why says why a literal is believed, or what became of it: when it was believed, and who ended that. Where nothing that is left ever made it believed, the
// revisions of the space that were erased are named, for one of them may have. Names are as they are written.
func (k Beliefs) Why(ctx context.Context, tenant dag.Tenant, space belief.Space, of belief.Literal, asOf dag.Seq) (*BeliefWhy, error) {
	aliases, err := k.facts().Aliases(ctx, tenant, 0)
	if err != nil {
		return nil, err
	}
	named, wording, err := k.literals(aliases, "statement", []belief.Literal{of}, nil)
	if err != nil {
		return nil, err
	}
	b, err := k.Base(ctx, tenant, space, asOf, nil)
	if err != nil {
		return nil, err
	}
	p, _, err := k.kindsOf(ctx, tenant, space, b.AsOf)
	if err != nil {
		return nil, err
	}
	why := &BeliefWhy{AsOf: b.AsOf, Of: named[0], Wording: wording}
	for _, i := range belief.Support(p.Constraints(), b.Elements, named[0], belief.Always) {
		why.Support = append(why.Support, b.Held[i])
	}
	j := k.journal()
	under, err := j.Policies(ctx, tenant, space, b.AsOf)
	if err != nil {
		return nil, err
	}
	known := map[string]*belief.Constraints{}
	periods, err := j.Periods(ctx, tenant, space, named[0], b.AsOf, under, func(id string) (*belief.Constraints, error) {
		if known[id] == nil {
			p, err := k.kindPolicy(ctx, tenant, policy.ID(id))
			if err != nil {
				return nil, err
			}
			known[id] = p.Constraints()
		}
		return known[id], nil
	})
	if err != nil {
		return nil, err
	}
	why.Ended = slices.DeleteFunc(periods, func(p journal.Period) bool { return p.Until == history.Forever })
	if why.Support == nil && len(why.Ended) == 0 {
		why.Erased, err = k.erasedIn(ctx, tenant, space, b.AsOf)
	}
	return why, err
}

// erasedIn returns the revisions of a space up to a number whose words are gone by now.
func (k Beliefs) erasedIn(ctx context.Context, tenant dag.Tenant, space belief.Space, asOf dag.Seq) (list []ErasedRevision, _ error) {
	by := map[dag.TurnID]erasures.Erasure{}
	var turns []dag.TurnID
	const page = 1000
	for after := dag.Seq(0); ; {
		some, err := k.erasures().After(ctx, tenant, after, page)
		if err != nil {
			return nil, err
		}
		for _, e := range some {
			by[e.Turn], after = e, e.Seq
			turns = append(turns, e.Turn)
		}
		if len(some) < page {
			break
		}
	}
	revisions, err := k.journal().Erased(ctx, tenant, space, turns, asOf)
	for _, r := range revisions {
		list = append(list, ErasedRevision{r, takenBy(r, by)})
	}
	return list, err
}

// takenBy returns the erasure that took the words of a revision: the first by which all turns of one of its statements had lost their text.
func takenBy(r *journal.Revision, by map[dag.TurnID]erasures.Erasure) (first erasures.Erasure) {
	for i := range r.Statements {
		var last erasures.Erasure
		for _, turn := range r.Statements[i].Turns {
			e, ok := by[turn]
			if !ok {
				last = erasures.Erasure{}
				break
			}
			if e.Seq > last.Seq {
				last = e
			}
		}
		if last.Seq != 0 && (first.Seq == 0 || last.Seq < first.Seq) {
			first = last
		}
	}
	return first
}
