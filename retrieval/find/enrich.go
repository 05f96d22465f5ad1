package find

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
	"github.com/graphkernel/graphkernel/retrieval/enrich"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// The limits of an enrichment.
const (
	MaxEnriched      = 200 // hits
	MaxEnrichedHops  = 2
	MaxEnrichedFacts = 100 // facts of one hit
	MaxFound         = uint64(1) << 40
)

// enrichment returns a request with its defaults filled in, and checks it.
func enrichment(r api.EnrichRequest) (api.EnrichRequest, error) {
	if r.Alpha == nil {
		half := dag.One / 2
		r.Alpha = &half
	}
	r.Hops, r.Facts = cmp.Or(r.Hops, 1), cmp.Or(r.Facts, 10)
	seen := map[dag.TurnID]bool{}
	for _, h := range r.Hits {
		switch {
		case h.Score > MaxFound:
			return r, fmt.Errorf("%w: the score %d of turn %s, want 0 to %d", dag.ErrForm, h.Score, h.Turn, MaxFound)
		case seen[h.Turn]:
			return r, fmt.Errorf("%w: turn %s comes twice", dag.ErrForm, h.Turn)
		}
		seen[h.Turn] = true
	}
	switch {
	case len(r.Hits) < 1 || len(r.Hits) > MaxEnriched:
		return r, fmt.Errorf("%w: %d hits, want 1 to %d", dag.ErrForm, len(r.Hits), MaxEnriched)
	case *r.Alpha > dag.One:
		return r, fmt.Errorf("%w: alpha is %s, at most 1", dag.ErrForm, *r.Alpha)
	case r.Hops < 1 || r.Hops > MaxEnrichedHops:
		return r, fmt.Errorf("%w: %d hops, want 1 to %d", dag.ErrForm, r.Hops, MaxEnrichedHops)
	case r.Facts < 1 || r.Facts > MaxEnrichedFacts:
		return r, fmt.Errorf("%w: %d facts for each hit, want 1 to %d", dag.ErrForm, r.Facts, MaxEnrichedFacts)
	}
	return r, nil
}

// Enrich returns hits with the facts around their entities, sorted by a score that combines the score of the search and the weight of the facts. The entities
// of a turn are the names in the facts that were learned from it, and the known names in its first words. Enrich changes nothing.
func (k Turns) Enrich(ctx context.Context, tenant dag.Tenant, in api.EnrichRequest) (w api.Enriched, err error) {
	ctx, observed := k.kernel.Observe(ctx, "enrich")
	defer func() { observed(err) }()
	if in, err = enrichment(in); err != nil {
		return w, err
	}
	return read(k.kernel, func(e epoch) (api.Enriched, error) { return e.enrich(ctx, tenant, &in) })
}

func (e epoch) enrich(ctx context.Context, tenant dag.Tenant, r *api.EnrichRequest) (w api.Enriched, err error) {
	at, _, err := e.AsOf(ctx, tenant, r.AsOf)
	if err != nil {
		return w, err
	}
	v, err := e.Facts(tenant).View(ctx, at)
	if err != nil {
		return w, err
	}
	entities, err := e.entitiesOf(ctx, tenant, v, r.Hits)
	if err != nil {
		return w, err
	}
	words := analysis.English.Terms(nil, r.Query)
	around := map[dag.TurnID][]api.NearFact{}
	hits := make([]enrich.Hit, len(r.Hits))
	for i, found := range r.Hits {
		hits[i] = enrich.Hit{Turn: found.Turn, Found: int64(found.Score)} //nolint:gosec // at most MaxFound
		near, err := near(ctx, v, e.Shows(ctx), entities[found.Turn], r)
		if err != nil {
			return w, err
		}
		around[found.Turn] = make([]api.NearFact, len(near))
		for j, n := range near {
			around[found.Turn][j] = api.NearFact{Hops: n.hops, Fact: api.StepOf(n.edge, v.Aliases)}
			hits[i].Facts = append(hits[i].Facts, enrich.Fact{Confidence: n.edge.Confidence, Hops: n.hops, Fit: fit(words, n.edge)})
		}
	}
	enrich.Combine(hits, *r.Alpha)
	w = api.Enriched{AsOf: v.AsOf, Hits: make([]api.EnrichedHit, len(hits))}
	for i, h := range hits {
		w.Hits[i] = api.EnrichedHit{Turn: h.Turn, Score: uint64(h.Found), Graph: h.Graph, Combined: h.Combined, Entities: append([]string{}, entities[h.Turn]...), Facts: around[h.Turn]} //nolint:gosec // as it was given
	}
	return w, nil
}

