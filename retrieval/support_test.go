package retrieval

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
)

// TestFloor compares an index of so many turns that a floor holds with the reference.
func TestFloor(t *testing.T) {
	turns, most := 5_000, 30
	if testing.Short() {
		turns, most = 1_300, 12
	}
	s := &scene{rand.New(rand.NewPCG(8, 1))}
	p := FindPolicy()
	x, r := New(analysis.English, sceneDimensions), &reference{p: &p, erased: map[dag.TurnID]bool{}, vectors: map[dag.TurnID][]int8{}}
	for n := range turns {
		turn := s.turn(n, 9)
		v := s.vector()
		if err := x.Add([]Turn{turn}, [][]int8{v}); err != nil {
			t.Fatal(err)
		}
		r.turns, r.vectors[turn.ID] = append(r.turns, turn), v
	}
	fewer := 0
	for range most {
		q := s.query(r, x.Last())
		q.AsOf = min(x.Last(), 2*dag.Seq(700+s.IntN(turns)))
		q.Vector, q.Limit = s.vector(), LimitHits
		p.MaxHits, p.Floor = LimitHits, dag.PPM(s.IntN(2_000_001))
		got, want := x.Search(&p, q), r.search(q)
		if !slices.Equal(got, want) {
			t.Fatalf("%q as of %d: got %d hits, want %d\n%s", q.Text, q.AsOf, len(got), len(want), difference(got, want))
		}
		p.Floor = 0
		if all := x.Search(&p, q); len(all) > len(got) {
			fewer++
		}
	}
	if fewer < most/3 {
		t.Errorf("the floor holds in %d answers: too few to say anything", fewer)
	}
}

// TestFloorOf holds that a floor never falls while turns are added, and its values at powers of 2.
func TestFloorOf(t *testing.T) {
	for turns, want := range map[int64]int64{0: 0, 1: 0, 1_024: 0, 1_536: 50_000, 2_048: 100_000, 8_192: 300_000, 65_536: 600_000, 1 << 40: 600_000} {
		if got := floorOf(600_000, turns); got != want {
			t.Errorf("%d turns: got %d, want %d", turns, got, want)
		}
	}
	last := int64(0)
	for turns := range int64(100_000) {
		floor := floorOf(700_000, turns)
		if floor < last || floor > 700_000 {
			t.Fatalf("%d turns: %d after %d", turns, floor, last)
		}
		last = floor
	}
}
