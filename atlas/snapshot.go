package atlas

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/graphkernel/graphkernel/dag"
)

// A Snapshot contains counts of a graph.
type Snapshot struct {
	Turns, Edges, Conversations int
	Roots, Leaves, Branches     int // turns without parents, without children, and with several children
	Merges                      int // turns with several parents
	Depth                       int // the number of edges of the longest path from a root
	Depths                      []Count
	Kinds, Roles, Phases        []Count // of edges, and of turns
	Largest                     []Count // the largest conversations
	Growth                      []Step
}

// A Count is the number of things with one name.
type Count struct {
	Name string
	N    int
}

// A Step counts the turns up to a number, their conversations, and the turns of each role and phase.
type Step struct {
	Upto                 dag.Seq
	Turns, Conversations int
	Roles, Phases        []Count
}

// Lengths of the lists of a Snapshot.
const (
	mostListed = 20 // of the largest conversations
	growth     = 10 // steps
)

// Snapshot counts the graph as of a number.
func (g *Graph) Snapshot(asOf dag.Seq) Snapshot {
	s := Snapshot{Turns: len(g.Turns)}
	kinds, roles, phases, depths, conversations := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	children := make([]int, len(g.Turns))
	for i := range g.Turns {
		t := &g.Turns[i]
		roles[t.Role.String()]++
		phases[t.Phase.String()]++
		conversations[t.Conversation.String()]++
		for _, p := range t.Parents {
			kinds[p.Kind.String()]++
			s.Edges++
		}
		for _, p := range g.parents.of(int32(i)) {
			children[p]++
		}
	}
	// A turn is admitted with its parents or after them, but within one admission in any order.
	depth := g.depths()
	for i := range g.Turns {
		n := len(g.parents.of(int32(i)))
		switch {
		case n == 0:
			s.Roots++
		case n > 1:
			s.Merges++
		}
		switch {
		case children[i] == 0:
			s.Leaves++
		case children[i] > 1:
			s.Branches++
		}
		s.Depth = max(s.Depth, depth[i])
		depths[band(depth[i])]++
	}
	s.Conversations = len(conversations)
	s.Kinds, s.Roles, s.Phases = Counted(kinds), Counted(roles), Counted(phases)
	s.Largest = Counted(conversations)
	s.Largest = s.Largest[:min(len(s.Largest), mostListed)]
	s.Depths = Counted(depths)
	slices.SortFunc(s.Depths, func(a, b Count) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	order := make([]int32, len(g.Turns))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(g.Turns[a].Seq, g.Turns[b].Seq) })
	s.Growth = g.growth(order, asOf)
	return s
}

// band names a range of depths: 0, 1, 2-3, 4-7 and so on.
func band(depth int) string {
	low := 1
	for depth >= 2*low {
		low *= 2
	}
	if depth < 2 {
		return strconv.Itoa(depth)
	}
	return strconv.Itoa(low) + "-" + strconv.Itoa(2*low-1)
}

// growth returns the counts at each tenth of the numbers.
func (g *Graph) growth(order []int32, asOf dag.Seq) (steps []Step) {
	conversations := map[dag.ConversationID]bool{}
	roles, phases := map[string]int{}, map[string]int{}
	i := 0
	for _, upto := range Tenths(asOf) {
		for ; i < len(order) && g.Turns[order[i]].Seq <= upto; i++ {
			t := &g.Turns[order[i]]
			conversations[t.Conversation] = true
			roles[t.Role.String()]++
			phases[t.Phase.String()]++
		}
		steps = append(steps, Step{upto, i, len(conversations), Counted(roles), Counted(phases)})
	}
	return steps
}

// Tenths returns the numbers at which growth is counted: each tenth of asOf, rounded down, without 0 and without duplicates.
func Tenths(asOf dag.Seq) (list []dag.Seq) {
	for n := range dag.Seq(growth) {
		if upto := asOf * (n + 1) / growth; upto > 0 && (len(list) == 0 || list[len(list)-1] < upto) {
			list = append(list, upto)
		}
	}
	return list
}

// depths returns for each turn the number of edges of the longest path from a root.
// Turns in a cycle, which no store admits, count only paths from outside of it.
func (g *Graph) depths() []int {
	depth, missing := make([]int, len(g.Turns)), make([]int, len(g.Turns))
	children := make([][]int32, len(g.Turns))
	var ready []int32
	for i := range int32(len(g.Turns)) {
		parents := g.parents.of(i)
		if missing[i] = len(parents); len(parents) == 0 {
			ready = append(ready, i)
		}
		for _, p := range parents {
			children[p] = append(children[p], i)
		}
	}
	for len(ready) > 0 {
		n := ready[0]
		ready = ready[1:]
		for _, c := range children[n] {
			depth[c] = max(depth[c], depth[n]+1)
			if missing[c]--; missing[c] == 0 {
				ready = append(ready, c)
			}
		}
	}
	return depth
}

// Counted lists counts, the largest first; equal counts are ordered by name.
func Counted(of map[string]int) []Count {
	list := make([]Count, 0, len(of))
	for name, n := range of {
		list = append(list, Count{name, n})
	}
	slices.SortFunc(list, func(a, b Count) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Name, b.Name)) })
	return list
}
