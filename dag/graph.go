package dag

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"
)

// A Skeleton is what selection and fingerprints need of an admitted turn: all
// but its text. A store keeps it beside the turn and loads it in bulk.
type Skeleton struct {
	Seq          Seq
	ID           TurnID
	Conversation ConversationID
	CreatedAt    Time
	Salience     PPM
	Role         Role
	Phase        Phase
	Leaf         Digest // RFC 6962 leaf hash of the turn
	Parents      []SkeletonParent
}

// A SkeletonParent is an edge as the child's skeleton holds it.
type SkeletonParent struct {
	ID           TurnID
	Conversation ConversationID
	Kind         EdgeKind
	Leaf         Digest // RFC 6962 leaf hash of the edge
}

// A Link is an edge whose child lies in another conversation than its parent,
// as seen from the parent's side.
type Link struct {
	Parent            TurnID
	Child             TurnID
	ChildConversation ConversationID
	Seq               Seq // of the child
}

// A Node is the position of a turn in one Graph. It means nothing elsewhere.
type Node uint32

// A Graph holds the skeletons of whole conversations in compact form. Turns can
// be added in any order that puts parents before children within a conversation,
// and conversations in any order. A turn that is known only as the far end of
// an edge into a conversation not added yet is absent: its node exists, and
// [View.Present] says no.
//
// A Graph only grows. Adding excludes reading; any number of Views may read at
// once. Finding a turn by id is one map look-up, everything else is an array access.
type Graph struct {
	index map[TurnID]Node
	nodes []node
	edges []halfEdge // grouped by child, in order of admission
	convs []ConversationID
	conv  map[ConversationID]uint32
	found []Node // the parents of the turn being added
}

// unfound stands for a parent that is not in the graph.
const unfound = ^Node(0)

// none ends the lists of children.
const none = ^uint32(0)

type node struct {
	id         TurnID
	leaf       Digest
	created    Time
	seq        Seq // 0: absent
	conv       uint32
	salience   PPM
	firstEdge  uint32 // into edges: this node's parents
	parents    uint16
	role       Role
	phase      Phase
	firstChild uint32 // into edges: the newest edge that has this node as parent
	linked     Seq    // of an absent node: the smallest sequence number it is known to have
}

type halfEdge struct {
	parent, child Node
	nextChild     uint32 // the next older edge with the same parent
	kind          EdgeKind
	leaf          Digest
}

// NewGraph returns a graph with no turns.
func NewGraph() *Graph {
	return &Graph{index: map[TurnID]Node{}, conv: map[ConversationID]uint32{}}
}

// Errors of Graph.Add.
var (
	ErrDuplicate = errors.New("turn is in the graph already")
	ErrParent    = errors.New("parent is not in the graph")
)

// Add puts a turn into the graph. The parents that lie in the turn's own
// conversation must have been added before.
func (g *Graph) Add(s *Skeleton) error {
	n, known := g.index[s.ID]
	if known && g.nodes[n].seq != 0 {
		return fmt.Errorf("dag: %w: %s", ErrDuplicate, s.ID)
	}
	if len(s.Parents) > MaxParents {
		return fmt.Errorf("dag: %w: turn %s has %d parents, at most %d", ErrForm, s.ID, len(s.Parents), MaxParents)
	}
	g.found = g.found[:0]
	for i := range s.Parents {
		p := &s.Parents[i]
		parent, ok := g.parent(p)
		if p.Conversation == s.Conversation && (!ok || g.nodes[parent].seq == 0) {
			return fmt.Errorf("dag: %w: %s, parent of %s", ErrParent, p.ID, s.ID)
		}
		if !ok {
			parent = unfound
		}
		g.found = append(g.found, parent)
	}
	if !known {
		n = g.ghost(s.ID, s.Conversation)
	}
	first := uint32(len(g.edges))
	for i := range s.Parents {
		p, parent := &s.Parents[i], g.found[i]
		if parent == unfound {
			parent = g.ghost(p.ID, p.Conversation)
		}
		g.edges = append(g.edges, halfEdge{parent: parent, child: n, nextChild: g.nodes[parent].firstChild, kind: p.Kind, leaf: p.Leaf})
		g.nodes[parent].firstChild = uint32(len(g.edges) - 1)
	}
	at := &g.nodes[n]
	at.leaf, at.created, at.seq, at.salience, at.role, at.phase = s.Leaf, s.CreatedAt, s.Seq, s.Salience, s.Role, s.Phase
	at.firstEdge, at.parents = first, uint16(len(s.Parents))
	return nil
}

// parent finds a parent. Most turns continue from the one added before them, so
// that one is looked at first.
func (g *Graph) parent(p *SkeletonParent) (Node, bool) {
	if last := len(g.nodes) - 1; last >= 0 && g.nodes[last].id == p.ID {
		return Node(last), true
	}
	n, ok := g.index[p.ID]
	return n, ok
}

