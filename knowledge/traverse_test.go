package knowledge_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
)

// A plain graph is a list of versions, walked through for each question.
type plain struct {
	versions []knowledge.Version
	scant    *rand.Rand // if set, it returns fewer edges than there are, as they come
	asks     int
	largest  int // questions of one call
}

func (p *plain) Edges(_ context.Context, asks []knowledge.Ask) ([]knowledge.Run, error) {
	p.asks++
	p.largest = max(p.largest, len(asks))
	lists := make([][]knowledge.Edge, len(asks))
	for i, a := range asks {
		for _, v := range p.versions {
			e := knowledge.Edge{Version: v, Incoming: a.Incoming}
			if a.Of(&v) && a.After.Before(&e) {
				lists[i] = append(lists[i], e)
			}
		}
		slices.SortFunc(lists[i], func(x, y knowledge.Edge) int { return x.Compare(&y) })
		lists[i] = lists[i][:min(len(lists[i]), a.Limit)]
	}
	runs := knowledge.Runs(asks, lists)
	if p.scant != nil {
		for i := range runs {
			if n := len(lists[i]); n > 0 && p.scant.IntN(2) == 0 {
				n = 1 + p.scant.IntN(n)
				runs[i] = knowledge.Run{Edges: lists[i][:n], Whole: runs[i].Whole && n == len(lists[i]) && p.scant.IntN(2) == 0}
			}
		}
	}
	return runs, nil
}

// A hoard is a plain graph that has some of its edges at hand.
type hoard struct{ *plain }

func (h hoard) Kept(a *knowledge.Ask) (knowledge.Run, bool) {
	if h.scant.IntN(4) == 0 {
		return knowledge.Run{}, false
	}
	runs, err := h.Edges(context.Background(), []knowledge.Ask{*a})
	return runs[0], err == nil
}

// graph returns a graph of versions: one that answers in full, one that answers in random parts, or
// one that has some edges at hand.
func graph(r *rand.Rand, versions []knowledge.Version) knowledge.Graph {
	switch r.IntN(3) {
	case 0:
		return &plain{versions: versions}
	case 1:
		return &plain{versions: versions, scant: r}
	default:
		return hoard{&plain{versions: versions, scant: r}}
	}
}

// reference is the definition of a traversal, written as plainly as it goes: all ways of one
// hop, sorted, level by level.
func reference(versions []knowledge.Version, aliases *normalize.Table, q knowledge.Query) (reached []knowledge.Reached, cut knowledge.Cut) {
	type place struct {
		name string
		min  dag.PPM
		path []*knowledge.Edge
		from string
	}
	seen := map[string]bool{}
	var level []place
	for _, s := range q.Start {
		if s = aliases.Resolve(s); !seen[s] {
			seen[s] = true
			level = append(level, place{name: s, min: dag.One, from: s})
		}
	}
	for hop := 1; hop <= q.MaxHops; hop++ {
		type way struct {
			place
			parent int
		}
		var ways []way
		for i, at := range level {
			for _, v := range versions {
				for _, e := range []knowledge.Edge{{Version: v}, {Version: v, Incoming: true}} {
					from, to := aliases.Resolve(v.Subject), aliases.Resolve(v.Object)
					if e.Incoming {
						from, to = to, from
					}
					if from != at.name || e.Incoming && q.Direction == knowledge.Outgoing || !e.Incoming && q.Direction == knowledge.Incoming {
						continue
					}
					if v.Since > q.AsOf || v.Until <= q.AsOf || v.Confidence < q.MinConfidence ||
						q.ValidAt != nil && !v.Holds(*q.ValidAt) || len(q.Predicates) > 0 && !slices.Contains(q.Predicates, v.Predicate) {
						continue
					}
					e.Version.Until = dag.MaxSeq
					ways = append(ways, way{place{to, min(at.min, v.Confidence), append(slices.Clone(at.path), &e), at.from}, i})
				}
			}
		}
		slices.SortFunc(ways, func(a, b way) int {
			return cmp.Or(cmp.Compare(b.min, a.min), cmp.Compare(a.parent, b.parent), a.path[len(a.path)-1].Compare(b.path[len(b.path)-1]))
		})
		var next []place
		for _, w := range ways {
			if seen[w.name] {
				continue
			}
			seen[w.name] = true
			next = append(next, w.place)
			if len(reached) == q.MaxResults {
				return reached, knowledge.CutResults
			}
			reached = append(reached, knowledge.Reached{Entity: w.name, Hops: hop, MinConfidence: w.min, Path: w.path, From: w.from})
		}
		level = next
	}
	return reached, knowledge.Whole
}

