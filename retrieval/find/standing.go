package find

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/store"
)

// ofStanding returns the best hits of the standing that a request names, at most r.Limit. candidates returns the best hits whatever their standing. A standing
// follows from settings and from turns that come later, so no index has it as a column: ofStanding asks for four times as many candidates each time, until
// enough of them have the standing, or there are no more, or there are as many as the policy allows.
func (e epoch) ofStanding(ctx context.Context, tenant dag.Tenant, r *Request, maxHits int, candidates func(most int) ([]retrieval.Hit, error)) ([]retrieval.Hit, error) {
	limit, most := r.Limit, r.Limit
	if r.Within != nil {
		most = maxHits // each call makes an index of the bundle's turns
	}
	known := map[dag.TurnID]dag.Standing{}
	for ; ; most *= 4 {
		most = min(most, maxHits)
		hits, err := candidates(most)
		if err != nil {
			return nil, err
		}
		fresh := make([]store.Place, 0, len(hits))
		of := make([]dag.TurnID, 0, len(hits))
		for i := range hits {
			if t := &hits[i].Turn; known[t.ID] == 0 {
				fresh, of = append(fresh, store.Place{Conversation: t.Conversation, Seq: t.Seq}), append(of, t.ID)
			}
		}
		standings, err := e.standings(ctx, tenant, r.AsOf, fresh)
		if err != nil {
			return nil, err
		}
		for i, id := range of {
			known[id] = standings[i]
		}
		last := len(hits) < most || most == maxHits
		hits = slices.DeleteFunc(hits, func(h retrieval.Hit) bool { return known[h.Turn.ID] != r.Standing && known[h.Turn.ID] != 0 })
		if len(hits) >= limit || last {
			return hits[:min(len(hits), limit)], nil
		}
	}
}

// count sets the standings of the hits. It leaves out the hits of conversations whose turns the store does not have as they were admitted.
func (e epoch) count(ctx context.Context, tenant dag.Tenant, f *Found) error {
	places := make([]store.Place, len(f.Hits))
	for i := range f.Hits {
		places[i] = store.Place{Conversation: f.Hits[i].Turn.Conversation, Seq: f.Hits[i].Turn.Seq}
	}
	standings, err := e.standings(ctx, tenant, f.AsOf, places)
	if err != nil {
		return err
	}
	whole := f.Hits[:0]
	for i, s := range standings {
		if f.Hits[i].Standing = s; s != 0 {
			whole = append(whole, f.Hits[i])
		}
	}
	f.Damaged += len(f.Hits) - len(whole)
	f.Hits = whole
	return nil
}

// standings returns the standings of turns; 0 for the turns of conversations that are damaged.
func (e epoch) standings(ctx context.Context, tenant dag.Tenant, asOf dag.Seq, places []store.Place) ([]dag.Standing, error) {
	all, err := e.Standings(ctx, tenant, asOf, places)
	if !errors.Is(err, store.ErrDamaged) {
		return all, err
	}
	parts := map[dag.ConversationID][]int{}
	for i, p := range places {
		parts[p.Conversation] = append(parts[p.Conversation], i)
	}
	all = make([]dag.Standing, len(places))
	for _, part := range parts {
		some := make([]store.Place, len(part))
		for i, at := range part {
			some[i] = places[at]
		}
		switch of, err := e.Standings(ctx, tenant, asOf, some); {
		case errors.Is(err, store.ErrDamaged):
			_, observed := e.Observe(ctx, "read standing")
			observed(fmt.Errorf("tenant %s: %w; the hits in this conversation are left out", tenant, err))
		case err != nil:
			return nil, err
		default:
			for i, at := range part {
				all[at] = of[i]
			}
		}
	}
	return all, nil
}
