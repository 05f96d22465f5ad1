package atlas_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/atlas"
	"github.com/graphkernel/graphkernel/dag"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func id(n int) (id dag.TurnID) {
	binary.BigEndian.PutUint64(id[:], uint64(n)*0x9e3779b97f4a7c15) // in no order
	binary.BigEndian.PutUint64(id[8:], uint64(n))
	return id
}

// turns makes turns with edges from a later one to an earlier one.
func turns(n int, edges [][2]int) []atlas.Turn {
	list := make([]atlas.Turn, n)
	for i := range list {
		list[i] = atlas.Turn{ID: id(i), Seq: dag.Seq(i + 1), Role: dag.RoleUser, Conversation: dag.ConversationID{byte(i % 3)}}
	}
	for _, e := range edges {
		list[e[1]].Parents = append(list[e[1]].Parents, dag.Parent{ID: id(e[0]), Kind: dag.Reply})
	}
	return list
}

// drawn draws edges between n turns.
func drawn(r *rand.Rand, n, count int) (edges [][2]int) {
	for range count {
		if a, b := r.IntN(n), r.IntN(n); a != b {
			edges = append(edges, [2]int{min(a, b), max(a, b)})
		}
	}
	return edges
}

// matrix has the edges of a graph by its own numbers.
func matrix(g *atlas.Graph, n int, edges [][2]int) [][]bool {
	m := make([][]bool, n)
	for i := range m {
		m[i] = make([]bool, n)
	}
	for _, e := range edges {
		a, _ := g.Number(id(e[0]))
		b, _ := g.Number(id(e[1]))
		m[a][b], m[b][a] = true, true
	}
	return m
}

// components counts the parts of a graph without a vertex and without an edge; -1 leaves none out.
func components(m [][]bool, without int, edge [2]int) int {
	seen := make([]bool, len(m))
	var visit func(int)
	visit = func(v int) {
		seen[v] = true
		for u := range m {
			if m[v][u] && !seen[u] && u != without && !(v == edge[0] && u == edge[1]) && !(v == edge[1] && u == edge[0]) {
				visit(u)
			}
		}
	}
	count := 0
	for v := range m {
		if !seen[v] && v != without {
			count++
			visit(v)
		}
	}
	return count
}

// TestCuts takes each vertex and each edge away.
func TestCuts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	cuts, bridges := 0, 0
	for range 3000 {
		n := 1 + r.IntN(8)
		edges := drawn(r, n, r.IntN(12))
		g := atlas.New(turns(n, edges))
		m := matrix(g, n, edges)
		var want atlas.Cuts
		whole := components(m, -1, [2]int{-1, -1})
		for v := range n {
			alone := !slices.Contains(m[v], true)
			if !alone && components(m, v, [2]int{-1, -1}) > whole {
				want.Turns = append(want.Turns, int32(v))
			}
			for u := v + 1; u < n; u++ {
				if m[v][u] && components(m, -1, [2]int{v, u}) > whole {
					want.Bridges = append(want.Bridges, [2]int32{int32(v), int32(u)})
				}
			}
		}
		if got := g.Cuts(); !reflect.DeepEqual(got, want) {
			t.Fatalf("%d turns, %v: %+v, want %+v", n, edges, got, want)
		}
		cuts, bridges = cuts+len(want.Turns), bridges+len(want.Bridges)
	}
	if cuts < 1000 || bridges < 1000 {
		t.Errorf("%d cut vertices and %d bridges were drawn", cuts, bridges)
	}
	if testing.Short() {
		return
	}
	// As deep as no recursion goes.
	var path [][2]int
	for i := range 200_000 - 1 {
		path = append(path, [2]int{i, i + 1})
	}
	if c := atlas.New(turns(200_000, path)).Cuts(); len(c.Bridges) != 199_999 || len(c.Turns) != 199_998 {
		t.Errorf("of a path %d bridges and %d cut vertices", len(c.Bridges), len(c.Turns))
	}
}

