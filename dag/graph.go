package dag

import (
	"errors"
	"fmt"
	"unsafe"
)

// A Skeleton is the part of an admitted turn that selection and fingerprints need: all except its text. A store keeps
// it with the turn and loads skeletons in bulk.
type Skeleton struct {
	Seq          Seq
	ID           TurnID
	Conversation ConversationID
	CreatedAt    Time
	Salience     PPM
	Role         Role
	Phase        Phase
	Leaf         Digest // RFC 6962 leaf hash of the turn
	Marks        Marks  // outside the leaf
	Parents      []SkeletonParent
}

// A SkeletonParent is an edge as the child's skeleton stores it.
type SkeletonParent struct {
	ID           TurnID
	Conversation ConversationID
	Kind         EdgeKind
	Leaf         Digest // RFC 6962 leaf hash of the edge
}

// A Link is an edge between two conversations, as seen from the parent's side.
type Link struct {
	Parent            TurnID
	Child             TurnID
	ChildConversation ConversationID
	Seq               Seq // of the child
}

// A Node is the position of a turn in one Graph. It has no meaning in another Graph.
type Node uint32

// A Graph stores the skeletons of whole conversations in compact form. Conversations can be added in any order; within
// a conversation, parents must be added before children. A turn is absent if it is known only as the other end of an
// edge into a conversation that is not added yet: it has a node, and [View.Present] returns false for it.
//
// A Graph only grows. Adding excludes reading; any number of Views may read at once. Finding a turn by id costs one
// hash and a few table look-ups; everything else is an array access.
//
// A turn with one parent takes 92 bytes, its edge 44 and its table entry 6: at most 152 after [Graph.Grow], and at most
// 174 if the graph grew turn by turn. Each thing that the turn touched takes 24 more, plus a map entry if the thing is
// new to the conversation. The fields of a turn that selection reads are adjacent, apart from the fields that only a
// cut needs.
type Graph struct {
	index   index
	nodes   []node
	details []detail            // by node
	origin  []uint32            // by node, into origins
	edges   []halfEdge          // the edges of one child are adjacent, in order of admission
	leaves  []Digest            // by edge
	touches []touch             // the touches of one node are adjacent
	newest  map[touchKey]uint32 // into touches: the newest turn of a conversation that touched a thing
	convs   []ConversationID
	opened  [][]Node // by conversation: see View.AppendOpenings
	conv    map[ConversationID]uint32
	origins []Origin // each once; the first is that of absent nodes
	known   map[Origin]uint32
	found   []Node // the parents of the turn being added
	limit   int    // on nodes, on edges and on touches; it is most, except in tests, which cannot reach most
}

// unfound is the node of a parent that is not in the graph.
const unfound = ^Node(0)

type node struct {
	id         TurnID
	seq        Seq    // of an absent node: the number from the first link to it, or 0
	firstEdge  uint32 // into edges: this node's parents
	firstChild uint32 // into edges: the newest edge that has this node as parent, or none
	conv       uint32 // into convs
	traits     traits
	mark       mark
	firstTouch uint32 // into touches: this node's things
}

type detail struct {
	leaf    Digest
	created Time
}

// traits packs the small fields of a turn into one word:
//
//	bits  0–19  salience
//	bits 20–22  phase
//	bits 23–25  role
//	bits 26–30  number of parents, or manyParents
//	bit  31     absent
type traits uint32

const (
	salienceMask = 1<<20 - 1
	phaseShift   = 20
	roleShift    = 23
	parentsShift = 26
	nameMask     = 7  // of a phase, a role or an edge's kind
	manyParents  = 31 // the turn has this many parents or more
	absent       = traits(1 << 31)
)

type halfEdge struct {
	parent, child Node
	next          uint32 // the next older edge with the same parent, or none; the kind is in the bits above
}

const (
	kindShift = 29
	most      = 1<<kindShift - 1 // the limit on nodes, and on edges
	none      = most             // the end of a list of children
)

// NewGraph returns a graph with no turns.
func NewGraph() *Graph {
	return &Graph{
		index: newIndex(), conv: map[ConversationID]uint32{}, newest: map[touchKey]uint32{}, limit: most,
		origins: []Origin{{}}, known: map[Origin]uint32{{}: 0},
	}
}

// Errors of Graph.Add and Graph.AddLink.
var (
	ErrDuplicate = errors.New("turn is in the graph already")
	ErrParent    = errors.New("parent is not in the graph")
	ErrFull      = errors.New("graph has no room for more turns and edges") // after some 500 million
)

