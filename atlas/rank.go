package atlas

import (
	"context"
	"math/bits"
	"slices"
	"sync"
)

// Parameters of PageRank.
const (
	Rounds  = 60              // of PageRank; after these, less than 0.85^60 (6 in 100 000) of the whole still moves
	damping = 850_000         // millionths that follow an edge
	mass    = uint64(1) << 50 // of all turns together, large enough to distinguish one millionth of a millionth
	million = uint64(1_000_000)
)

// PageRank returns the rank of each turn, in parts of 2^50 for all turns: the probability of meeting a reader there who walks from
// turns to their parents, and in 15 % of the steps jumps anywhere. A turn without parents leads anywhere. Divisions round down, so the
// sum may lack up to 2 parts for each turn and round. The cost is Rounds times the number of edges. It ends early if the context does.
func (g *Graph) PageRank(ctx context.Context) ([]uint64, error) {
	n := uint64(len(g.Turns))
	if n == 0 {
		return nil, nil
	}
	rank, next := make([]uint64, n), make([]uint64, n)
	for i := range rank {
		rank[i] = mass / n
	}
	for range Rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		lost := uint64(0) // the rank of turns without parents
		clear(next)
		for i := range rank {
			parents := g.parents.of(int32(i))
			if len(parents) == 0 {
				lost += rank[i]
				continue
			}
			part := scaled(rank[i], damping, million) / uint64(len(parents))
			for _, p := range parents {
				next[p] += part
			}
		}
		base := (scaled(mass, million-damping, million) + scaled(lost, damping, million)) / n
		for i := range next {
			next[i] += base
		}
		rank, next = next, rank
	}
	return rank, nil
}

// scaled returns a·b/c, rounded down. The result must fit 64 bits.
func scaled(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	q, _ := bits.Div64(hi, lo, c)
	return q
}

// Parameters of Betweenness.
const (
	allSources = 5000 // up to this many turns, the paths from all of them are counted
	sources    = 256  // otherwise the paths from this many, drawn by a fixed seed
	one        = uint64(1) << 20
	pathBits   = 40 // bits of a count of paths: larger counts are scaled down together, by their distance from the source
)

// Betweenness returns for each turn the sum, over all pairs of other turns, of the share of their shortest paths that lead through it, in parts of
// 2^20. Edges are walked in both directions. Of more than 5 000 turns, only the paths from 256 are counted, drawn by a fixed seed, and the sums are
// scaled up. Divisions round down. The cost is the number of sources times the number of edges, in parallel. It ends early if the context does.
func (g *Graph) Betweenness(ctx context.Context, workers int) (sums []uint64, sampled bool, err error) {
	n := len(g.Turns)
	from := make([]int32, n)
	for i := range from {
		from[i] = int32(i)
	}
	if n > allSources {
		slices.SortFunc(from, func(a, b int32) int {
			if x, y := mix(uint64(a)), mix(uint64(b)); x != y {
				if x < y {
					return -1
				}
				return 1
			}
			return 0
		})
		from, sampled = from[:sources], true
	}
	workers = max(1, min(workers, len(from)))
	parts := make([][]uint64, workers)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			walk := newWalk(n)
			parts[w] = make([]uint64, n)
			for i := w; i < len(from) && ctx.Err() == nil; i += workers {
				walk.from(g, from[i], parts[w])
			}
		})
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return nil, sampled, err
	}
	sums = make([]uint64, n)
	for _, part := range parts {
		for i, v := range part {
			sums[i] += v
		}
	}
	for i := range sums {
		if sampled {
			hi, lo := bits.Mul64(sums[i], uint64(n))
			sums[i], _ = bits.Div64(hi, lo, uint64(len(from)))
		}
		sums[i] /= 2 // each pair was counted from both ends
	}
	return sums, sampled, nil
}

// mix spreads a number over 64 bits (the finalizer of SplitMix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// A walk is a breadth-first search that reuses its memory.
type walk struct {
	order []int32
	far   []int32  // -1: not reached
	ways  []uint64 // shortest paths to a turn, in the scale of the turns one edge nearer
	paths []uint64 // the same, in the scale of its own distance
	share []uint64
}