// A nearEdge is a fact with its distance from an entity, in hops.
type nearEdge struct {
	edge *knowledge.Edge
	hops int
}

// near returns the facts around entities, each once, the nearest first, at most r.Facts. It makes a traversal for each entity, since a traversal leaves out
// the facts that join its starts.
func near(ctx context.Context, v *projection.View, shows func(source string) bool, names []string, r *api.EnrichRequest) (all []nearEdge, err error) {
	at := map[knowledge.ID]int{}
	for _, name := range names {
		q := knowledge.Query{Filter: knowledge.Filter{AsOf: v.AsOf}, Start: []string{name}, Direction: knowledge.Both, MaxHops: r.Hops, MaxResults: r.Facts}
		answer, err := v.AnswerFor(ctx, shows, q)
		if err != nil {
			return nil, err
		}
		for _, reached := range answer.Reached {
			for hop, e := range reached.Path {
				place, seen := at[e.ID]
				if !seen {
					at[e.ID] = len(all)
					all = append(all, nearEdge{e, hop + 1})
				} else if hop+1 < all[place].hops {
					all[place] = nearEdge{e, hop + 1}
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b nearEdge) int { return cmp.Compare(a.hops, b.hops) })
	return all[:min(len(all), r.Facts)], nil
}

// fit returns the share of a query's words that occur in the names of a fact; 1 for a query without words.
func fit(words []string, e *knowledge.Edge) dag.PPM {
	if len(words) == 0 {
		return dag.One
	}
	there := map[string]bool{}
	for _, name := range [...]string{e.Subject, e.Predicate, e.Object} {
		for _, term := range analysis.English.Terms(nil, name) {
			there[term] = true
		}
	}
	n := 0
	for _, w := range words {
		if there[w] {
			n++
		}
	}
	return dag.PPM(int64(n) * int64(dag.One) / int64(len(words)))
}

// entitiesOf returns the entities of each turn, in ascending order, at most projection.MostNames of each.
func (e epoch) entitiesOf(ctx context.Context, tenant dag.Tenant, v *projection.View, hits []api.HitScore) (map[dag.TurnID][]string, error) {
	ids := make([]dag.TurnID, len(hits))
	for i := range hits {
		ids[i] = hits[i].Turn
	}
	records, err := e.Turns(ctx, tenant, ids)
	if err != nil {
		return nil, err
	}
	sets := map[dag.TurnID]map[string]bool{}
	add := func(of dag.TurnID, name string) {
		if set := sets[of]; len(set) < projection.MostNames {
			set[v.Aliases.Resolve(name)] = true
		}
	}
	for i := range records {
		if records[i].Seq <= v.AsOf {
			sets[records[i].Turn.ID] = map[string]bool{}
		}
	}
	for _, id := range ids {
		if sets[id] == nil {
			return nil, fmt.Errorf("turn %s of tenant %s as of %d: %w", id, tenant, v.AsOf, store.ErrNotFound)
		}
	}
	acts, err := e.Knowledge().ActsFrom(ctx, tenant, ids)
	if err != nil {
		return nil, err
	}
	shows := e.Shows(ctx)
	for i := range acts {
		if f := &acts[i].Act.Fact; !acts[i].Erased && acts[i].Seq <= v.AsOf && (shows == nil || shows(f.Source)) {
			add(f.Turn, f.Subject)
			add(f.Turn, f.Object)
		}
	}
	for i := range records {
		if records[i].Body == nil {
			continue
		}
		body, err := slice.ParseBody(records[i].Body)
		if err != nil {
			return nil, fmt.Errorf("turn %s: %w: %w", records[i].Turn.ID, store.ErrDamaged, err)
		}
		names, err := v.NamesIn(ctx, body.Content)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			add(records[i].Turn.ID, name)
		}
	}
	all := map[dag.TurnID][]string{}
	for id, set := range sets {
		all[id] = slices.Sorted(maps.Keys(set))
	}
	return all, nil
}