// Add adds a turn to the graph. The parents that lie in the turn's own conversation must have been added before.
func (g *Graph) Add(s *Skeleton) error {
	g.index.grow(len(g.nodes)+1, g.nodes)
	n, free, known := g.index.find(&s.ID, g.nodes)
	if known && g.nodes[n].traits&absent == 0 {
		return fmt.Errorf("dag: %w: %s", ErrDuplicate, s.ID)
	}
	if err := s.check(); err != nil {
		return err
	}
	fresh, err := g.findParents(s)
	if err != nil {
		return err
	}
	if !known {
		fresh++
	}
	if err := g.room(fresh, len(s.Parents), len(s.Marks.Things)); err != nil {
		return err
	}
	if !known {
		n = g.put(free, s.ID, s.Conversation)
	}
	first := uint32(len(g.edges))
	for i := range s.Parents {
		p, parent := &s.Parents[i], g.found[i]
		if parent == unfound {
			parent = g.ghost(p.ID, p.Conversation)
		}
		g.join(parent, n, p.Kind, &p.Leaf)
	}
	at := &g.nodes[n]
	at.seq, at.firstEdge, at.traits, at.mark, at.firstTouch = s.Seq, first, s.traits(), s.mark(), uint32(len(g.touches))
	g.details[n] = detail{leaf: s.Leaf, created: s.CreatedAt}
	g.origin[n] = g.originOf(&s.Marks.Origin)
	g.touch(n, s.Marks.Things)
	g.open(n)
	return nil
}

// check returns an error for a skeleton whose values do not fit into a graph. Every turn that [Turn.Check] accepts
// fits.
func (s *Skeleton) check() error {
	if s.Seq == 0 || s.Salience > salienceMask || s.Role > nameMask || s.Phase > nameMask {
		return fmt.Errorf("dag: %w: turn %s has sequence number %d, salience %s, role %d, phase %d", ErrForm, s.ID, s.Seq, s.Salience, s.Role, s.Phase)
	}
	if len(s.Parents) > MaxParents {
		return fmt.Errorf("dag: %w: turn %s has %d parents, at most %d", ErrForm, s.ID, len(s.Parents), MaxParents)
	}
	if m := &s.Marks; m.Cost > costMask || m.Voice > VoiceHarness || len(m.Things) > MaxThings {
		return fmt.Errorf("dag: %w: turn %s has voice %d, cost %d and %d things", ErrForm, s.ID, m.Voice, m.Cost, len(m.Things))
	}
	for i := range s.Parents {
		if kind := s.Parents[i].Kind; kind > nameMask {
			return fmt.Errorf("dag: %w: turn %s has an edge of kind %d", ErrForm, s.ID, kind)
		}
	}
	return nil
}

func (s *Skeleton) traits() traits {
	return traits(s.Salience) | traits(s.Phase)<<phaseShift | traits(s.Role)<<roleShift |
		traits(min(len(s.Parents), manyParents))<<parentsShift
}

// findParents fills g.found with the nodes of a turn's parents, and counts the parents that have no node yet.
func (g *Graph) findParents(s *Skeleton) (fresh int, err error) {
	g.found = g.found[:0]
	for i := range s.Parents {
		p := &s.Parents[i]
		parent, ok := g.parent(p)
		if p.ID == s.ID || p.Conversation == s.Conversation && (!ok || g.nodes[parent].traits&absent != 0) {
			return 0, fmt.Errorf("dag: %w: %s, parent of %s", ErrParent, p.ID, s.ID)
		}
		if !ok {
			parent = unfound
			fresh++
		}
		g.found = append(g.found, parent)
	}
	return fresh, nil
}

// parent finds the node of a parent. Most turns continue from the turn that was added just before, so that turn is
// compared first.
func (g *Graph) parent(p *SkeletonParent) (Node, bool) {
	if last := len(g.nodes) - 1; last >= 0 && g.nodes[last].id == p.ID {
		return Node(last), true
	}
	n, _, ok := g.index.find(&p.ID, g.nodes)
	return n, ok
}

// Grow makes room for more turns and edges, so that adding them copies nothing.
func (g *Graph) Grow(turns, edges int) {
	g.nodes, g.details, g.origin = grow(g.nodes, turns), grow(g.details, turns), grow(g.origin, turns)
	g.edges, g.leaves = grow(g.edges, edges), grow(g.leaves, edges)
	g.index.grow(len(g.nodes)+turns, g.nodes)
}

