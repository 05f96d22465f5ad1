package retrieval

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
)

// TestAdd spreads the same turns over calls in several ways, for several numbers of processors: all indexes find the same.
func TestAdd(t *testing.T) {
	s := &scene{rand.New(rand.NewPCG(7, 3))}
	p := DefaultPolicy()
	r := &reference{p: &p, erased: map[dag.TurnID]bool{}}
	for n := range 300 {
		turn := s.turn(n, 5)
		if turn.Withheld = n%17 == 0; turn.Withheld {
			turn.Author, turn.Labels, turn.Content = "", "", ""
			r.erased[turn.ID] = true
		}
		r.turns = append(r.turns, turn)
	}
	var queries []*Query
	for range 40 {
		queries = append(queries, s.query(r, r.turns[299].Seq))
	}
	found := 0
	for workers := range 5 {
		x := New(analysis.English, 0)
		for len(x.readers) <= workers {
			x.readers = append(x.readers, newReader(analysis.English))
		}
		x.readers = x.readers[:workers+1]
		for rest := r.turns; len(rest) > 0; {
			n := 1 + s.IntN(min(100, len(rest)))
			if err := x.Add(rest[:n], nil); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		for _, q := range queries {
			got, want := x.Search(&p, q), r.search(q)
			if want = want[:min(len(want), q.Limit)]; !slices.Equal(got, want) {
				t.Fatalf("%d workers, %q: %s", workers+1, q.Text, difference(got, want))
			}
			found += len(got)
		}
	}
	if found < 100 {
		t.Errorf("%d hits: too few to say anything", found)
	}
}