func newWalk(n int) *walk {
	w := &walk{order: make([]int32, 0, n), far: make([]int32, n), ways: make([]uint64, n), paths: make([]uint64, n), share: make([]uint64, n)}
	for i := range w.far {
		w.far[i] = -1
	}
	return w
}

// from adds to each turn its share of the shortest paths from the turn s (Brandes, algorithm 1).
func (w *walk) from(g *Graph, s int32, into []uint64) {
	w.order = append(w.order[:0], s)
	w.far[s], w.ways[s] = 0, 1
	for i := 0; i < len(w.order); {
		level := w.order[i:] // the turns at one distance
		w.scale(level)
		for _, v := range level {
			for _, u := range g.around.of(v) {
				if w.far[u] < 0 {
					w.far[u] = w.far[v] + 1
					w.order = append(w.order, u)
				}
				if w.far[u] == w.far[v]+1 {
					w.ways[u] += w.paths[v]
				}
			}
		}
		i += len(level)
	}
	for i := len(w.order) - 1; i >= 0; i-- {
		u := w.order[i]
		for _, v := range g.around.of(u) {
			if w.far[v] == w.far[u]-1 {
				w.share[v] += scaled(one+w.share[u], w.paths[v], w.ways[u]) // paths[v] is a part of ways[u]
			}
		}
		if u != s {
			into[u] += w.share[u]
		}
	}
	for _, u := range w.order {
		w.far[u], w.ways[u], w.share[u] = -1, 0, 0
	}
}

// scale brings the counts of paths to turns of one distance below 2^40, all by the same power of two, so that they never overflow.
func (w *walk) scale(level []int32) {
	most := uint64(0)
	for _, v := range level {
		most = max(most, w.ways[v])
	}
	shift := max(0, bits.Len64(most)-pathBits)
	for _, v := range level {
		w.paths[v] = max(1, w.ways[v]>>shift)
	}
}

// Cuts are the turns and edges whose removal splits the graph.
type Cuts struct {
	Turns   []int32    // cut vertices, ascending
	Bridges [][2]int32 // edges, the smaller number first, ascending
}

// Cuts finds cut vertices and bridges, exactly, without recursion. The cost is the number of edges.
func (g *Graph) Cuts() (c Cuts) {
	n := len(g.Turns)
	found, low, next := make([]int32, n), make([]int32, n), make([]int32, n)
	cut := make([]bool, n)
	count := int32(0)
	type step struct{ at, from int32 }
	var path []step
	for root := range int32(n) {
		if found[root] != 0 {
			continue
		}
		branches := 0
		count++
		found[root], low[root] = count, count
		path = append(path[:0], step{root, -1})
		for len(path) > 0 {
			s := path[len(path)-1]
			if list := g.around.of(s.at); int(next[s.at]) < len(list) {
				u := list[next[s.at]]
				next[s.at]++
				switch {
				case u == s.from:
				case found[u] != 0:
					low[s.at] = min(low[s.at], found[u])
				default:
					count++
					found[u], low[u] = count, count
					path = append(path, step{u, s.at})
				}
				continue
			}
			path = path[:len(path)-1]
			if s.from < 0 {
				continue
			}
			low[s.from] = min(low[s.from], low[s.at])
			if low[s.at] > found[s.from] {
				c.Bridges = append(c.Bridges, [2]int32{min(s.from, s.at), max(s.from, s.at)})
			}
			if s.from == root {
				branches++
			} else if low[s.at] >= found[s.from] {
				cut[s.from] = true
			}
		}
		cut[root] = branches > 1
	}
	for i := range cut {
		if cut[i] {
			c.Turns = append(c.Turns, int32(i))
		}
	}
	slices.SortFunc(c.Bridges, func(a, b [2]int32) int {
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		return int(a[1]) - int(b[1])
	})
	return c
}