// TestBetweenness compares with all pairs and all their shortest ways, in fractions.
func TestBetweenness(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 400 {
		n := 2 + r.IntN(7)
		edges := drawn(r, n, r.IntN(14))
		g := atlas.New(turns(n, edges))
		m := matrix(g, n, edges)
		far, ways := make([][]int, n), make([][]int64, n) // Floyd and Warshall, and the count of ways by length
		for v := range n {
			far[v], ways[v] = make([]int, n), make([]int64, n)
			for u := range n {
				far[v][u] = 1 << 20
			}
			far[v][v], ways[v][v] = 0, 1
			for d := 1; d < n; d++ {
				for u := range n {
					for w := range n {
						if m[w][u] && far[v][w] == d-1 && far[v][u] >= d {
							far[v][u] = d
							ways[v][u] += ways[v][w]
						}
					}
				}
			}
		}
		got, sampled, _ := g.Betweenness(t.Context(), 3)
		if sampled {
			t.Fatal("sampled")
		}
		for x := range n {
			sum := new(big.Rat)
			for a := range n {
				for b := a + 1; b < n; b++ {
					if a != x && b != x && far[a][b] < 1<<20 && far[a][x]+far[x][b] == far[a][b] {
						sum.Add(sum, big.NewRat(ways[a][x]*ways[x][b], ways[a][b]))
					}
				}
			}
			want, _ := sum.Float64()
			if is := float64(got[x]) / (1 << 20); is > want+1e-9 || is < want-1e-3 {
				t.Fatalf("%d turns, %v: turn %d has %f, want %f", n, edges, x, is, want)
			}
		}
	}
}

// TestManyWays counts in a row of diamonds, through which there are more ways than numbers have bits: each side of one has half of the ways between what is before and after it.
func TestManyWays(t *testing.T) {
	const diamonds = 200
	var edges [][2]int
	for i := range diamonds {
		for side := 1; side <= 2; side++ {
			edges = append(edges, [2]int{3 * i, 3*i + side}, [2]int{3*i + side, 3*i + 3})
		}
	}
	g := atlas.New(turns(3*diamonds+1, edges))
	sums, _, _ := g.Betweenness(t.Context(), 2)
	for i := range diamonds {
		n, _ := g.Number(id(3*i + 1))
		want := float64((3*i+1)*(3*(diamonds-i-1)+1)) / 2
		if is := float64(sums[n]) / (1 << 20); is > want*1.0001 || is < want*.9999 {
			t.Fatalf("diamond %d: %f, want %f", i, is, want)
		}
	}
}

// TestPageRank compares with the same in floating point.
func TestPageRank(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 300 {
		n := 1 + r.IntN(9)
		list := turns(n, drawn(r, n, r.IntN(14)))
		g := atlas.New(list)
		rank := make([]float64, n)
		for i := range rank {
			rank[i] = 1 / float64(n)
		}
		for range atlas.Rounds {
			next := make([]float64, n)
			for i := range rank {
				seen := map[int32]bool{}
				for _, p := range g.Turns[i].Parents {
					at, _ := g.Number(p.ID)
					seen[at] = true
				}
				for p := range seen {
					next[p] += .85 * rank[i] / float64(len(seen))
				}
				for j := range next {
					next[j] += .15 * rank[i] / float64(n)
					if len(seen) == 0 {
						next[j] += .85 * rank[i] / float64(n)
					}
				}
			}
			rank = next
		}
		for i, v := range must(g.PageRank(t.Context())) {
			if is := float64(v) / (1 << 50); is > rank[i]+1e-9 || is < rank[i]-1e-9 {
				t.Fatalf("%d turns: turn %d has %g, want %g", n, i, is, rank[i])
			}
		}
	}
}

// modularity computes it in fractions.
func modularity(n int, edges [][2]int32, of []int32) float64 {
	degree, within := make([]float64, n), 0.0
	for _, e := range edges {
		degree[e[0]]++
		degree[e[1]]++
		if of[e[0]] == of[e[1]] {
			within++
		}
	}
	m := float64(len(edges))
	sums := map[int32]float64{}
	for i, d := range degree {
		sums[of[i]] += d
	}
	q := within / m
	for _, s := range sums {
		q -= s / (2 * m) * s / (2 * m)
	}
	return q
}

