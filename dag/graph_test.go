package dag_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/dag"
)

func turnID(n int) dag.TurnID { return dag.TurnID{15: byte(n), 14: byte(n >> 8), 0: 1} }
func conversationID(n int) dag.ConversationID {
	return dag.ConversationID{15: byte(n), 0: 2}
}

// A world is what was admitted, in order: the reference that graphs are
// compared with.
type world struct {
	turns []dag.Skeleton // by sequence number, which may leave gaps
}

func drawWorld(t *rapid.T) *world {
	w := &world{}
	n := rapid.IntRange(1, 14).Draw(t, "turns")
	conversations := rapid.IntRange(1, 4).Draw(t, "conversations")
	seq := dag.Seq(0)
	for i := range n {
		seq += dag.Seq(rapid.IntRange(1, 2).Draw(t, "gap"))
		s := dag.Skeleton{
			Seq: seq, ID: turnID(i), Conversation: conversationID(rapid.IntRange(1, conversations).Draw(t, "conversation")),
			CreatedAt: dag.Time(rapid.IntRange(0, 3).Draw(t, "created")), Salience: dag.PPM(rapid.Uint32Range(0, 1_000_000).Draw(t, "salience")),
			Role: dag.Role(rapid.Uint8Range(1, 4).Draw(t, "role")), Phase: dag.Phase(rapid.Uint8Range(1, 5).Draw(t, "phase")),
			Leaf: dag.Digest{0: byte(i), 1: 1},
		}
		for p := range i {
			if rapid.IntRange(0, 3).Draw(t, "joined") == 0 {
				s.Parents = append(s.Parents, dag.SkeletonParent{
					ID: turnID(p), Conversation: w.turns[p].Conversation, Kind: dag.EdgeKind(rapid.Uint8Range(1, 4).Draw(t, "kind")), Leaf: dag.Digest{0: byte(i), 1: byte(p), 2: 2},
				})
			}
		}
		s.Parents = rapid.Permutation(s.Parents).Draw(t, "parents")
		w.turns = append(w.turns, s)
	}
	return w
}

func (w *world) head() dag.Seq { return w.turns[len(w.turns)-1].Seq }

// children are the turns with a given parent as of a sequence number.
func (w *world) children(parent dag.TurnID, at dag.Seq) []dag.TurnID {
	ids := []dag.TurnID{}
	for i := range w.turns {
		if w.turns[i].Seq <= at && slices.ContainsFunc(w.turns[i].Parents, func(p dag.SkeletonParent) bool { return p.ID == parent }) {
			ids = append(ids, w.turns[i].ID)
		}
	}
	return ids
}

// A loading is a graph that holds some conversations as of some sequence number,
// as a store would fill it.
type loading struct {
	w      *world
	g      *dag.Graph
	loaded map[dag.ConversationID]bool
	head   dag.Seq
}

func (l *loading) add(t *rapid.T, s *dag.Skeleton) {
	t.Helper()
	if err := l.g.Add(s); err != nil {
		t.Fatalf("Add: %v", err)
	}
}

// load adds a conversation, then the links from its turns.
func (l *loading) load(t *rapid.T, c dag.ConversationID) {
	for i := range l.w.turns {
		if s := &l.w.turns[i]; s.Conversation == c && s.Seq <= l.head {
			l.add(t, s)
		}
	}
	l.loaded[c] = true
	for i := range l.w.turns {
		if s := &l.w.turns[i]; s.Seq <= l.head {
			l.link(t, s, func(parent dag.ConversationID) bool { return parent == c })
		}
	}
}

// grow moves on to another sequence number.
func (l *loading) grow(t *rapid.T, head dag.Seq) {
	for i := range l.w.turns {
		s := &l.w.turns[i]
		if s.Seq <= l.head || s.Seq > head {
			continue
		}
		if l.loaded[s.Conversation] {
			l.add(t, s)
		}
		l.link(t, s, func(parent dag.ConversationID) bool { return l.loaded[parent] })
	}
	l.head = head
}

func (l *loading) link(t *rapid.T, child *dag.Skeleton, from func(dag.ConversationID) bool) {
	for _, p := range child.Parents {
		if p.Conversation == child.Conversation || !from(p.Conversation) {
			continue
		}
		if err := l.g.AddLink(dag.Link{Parent: p.ID, Child: child.ID, ChildConversation: child.Conversation, Seq: child.Seq}); err != nil {
			t.Fatalf("AddLink: %v", err)
		}
	}
}