// world makes a random graph with hubs, repetitions and few confidences, so that ties abound.
func world(r *rand.Rand, entities, facts int) []knowledge.Version {
	name := func() string {
		if r.IntN(3) == 0 {
			return fmt.Sprintf("e%d", r.IntN(2)) // hubs
		}
		return fmt.Sprintf("e%d", r.IntN(entities))
	}
	seen := map[knowledge.ID]bool{}
	var versions []knowledge.Version
	for n := range facts {
		s := knowledge.Statement{Subject: name(), Predicate: fmt.Sprintf("p%d", r.IntN(4)), Object: name(), Until: knowledge.Forever}
		if r.IntN(4) == 0 {
			s.From, s.Until = dag.Time(r.IntN(5)), dag.Time(6+r.IntN(5))
		}
		v := knowledge.Version{Statement: s, ID: s.ID(), Confidence: dag.PPM(1+r.IntN(3)) * 300_000, Since: dag.Seq(1 + n), Until: dag.MaxSeq}
		if r.IntN(4) == 0 {
			v.Until = v.Since + dag.Seq(1+r.IntN(facts))
		}
		if !seen[v.ID] {
			seen[v.ID] = true
			versions = append(versions, v)
		}
	}
	return versions
}

func query(r *rand.Rand, entities, facts int) knowledge.Query {
	q := knowledge.Query{
		Filter:    knowledge.Filter{AsOf: dag.Seq(r.IntN(facts + 2)), MinConfidence: dag.PPM(r.IntN(3)) * 300_000},
		Direction: []knowledge.Direction{knowledge.Outgoing, knowledge.Incoming, knowledge.Both}[r.IntN(3)],
		MaxHops:   1 + r.IntN(4), MaxResults: 1 + r.IntN(12),
	}
	for range 1 + r.IntN(2) {
		q.Start = append(q.Start, fmt.Sprintf("e%d", r.IntN(entities)))
	}
	if r.IntN(2) == 0 {
		q.Predicates = []string{"p1", "p3"}[:1+r.IntN(2)]
	}
	if r.IntN(3) == 0 {
		at := dag.Time(r.IntN(12))
		q.ValidAt = &at
	}
	if r.IntN(3) == 0 {
		q.MaxResults = 500
	}
	return q
}

func aliased(t testing.TB, r *rand.Rand, entities int) *normalize.Table {
	t.Helper()
	var table *normalize.Table
	for range r.IntN(4) {
		with, _, err := table.With(normalize.Change{Alias: fmt.Sprintf("e%d", r.IntN(entities)), Canonical: fmt.Sprintf("e%d", r.IntN(entities))})
		if err == nil {
			table = with
		}
	}
	return table
}

func TestTraverse(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	cut, whole, deep := 0, 0, 0
	for range 60 {
		entities, facts := 3+r.IntN(30), 1+r.IntN(400)
		versions := world(r, entities, facts)
		aliases := aliased(t, r, entities)
		for range 50 {
			q := query(r, entities, facts)
			want, why := reference(versions, aliases, q)
			got, err := knowledge.Traverse(t.Context(), graph(r, versions), aliases, q)
			if err != nil || got.Cut != why || len(got.Reached) != len(want) || len(want) > 0 && !reflect.DeepEqual(got.Reached, want) {
				t.Fatalf("%+v\ngot  %q %+v, %v\nwant %q %+v", q, got.Cut, got.Reached, err, why, want)
			}
			switch why {
			case knowledge.Whole:
				whole++
			default:
				cut++
			}
			if n := len(want); n > 0 && want[n-1].Hops > 2 {
				deep++
			}
		}
	}
	if cut < 100 || whole < 100 || deep < 100 {
		t.Errorf("%d were cut, %d were whole, %d deep; this test shows less than it should", cut, whole, deep)
	}
}

