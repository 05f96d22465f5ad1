package dag

import (
	"errors"
	"testing"
)

// TestGraphFull holds that a graph without room for a turn, an edge or a link
// refuses it whole. The true limit would take 60 GB to reach.
func TestGraphFull(t *testing.T) {
	here, there := ConversationID{1}, ConversationID{2}
	turn := func(n int, parents ...SkeletonParent) *Skeleton {
		return &Skeleton{Seq: Seq(n), ID: TurnID{byte(n)}, Conversation: here, Parents: parents}
	}
	in := func(c ConversationID, n int) SkeletonParent {
		return SkeletonParent{ID: TurnID{byte(n)}, Conversation: c, Kind: Merge}
	}
	link := func(parent, child int) func(*Graph) error {
		return func(g *Graph) error {
			return g.AddLink(Link{Parent: TurnID{byte(parent)}, Child: TurnID{byte(child)}, ChildConversation: there, Seq: 9})
		}
	}
	add := func(s *Skeleton) func(*Graph) error {
		return func(g *Graph) error { return g.Add(s) }
	}
	for _, tc := range []struct {
		name  string
		limit int // with three turns and three edges in the graph
		add   func(*Graph) error
		fits  bool
	}{
		{"a turn", 3, add(turn(4)), false},
		{"a turn", 4, add(turn(4)), true},
		{"a turn with an absent parent", 4, add(turn(4, in(there, 7))), false},
		{"a turn with an absent parent", 5, add(turn(4, in(there, 7))), true},
		{"a turn with three parents", 5, add(turn(4, in(here, 1), in(here, 2), in(here, 3))), false},
		{"a turn with three parents", 6, add(turn(4, in(here, 1), in(here, 2), in(here, 3))), true},
		{"a link to an absent child", 3, link(1, 8), false},
		{"a link to an absent child", 4, link(1, 8), true},
		{"a link to a turn that is there", 3, link(1, 2), true},
	} {
		g := NewGraph()
		for _, s := range []*Skeleton{turn(1), turn(2, in(here, 1)), turn(3, in(here, 1), in(here, 2))} {
			if err := g.Add(s); err != nil {
				t.Fatal(err)
			}
		}
		if g.limit != most {
			t.Fatalf("the limit is %d, want %d", g.limit, most)
		}
		g.limit = tc.limit
		err := tc.add(g)
		if tc.fits != (err == nil) || !tc.fits && !errors.Is(err, ErrFull) {
			t.Errorf("%s with a limit of %d: got %v, want it to fit: %t", tc.name, tc.limit, err, tc.fits)
		}
		v := g.At(MaxSeq)
		if children := v.AppendChildren(nil, 0); err != nil && (g.Len() != 3 || len(g.edges) != 3 || len(children) != 2) {
			t.Errorf("%s: refused, but left %d nodes, %d edges and %d children", tc.name, g.Len(), len(g.edges), len(children))
		}
	}
}

// TestIndexLoad holds that the table is never more than three quarters full, and
// that after growing it is not less than half full.
func TestIndexLoad(t *testing.T) {
	x := newIndex()
	nodes := []node{}
	for n := range 20_000 {
		size := len(x.slots)
		x.grow(n+1, nodes)
		if len(x.slots) != size && 2*(n+1) < len(x.slots) || 4*(n+1) > 3*len(x.slots) {
			t.Fatalf("%d slots for %d nodes, after %d", len(x.slots), n+1, size)
		}
		id := TurnID{0: byte(n), 1: byte(n >> 8)}
		_, free, known := x.find(&id, nodes)
		if known {
			t.Fatalf("id %d is found before it is put", n)
		}
		x.put(free, Node(n))
		nodes = append(nodes, node{id: id})
	}
	for n := range nodes {
		if got, _, ok := x.find(&nodes[n].id, nodes); !ok || got != Node(n) {
			t.Fatalf("id %d is found at %d: %t", n, got, ok)
		}
	}
	if other := newIndex(); other.seed == x.seed {
		t.Error("two indexes share a seed")
	}
}