// grow makes room for n elements or for an eighth more, whichever is more. append adds a quarter, which would leave a
// fifth of the memory unused just after growing; with an eighth, an element is moved eight times.
func grow[T any](s []T, n int) []T {
	if cap(s)-len(s) >= n {
		return s
	}
	return append(make([]T, 0, len(s)+max(n, len(s)/8+4)), s...)
}

// AddLink records that a turn of another conversation continues from a turn of this graph. If that conversation is
// added later, the child's own edge replaces the link.
func (g *Graph) AddLink(l Link) error {
	parent, _, ok := g.index.find(&l.Parent, g.nodes)
	if !ok {
		return fmt.Errorf("dag: %w: %s, parent of %s", ErrParent, l.Parent, l.Child)
	}
	child, _, known := g.index.find(&l.Child, g.nodes)
	if known && g.nodes[child].traits&absent == 0 {
		return nil // the child's own edges are in the graph
	}
	fresh := 0
	if !known {
		fresh = 1
	}
	if err := g.room(fresh, 1, 0); err != nil {
		return err
	}
	if !known {
		child = g.ghost(l.Child, l.ChildConversation)
	}
	if at := &g.nodes[child]; at.seq == 0 {
		at.seq = l.Seq
	}
	g.join(parent, child, 0, &Digest{})
	return nil
}

// room returns an error if the graph cannot number that many more nodes, edges and touches.
func (g *Graph) room(nodes, edges, touches int) error {
	if nodes > g.limit-len(g.nodes) || edges > g.limit-len(g.edges) || touches > g.limit-len(g.touches) {
		return fmt.Errorf("dag: %w: it has %d turns and %d edges", ErrFull, len(g.nodes), len(g.edges))
	}
	return nil
}

// ghost returns the node of a turn, and adds an absent node if there is none.
func (g *Graph) ghost(id TurnID, conversation ConversationID) Node {
	g.index.grow(len(g.nodes)+1, g.nodes)
	n, free, known := g.index.find(&id, g.nodes)
	if known {
		return n
	}
	return g.put(free, id, conversation)
}

// put adds an absent node.
func (g *Graph) put(free slot, id TurnID, conversation ConversationID) Node {
	n := Node(len(g.nodes))
	g.nodes, g.details, g.origin = grow(g.nodes, 1), grow(g.details, 1), grow(g.origin, 1)
	g.nodes = append(g.nodes, node{id: id, conv: g.convOf(conversation), firstChild: none, traits: absent})
	g.details = append(g.details, detail{})
	g.origin = append(g.origin, 0)
	g.index.put(free, n)
	return n
}

// convOf returns the number of a conversation. Most turns lie in the conversation of the node before them, so it is
// compared first.
func (g *Graph) convOf(conversation ConversationID) uint32 {
	if last := len(g.nodes) - 1; last >= 0 && g.convs[g.nodes[last].conv] == conversation {
		return g.nodes[last].conv
	}
	c, ok := g.conv[conversation]
	if !ok {
		c = uint32(len(g.convs))
		g.convs = append(g.convs, conversation)
		g.opened = append(g.opened, nil)
		g.conv[conversation] = c
	}
	return c
}

// join adds an edge, or a link if it has no kind.
func (g *Graph) join(parent, child Node, kind EdgeKind, leaf *Digest) {
	e := uint32(len(g.edges))
	g.edges, g.leaves = grow(g.edges, 1), grow(g.leaves, 1)
	g.edges = append(g.edges, halfEdge{parent: parent, child: child, next: g.nodes[parent].firstChild | uint32(kind)<<kindShift})
	g.leaves = append(g.leaves, *leaf)
	g.nodes[parent].firstChild = e
}

// Len returns the number of nodes, absent ones included.
func (g *Graph) Len() int { return len(g.nodes) }

// Size estimates the memory that the graph occupies, in bytes.
func (g *Graph) Size() int {
	return cap(g.nodes)*int(unsafe.Sizeof(node{})) + cap(g.details)*int(unsafe.Sizeof(detail{})) +
		cap(g.edges)*int(unsafe.Sizeof(halfEdge{})) + cap(g.leaves)*int(unsafe.Sizeof(Digest{})) +
		cap(g.touches)*int(unsafe.Sizeof(touch{})) + len(g.newest)*touchKeySize +
		cap(g.origin)*int(unsafe.Sizeof(uint32(0))) + len(g.origins)*originSize +
		g.index.size() + cap(g.found)*int(unsafe.Sizeof(Node(0))) + len(g.convs)*conversationSize
}

