package knowledge_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
)

// everyPath lists all ways without repetition, in the plainest way.
func everyPath(versions []knowledge.Version, aliases *normalize.Table, q knowledge.Query, to string) (all []knowledge.Reached) {
	from := aliases.Resolve(q.Start[0])
	to = aliases.Resolve(to)
	var walk func(at string, min dag.PPM, path []knowledge.Edge, seen map[string]bool)
	walk = func(at string, low dag.PPM, path []knowledge.Edge, seen map[string]bool) {
		if at == to {
			all = append(all, knowledge.Reached{Entity: to, Hops: len(path), MinConfidence: low, Path: slices.Clone(path), From: from})
			return
		}
		if len(path) == q.MaxHops {
			return
		}
		for _, v := range versions {
			for _, e := range []knowledge.Edge{{Version: v}, {Version: v, Incoming: true}} {
				start, end := aliases.Resolve(v.Subject), aliases.Resolve(v.Object)
				if e.Incoming {
					start, end = end, start
				}
				if start != at || seen[end] || !q.Admits(&v) || e.Incoming && q.Direction == knowledge.Outgoing || !e.Incoming && q.Direction == knowledge.Incoming {
					continue
				}
				seen[end], e.Version.Until = true, dag.MaxSeq
				walk(end, min(low, v.Confidence), append(path, e), seen)
				delete(seen, end)
			}
		}
	}
	walk(from, dag.One, nil, map[string]bool{from: true})
	slices.SortFunc(all, func(a, b knowledge.Reached) int {
		return cmp.Or(cmp.Compare(a.Hops, b.Hops), cmp.Compare(b.MinConfidence, a.MinConfidence),
			slices.CompareFunc(a.Path, b.Path, func(x, y knowledge.Edge) int { return x.Compare(&y) }))
	})
	return all
}

func TestPaths(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	found, cut := 0, 0
	for range 80 {
		entities, facts := 3+r.IntN(8), 1+r.IntN(40)
		versions := world(r, entities, facts)
		aliases := aliased(t, r, entities)
		for range 20 {
			q := query(r, entities, facts)
			q.Start = q.Start[:1]
			q.MaxResults = min(q.MaxResults, knowledge.MaxPaths)
			to := fmt.Sprintf("e%d", r.IntN(entities))
			if aliases.Resolve(q.Start[0]) == aliases.Resolve(to) {
				continue
			}
			want, why := everyPath(versions, aliases, q, to), knowledge.Whole
			if len(want) > q.MaxResults {
				want = want[:q.MaxResults]
			}
			got, err := knowledge.Paths(t.Context(), &plain{versions: versions}, aliases, q, to)
			if err != nil || len(got.Reached) != len(want) || len(want) > 0 && !reflect.DeepEqual(got.Reached, want) || got.Cut == knowledge.CutWork {
				t.Fatalf("%+v to %s\ngot  %q %+v, %v\nwant %q %+v", q, to, got.Cut, got.Reached, err, why, want)
			}
			if found += len(want); got.Cut == knowledge.CutResults {
				cut++
			}
		}
	}
	if found < 500 || cut < 20 {
		t.Errorf("%d paths, %d cut: this test shows less than it should", found, cut)
	}
}