// check compares the views at every sequence number with the reference. It
// returns the number of turns that it saw.
func (l *loading) check(t *rapid.T) (shown, absent int) {
	t.Helper()
	for at := dag.Seq(0); at <= l.head+1; at++ {
		v := l.g.At(at)
		if v.Seq() != at || v.Len() != l.g.Len() {
			t.Fatalf("view at %d: Seq %d, Len %d", at, v.Seq(), v.Len())
		}
		for i := range l.w.turns {
			s := &l.w.turns[i]
			n, ok := v.Find(s.ID)
			if want := l.loaded[s.Conversation] && s.Seq <= min(at, l.head); ok != want {
				t.Fatalf("at %d: turn %d found: %t, want %t", at, i, ok, want)
			}
			if ok {
				shown++
				absent += l.checkNode(t, v, n, s)
			}
		}
		if _, ok := v.Find(turnID(1000)); ok {
			t.Fatal("found a turn that is nowhere")
		}
	}
	return shown, absent
}

func (l *loading) checkNode(t *rapid.T, v dag.View, n dag.Node, s *dag.Skeleton) (absent int) {
	t.Helper()
	if int(n) >= v.Len() {
		t.Fatalf("node %d of %d", n, v.Len())
	}
	got := dag.Skeleton{
		Seq: v.Admitted(n), ID: v.ID(n), Conversation: v.Conversation(n), CreatedAt: v.CreatedAt(n), Salience: v.Salience(n),
		Role: v.Role(n), Phase: v.Phase(n), Leaf: v.Leaf(n),
	}
	for i := range v.ParentCount(n) {
		p, kind, leaf := v.Parent(n, i)
		got.Parents = append(got.Parents, dag.SkeletonParent{ID: v.ID(p), Conversation: v.Conversation(p), Kind: kind, Leaf: *leaf})
		if v.Present(p) != l.loaded[v.Conversation(p)] {
			t.Fatalf("parent %s present: %t", v.ID(p), v.Present(p))
		}
	}
	want := *s
	if len(want.Parents) == 0 {
		want.Parents = nil
	}
	if !reflect.DeepEqual(want, got) { // cmp.Diff is slow
		t.Fatalf("at %d: -want +got:\n%s", v.Seq(), cmp.Diff(want, got))
	}
	marker := dag.Node(1 << 30)
	children := v.AppendChildren([]dag.Node{marker}, n)
	if children[0] != marker {
		t.Fatal("AppendChildren does not append")
	}
	ids := []dag.TurnID{}
	for _, c := range children[1:] {
		if !v.Present(c) {
			absent++
			if slices.Contains(ids, v.ID(c)) {
				continue // an absent child may occur twice
			}
		}
		if v.Present(c) != l.loaded[v.Conversation(c)] {
			t.Fatalf("child %s present: %t", v.ID(c), v.Present(c))
		}
		ids = append(ids, v.ID(c))
	}
	slices.SortFunc(ids, dag.TurnID.Compare)
	if want := l.w.children(s.ID, min(v.Seq(), l.head)); !slices.Equal(want, ids) {
		t.Fatalf("children of %s at %d: -want +got:\n%s", s.ID, v.Seq(), cmp.Diff(want, ids))
	}
	return absent
}

// TestGraphAgainstModel fills graphs conversation by conversation, in any order,
// while the world grows, and compares every view after every step.
func TestGraphAgainstModel(t *testing.T) {
	shown, absent, steps := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		l := &loading{w: drawWorld(t), g: dag.NewGraph(), loaded: map[dag.ConversationID]bool{}}
		l.head = dag.Seq(rapid.Uint64Range(0, uint64(l.w.head())).Draw(t, "head"))
		look := func() {
			s, a := l.check(t)
			shown, absent, steps = shown+s, absent+a, steps+1
		}
		look()
		for _, c := range rapid.Permutation([]int{1, 2, 3, 4}).Draw(t, "order") {
			size := l.g.Size()
			l.load(t, conversationID(c))
			look()
			l.grow(t, min(l.w.head(), l.head+dag.Seq(rapid.IntRange(0, 4).Draw(t, "growth"))))
			look()
			if l.g.Size() < size {
				t.Fatalf("the size shrank from %d to %d", size, l.g.Size())
			}
		}
		l.grow(t, l.w.head())
		look()
		if l.g.Len() != len(l.w.turns) {
			t.Fatalf("%d nodes for %d turns", l.g.Len(), len(l.w.turns))
		}
	})
	if shown == 0 || absent == 0 {
		t.Errorf("in %d steps %d turns and %d absent children were seen", steps, shown, absent)
	}
}

