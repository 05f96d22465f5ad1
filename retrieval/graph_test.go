package retrieval

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
	"github.com/graphkernel/graphkernel/retrieval/embed"
)

// linkAll extends the graph of an index as far as it goes.
func linkAll(x *Index, workers int) {
	if !x.WantsLinks() {
		return
	}
	x.BeginLinks(workers)
	for x.Link() {
	}
	x.EndLinks()
}

// near draws vectors around those of a few words, so that some are alike.
func (s *scene) near(centres [][]int8) []int8 {
	centre := centres[s.IntN(len(centres))]
	v := make([]int64, len(centre))
	for i := range v {
		v[i] = int64(centre[i]) + int64(s.IntN(31)-15)
	}
	return embed.Normalize(v)
}

// TestGraph compares searches that walk the graph with those that compare all vectors: nearly all hits are the same, of the hits of both each has the
// same score except for how the likeness of others bounds it, what is erased is gone at once, and what is new is found at once. It holds which searches compare all.
func TestGraph(t *testing.T) {
	s := &scene{rand.New(rand.NewPCG(3, 9))}
	const dimensions, total, over = 24, 2_300, 1_000
	var centres [][]int8
	for range 30 {
		v := make([]int8, dimensions)
		for i := range v {
			v[i] = int8(s.IntN(151) - 75)
		}
		centres = append(centres, v)
	}
	one := New(analysis.English, dimensions)
	one.GraphOver(over)
	p := DensePolicy()
	p.Dense.Weight = 800_000
	walks, same, wanted := 0, 0, 0
	var turns []Turn
	erased := map[dag.TurnID]bool{}
	for n := range total {
		turn, v := s.turn(n, 40), s.near(centres)
		if s.IntN(20) == 0 {
			v = nil
		}
		turns = append(turns, turn)
		if err := one.Add([]Turn{turn}, [][]int8{v}); err != nil {
			t.Fatal(err)
		}
		linkAll(one, 1)
		if s.IntN(9) == 0 {
			gone := turns[s.IntN(len(turns))].ID
			erased[gone] = true
			one.Erase(gone)
			if one.graph != nil {
				for _, h := range one.graph.Search(s.near(centres), total, total) {
					if h.ID == gone {
						t.Fatalf("turn %s was erased and is in the graph", gone)
					}
				}
			}
		}
		if n < over || n%8 > 0 {
			continue
		}
		q := Query{Text: s.query(&reference{turns: turns, p: &p, erased: erased}, turn.Seq).Text, Vector: s.near(centres), AsOf: turn.Seq, Limit: 10, Approximate: true}
		got := one.SearchWith(&p, &q, nil)
		exact := q
		exact.Approximate = false
		want := one.SearchWith(&p, &exact, nil)
		if want.Approximate {
			t.Fatal("a search that must be exact is not")
		}
		if !got.Approximate {
			continue
		}
		walks++
		scores := map[dag.TurnID]Hit{}
		for _, h := range want.Hits {
			scores[h.Turn.ID] = h
		}
		for _, h := range got.Hits {
			if erased[h.Turn.ID] {
				t.Fatalf("turn %s was erased and is found", h.Turn.ID)
			}
			if w, ok := scores[h.Turn.ID]; ok {
				same++
				if h.Words != w.Words || h.Like-w.Like > 100_000 || w.Like-h.Like > 100_000 {
					t.Errorf("turn %s has %+v, and %+v exactly", h.Turn.ID, h, w)
				}
			}
		}
		wanted += len(want.Hits)
		fresh := Query{Text: "zzz", Vector: one.vectors.At(len(turns) - 1), AsOf: turn.Seq, Limit: 3, Approximate: true}
		if v != nil && !erased[turn.ID] && !turn.Withheld && !one.turns.at(int32(n)).Silent {
			if hits := one.Search(&p, &fresh); !slices.ContainsFunc(hits, func(h Hit) bool { return h.Turn.ID == turn.ID }) {
				t.Errorf("the newest turn is not found by its own vector: %+v", hits)
			}
		}
	}
	if walks < 50 || same*100 < wanted*95 {
		t.Errorf("%d walks; %d of %d hits are those of an exact search", walks, same, wanted)
	}

	if bytes := one.Size() - one.size; bytes != one.graph.Size() || bytes < 2_000*160 {
		t.Errorf("the graph has %d bytes, counted are %d", one.graph.Size(), bytes)
	}
	narrow := map[string]func(*Query){
		"an earlier number": func(q *Query) { q.AsOf-- }, "a role": func(q *Query) { q.Role = dag.RoleUser }, "an author": func(q *Query) { q.Author = "human:anna" },
		"a conversation": func(q *Query) { q.Conversation = &turns[0].Conversation }, "since": func(q *Query) { q.Since = &turns[0].CreatedAt },
		"until": func(q *Query) { q.Until = &turns[0].CreatedAt }, "a turn whose score is wanted": func(q *Query) { q.Also = []dag.TurnID{turns[0].ID} },
		"no vector": func(q *Query) { q.Vector = nil },
	}
	base := Query{Text: "slice", Vector: s.near(centres), AsOf: one.Last(), Limit: 10, Approximate: true}
	if !one.SearchWith(&p, &base, nil).Approximate {
		t.Fatal("the graph is not walked")
	}
	for name, change := range narrow {
		q := base
		if change(&q); one.SearchWith(&p, &q, nil).Approximate {
			t.Errorf("%s: the search is not exact", name)
		}
	}
	if r := one.SearchWith(&p, &base, nil); one.SearchWith(&p, &base, &r.Statistics).Approximate {
		t.Error("with statistics of another search: the search is not exact")
	}
	one.BeginLinks(1)
	if one.SearchWith(&p, &base, nil).Approximate || one.WantsLinks() {
		t.Error("the graph is walked while it is extended")
	}
	one.EndLinks()
	for _, turn := range turns {
		if one.vectors.Count() > over {
			one.Erase(turn.ID)
		}
	}
	if one.SearchWith(&p, &base, nil).Approximate || one.WantsLinks() {
		t.Error("the graph is walked though there are few vectors")
	}
}