// parted draws a graph of groups with more edges within than between, and hides the order of its numbers.
func parted(r *rand.Rand, groups, size, within, between int) (n int, edges [][2]int32) {
	n = groups * size
	hide := r.Perm(n)
	add := func(a, b int) {
		if a != b {
			edges = append(edges, [2]int32{int32(hide[a]), int32(hide[b])})
		}
	}
	for g := range groups {
		for range within {
			add(g*size+r.IntN(size), g*size+r.IntN(size))
		}
	}
	for range between {
		add(r.IntN(n), r.IntN(n))
	}
	return n, edges
}

// TestCommunities holds that they are connected, that their modularity is the one that is said, that no single move gains, and that planted ones are found. On small graphs the best
// parting of all is known.
func TestCommunities(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	optimal := 0
	for range 300 {
		n := 2 + r.IntN(6)
		var edges [][2]int32
		for _, e := range drawn(r, n, 1+r.IntN(12)) {
			edges = append(edges, [2]int32{int32(e[0]), int32(e[1])})
		}
		if len(edges) == 0 {
			continue
		}
		c := must(atlas.Parted(t.Context(), n, edges))
		holds(t, n, edges, c)
		best := 0.0
		var all func(of []int32, count int32)
		all = func(of []int32, count int32) {
			if len(of) == n {
				best = max(best, modularity(n, edges, of))
				return
			}
			for next := range count + 1 {
				all(append(slices.Clone(of), next), max(count, next+1))
			}
		}
		all(nil, 0)
		if is := modularity(n, edges, c.Of); is < best-.1 {
			t.Errorf("%v: modularity %f, and the best is %f", edges, is, best)
		} else if is > best-1e-9 {
			optimal++
		}
	}
	if optimal < 270 {
		t.Errorf("%d of 300 are the best ones", optimal)
	}
	n, edges := parted(r, 20, 30, 150, 200)
	c := must(atlas.Parted(t.Context(), n, edges))
	holds(t, n, edges, c)
	if len(c.List) != 20 {
		t.Errorf("%d communities, planted were 20", len(c.List))
	}
}

func holds(t *testing.T, n int, edges [][2]int32, c atlas.Communities) {
	t.Helper()
	if is := modularity(n, edges, c.Of); float64(c.Modularity) > is*1e6+2 || float64(c.Modularity) < is*1e6-2 {
		t.Errorf("modularity %d, want %f", c.Modularity, is)
	}
	members := 0
	for i, list := range c.List {
		members += len(list)
		reached := map[int32]bool{list[0]: true}
		for grown := true; grown; {
			grown = false
			for _, e := range edges {
				if c.Of[e[0]] == int32(i) && c.Of[e[1]] == int32(i) && reached[e[0]] != reached[e[1]] {
					reached[e[0]], reached[e[1]], grown = true, true, true
				}
			}
		}
		if len(reached) != len(list) {
			t.Errorf("a community of %d is not connected", len(list))
		}
		if i > 0 && len(list) > len(c.List[i-1]) {
			t.Error("the largest is not first")
		}
	}
	if members != n {
		t.Errorf("%d members of %d", members, n)
	}
}

// TestOverlaps compares with every pair.
func TestOverlaps(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 200 {
		var sets []atlas.Set
		for range r.IntN(12) {
			var members []int32
			for n := range int32(10) {
				if r.IntN(2) == 0 {
					members = append(members, n)
				}
			}
			sets = append(sets, atlas.Set{Members: members})
		}
		want := everyPair(sets)
		most := 1 + r.IntN(20)
		want = want[:min(len(want), most)]
		if got, _, _ := atlas.Overlaps(t.Context(), sets, most, 1+r.IntN(4)); len(got)+len(want) > 0 && !slices.Equal(got, want) {
			t.Fatalf("%v: %v, want %v", sets, got, want)
		}
	}
}