// TestGraphRefuses holds that a refused turn leaves no trace.
func TestGraphRefuses(t *testing.T) {
	parent := func(n, conversation int) []dag.SkeletonParent {
		return []dag.SkeletonParent{{ID: turnID(n), Conversation: conversationID(conversation), Kind: dag.Reply}}
	}
	g := dag.NewGraph()
	for _, s := range []dag.Skeleton{
		{Seq: 1, ID: turnID(1), Conversation: conversationID(1), Role: 1, Phase: 1},
		{Seq: 3, ID: turnID(3), Conversation: conversationID(1), Role: 1, Phase: 1, Parents: parent(2, 2)}, // turn 2 is absent
	} {
		if err := g.Add(&s); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name string
		turn dag.Skeleton
		want error
	}{
		{"a turn again", dag.Skeleton{Seq: 9, ID: turnID(1), Conversation: conversationID(1)}, dag.ErrDuplicate},
		{"a parent that nobody knows", dag.Skeleton{Seq: 9, ID: turnID(9), Conversation: conversationID(1), Parents: parent(8, 1)}, dag.ErrParent},
		{"a parent that is absent", dag.Skeleton{Seq: 9, ID: turnID(9), Conversation: conversationID(2), Parents: parent(2, 2)}, dag.ErrParent},
		{"itself as parent", dag.Skeleton{Seq: 9, ID: turnID(9), Conversation: conversationID(1), Parents: parent(9, 1)}, dag.ErrParent},
		{"one good parent and a bad one", dag.Skeleton{Seq: 9, ID: turnID(9), Conversation: conversationID(1), Parents: append(parent(1, 1), parent(8, 1)...)}, dag.ErrParent},
		{"itself as parent in another conversation", dag.Skeleton{Seq: 9, ID: turnID(9), Conversation: conversationID(1), Parents: parent(9, 2)}, dag.ErrParent},
		{"no sequence number", dag.Skeleton{ID: turnID(9), Conversation: conversationID(1)}, dag.ErrForm},
		{"salience that does not fit", dag.Skeleton{Seq: 9, ID: turnID(9), Conversation: conversationID(1), Salience: 1 << 20}, dag.ErrForm},
		{"a role that does not fit", dag.Skeleton{Seq: 9, ID: turnID(9), Conversation: conversationID(1), Role: 8}, dag.ErrForm},
		{"a phase that does not fit", dag.Skeleton{Seq: 9, ID: turnID(9), Conversation: conversationID(1), Phase: 8}, dag.ErrForm},
		{"an edge's kind that does not fit", dag.Skeleton{Seq: 9, ID: turnID(9), Conversation: conversationID(1), Parents: []dag.SkeletonParent{{ID: turnID(1), Conversation: conversationID(1), Kind: 8}}}, dag.ErrForm},
		{"too many parents", dag.Skeleton{Seq: 9, ID: turnID(9), Conversation: conversationID(1), Parents: make([]dag.SkeletonParent, dag.MaxParents+1)}, dag.ErrForm},
	} {
		if err := g.Add(&tc.turn); !errors.Is(err, tc.want) {
			t.Errorf("%s: got %v, want %v", tc.name, err, tc.want)
		}
	}
	if err := g.AddLink(dag.Link{Parent: turnID(8), Child: turnID(9), ChildConversation: conversationID(3), Seq: 9}); !errors.Is(err, dag.ErrParent) {
		t.Errorf("a link from nowhere: got %v, want ErrParent", err)
	}
	v := g.At(dag.MaxSeq)
	n, ok := v.Find(turnID(1))
	if !ok || g.Len() != 3 || len(v.AppendChildren(nil, n)) != 0 || v.Admitted(n) != 1 {
		t.Errorf("a refused turn left a trace: %d nodes, %d children", g.Len(), len(v.AppendChildren(nil, n)))
	}
}

// TestGraphManyParents holds that a turn may have as many parents as the bound says.
func TestGraphManyParents(t *testing.T) {
	g := dag.NewGraph()
	child := dag.Skeleton{Seq: dag.MaxParents + 1, ID: turnID(dag.MaxParents), Conversation: conversationID(1)}
	for i := range dag.MaxParents {
		s := dag.Skeleton{Seq: dag.Seq(i + 1), ID: turnID(i), Conversation: conversationID(1)}
		if err := g.Add(&s); err != nil {
			t.Fatal(err)
		}
		child.Parents = append(child.Parents, dag.SkeletonParent{ID: s.ID, Conversation: s.Conversation, Kind: dag.Merge})
	}
	if err := g.Add(&child); err != nil {
		t.Fatal(err)
	}
	v := g.At(child.Seq)
	n, ok := v.Find(child.ID)
	if !ok || v.ParentCount(n) != dag.MaxParents {
		t.Fatalf("%d parents, want %d", v.ParentCount(n), dag.MaxParents)
	}
	for i := range dag.MaxParents {
		if p, kind, _ := v.Parent(n, i); v.ID(p) != turnID(i) || kind != dag.Merge {
			t.Fatalf("parent %d is %s", i, v.ID(p))
		}
	}
}

func TestZeroView(t *testing.T) {
	var v dag.View
	if _, ok := v.Find(turnID(1)); ok || v.Len() != 0 || v.Seq() != 0 {
		t.Error("the zero View shows something")
	}
	if _, ok := dag.NewGraph().At(7).Find(turnID(1)); ok {
		t.Error("an empty graph shows something")
	}
}
