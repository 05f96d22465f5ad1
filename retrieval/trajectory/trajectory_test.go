package trajectory_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval/trajectory"
)

// The second answer to a question is near the first, and far from where the conversation ends.
func Example() {
	id := func(n int) dag.TurnID { return dag.ExternalTurnID("example", fmt.Sprint(n)) }
	minute := dag.Time(60_000_000)
	turns := []trajectory.Turn{
		{ID: id(0), CreatedAt: 0, Terms: []int32{1, 2, 3}, Size: 20},
		{ID: id(1), CreatedAt: minute, Parents: []dag.TurnID{id(0)}, Terms: []int32{1, 2, 4}, Size: 200},
		{ID: id(2), CreatedAt: 2 * minute, Parents: []dag.TurnID{id(0)}, Terms: []int32{1, 2, 3, 4}, Size: 250},
		{ID: id(3), CreatedAt: 10 * minute, Parents: []dag.TurnID{id(2)}, Terms: []int32{9}, Size: 10},
	}
	of := trajectory.Of(turns)
	for i := range of {
		fmt.Println(of[i].Depth, of[i].Sibling, of[i].Homogeneity, of[i].Temporal, of[i].Complexity)
	}
	w := trajectory.Weights{Depth: dag.One, Homogeneity: dag.One, Temporal: dag.One}
	fmt.Println(w.Distance(&of[1], &of[2]), w.Distance(&of[1], &of[3]))
	// Output:
	// 0 0 1 0 0.541707
	// 0.5 0 0.5 0.1 0.950932
	// 0.5 1 0.75 0.2 1
	// 1 0 0 1 0.423945
	// 0.116667 0.633334
}

// scene draws the turns of a conversation.
func scene(r *rand.Rand) []trajectory.Turn {
	turns := make([]trajectory.Turn, r.IntN(30))
	for i := range turns {
		t := &turns[i]
		t.ID = dag.ExternalTurnID("trajectory", fmt.Sprint(r.Uint64()))
		for range r.IntN(3) {
			if i > 0 && r.IntN(6) > 0 {
				t.Parents = append(t.Parents, turns[r.IntN(i)].ID)
			} else {
				t.Parents = append(t.Parents, dag.ExternalTurnID("absent", fmt.Sprint(r.Uint64())))
			}
		}
		t.CreatedAt = dag.Time(r.Int64N([]int64{1, 5_000, 1 << 40, 1 << 52}[r.IntN(4)]))
		for n := range int32(12) {
			if r.IntN(3) == 0 {
				t.Terms = append(t.Terms, n)
			}
		}
		t.Size = r.IntN(1 << r.IntN(30))
	}
	return turns
}

// TestOf compares coordinates with what their definitions say, written out.
func TestOf(t *testing.T) {
	several, deep := 0, 0
	for seed := range uint64(900) {
		turns := scene(rand.New(rand.NewPCG(seed, 1)))
		got := trajectory.Of(turns)
		if len(got) != len(turns) {
			t.Fatalf("%d coordinates of %d turns", len(got), len(turns))
		}
		places := map[dag.TurnID]int{}
		for i := range turns {
			places[turns[i].ID] = i
		}
		first := func(i int) int {
			for _, id := range turns[i].Parents {
				if p, ok := places[id]; ok {
					return p
				}
			}
			return -1
		}
		var depth func(i int) int
		depth = func(i int) (d int) {
			for _, id := range turns[i].Parents {
				if p, ok := places[id]; ok {
					d = max(d, depth(p)+1)
				}
			}
			return d
		}
		part := func(n, most int64) dag.PPM {
			if most == 0 {
				return 0
			}
			x := new(big.Int).Mul(big.NewInt(n), big.NewInt(int64(dag.One)))
			return dag.PPM(x.Div(x, big.NewInt(most)).Int64())
		}
		for i := range turns {
			var want trajectory.Coordinates
			siblings, before, deepest, largest := 0, 0, 0, 0
			earliest, latest := turns[i].CreatedAt, turns[i].CreatedAt
			for k := range turns {
				if first(k) == first(i) {
					siblings++
					before += map[bool]int{true: 1}[k < i]
				}
				deepest, largest = max(deepest, depth(k)), max(largest, turns[k].Size)
				earliest, latest = min(earliest, turns[k].CreatedAt), max(latest, turns[k].CreatedAt)
			}
			want.Depth = part(int64(depth(i)), int64(deepest))
			want.Sibling = part(int64(before), int64(siblings-1))
			want.Homogeneity = dag.One
			if p := first(i); p >= 0 {
				all := map[int32]int{}
				for _, n := range slices.Concat(turns[p].Terms, turns[i].Terms) {
					all[n]++
				}
				both := 0
				for _, n := range all {
					both += n - 1
				}
				if len(all) > 0 {
					want.Homogeneity = part(int64(both), int64(len(all)))
				}
			}
			want.Temporal = part(int64(turns[i].CreatedAt-earliest), int64(latest-earliest))
			want.Complexity = got[i].Complexity // which is compared below
			if got[i] != want {
				t.Fatalf("seed %d, turn %d: %+v, want %+v", seed, i, got[i], want)
			}
			exact := 0.0
			if largest > 0 {
				exact = math.Log2(1+float64(turns[i].Size)) / math.Log2(1+float64(largest))
			}
			if d := float64(got[i].Complexity)/float64(dag.One) - exact; math.Abs(d) > .09 || turns[i].Size == largest && largest > 0 && got[i].Complexity != dag.One {
				t.Fatalf("seed %d, turn %d: complexity %s of size %d, largest %d", seed, i, got[i].Complexity, turns[i].Size, largest)
			}
			several += map[bool]int{true: 1}[siblings > 2 && first(i) >= 0]
			deep += map[bool]int{true: 1}[depth(i) > 3]
		}
	}
	if several < 500 || deep < 500 {
		t.Errorf("%d turns with siblings, %d deep ones: too few to say anything", several, deep)
	}
}

// TestDistance holds that the distance is a metric between 0 and 1 in which weights alone say what counts.
func TestDistance(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	draw := func() dag.PPM {
		return []dag.PPM{0, dag.One, dag.PPM(r.IntN(1_000_001)), dag.PPM(r.IntN(3))}[r.IntN(4)]
	}
	point := func() trajectory.Coordinates {
		return trajectory.Coordinates{Depth: draw(), Sibling: draw(), Homogeneity: draw(), Temporal: draw(), Complexity: draw()}
	}
	for range 20_000 {
		w := trajectory.Weights(point())
		if r.IntN(4) == 0 {
			w = trajectory.Equal
		}
		a, b, c := point(), point(), point()
		ab, bc, ac := w.Distance(&a, &b), w.Distance(&b, &c), w.Distance(&a, &c)
		if ab != w.Distance(&b, &a) || w.Distance(&a, &a) != 0 || ab > dag.One || ac > ab+bc {
			t.Fatalf("%+v: %+v, %+v, %+v are %s, %s and %s apart", w, a, b, c, ab, bc, ac)
		}
		if w == trajectory.Equal && ab == 0 && a != b {
			t.Fatalf("%+v and %+v are not apart", a, b)
		}
		only := trajectory.Weights{Temporal: 1}
		if d := only.Distance(&a, &b); d != max(a.Temporal, b.Temporal)-min(a.Temporal, b.Temporal) {
			t.Fatalf("by time alone: %s for %+v and %+v", d, a, b)
		}
	}
}
