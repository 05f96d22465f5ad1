package atlas

import (
	"cmp"
	"context"
	"slices"
)

// Communities are parts of a graph whose members have more edges with each other than expected by chance.
type Communities struct {
	Of         []int32   // the community of each number
	List       [][]int32 // the members of each, ascending; the largest community first, and of two of one size the one with the smallest member
	Modularity int       // millionths: the share of edges within communities, minus the share expected by chance (Newman and Girvan 2004)
}

// Communities divides the graph into communities.
func (g *Graph) Communities(ctx context.Context) (Communities, error) {
	var edges [][2]int32
	for n := range int32(len(g.Turns)) {
		for _, u := range g.around.of(n) {
			if u > n {
				edges = append(edges, [2]int32{n, u})
			}
		}
	}
	return Parted(ctx, len(g.Turns), edges)
}

// Parted divides a graph of n numbers into communities by Leiden's method. Each edge counts as often as it is given, in either direction. Moves,
// and merges in the refinement, are the best ones instead of random ones; of two equally good ones, the one to the community with the smaller
// number wins, so nothing is random. Every community is connected. The cost is a few times the number of edges. It ends early if the context does.
func Parted(ctx context.Context, n int, edges [][2]int32) (Communities, error) {
	whole := newLevel(n, edges)
	best, err := whole.grown(ctx)
	for whole.seed = 1; err == nil && whole.seed < starts && whole.seed*uint64(len(edges)) < mostWork; whole.seed++ {
		var c Communities
		if c, err = whole.grown(ctx); err == nil && c.Modularity > best.Modularity {
			best = c
		}
	}
	if err != nil {
		return Communities{}, err
	}
	return best, nil
}

// How often Parted starts, in another order each time, and up to how many edges in all.
const (
	starts   = 10
	mostWork = 200_000
)

// passes bounds the passes of one start.
const passes = 3

// grown divides the numbers in passes until a pass improves nothing. Each pass begins with the result of the pass before.
func (l *level) grown(ctx context.Context) (best Communities, err error) {
	of := make([]int32, len(l.degree))
	for i := range of {
		of[i] = int32(i)
	}
	for n := range passes {
		if of, err = l.pass(ctx, of); err != nil {
			return best, err
		}
		l.connect(of)
		c := l.communities(slices.Clone(of))
		if n > 0 && c.Modularity <= best.Modularity {
			break
		}
		best = c
	}
	return best, nil
}

// pass moves numbers, refines and merges, until nothing is merged. It begins with the given communities, and returns the new ones.
func (l *level) pass(ctx context.Context, begin []int32) ([]int32, error) {
	of := make([]int32, len(begin)) // for each original number, its number in the level
	for i := range of {
		of[i] = int32(i)
	}
	into := slices.Clone(begin)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l.move(into)
		refined := l.refine(into)
		count := renumber(refined)
		if count == len(into) { // nothing was merged
			for i := range of {
				of[i] = into[of[i]]
			}
			return of, nil
		}
		above := make([]int32, count)
		for i, r := range refined {
			above[r] = into[i]
		}
		renumber(above)
		l = l.gathered(refined, count)
		for i := range of {
			of[i] = refined[of[i]]
		}
		into = above
	}
}

// A level is a graph with weights: its numbers are the original ones at first, then the groups that they were merged into.
type level struct {
	at     []int32
	to     []int32
	weight []int64
	degree []int64 // the weights of a number's edges, those within the number twice
	total  int64   // the sum of all degrees
	seed   uint64  // determines the order in which numbers are moved; 0: ascending
}

// order returns the order in which numbers are moved and joined.
func (l *level) order() []int32 {
	list := make([]int32, len(l.degree))
	for i := range list {
		list[i] = int32(i)
	}
	if l.seed > 0 {
		slices.SortFunc(list, func(a, b int32) int {
			return cmp.Compare(mix(l.seed<<32^uint64(a)), mix(l.seed<<32^uint64(b)))
		})
	}
	return list
}

func newLevel(n int, edges [][2]int32) *level {
	all := make([]weighted, 0, 2*len(edges))
	l := &level{degree: make([]int64, n)}
	for _, e := range edges {
		l.degree[e[0]]++
		l.degree[e[1]]++
		if e[0] != e[1] {
			all = append(all, weighted{e[0], e[1], 1}, weighted{e[1], e[0], 1})
		}
	}
	l.fill(n, all)
	return l
}

type weighted struct {
	from, to int32
	weight   int64
}