// Grow makes room for more turns and edges, so that adding them moves nothing.
func (g *Graph) Grow(turns, edges int) {
	g.nodes = slices.Grow(g.nodes, turns)
	g.edges = slices.Grow(g.edges, edges)
	if len(g.index) == 0 {
		g.index = make(map[TurnID]Node, turns)
	}
}

// AddLink says that a turn of another conversation continues from a turn of
// this graph. If that conversation is added later, the link turns into the edge.
func (g *Graph) AddLink(l Link) error {
	parent, ok := g.index[l.Parent]
	if !ok {
		return fmt.Errorf("dag: %w: %s, parent of %s", ErrParent, l.Parent, l.Child)
	}
	if child, ok := g.index[l.Child]; ok && g.nodes[child].seq != 0 {
		return nil // the child brought its edges itself
	}
	child, ok := g.index[l.Child]
	if !ok {
		child = g.ghost(l.Child, l.ChildConversation)
	}
	if at := &g.nodes[child]; at.linked == 0 {
		at.linked = l.Seq
	}
	g.edges = append(g.edges, halfEdge{parent: parent, child: child, nextChild: g.nodes[parent].firstChild})
	g.nodes[parent].firstChild = uint32(len(g.edges) - 1)
	return nil
}

func (g *Graph) ghost(id TurnID, conversation ConversationID) Node {
	c, ok := g.conv[conversation]
	if !ok {
		c = uint32(len(g.convs))
		g.convs = append(g.convs, conversation)
		g.conv[conversation] = c
	}
	n := Node(len(g.nodes))
	g.nodes = append(g.nodes, node{id: id, conv: c, firstChild: none})
	g.index[id] = n
	return n
}

// Len is the number of nodes, absent ones included.
func (g *Graph) Len() int { return len(g.nodes) }

// Size estimates the bytes that the graph holds on to.
func (g *Graph) Size() int {
	const indexEntry = 45 // of map[TurnID]Node, measured
	return cap(g.nodes)*int(unsafe.Sizeof(node{})) + cap(g.edges)*int(unsafe.Sizeof(halfEdge{})) +
		len(g.index)*indexEntry + len(g.convs)*64
}

// At gives the graph as it was at a sequence number. It costs nothing.
func (g *Graph) At(seq Seq) View { return View{g: g, seq: seq} }

// A View shows the turns of a Graph that had been admitted up to its sequence
// number, and the edges between them. The zero View shows nothing.
type View struct {
	g   *Graph
	seq Seq
}

// Seq is the sequence number the view stands at.
func (v View) Seq() Seq { return v.seq }

// Len bounds the nodes of the view: every Node is below it.
func (v View) Len() int {
	if v.g == nil {
		return 0
	}
	return len(v.g.nodes)
}

// Find gives the node of a turn that the view shows.
func (v View) Find(id TurnID) (Node, bool) {
	if v.g == nil {
		return 0, false
	}
	n, ok := v.g.index[id]
	return n, ok && v.Present(n) && v.g.nodes[n].seq <= v.seq
}

// Present reports whether a node's turn has been added. An absent one has an
// id and a conversation, and nothing else.
func (v View) Present(n Node) bool { return v.g.nodes[n].seq != 0 }

// ID, Conversation, CreatedAt, Salience, Role, Phase, Admitted and Leaf give
// the parts of a node's skeleton.
func (v View) ID(n Node) TurnID                   { return v.g.nodes[n].id }
func (v View) Conversation(n Node) ConversationID { return v.g.convs[v.g.nodes[n].conv] }
func (v View) CreatedAt(n Node) Time              { return v.g.nodes[n].created }
func (v View) Salience(n Node) PPM                { return v.g.nodes[n].salience }
func (v View) Role(n Node) Role                   { return v.g.nodes[n].role }
func (v View) Phase(n Node) Phase                 { return v.g.nodes[n].phase }
func (v View) Admitted(n Node) Seq                { return v.g.nodes[n].seq }
func (v View) Leaf(n Node) Digest                 { return v.g.nodes[n].leaf }

// ParentCount is the number of a node's parents. They were all admitted before
// it, so a view that shows a turn shows its parents.
func (v View) ParentCount(n Node) int { return int(v.g.nodes[n].parents) }

// Parent gives a node's i-th parent in the order given at admission, the
// edge's kind and its leaf hash.
func (v View) Parent(n Node, i int) (parent Node, kind EdgeKind, leaf *Digest) {
	e := &v.g.edges[v.g.nodes[n].firstEdge+uint32(i)]
	return e.parent, e.kind, &e.leaf
}

// AppendChildren appends the children of n that the view shows, in no
// particular order. An absent child may stand twice if several links lead to it.
func (v View) AppendChildren(dst []Node, n Node) []Node {
	for i := v.g.nodes[n].firstChild; i != none; {
		e := &v.g.edges[i]
		child := &v.g.nodes[e.child]
		switch {
		case child.seq == 0:
			if child.linked <= v.seq {
				dst = append(dst, e.child)
			}
		case e.kind != 0 && child.seq <= v.seq:
			dst = append(dst, e.child)
		}
		i = e.nextChild
	}
	return dst
}