// At returns the graph as it was at a sequence number. It costs nothing.
func (g *Graph) At(seq Seq) View { return View{g: g, seq: seq} }

// A View shows the turns of a Graph that had been admitted up to its sequence
// number, and the edges between them. The zero View shows nothing.
type View struct {
	g       *Graph
	seq     Seq
	reading Reading
}

// Until returns the view at a sequence number, or v itself if its own number is smaller.
func (v View) Until(seq Seq) View {
	v.seq = min(v.seq, seq)
	return v
}

// Under returns the view with another reading, by which it interprets marks.
func (v View) Under(r Reading) View {
	v.reading = r
	return v
}

// Reading returns the reading by which the view interprets marks.
func (v View) Reading() Reading { return v.reading }

// Seq returns the sequence number of the view.
func (v View) Seq() Seq { return v.seq }

// Len returns an upper bound of the view's nodes: every Node is below it.
func (v View) Len() int {
	if v.g == nil {
		return 0
	}
	return len(v.g.nodes)
}

// Find returns the node of a turn, and whether the view shows it.
func (v View) Find(id TurnID) (Node, bool) {
	if v.g == nil {
		return 0, false
	}
	n, _, ok := v.g.index.find(&id, v.g.nodes)
	return n, ok && v.Present(n) && v.g.nodes[n].seq <= v.seq
}

// Present reports whether a node's turn has been added. An absent turn has an id and a conversation, and nothing else.
func (v View) Present(n Node) bool { return v.g.nodes[n].traits&absent == 0 }

// ID, Conversation, CreatedAt, Salience, Role, Phase and Leaf return the parts of a node's skeleton.
func (v View) ID(n Node) TurnID                   { return v.g.nodes[n].id }
func (v View) Conversation(n Node) ConversationID { return v.g.convs[v.g.nodes[n].conv] }
func (v View) CreatedAt(n Node) Time              { return v.g.details[n].created }
func (v View) Salience(n Node) PPM                { return PPM(v.g.nodes[n].traits & salienceMask) }
func (v View) Role(n Node) Role                   { return Role(v.g.nodes[n].traits >> roleShift & nameMask) }
func (v View) Phase(n Node) Phase                 { return Phase(v.g.nodes[n].traits >> phaseShift & nameMask) }
func (v View) Leaf(n Node) Digest                 { return v.g.details[n].leaf }

// Admitted returns the sequence number of a node's turn, or 0 if it is absent.
func (v View) Admitted(n Node) Seq {
	if !v.Present(n) {
		return 0
	}
	return v.g.nodes[n].seq
}

// ParentCount returns the number of a node's parents. Parents are admitted before their children, so a view that shows
// a turn shows its parents.
func (v View) ParentCount(n Node) int {
	count := int(v.g.nodes[n].traits >> parentsShift & manyParents)
	if count == manyParents {
		return v.g.countParents(n)
	}
	return count
}

// countParents counts a node's edges by walking to the last of them. The edges are adjacent, and no edge or link after
// them has the node as its child.
func (g *Graph) countParents(n Node) int {
	edges := g.edges[g.nodes[n].firstEdge:]
	count := manyParents
	for count < len(edges) && edges[count].child == n {
		count++
	}
	return count
}

// Parent returns a node's i-th parent in the order given at admission, the
// edge's kind and its leaf hash.
func (v View) Parent(n Node, i int) (parent Node, kind EdgeKind, leaf *Digest) {
	at := v.g.nodes[n].firstEdge + uint32(i)
	e := &v.g.edges[at]
	return e.parent, EdgeKind(e.next >> kindShift), &v.g.leaves[at]
}

// AppendChildren appends the children of n that the view shows, in no
// particular order. An absent child may occur twice if several links lead to it.
func (v View) AppendChildren(dst []Node, n Node) []Node {
	for i := v.g.nodes[n].firstChild; i != none; {
		e := &v.g.edges[i]
		child := &v.g.nodes[e.child]
		// The own edge of a turn that is present has replaced a link to it.
		if child.seq <= v.seq && (e.next > none || child.traits&absent != 0) {
			dst = append(dst, e.child)
		}
		i = e.next & none
	}
	return dst
}