// TestGraphIsOne holds that the answers of graphs that were extended at other times and by other numbers of workers are the same.
func TestGraphIsOne(t *testing.T) {
	const dimensions, total = 16, 1_200
	s := &scene{rand.New(rand.NewPCG(8, 9))}
	var turns []Turn
	var vectors [][]int8
	centres := [][]int8{make([]int8, dimensions), slices.Repeat([]int8{40}, dimensions), slices.Repeat([]int8{-40, 40}, dimensions/2)}
	for n := range total {
		turns, vectors = append(turns, s.turn(n, 9)), append(vectors, s.near(centres))
	}
	p := DensePolicy()
	var queries []Query
	for range 40 {
		queries = append(queries, Query{Text: "slice store", Vector: s.near(centres), AsOf: turns[total-1].Seq, Limit: 12, Approximate: true})
	}
	var first [][]Hit
	for _, step := range []int{total, 1, 300, 777} {
		x := New(analysis.English, dimensions)
		x.GraphOver(100)
		for at := 0; at < total; at += step {
			to := min(total, at+step)
			if err := x.Add(turns[at:to], vectors[at:to]); err != nil {
				t.Fatal(err)
			}
			linkAll(x, 1+step%4)
		}
		for i := range queries {
			r := x.SearchWith(&p, &queries[i], nil)
			if !r.Approximate || len(r.Hits) == 0 {
				t.Fatalf("%+v", r)
			}
			if step == total {
				first = append(first, r.Hits)
			} else if !slices.Equal(r.Hits, first[i]) {
				t.Errorf("step %d, query %d: %s", step, i, difference(r.Hits, first[i]))
			}
		}
	}
}
