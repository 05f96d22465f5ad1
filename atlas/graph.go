package atlas

import (
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// A Turn is a turn as the graph knows it: without its text, and without anybody's name.
type Turn struct {
	ID           dag.TurnID
	Conversation dag.ConversationID
	Role         dag.Role
	Phase        dag.Phase
	Seq          dag.Seq
	Parents      []dag.Parent
}

// A Graph consists of turns, numbered from 0 by ascending id, with their edges in both directions. It has no edges to turns outside
// of it, no second edge between the same two turns, and no edge of a turn with itself. Only the counts of a Snapshot include these.
type Graph struct {
	Turns   []Turn
	parents lists // of each turn
	around  lists // parents and children
}

// lists are lists of numbers, one for each turn.
type lists struct {
	at    []int32 // where the list of a turn begins; it ends where the next one begins
	items []int32
}

func (l *lists) of(n int32) []int32 { return l.items[l.at[n]:l.at[n+1]] }

// New returns the graph of turns. It sorts the turns in place.
func New(turns []Turn) *Graph {
	slices.SortFunc(turns, func(a, b Turn) int { return a.ID.Compare(b.ID) })
	g := &Graph{Turns: turns}
	var edges [][2]int32
	for i := range turns {
		for _, p := range turns[i].Parents {
			if n, found := g.Number(p.ID); found && n != int32(i) {
				edges = append(edges, [2]int32{int32(i), n})
			}
		}
	}
	g.parents = listed(len(turns), edges)
	for _, e := range slices.Clone(edges) {
		edges = append(edges, [2]int32{e[1], e[0]})
	}
	g.around = listed(len(turns), edges)
	return g
}

// Number returns the number of a turn.
func (g *Graph) Number(id dag.TurnID) (int32, bool) {
	n, found := slices.BinarySearchFunc(g.Turns, id, func(t Turn, id dag.TurnID) int { return t.ID.Compare(id) })
	return int32(n), found
}

// Degree returns the number of turns with which a turn has an edge.
func (g *Graph) Degree(n int32) int { return len(g.around.of(n)) }

// listed sorts edges into lists, without duplicates.
func listed(n int, edges [][2]int32) lists {
	slices.SortFunc(edges, func(a, b [2]int32) int {
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		return int(a[1]) - int(b[1])
	})
	edges = slices.Compact(edges)
	l := lists{at: make([]int32, n+1), items: make([]int32, len(edges))}
	for i, e := range edges {
		l.at[e[0]+1]++
		l.items[i] = e[1]
	}
	for i := range n {
		l.at[i+1] += l.at[i]
	}
	return l
}
