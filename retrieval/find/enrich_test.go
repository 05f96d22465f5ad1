package find_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/retrieval/find"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// TestEnrich adds what is known to two turns that were found: one that a fact was learned from, and one that names an entity.
func TestEnrich(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			k := over(t, open(t, name), token.NewAuthority(ring(t, "k1")))
			ids := talk(t, k, "one")
			learn := func(turn dag.TurnID, subject, predicate, object string) {
				fact := must(knowledge.NewFact(subject, predicate, object, "user"))
				fact.Turn = turn
				must(k.Facts().Learn(ctx, tenant, []knowledge.Act{{Kind: knowledge.Assert, Fact: fact}}))
			}
			learn(ids[3], "Migration 042", "drops", "orders")
			learn(dag.TurnID{}, "orders", "belongs to", "shop")
			before := must(k.Turns().Head(ctx, tenant))
			learn(ids[0], "shop", "is run by", "anna")
			r := api.EnrichRequest{
				Hits: []api.HitScore{{Turn: ids[1], Score: 100}, {Turn: ids[2], Score: 90}, {Turn: ids[3], Score: 80}}, AsOf: before,
			}
			got := must(k.Turns().Enrich(ctx, tenant, r))
			last := got.Hits[len(got.Hits)-1]
			if last.Turn != ids[1] || len(last.Facts) != 0 || last.Combined != dag.One/2 {
				t.Errorf("a turn that nothing is known of: %+v", last)
			}
			if first := got.Hits[0]; first.Turn != ids[2] || !slices.Equal(first.Entities, []string{"migration-042", "orders"}) || len(first.Facts) != 2 || first.Graph != dag.One {
				t.Errorf("the turn that names both: %+v", first)
			}
			if second := got.Hits[1]; second.Turn != ids[3] || !slices.Contains(second.Entities, "migration-042") || second.Combined >= got.Hits[0].Combined {
				t.Errorf("the turn that a fact was learned from: %+v", second)
			}
			r.Hops = 2
			if r.AsOf = 0; len(must(k.Turns().Enrich(ctx, tenant, r)).Hits[0].Facts) != 3 {
				t.Error("two hops reach no further than one")
			}
			r.Query = "who runs the shop"
			graph := func(h api.EnrichedHit) bool { return h.Graph > 0 }
			if fits := must(k.Turns().Enrich(ctx, tenant, r)).Hits; !slices.ContainsFunc(fits, graph) {
				t.Errorf("no fact fits the query: %+v", fits)
			}
			other := r
			if other.Query = "a zebra"; slices.ContainsFunc(must(k.Turns().Enrich(ctx, tenant, other)).Hits, graph) {
				t.Error("facts that have no word of the query speak for a hit")
			}
			must(k.Turns().Erase(ctx, tenant, ids[3], "asked to"))
			for _, h := range must(k.Turns().Enrich(ctx, tenant, r)).Hits {
				if slices.Contains(h.Entities, "migration-042") {
					t.Errorf("what was learned from an erased turn is still said of %s", h.Turn)
				}
			}
			for what, change := range map[string]func(*api.EnrichRequest){
				"no hit":           func(r *api.EnrichRequest) { r.Hits = nil },
				"a turn twice":     func(r *api.EnrichRequest) { r.Hits = append(slices.Clone(r.Hits), r.Hits[0]) },
				"three hops":       func(r *api.EnrichRequest) { r.Hops = 3 },
				"an alpha above 1": func(r *api.EnrichRequest) { r.Alpha = new(dag.One + 1) },
				"no fact":          func(r *api.EnrichRequest) { r.Facts = -1 },
				"a score too high": func(r *api.EnrichRequest) { r.Hits = []api.HitScore{{Turn: ids[0], Score: find.MaxFound + 1}} },
			} {
				bad := r
				change(&bad)
				if _, err := k.Turns().Enrich(ctx, tenant, bad); err == nil {
					t.Errorf("%s was taken", what)
				}
			}
			r.Hits = []api.HitScore{{Turn: dag.ExternalTurnID("context", "unknown")}}
			if _, err := k.Turns().Enrich(ctx, tenant, r); !isAbsent(err) {
				t.Errorf("an unknown turn: %v", err)
			}
		})
	}
}

func isAbsent(err error) bool { return errors.Is(err, store.ErrNotFound) }
