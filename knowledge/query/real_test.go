package query_test

import (
	"bufio"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/store/storetest"
	"github.com/graphkernel/graphkernel/token"
)

// realData returns the folder of real data of others, which is not part of the project.
func realData(t testing.TB) string {
	t.Helper()
	folder := cmp.Or(os.Getenv("GRAPHKERNEL_DATA"), filepath.Join("..", "..", "shared", "data"))
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("no real data in %s: $GRAPHKERNEL_DATA names the folder", folder)
	}
	return folder
}

// freebase returns the triples of FB15k-237 as acts, in the order of the files, and the list of
// its aliases.
func freebase(t testing.TB) ([]knowledge.Act, *normalize.List) {
	t.Helper()
	folder := filepath.Join(realData(t), "kg", "FB15k-237")
	r := rand.New(rand.NewPCG(1, 1))
	var acts []knowledge.Act
	for _, name := range []string{"valid.txt", "test.txt"} {
		f := must(os.Open(filepath.Join(folder, name)))
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			parts := strings.Split(lines.Text(), "\t")
			if len(parts) != 3 {
				t.Fatalf("%s: %q", name, lines.Text())
			}
			fact := must(knowledge.NewFact(parts[0], parts[1], parts[2], "fb15k"))
			fact.Confidence = dag.PPM(1+r.IntN(5)) * 200_000 // ties abound
			if r.IntN(5) == 0 {
				fact.From, fact.Statement.Until = dag.Time(r.IntN(50)), dag.Time(50+r.IntN(50))
			}
			acts = append(acts, knowledge.Act{Kind: knowledge.Assert, Fact: fact})
		}
		if err := cmp.Or(lines.Err(), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	list := must(normalize.ReadAliases(must(os.ReadFile(filepath.Join(folder, "entity2wikidata.json"))), normalize.Wikidata))
	return acts, list
}

// adjacent is the reference: all edges of each entity, sorted, and nothing clever.
type adjacent map[string][]knowledge.Edge

func adjacency(acts []knowledge.Recorded, aliases *normalize.Table) adjacent {
	a := adjacent{}
	for i := range acts {
		if v, ok := acts[i].Version(); ok {
			f := &acts[i].Act.Fact
			from, to := aliases.Resolve(v.Subject), aliases.Resolve(v.Object)
			a[from] = append(a[from], knowledge.Edge{Version: v, Written: f.Written})
			a[to] = append(a[to], knowledge.Edge{Version: v, Incoming: true, Written: f.Written})
		}
	}
	return a
}

// reach is the definition of a traversal, level by level.
func (a adjacent) reach(aliases *normalize.Table, q api.TraverseRequest, asOf dag.Seq) (reached []knowledge.Reached, cut knowledge.Cut) {
	type way struct {
		name   string
		min    dag.PPM
		path   []*knowledge.Edge
		parent int
	}
	filter := knowledge.Filter{AsOf: asOf, ValidAt: q.ValidAt, MinConfidence: q.MinConfidence, Predicates: q.Predicates}
	start := aliases.Resolve(q.Start[0])
	seen := map[string]bool{start: true}
	level := []way{{name: start, min: dag.One}}
	for hop := 1; hop <= q.MaxHops; hop++ {
		var ways []way
		for i, at := range level {
			for _, e := range a[at.name] {
				if e.Incoming && q.Direction == knowledge.Outgoing || !e.Incoming && q.Direction == knowledge.Incoming || !filter.Admits(&e.Version) {
					continue
				}
				ways = append(ways, way{aliases.Resolve(e.Other()), min(at.min, e.Confidence), append(slices.Clone(at.path), &e), i})
			}
		}
		slices.SortFunc(ways, func(x, y way) int {
			return cmp.Or(cmp.Compare(y.min, x.min), cmp.Compare(x.parent, y.parent), x.path[hop-1].Compare(y.path[hop-1]))
		})
		level = nil
		for _, w := range ways {
			if seen[w.name] {
				continue
			}
			seen[w.name] = true
			if len(reached) == q.MaxResults {
				return reached, knowledge.CutResults
			}
			level = append(level, w)
			reached = append(reached, knowledge.Reached{Entity: w.name, Hops: hop, MinConfidence: w.min, Path: w.path, From: start})
		}
	}
	return reached, knowledge.Whole
}

// TestFreebase loads FB15k-237 with its aliases into each store, and holds 10 000 random
// traversals against the reference, over all stores together.
func TestFreebase(t *testing.T) {
	if race.Enabled {
		t.Skip("long, and on one goroutine: nothing for the race detector")
	}
	acts, list := freebase(t)
	t.Logf("%d triples; %d aliases, %d names that are claimed by several", len(acts), len(list.Changes), len(list.Ambiguous))
	if len(acts) < 30_000 || len(list.Changes) < 15_000 || len(list.Ambiguous) == 0 {
		t.Fatal("that is not FB15k-237")
	}
	var names []knowledge.Act
	for _, c := range list.Changes {
		names = append(names, knowledge.Act{Kind: knowledge.Alias, Alias: c.Alias, Canonical: c.Canonical, Rule: normalize.Newest})
	}
	ambiguous := map[string]bool{}
	for _, a := range list.Ambiguous {
		ambiguous[a.Name] = true
	}
	queries := 10_000 / len(stores)
	if testing.Short() {
		queries /= 5
	}
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			s := open(t, name)
			k := over(t, s, token.NewAuthority(ring(t, "k1")))
			for _, all := range [][]knowledge.Act{acts, names} {
				for some := range slices.Chunk(all, 2_000) {
					must(k.Facts().Learn(ctx, tenant, some))
				}
			}
			head := must(s.Head(ctx, tenant))
			before := dag.Seq(len(acts)) // as of which there are no aliases
			aliases := must(k.Facts().Aliases(ctx, tenant, 0))
			if aliases.Len() != len(names) {
				t.Fatalf("%d aliases, want %d", aliases.Len(), len(names))
			}
			for name := range ambiguous {
				if aliases.Resolve(name) != name {
					t.Fatalf("%q, which is claimed by several, stands for %q", name, aliases.Resolve(name))
				}
			}
			recorded := must(storetest.Acts(ctx, s, tenant, 0, len(acts)))
			tables := map[dag.Seq]*normalize.Table{before: must(k.Facts().Aliases(ctx, tenant, before)), head: aliases}
			graphs := map[dag.Seq]adjacent{before: adjacency(recorded, tables[before]), head: adjacency(recorded, aliases)}
			r := seeded(t)
			reached, deep := 0, 0
			for range queries {
				f := &acts[r.IntN(len(acts))].Fact
				q := api.TraverseRequest{
					Start: []string{f.Subject}, Direction: []knowledge.Direction{knowledge.Outgoing, knowledge.Incoming, knowledge.Both}[r.IntN(3)],
					MaxHops: 1 + r.IntN(3), MaxResults: 1 + r.IntN(120), MinConfidence: dag.PPM(r.IntN(3)) * 300_000, AsOf: []dag.Seq{before, head}[r.IntN(2)],
				}
				if r.IntN(4) == 0 {
					q.Predicates = []string{f.Predicate}
				}
				if r.IntN(4) == 0 {
					at := dag.Time(r.IntN(110))
					q.ValidAt = &at
				}
				if member := tables[q.AsOf].Members(f.Subject); r.IntN(2) == 0 && len(member) > 1 {
					q.Start = []string{member[1+r.IntN(len(member)-1)]}
				}
				want, cut := graphs[q.AsOf].reach(tables[q.AsOf], q, q.AsOf)
				got := must(k.Facts().Traverse(ctx, tenant, q))
				shown := shown(want, tables[q.AsOf])
				if got.Cut != string(cut) || len(got.Reached) != len(want) || len(want) > 0 && !reflect.DeepEqual(got.Reached, shown) {
					t.Fatalf("%+v\ngot  %d %q\nwant %d %q\n%s", q, len(got.Reached), got.Cut, len(want), cut, firstOther(got.Reached, shown))
				}
				reached += len(want)
				if n := len(want); n > 0 && want[n-1].Hops == 3 {
					deep++
				}
			}
			if reached < 10*queries || deep < queries/20 {
				t.Errorf("%d entities were reached, %d times in 3 hops: this test shows less than it should", reached, deep)
			}
		})
	}
}

func firstOther(got, want []api.Reached) string {
	for i := range min(len(got), len(want)) {
		if !reflect.DeepEqual(got[i], want[i]) {
			return fmt.Sprintf("%d: got  %+v\nwant %+v", i, got[i], want[i])
		}
	}
	return "one is longer"
}

// shown returns entities that were reached in the form of the API.
func shown(list []knowledge.Reached, aliases *normalize.Table) []api.Reached {
	w := make([]api.Reached, len(list))
	for i, r := range list {
		w[i] = api.Reached{Entity: r.Entity, Hops: r.Hops, MinConfidence: r.MinConfidence, From: r.From}
		for _, e := range r.Path {
			w[i].Path = append(w[i].Path, api.StepOf(e, aliases))
		}
	}
	return w
}