// fill sets the edges, and the sum of the degrees.
func (l *level) fill(n int, all []weighted) {
	slices.SortFunc(all, func(a, b weighted) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	l.at = make([]int32, n+1)
	for _, e := range all {
		if last := len(l.to) - 1; last >= 0 && l.to[last] == e.to && l.at[e.from+1] > 0 {
			l.weight[last] += e.weight
			continue
		}
		l.to, l.weight = append(l.to, e.to), append(l.weight, e.weight)
		l.at[e.from+1]++
	}
	for i := range n {
		l.at[i+1] += l.at[i]
	}
	for _, d := range l.degree {
		l.total += d
	}
}

// gathered returns the level of the groups that numbers were merged into.
func (l *level) gathered(into []int32, count int) *level {
	g := &level{degree: make([]int64, count), seed: l.seed}
	var all []weighted
	for n := range int32(len(into)) {
		g.degree[into[n]] += l.degree[n]
		for i := l.at[n]; i < l.at[n+1]; i++ {
			if a, b := into[n], into[l.to[i]]; a != b {
				all = append(all, weighted{a, b, l.weight[i]})
			}
		}
	}
	g.fill(count, all)
	return g
}

// A tally is the weight of a number's edges to each community.
type tally struct {
	weight []int64
	seen   []int32
}

func (t *tally) add(community int32, weight int64) {
	if t.weight[community] == 0 {
		t.seen = append(t.seen, community)
	}
	t.weight[community] += weight
}

func (t *tally) clear() {
	for _, c := range t.seen {
		t.weight[c] = 0
	}
	t.seen = t.seen[:0]
}

// move moves each number to the neighbouring community with the highest gain, until no move gains (the fast local moving of Leiden).
func (l *level) move(into []int32) {
	n := len(into)
	sums := make([]int64, n) // of the degrees in each community
	for i, c := range into {
		sums[c] += l.degree[i]
	}
	waiting := make([]bool, n)
	queue := l.order()
	for i := range waiting {
		waiting[i] = true
	}
	t := tally{weight: make([]int64, n)}
	for len(queue) > 0 {
		i := queue[0]
		queue, waiting[i] = queue[1:], false
		own := into[i]
		sums[own] -= l.degree[i]
		for e := l.at[i]; e < l.at[i+1]; e++ {
			t.add(into[l.to[e]], l.weight[e])
		}
		gain := func(c int32) int64 { return t.weight[c]*l.total - l.degree[i]*sums[c] }
		best, most := own, gain(own)
		for _, c := range t.seen {
			if g := gain(c); g > most || g == most && best != own && c < best {
				best, most = c, g
			}
		}
		t.clear()
		sums[best] += l.degree[i]
		if best == own {
			continue
		}
		into[i] = best
		for e := l.at[i]; e < l.at[i+1]; e++ {
			if u := l.to[e]; into[u] != best && !waiting[u] {
				queue, waiting[u] = append(queue, u), true
			}
		}
	}
}

// refine divides each community again: its numbers begin alone, and a number that is still alone joins the
// part of its own community with the highest gain, if both are well connected with the rest of the community.
func (l *level) refine(into []int32) []int32 {
	n := len(into)
	parts := make([]int32, n)
	sums, whole := make([]int64, n), make([]int64, n) // of degrees, in each part and in each community
	out := make([]int64, n)                           // the weight between a part and the rest of its community
	alone := make([]bool, n)
	for i := range parts {
		parts[i], sums[i], alone[i] = int32(i), l.degree[i], true
		whole[into[i]] += l.degree[i]
		for e := l.at[i]; e < l.at[i+1]; e++ {
			if into[l.to[e]] == into[i] {
				out[i] += l.weight[e]
			}
		}
	}
	well := func(part int32, community int32) bool {
		return out[part]*l.total >= sums[part]*(whole[community]-sums[part])
	}
	t := tally{weight: make([]int64, n)}
	for _, i := range l.order() {
		if !alone[i] || !well(i, into[i]) {
			continue
		}
		for e := l.at[i]; e < l.at[i+1]; e++ {
			if u := l.to[e]; into[u] == into[i] {
				t.add(parts[u], l.weight[e])
			}
		}
		best, most := i, int64(0)
		for _, c := range t.seen {
			if g := t.weight[c]*l.total - l.degree[i]*sums[c]; c != i && well(c, into[i]) && (g > most || g == most && best != i && c < best) {
				best, most = c, g
			}
		}
		if best != i {
			between := t.weight[best]
			parts[i] = best
			sums[best] += l.degree[i]
			out[best] += out[i] - 2*between
			alone[i], alone[best] = false, false
		}
		t.clear()
	}
	return parts
}

// renumber numbers communities from 0 on, in the order of their first members, and returns their count.
func renumber(of []int32) int {
	known := make(map[int32]int32, len(of))
	for i, c := range of {
		n, found := known[c]
		if !found {
			n = int32(len(known))
			known[c] = n
		}
		of[i] = n
	}
	return len(known)
}

// connect divides communities that are not connected. This raises the modularity: no edges are lost.
func (l *level) connect(of []int32) {
	seen := make([]bool, len(of))
	next := int32(0)
	parts := make([]int32, len(of))
	var queue []int32
	for root := range int32(len(of)) {
		if seen[root] {
			continue
		}
		seen[root] = true
		queue = append(queue[:0], root)
		for len(queue) > 0 {
			n := queue[0]
			queue, parts[n] = queue[1:], next
			for e := l.at[n]; e < l.at[n+1]; e++ {
				if u := l.to[e]; !seen[u] && of[u] == of[n] {
					queue, seen[u] = append(queue, u), true
				}
			}
		}
		next++
	}
	copy(of, parts)
}

// communities lists the communities, and computes their modularity.
func (l *level) communities(of []int32) Communities {
	count := renumber(of)
	c := Communities{Of: of, List: make([][]int32, count)}
	within, sums := int64(0), make([]int64, count) // twice the edges within, and the degrees
	for n := range int32(len(of)) {
		c.List[of[n]] = append(c.List[of[n]], n)
		sums[of[n]] += l.degree[n]
		within += l.degree[n]
		for e := l.at[n]; e < l.at[n+1]; e++ {
			if of[l.to[e]] != of[n] {
				within -= l.weight[e]
			}
		}
	}
	if l.total > 0 {
		squares := uint64(0)
		for _, s := range sums {
			squares += uint64(s) * uint64(s)
		}
		chance := scaled(squares, million, uint64(l.total)) / uint64(l.total)
		c.Modularity = int(scaled(uint64(within), million, uint64(l.total))) - int(chance)
	}
	slices.SortStableFunc(c.List, func(a, b []int32) int { return len(b) - len(a) })
	for i, members := range c.List {
		for _, n := range members {
			of[n] = int32(i)
		}
	}
	return c
}
