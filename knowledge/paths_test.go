package knowledge_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
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
	var walk func(at string, min dag.PPM, path []*knowledge.Edge, seen map[string]bool)
	walk = func(at string, low dag.PPM, path []*knowledge.Edge, seen map[string]bool) {
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
				walk(end, min(low, v.Confidence), append(path, &e), seen)
				delete(seen, end)
			}
		}
	}
	walk(from, dag.One, nil, map[string]bool{from: true})
	slices.SortFunc(all, func(a, b knowledge.Reached) int {
		return cmp.Or(cmp.Compare(a.Hops, b.Hops), cmp.Compare(b.MinConfidence, a.MinConfidence),
			slices.CompareFunc(a.Path, b.Path, (*knowledge.Edge).Compare))
	})
	return all
}

// TestPathsCrowded has two entities with many facts between them, and a crowd behind: each of
// the facts is a beginning of a path to each of the crowd.
func TestPathsCrowded(t *testing.T) {
	for _, tc := range []struct {
		between, crowd int
	}{{800, 400}, {1500, 3000}} {
		var versions []knowledge.Version
		add := func(subject, predicate, object string) {
			s := knowledge.Statement{Subject: subject, Predicate: predicate, Object: object, Until: knowledge.Forever}
			versions = append(versions, knowledge.Version{Statement: s, ID: s.ID(), Confidence: 500_000, Since: 1, Until: dag.MaxSeq})
		}
		for n := range tc.between {
			add("a", fmt.Sprint("p", n), "hub")
		}
		for n := range tc.crowd {
			add("hub", "near", fmt.Sprint("c", n))
		}
		add("hub", "near", "goal")
		q := knowledge.Query{Filter: knowledge.Filter{AsOf: 1}, Start: []string{"a"}, Direction: knowledge.Both, MaxHops: 5, MaxResults: 10}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := knowledge.Paths(t.Context(), &plain{versions: versions}, nil, q, "goal")
		runtime.ReadMemStats(&after)
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 300 {
			t.Errorf("%d between, a crowd of %d: %d MiB were taken", tc.between, tc.crowd, took)
		}
		if err != nil || len(got.Reached) != 10 || got.Cut != knowledge.CutWork {
			t.Errorf("%d between, a crowd of %d: %d paths, %q, %v", tc.between, tc.crowd, len(got.Reached), got.Cut, err)
		}
	}
}

// TestPaths compares answers with all paths there are. Where more exist than were asked for, and
// only there, the answer says so, also where the next path has more hops than those it returns.
func TestPaths(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	found, cut, exact := 0, 0, 0
	for range 400 {
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
			all := everyPath(versions, aliases, q, to)
			want, why := all, knowledge.Whole
			if len(want) > q.MaxResults {
				want, why = want[:q.MaxResults], knowledge.CutResults
				if want[q.MaxResults-1].Hops < all[q.MaxResults].Hops {
					exact++
				}
			}
			got, err := knowledge.Paths(t.Context(), graph(r, versions), aliases, q, to)
			if err != nil || len(got.Reached) != len(want) || len(want) > 0 && !reflect.DeepEqual(got.Reached, want) || got.Cut != why {
				t.Fatalf("%+v to %s\ngot  %q %+v, %v\nwant %q %+v", q, to, got.Cut, got.Reached, err, why, want)
			}
			if found += len(want); got.Cut == knowledge.CutResults {
				cut++
			}
		}
	}
	if found < 500 || cut < 20 || exact < 20 {
		t.Errorf("%d paths, %d answers cut, %d of them where a hop filled the answer exactly: this test shows less than it should", found, cut, exact)
	}
}
