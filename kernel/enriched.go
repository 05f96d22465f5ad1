package kernel

import (
	"context"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
)

// enrich adds what is known to turns that were found.
func (k Turns) enrich(ctx context.Context, tenant dag.Tenant, in api.EnrichRequest) (w api.Enriched, err error) {
	r := EnrichRequest{Query: in.Query, Alpha: dag.One / 2, Hops: max(in.Hops, 1), Facts: in.Facts, AsOf: in.AsOf}
	if in.Alpha != nil {
		r.Alpha = *in.Alpha
	}
	if r.Facts == 0 {
		r.Facts = 10
	}
	for _, h := range in.Hits {
		r.Hits = append(r.Hits, FoundHit{Turn: h.Turn, Score: int64(min(h.Score, uint64(MaxFound)+1))}) // above it is refused
	}
	found, err := k.Enrich(ctx, tenant, r)
	if err != nil {
		return w, err
	}
	w = api.Enriched{AsOf: found.AsOf, Hits: make([]api.EnrichedHit, len(found.Hits))}
	for i := range found.Hits {
		h := &found.Hits[i]
		one := api.EnrichedHit{
			Turn: h.Turn, Score: uint64(h.Found), Graph: h.Graph, Combined: h.Combined, Entities: append([]string{}, h.Entities...),
			Facts: make([]api.NearFact, len(h.Around)),
		}
		for n, s := range h.Around {
			one.Facts[n] = api.NearFact{Hops: h.Facts[n].Hops, Fact: s}
		}
		w.Hits[i] = one
	}
	return w, nil
}
