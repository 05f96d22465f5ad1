package dag_test

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/dag"
)

// A mapGraph holds in maps what a dag.Graph packs: the reference for what is
// added in no sensible order.
type mapGraph struct {
	turns    map[dag.TurnID]dag.Skeleton
	known    map[dag.TurnID]dag.ConversationID // turns and absent turns
	linked   map[dag.TurnID]dag.Seq            // absent children: the first number given
	children map[dag.TurnID][]dag.TurnID       // by the children's own edges
	links    map[dag.TurnID][]dag.TurnID
}

func newMapGraph() *mapGraph {
	return &mapGraph{
		turns: map[dag.TurnID]dag.Skeleton{}, known: map[dag.TurnID]dag.ConversationID{}, linked: map[dag.TurnID]dag.Seq{},
		children: map[dag.TurnID][]dag.TurnID{}, links: map[dag.TurnID][]dag.TurnID{},
	}
}

func (p *mapGraph) has(id dag.TurnID) bool { _, ok := p.turns[id]; return ok }

func (p *mapGraph) note(id dag.TurnID, c dag.ConversationID) {
	if _, ok := p.known[id]; !ok {
		p.known[id] = c
	}
}

func (p *mapGraph) add(s dag.Skeleton) error {
	if p.has(s.ID) {
		return dag.ErrDuplicate
	}
	for _, parent := range s.Parents {
		if parent.Conversation == s.Conversation && !p.has(parent.ID) {
			return dag.ErrParent
		}
	}
	p.note(s.ID, s.Conversation)
	p.turns[s.ID] = s
	for _, parent := range s.Parents {
		p.note(parent.ID, parent.Conversation)
		p.children[parent.ID] = append(p.children[parent.ID], s.ID)
	}
	return nil
}

func (p *mapGraph) link(l dag.Link) error {
	if _, ok := p.known[l.Parent]; !ok {
		return dag.ErrParent
	}
	if p.has(l.Child) {
		return nil
	}
	p.note(l.Child, l.ChildConversation)
	if _, ok := p.linked[l.Child]; !ok {
		p.linked[l.Child] = l.Seq
	}
	p.links[l.Parent] = append(p.links[l.Parent], l.Child)
	return nil
}