// TestTraverseOrder has 200 edges that are equal except for their ends, given in another order
// each time.
func TestTraverseOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var versions []knowledge.Version
	for n := range 200 {
		s := knowledge.Statement{Subject: "hub", Predicate: "near", Object: fmt.Sprintf("e%d", n), Until: knowledge.Forever}
		versions = append(versions, knowledge.Version{Statement: s, ID: s.ID(), Confidence: 500_000, Since: 1, Until: dag.MaxSeq})
	}
	q := knowledge.Query{Filter: knowledge.Filter{AsOf: 1}, Start: []string{"hub"}, Direction: knowledge.Both, MaxHops: 3, MaxResults: 100}
	var first knowledge.Answer
	for n := range 100 {
		r.Shuffle(len(versions), func(i, j int) { versions[i], versions[j] = versions[j], versions[i] })
		got, err := knowledge.Traverse(t.Context(), &plain{versions: versions}, nil, q)
		if err != nil || len(got.Reached) != 100 || got.Cut != knowledge.CutResults {
			t.Fatalf("%d results, %q, %v", len(got.Reached), got.Cut, err)
		}
		if n == 0 {
			first = got
		} else if !reflect.DeepEqual(got, first) {
			t.Fatal("another order of edges gave another answer")
		}
	}
}

// TestTraverseWork walks a hub of which a filter lets little through.
func TestTraverseWork(t *testing.T) {
	var versions []knowledge.Version
	for n := range knowledge.MaxWork + 10 {
		s := knowledge.Statement{Subject: "hub", Predicate: "near", Object: fmt.Sprint(n), Until: knowledge.Forever}
		id := knowledge.ID{byte(n >> 16), byte(n >> 8), byte(n)} // computing the digests takes longer than the test
		versions = append(versions, knowledge.Version{Statement: s, ID: id, Confidence: 500_000, Since: 1, Until: dag.MaxSeq})
	}
	g := sorted(versions)
	q := knowledge.Query{Filter: knowledge.Filter{AsOf: 1}, Start: []string{"hub"}, Direction: knowledge.Outgoing, MaxHops: 3, MaxResults: 100}
	if got, err := knowledge.Traverse(t.Context(), g, nil, q); err != nil || got.Cut != knowledge.CutResults || got.Looked > 101 {
		t.Errorf("cut %q, looked at %d, %v", got.Cut, got.Looked, err)
	}
	q.Predicates = []string{"far"}
	if got, err := knowledge.Traverse(t.Context(), g, nil, q); err != nil || got.Cut != knowledge.CutWork || len(got.Reached) != 0 {
		t.Errorf("cut %q, %d results, %v", got.Cut, len(got.Reached), err)
	}
}

// sorted is the edges of one subject, in order.
type sorted []knowledge.Version

func (s sorted) Edges(_ context.Context, asks []knowledge.Ask) ([]knowledge.Run, error) {
	lists := make([][]knowledge.Edge, len(asks))
	for i, a := range asks {
		if a.Name != "hub" || a.Incoming {
			continue
		}
		at, _ := slices.BinarySearchFunc(s, a.After, func(v knowledge.Version, m knowledge.Mark) int {
			if m.Before(&knowledge.Edge{Version: v}) {
				return 1
			}
			return -1
		})
		for ; at < len(s) && len(lists[i]) < a.Limit; at++ {
			lists[i] = append(lists[i], knowledge.Edge{Version: s[at]})
		}
	}
	return knowledge.Runs(asks, lists), nil
}

func TestQueryCheck(t *testing.T) {
	good := knowledge.Query{Start: []string{"a"}, Direction: knowledge.Both, MaxHops: 1, MaxResults: 1}
	for what, change := range map[string]func(*knowledge.Query){
		"no start":     func(q *knowledge.Query) { q.Start = nil },
		"no hops":      func(q *knowledge.Query) { q.MaxHops = 0 },
		"many hops":    func(q *knowledge.Query) { q.MaxHops = knowledge.MaxHops + 1 },
		"no results":   func(q *knowledge.Query) { q.MaxResults = 0 },
		"many results": func(q *knowledge.Query) { q.MaxResults = knowledge.MaxResults + 1 },
		"direction":    func(q *knowledge.Query) { q.Direction = "up" },
		"many starts":  func(q *knowledge.Query) { q.Start = make([]string, knowledge.MaxStarts+1) },
	} {
		q := good
		change(&q)
		if err := q.Check(); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
}
