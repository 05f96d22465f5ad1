package dag_test

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/dag"
)

// slowTopological is the definition: again and again, of the numbers not placed
// whose predecessors are all placed, the one before the others.
func slowTopological(n int, edges [][2]int32, before func(a, b int32) bool) []int32 {
	var needs [64]uint64 // by number: the set of those that come before it
	for _, e := range edges {
		needs[e[1]] |= 1 << e[0]
	}
	placed := uint64(0)
	order := []int32{}
	for {
		best := int32(-1)
		for i := range int32(n) {
			if placed>>i&1 == 0 && needs[i]&^placed == 0 && (best < 0 || before(i, best)) {
				best = i
			}
		}
		if best < 0 {
			return order
		}
		placed |= 1 << best
		order = append(order, best)
	}
}

func byRank(rank []int) func(a, b int32) bool {
	return func(a, b int32) bool { return rank[a] < rank[b] }
}

// TestTopologicalAllGraphs walks all directed graphs, those with cycles and
// loops too, on up to three nodes, and all of four nodes without loops, each
// under several orders.
func TestTopologicalAllGraphs(t *testing.T) {
	ran, cyclic := 0, 0
	for n := range 5 {
		var all [][2]int32
		for a := range int32(n) {
			for b := range int32(n) {
				if a != b || n < 4 {
					all = append(all, [2]int32{a, b})
				}
			}
		}
		for set := range 1 << len(all) {
			edges := subset(all, set)
			for _, rank := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}} {
				want := slowTopological(n, edges, byRank(rank))
				got := dag.Topological(n, edges, byRank(rank))
				if !slices.Equal(got, want) {
					t.Fatalf("%d nodes, edges %v, rank %v: got %v, want %v", n, edges, rank, got, want)
				}
				ran++
				if len(want) < n {
					cyclic++
				}
			}
		}
	}
	if ran != 3*(1+2+16+512+4096) || cyclic == 0 {
		t.Errorf("%d graphs, %d of them with cycles", ran, cyclic)
	}
}

// TestTopologicalAllDAGs walks all acyclic graphs on five nodes, up to naming,
// under all orders of the nodes.
func TestTopologicalAllDAGs(t *testing.T) {
	const n = 5
	var all [][2]int32
	for a := range int32(n) {
		for b := a + 1; b < n; b++ {
			all = append(all, [2]int32{a, b})
		}
	}
	ran := 0
	for set := range 1 << len(all) {
		edges := subset(all, set)
		permutations([]int{0, 1, 2, 3, 4}, func(rank []int) {
			got := dag.Topological(n, edges, byRank(rank))
			if want := slowTopological(n, edges, byRank(rank)); !slices.Equal(got, want) {
				t.Fatalf("edges %v, rank %v: got %v, want %v", edges, rank, got, want)
			}
			ran++
		})
	}
	if ran != 1024*120 {
		t.Errorf("%d cases", ran)
	}
}

// TestTopologicalRandom draws larger graphs, repeated edges among them, so that
// the heap is deeper than two levels.
func TestTopologicalRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "n")
		end := rapid.Int32Range(0, int32(n-1))
		pair := rapid.Custom(func(t *rapid.T) [2]int32 { return [2]int32{end.Draw(t, "from"), end.Draw(t, "to")} })
		edges := rapid.SliceOfN(pair, 0, n).Draw(t, "edges")
		if rapid.Bool().Draw(t, "acyclic") {
			edges = slices.DeleteFunc(edges, func(e [2]int32) bool { return e[0] >= e[1] })
		}
		rank := rapid.Permutation(numbers(n)).Draw(t, "rank")
		kept := slices.Clone(edges)
		got := dag.Topological(n, edges, byRank(rank))
		if want := slowTopological(n, edges, byRank(rank)); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		if !slices.Equal(edges, kept) {
			t.Error("the edges were changed")
		}
		shuffled := rapid.Permutation(edges).Draw(t, "shuffled")
		if again := dag.Topological(n, shuffled, byRank(rank)); !slices.Equal(again, got) {
			t.Errorf("the order of the edges matters: got %v, want %v", again, got)
		}
	})
}

func subset[T any](all []T, set int) []T {
	var some []T
	for i := range all {
		if set>>i&1 == 1 {
			some = append(some, all[i])
		}
	}
	return some
}

func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// permutations calls fn with every order of items.
func permutations[T cmp.Ordered](items []T, fn func([]T)) {
	var walk func(at int)
	walk = func(at int) {
		if at == len(items) {
			fn(items)
			return
		}
		for i := at; i < len(items); i++ {
			items[at], items[i] = items[i], items[at]
			walk(at + 1)
			items[at], items[i] = items[i], items[at]
		}
	}
	walk(0)
}