// shown are the children that a view shows, each once, sorted.
func (p *mapGraph) shown(parent dag.TurnID, at dag.Seq) []dag.TurnID {
	var ids []dag.TurnID
	for _, id := range p.children[parent] {
		if p.turns[id].Seq <= at {
			ids = append(ids, id)
		}
	}
	for _, id := range p.links[parent] {
		if !p.has(id) && p.linked[id] <= at {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, dag.TurnID.Compare)
	return slices.Compact(ids)
}

// check compares every node of a view.
func (p *mapGraph) check(t *rapid.T, v dag.View) {
	t.Helper()
	if v.Len() != len(p.known) {
		t.Fatalf("%d nodes, want %d", v.Len(), len(p.known))
	}
	seen := map[dag.TurnID]bool{}
	for n := range dag.Node(v.Len()) {
		id := v.ID(n)
		c, known := p.known[id]
		if !known || seen[id] || v.Conversation(n) != c || v.Present(n) != p.has(id) {
			t.Fatalf("node %d, turn %s: known %t, seen %t, in %s, want %s, present %t", n, id, known, seen[id], v.Conversation(n), c, v.Present(n))
		}
		seen[id] = true
		want := p.turns[id] // zero for an absent one
		if found, ok := v.Find(id); ok != (p.has(id) && want.Seq <= v.Seq()) || ok && found != n {
			t.Fatalf("turn %s, number %d: found at %d: %t, node %d, want %d", id, want.Seq, v.Seq(), ok, found, n)
		}
		if v.Admitted(n) != want.Seq || v.CreatedAt(n) != want.CreatedAt || v.Salience(n) != want.Salience ||
			v.Role(n) != want.Role || v.Phase(n) != want.Phase || v.Leaf(n) != want.Leaf {
			t.Fatalf("node %d differs from %+v", n, want)
		}
		p.checkEdges(t, v, n, want.Parents)
	}
}

func (p *mapGraph) checkEdges(t *rapid.T, v dag.View, n dag.Node, want []dag.SkeletonParent) {
	t.Helper()
	if v.ParentCount(n) != len(want) {
		t.Fatalf("node %d: %d parents, want %d", n, v.ParentCount(n), len(want))
	}
	for i, w := range want {
		parent, kind, leaf := v.Parent(n, i)
		if v.ID(parent) != w.ID || kind != w.Kind || *leaf != w.Leaf {
			t.Fatalf("node %d, parent %d: %s, kind %d, leaf %s, want %+v", n, i, v.ID(parent), kind, leaf, w)
		}
	}
	var ids []dag.TurnID
	for _, child := range v.AppendChildren(nil, n) {
		id := v.ID(child)
		if v.Present(child) && slices.Contains(ids, id) {
			t.Fatalf("node %d: child %s twice", n, id)
		}
		ids = append(ids, id)
	}
	slices.SortFunc(ids, dag.TurnID.Compare)
	if want := p.shown(v.ID(n), v.Seq()); !slices.Equal(want, slices.Compact(ids)) {
		t.Fatalf("node %d at %d: children %v, want %v", n, v.Seq(), ids, want)
	}
}

// TestGraphAgainstMaps adds turns and links in any order, good and bad, with few
// parents and with more than a node's word counts.
func TestGraphAgainstMaps(t *testing.T) {
	const pool, last = 50, 60
	conversation := func(n int) dag.ConversationID { return conversationID(n % 3) }
	var added, duplicates, orphans, crowds, links, late int
	rapid.Check(t, func(t *rapid.T) {
		g, p := dag.NewGraph(), newMapGraph()
		number := rapid.IntRange(0, pool-1)
		seqs := rapid.Uint64Range(1, last)
		add := func() {
			n := number.Draw(t, "turn")
			s := dag.Skeleton{
				Seq: dag.Seq(seqs.Draw(t, "seq")), ID: turnID(n), Conversation: conversation(n),
				CreatedAt: dag.Time(rapid.Int64Range(0, int64(dag.MaxTime)).Draw(t, "created")), Salience: dag.PPM(rapid.Uint32Range(0, uint32(dag.One)).Draw(t, "salience")),
				Role: dag.Role(rapid.Uint8Range(0, 7).Draw(t, "role")), Phase: dag.Phase(rapid.Uint8Range(0, 7).Draw(t, "phase")),
				Leaf: dag.Digest{byte(n), 31: 1},
			}
			count := rapid.SampledFrom([]int{0, 1, 1, 2, 2, 3, 30, 31, 32, 40}).Draw(t, "parents")
			first, careless := number.Draw(t, "first"), rapid.IntRange(0, 3).Draw(t, "careless") == 0
			for i := first; i < first+pool && len(s.Parents) < count; i++ {
				if m := i % pool; careless || m%3 != n%3 || p.has(turnID(m)) {
					s.Parents = append(s.Parents, dag.SkeletonParent{ID: turnID(m), Conversation: conversation(m), Kind: dag.EdgeKind(1 + i%7), Leaf: dag.Digest{byte(n), byte(m), 31: 2}})
				}
			}
			want, got := p.add(s), g.Add(&s)
			if !errors.Is(got, want) {
				t.Fatalf("turn %d: got %v, want %v", n, got, want)
			}
			switch {
			case want == dag.ErrDuplicate:
				duplicates++
			case want == dag.ErrParent:
				orphans++
			case len(s.Parents) > 30:
				crowds++
			default:
				added++
			}
		}
		link := func() {
			parent, child := number.Draw(t, "parent"), number.Draw(t, "child")
			l := dag.Link{Parent: turnID(parent), Child: turnID(child), ChildConversation: conversation(child), Seq: dag.Seq(seqs.Draw(t, "seq"))}
			if p.has(l.Child) {
				late++
			}
			want, got := p.link(l), g.AddLink(l)
			if !errors.Is(got, want) {
				t.Fatalf("link from %d to %d: got %v, want %v", parent, child, got, want)
			}
			links++
		}
		for range rapid.IntRange(1, 12).Draw(t, "rounds") {
			for range rapid.IntRange(1, 8).Draw(t, "steps") {
				switch rapid.IntRange(0, 9).Draw(t, "step") {
				case 0:
					g.Grow(rapid.IntRange(0, 20).Draw(t, "turns"), rapid.IntRange(0, 40).Draw(t, "edges"))
				case 1, 2:
					link()
				default:
					add()
				}
			}
			for _, at := range []dag.Seq{0, dag.Seq(seqs.Draw(t, "at")), last} {
				p.check(t, g.At(at))
			}
		}
	})
	for what, n := range map[string]int{
		"turns": added, "duplicates": duplicates, "turns without their parents": orphans, "turns with many parents": crowds, "links": links, "links to turns that are there": late,
	} {
		if n == 0 {
			t.Errorf("no %s were seen", what)
		}
	}
}

// TestGraphManyChildren holds that a turn may have any number of children, added
// in any order, and that a view shows those up to its number.
func TestGraphManyChildren(t *testing.T) {
	const count = 10_000
	g := dag.NewGraph()
	if err := g.Add(&dag.Skeleton{Seq: 1, ID: turnID(count), Conversation: conversationID(1)}); err != nil {
		t.Fatal(err)
	}
	parents := []dag.SkeletonParent{{ID: turnID(count), Conversation: conversationID(1), Kind: dag.Reply}}
	for i := range count {
		n := i * 7919 % count // every number once
		if err := g.Add(&dag.Skeleton{Seq: dag.Seq(n + 2), ID: turnID(n), Conversation: conversationID(1 + n%2), Parents: parents}); err != nil {
			t.Fatal(err)
		}
	}
	for _, shown := range []int{0, 1, 4321, count} {
		v := g.At(dag.Seq(shown + 1))
		root, ok := v.Find(turnID(count))
		if !ok {
			t.Fatal("the parent is not shown")
		}
		seen := make([]bool, count)
		children := v.AppendChildren(nil, root)
		for _, c := range children {
			seen[v.Admitted(c)-2] = true
			if n, ok := v.Find(v.ID(c)); !ok || n != c {
				t.Fatalf("child %s found at %d: %t, want %d", v.ID(c), n, ok, c)
			}
		}
		if len(children) != shown || slices.Contains(seen[:shown], false) {
			t.Errorf("at %d: %d children, want %d", v.Seq(), len(children), shown)
		}
	}
}