// everyPair compares every pair.
func everyPair(sets []atlas.Set) (all []atlas.Pair) {
	for b := range sets {
		for a := range b {
			shared, either := 0, map[int32]bool{}
			for _, n := range sets[b].Members {
				either[n] = true
			}
			for _, n := range sets[a].Members {
				if either[n] {
					shared++
				}
			}
			for _, n := range sets[a].Members {
				either[n] = true
			}
			if shared > 0 {
				all = append(all, atlas.Pair{A: int32(a), B: int32(b), Shared: int32(shared), Jaccard: shared * 1_000_000 / len(either)})
			}
		}
	}
	slices.SortFunc(all, func(a, b atlas.Pair) int {
		return cmp.Or(cmp.Compare(b.Jaccard, a.Jaccard), cmp.Compare(b.Shared, a.Shared), cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
	})
	return all
}

// TestOverlapsOfMany finds planted pairs among more sets than are compared with each other.
func TestOverlapsOfMany(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	var sets []atlas.Set
	for range atlas.AllPairs + 500 {
		var members []int32
		for range 8 {
			members = append(members, r.Int32N(1<<30))
		}
		slices.Sort(members)
		sets = append(sets, atlas.Set{Members: slices.Compact(members)})
	}
	const planted = 200
	for i := range planted { // seven of eight are the same: an index of 7/9
		twin := slices.Clone(sets[i].Members)
		twin[0] = r.Int32N(1 << 30)
		slices.Sort(twin)
		sets = append(sets, atlas.Set{Members: twin})
	}
	got, sampled, _ := atlas.Overlaps(t.Context(), sets, 1000, 2)
	if !sampled || len(got) < planted*99/100 || got[0].Jaccard != 777_777 {
		t.Errorf("%d pairs of %d planted", len(got), planted)
	}
}

// TestOverlapsOfEqual compares more sets than are compared with each other, all of them equal, in less than a second: squares of them would take minutes. Groups of equal sets are ranked as if each had been
// compared.
func TestOverlapsOfEqual(t *testing.T) {
	var members []int32
	for n := range int32(200) {
		members = append(members, 3*n)
	}
	sets := make([]atlas.Set, atlas.AllPairs+1)
	for i := range sets {
		sets[i].Members = slices.Clone(members)
	}
	begun := time.Now()
	pairs, sampled, err := atlas.Overlaps(t.Context(), sets, 20, 2)
	if took := time.Since(begun); took > time.Second {
		t.Errorf("%d equal sets took %s", len(sets), took)
	}
	if err != nil || !sampled || len(pairs) != 20 || pairs[19] != (atlas.Pair{A: 0, B: 20, Shared: 200, Jaccard: 1_000_000}) {
		t.Errorf("%v, %v", pairs, err)
	}
	r := rand.New(rand.NewPCG(11, 11))
	for range 100 {
		var kinds [][]int32
		for range 2 + r.IntN(4) {
			var members []int32
			for n := range int32(6) {
				if r.IntN(2) == 0 {
					members = append(members, n)
				}
			}
			kinds = append(kinds, members)
		}
		var sets []atlas.Set
		for range r.IntN(25) {
			sets = append(sets, atlas.Set{Members: kinds[r.IntN(len(kinds))]})
		}
		most := 1 + r.IntN(300)
		want := everyPair(sets)
		want = want[:min(len(want), most)]
		if got, _, _ := atlas.Overlaps(t.Context(), sets, most, 1+r.IntN(4)); len(got)+len(want) > 0 && !slices.Equal(got, want) {
			t.Fatalf("%v: %v, want %v", sets, got, want)
		}
	}
}

// TestRanking reads a ranking on while sets come and go. Each time it is that of a ranking made from nothing, and it is made from nothing only now and then.
func TestRanking(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	on, anew, short := 0, 0, 0
	for range 60 {
		var names []uint64
		var sets []atlas.Set
		last := uint64(0)
		draw := func() {
			last += 1 + r.Uint64N(3)
			var members []int32
			for n := range int32(14) {
				if r.IntN(3) == 0 {
					members = append(members, n)
				}
			}
			at := len(names)
			if r.IntN(4) == 0 { // a name between others: of what was not looked at before
				at = r.IntN(at + 1)
			}
			if at < len(names) {
				before := uint64(0)
				if at > 0 {
					before = names[at-1]
				}
				if names[at]-before < 2 {
					return
				}
				names, sets = slices.Insert(names, at, names[at]-1), slices.Insert(sets, at, atlas.Set{Members: members})
				return
			}
			names, sets = append(names, last), append(sets, atlas.Set{Members: members})
		}
		for range 20 {
			draw()
		}
		most := 5 + r.IntN(300)
		kept := must(atlas.Rank(t.Context(), names, sets, most, 2))
		for range 30 {
			for range r.IntN(3) {
				draw()
			}
			for range r.IntN(3) {
				at := r.IntN(1 + len(names)/2)
				names, sets = slices.Delete(slices.Clone(names), at, at+1), slices.Delete(slices.Clone(sets), at, at+1)
			}
			fresh := must(atlas.Rank(t.Context(), names, sets, most, 2))
			next := must(kept.On(t.Context(), names, sets))
			if next == nil {
				anew++
				kept = fresh
				continue
			}
			on++
			for n := range most + 1 {
				got, ok := next.First(n)
				want, all := fresh.First(n)
				if !ok {
					short++
					continue
				}
				if all && !slices.Equal(got, want) {
					t.Fatalf("read on, the first %d are\n%v\nfrom nothing\n%v", n, got, want)
				}
			}
			kept = next
		}
	}
	if on < 1000 || anew == 0 || short == 0 {
		t.Errorf("%d times read on, %d made anew, %d lists were too short", on, anew, short)
	}
}

// TestEnds asks with a context that has ended.
func TestEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g := atlas.New(turns(5, [][2]int{{0, 1}, {1, 2}, {2, 3}, {2, 4}}))
	sets := []atlas.Set{{Members: []int32{1, 2}}, {Members: []int32{2, 3}}}
	_, ranked := g.PageRank(ctx)
	_, _, between := g.Betweenness(ctx, 2)
	_, parted := g.Communities(ctx)
	_, _, compared := atlas.Overlaps(ctx, sets, 5, 2)
	names := []uint64{1, 2, 3, 4, 5}
	five := append(slices.Clone(sets), sets[0], sets[1], sets[0])
	_, on := must(atlas.Rank(t.Context(), names[:4], five[:4], 5, 2)).On(ctx, names, five)
	for name, err := range map[string]error{"rank": ranked, "betweenness": between, "communities": parted, "overlap": compared, "overlap read on": on} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSame holds that nothing follows from the order of the input or from the number of workers.
func TestSame(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	const n = 6000
	var edges [][2]int
	for i := 1; i < n; i++ {
		edges = append(edges, [2]int{r.IntN(i), i})
	}
	edges = append(edges, drawn(r, n, 2000)...)
	of := func(order []int, workers int) string {
		list := turns(n, edges)
		moved := make([]atlas.Turn, n)
		for i, at := range order {
			moved[at] = list[i]
			slices.Reverse(moved[at].Parents)
		}
		g := atlas.New(moved)
		between, sampled, _ := g.Betweenness(t.Context(), workers)
		var sets []atlas.Set
		for i := range int32(300) {
			sets = append(sets, atlas.Set{Members: []int32{i, i + 1 + i%7, i + 20}})
		}
		pairs, _, _ := atlas.Overlaps(t.Context(), sets, 50, workers)
		return fmt.Sprint(sampled, between, must(g.PageRank(t.Context())), g.Cuts(), must(g.Communities(t.Context())), g.Snapshot(n), pairs)
	}
	want := of(r.Perm(n), 1)
	for _, workers := range []int{2, 8} {
		if of(r.Perm(n), workers) != want {
			t.Errorf("other results with %d workers and in another order", workers)
		}
	}
}

// TestDigest holds that every processor computes the same. A change of what is computed changes the digest.
func TestDigest(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	const n = 300
	var edges [][2]int
	for i := 1; i < n; i++ {
		edges = append(edges, [2]int{r.IntN(i), i})
	}
	g := atlas.New(turns(n, append(edges, drawn(r, n, 200)...)))
	between, _, _ := g.Betweenness(t.Context(), 2)
	var sets []atlas.Set
	for i := range int32(100) {
		sets = append(sets, atlas.Set{Members: []int32{i, i + 1 + i%7, i + 20}})
	}
	pairs, _, _ := atlas.Overlaps(t.Context(), sets, 50, 2)
	sum := sha256.Sum256([]byte(fmt.Sprint(between, must(g.PageRank(t.Context())), g.Cuts(), must(g.Communities(t.Context())), g.Snapshot(n), pairs)))
	if got := hex.EncodeToString(sum[:]); got != digest {
		t.Errorf("the digest is %s", got)
	}
}

const digest = "45a940dc41ea66a8e07c955ae4313eab3db591f3b14c6d3b91aec805cd2573bb"

// TestSnapshot counts by hand.
func TestSnapshot(t *testing.T) {
	// 0 - 1 - 2 - 3, and 1 - 4, and 5 continues 2 and 4.
	list := turns(6, [][2]int{{0, 1}, {1, 2}, {2, 3}, {1, 4}, {2, 5}, {4, 5}})
	s := atlas.New(list).Snapshot(6)
	if s.Turns != 6 || s.Edges != 6 || s.Roots != 1 || s.Leaves != 2 || s.Branches != 2 || s.Merges != 1 || s.Depth != 3 || s.Conversations != 3 {
		t.Errorf("%+v", s)
	}
	if want := []atlas.Count{{"0", 1}, {"1", 1}, {"2-3", 4}}; !slices.Equal(s.Depths, want) {
		t.Errorf("depths %v, want %v", s.Depths, want)
	}
	if last := s.Growth[len(s.Growth)-1]; !reflect.DeepEqual(last, atlas.Step{Upto: 6, Turns: 6, Conversations: 3, Roles: s.Roles, Phases: s.Phases}) ||
		!reflect.DeepEqual(s.Growth[0], atlas.Step{Upto: 1, Turns: 1, Conversations: 1, Roles: []atlas.Count{{"user", 1}}, Phases: []atlas.Count{{"", 1}}}) {
		t.Errorf("growth %v", s.Growth)
	}
}

// TestWithout leaves turns out of a choice that is known: the three with the highest weights, and one more if a certain pair is there.
func TestWithout(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	found := 0
	for range 300 {
		n := 3 + r.IntN(6)
		var all []dag.TurnID
		weight := map[dag.TurnID]int{}
		for i := range n {
			all = append(all, id(i))
			weight[id(i)] = r.IntN(5)
		}
		threshold := r.IntN(12)
		shy := r.IntN(3) == 0 // leaving everything out changes nothing
		cut := func(without []dag.TurnID) (bool, error) {
			sum := 0
			for _, turn := range all {
				if !slices.Contains(without, turn) {
					sum += weight[turn]
				}
			}
			return sum >= threshold || shy && len(without) == len(all), nil
		}
		got, err := atlas.Without(all, cut)
		if err != nil {
			t.Fatal(err)
		}
		whole, _ := cut(nil)
		bare, _ := cut(all)
		if len(got) == 0 {
			if whole != bare {
				t.Fatal("nothing, and leaving all out changes the choice")
			}
			if last, _ := cut(all[n-2:]); last != whole {
				t.Fatal("nothing, and leaving the last two out changes the choice")
			}
			continue
		}
		found++
		if changed, _ := cut(got); changed == whole {
			t.Fatal("leaving the set out changes nothing")
		}
		for i := range got {
			if still, _ := cut(slices.Delete(slices.Clone(got), i, i+1)); still != whole {
				t.Fatalf("%v is not minimal", got)
			}
		}
	}
	if found < 50 {
		t.Errorf("%d sets were found", found)
	}
}

func BenchmarkAtlas(b *testing.B) {
	r := rand.New(rand.NewPCG(9, 9))
	const n = 100_000
	var edges [][2]int
	for i := 1; i < n; i++ {
		edges = append(edges, [2]int{max(0, i-1-r.IntN(3)), i})
	}
	for range n / 10 {
		i := 1 + r.IntN(n-1)
		edges = append(edges, [2]int{r.IntN(i), i})
	}
	var sets []atlas.Set
	for range 10_000 {
		begin := r.Int32N(n - 200)
		var members []int32
		for m := range int32(200) {
			if r.IntN(4) > 0 {
				members = append(members, begin+m)
			}
		}
		sets = append(sets, atlas.Set{Members: members})
	}
	list := turns(n, edges)
	for b.Loop() {
		g := atlas.New(slices.Clone(list))
		must(g.PageRank(b.Context()))
		if _, _, err := g.Betweenness(b.Context(), 2); err != nil {
			b.Fatal(err)
		}
		g.Cuts()
		b.ReportMetric(float64(must(g.Communities(b.Context())).Modularity), "modularity/M")
		if _, _, err := atlas.Overlaps(b.Context(), sets, 100, 2); err != nil {
			b.Fatal(err)
		}
	}
}
