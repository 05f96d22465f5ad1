package kernel

import (
	"context"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/policy"
)

// Why says why a literal is believed, or what became of it: when it was believed, and who ended that. Where nothing that is left ever made it believed, the
// revisions of the space that were erased are named, for one of them may have. Names are as they are written.
func (k Beliefs) Why(ctx context.Context, tenant dag.Tenant, in api.WhyQuery) (out api.Why, _ error) {
	aliases, err := k.facts().Aliases(ctx, tenant, 0)
	if err != nil {
		return out, err
	}
	named, wording, err := k.literals(aliases, "statement", []belief.Literal{{Subject: in.Subject, Predicate: in.Predicate, Object: in.Object, Not: in.Not}}, nil)
	if err != nil {
		return out, err
	}
	b, err := k.Held(ctx, tenant, in.Space, in.AsOf, nil)
	if err != nil {
		return out, err
	}
	p, _, err := k.kindsOf(ctx, tenant, in.Space, b.AsOf)
	if err != nil {
		return out, err
	}
	out = api.Why{AsOf: b.AsOf, Statement: worded(named[0], wording), State: "never", Support: []api.Support{}, Ended: []api.EndedBelief{}}
	for _, i := range belief.Support(p.Constraints(), b.Elements, named[0], belief.Always) {
		out.Support = append(out.Support, supportOf(&b.Held[i]))
	}
	j := k.journal()
	under, err := j.Policies(ctx, tenant, in.Space, b.AsOf)
	if err != nil {
		return out, err
	}
	known := map[string]*belief.Constraints{}
	periods, err := j.Periods(ctx, tenant, in.Space, named[0], b.AsOf, under, func(id string) (*belief.Constraints, error) {
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
		return out, err
	}
	for i := range periods {
		e := &periods[i]
		if e.Until == history.Forever {
			continue
		}
		one := api.EndedBelief{Since: e.Since, Until: e.Until, Derived: e.Derived, Ending: string(e.Ending), At: e.At, By: e.By, Reason: e.Why, Lost: []api.Support{}}
		for n := range e.Lost {
			one.Lost = append(one.Lost, supportOf(&e.Lost[n]))
		}
		if e.Instead != nil {
			one.Instead = new(worded(e.Instead.Stated().Literal, e.Instead.Revision.Wording))
		}
		out.Ended = append(out.Ended, one)
	}
	switch out.Believed = len(out.Support) > 0; {
	case out.Believed:
		out.State = "believed"
	case len(out.Ended) > 0:
		out.State = "ended"
	default:
		if out.Erased, err = k.erasedIn(ctx, tenant, in.Space, b.AsOf); len(out.Erased) > 0 {
			out.State = "erased"
		}
	}
	return out, err
}

// supportOf answers an element with who wrote it.
func supportOf(h *journal.Believed) api.Support {
	s, r := h.Stated(), h.Revision
	return api.Support{
		Statement: worded(s.Literal, r.Wording), Premises: wordedAll(s.Premises, r.Wording), Item: r.Item, Revision: r.Number, Turns: s.Turns, By: r.By, Class: s.Rank.Class.String(), Since: h.Element().Rank.Event,
	}
}

// erasedIn returns the revisions of a space up to a number whose words are gone by now.
func (k Beliefs) erasedIn(ctx context.Context, tenant dag.Tenant, space belief.Space, asOf dag.Seq) (list []api.ErasedRevision, _ error) {
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
		first := takenBy(r, by)
		list = append(list, api.ErasedRevision{Item: r.Item, Revision: r.Number, Seq: r.Seq, Turn: first.Turn, Erasure: first.Seq})
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
