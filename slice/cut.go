package slice

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/standing"
)

// An Admission is the reason why a turn is in a slice. The snapshot hash covers it.
type Admission struct {
	Score    policy.Score
	Distance int
	Via      Via
	From     dag.TurnID // the turn from which this turn was reached; zero for the anchor
	Thing    dag.Thing  // the thing that both this turn and From touched; zero unless via ViaTouch

	// Set from gkp/2 on: the turn's sequence number and its marks from admission, on which the reasons rest. Under gkp/1
	// Number is 0, and the other fields count as absent.
	Number dag.Seq
	Voice  dag.Voice
	Cost   int
	Things []dag.Thing // ascending

	// Set under gkp/3: the turn's standing, and why it has it.
	Standing dag.Standing
	Setting  uint16 // the index of the setting that decides, among those of the slice
	Rule     uint16 // the number of the rule of its policy that decides, from 1; 0: none
}

// A Setting is a setting of the standing policy that decides what some turn of a slice counts for.
type Setting struct {
	After  dag.Seq // the number of the setting; 0: the policy of a tenant for which none was set
	Policy policy.ID
	Hash   dag.Digest // policy_params_hash
}

// A Selected is a selected turn with the facts that a slice has about it, without its text.
type Selected struct {
	ID        dag.TurnID
	CreatedAt dag.Time
	Admission Admission
}

// A Slice is a finished cut: the turns that may influence the anchor, the edges between them, the reasons and the
// fingerprints. It contains no text and no reference to the graph it was cut from.
type Slice struct {
	AsOf       dag.Seq
	Policy     policy.Registered
	Provenance Provenance
	Turns      []Selected // by ascending id
	Edges      []dag.Edge // by ascending (parent, child)
	Picked     []int      // indexes into Turns, in the order in which the turns were selected
	Settings   []Setting  // under gkp/3: the settings from which the turns' standings follow, by ascending number
}

// Cut selects turns around an anchor and computes the fingerprints of the selection. [Select] says what words are.
func Cut(v dag.View, anchor dag.TurnID, p policy.Registered, words *standing.Words) (*Slice, error) {
	params, err := p.Slice()
	if err != nil {
		return nil, err
	}
	if err := params.Check(); err != nil {
		return nil, err
	}
	sel := selections.Get().(*selection)
	defer selections.Put(sel)
	defer sel.reset()
	picks, err := sel.run(v, anchor, params.Walk(), words, nil)
	if err != nil {
		return nil, err
	}
	c := cuts.Get().(*cut)
	defer cuts.Put(c)
	defer c.reset()
	s := &Slice{AsOf: v.Seq(), Policy: p}
	schema := schemaOf(params)
	c.turns(s, v, picks, schema.Marked)
	if schema.Counted {
		s.count(sel.words, picks)
	}
	c.edges(s, v, picks)
	s.Provenance = Provenance{
		Anchor:           anchor,
		PolicyID:         p.ID(),
		PolicyParamsHash: p.Hash(),
		SchemaVersion:    schema.Version,
	}
	c.fingerprint(&s.Provenance, s.AsOf, s.Settings, s.Turns, s.Edges)
	return s, nil
}

// A cut is the working memory of one Cut or Check, which the next one reuses. A turn is identified by its index in
// ascending order of ids.
type cut struct {
	order   []sortable
	dealt   []sortable
	rank    []int32 // by node: the selected turn's index + 1, or 0 if it is not selected
	ranked  []dag.Node
	pairs   []pair
	sorted  []pair
	begins  []int32            // the index at which each parent's pairs begin
	tree    tree               // over the leaves of the turns, then of the edges, then of the reasons
	text    [][dag.IDText]byte // the turns' ids as text, by turn
	reasons []int32            // by turn: the index of the turn from which it was reached
	json    canon.Writer
}

type sortable struct {
	high, low uint64 // the id
	pick      int
}

// A pair is an edge whose ends are indexes of turns.
type pair struct {
	parent, child int32
	kind          dag.EdgeKind
	leaf          *dag.Digest
}

// The names of reasons and of kinds of edges as bytes, because a slice writes them hundreds of times.
var (
	viaTexts  = texts(func(n uint8) string { return Via(n).String() })
	voices    = texts(func(n uint8) string { return dag.Voice(n).String() })
	standings = texts(func(n uint8) string { return dag.Standing(n).String() })
	kindTexts = texts(func(n uint8) string { return dag.EdgeKind(n).String() })
)

func texts(name func(uint8) string) (t [256][]byte) {
	for n := range t {
		t[n] = []byte(name(uint8(n)))
	}
	return t
}

// nowhere is the index of a turn that is not in the slice.
const nowhere = -1

var cuts = sync.Pool{New: func() any { return &cut{} }}

func (c *cut) reset() {
	for _, n := range c.ranked {
		c.rank[n] = 0
	}
	clear(c.pairs) // their leaves point into a graph
	clear(c.sorted)
	c.order, c.ranked, c.pairs, c.text, c.reasons = c.order[:0], c.ranked[:0], c.pairs[:0], c.text[:0], c.reasons[:0]
	c.tree.reset()
}

// turns fills in the selected turns by ascending id, their leaves and the order in which they were selected.
func (c *cut) turns(s *Slice, v dag.View, picks []Pick, marked bool) {
	for i, p := range picks {
		id := v.ID(p.Node)
		c.order = append(c.order, sortable{binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:]), i})
	}
	c.sortOrder()
	if len(c.rank) < v.Len() {
		c.rank = make([]int32, v.Len()+v.Len()/4)
	}
	s.Turns = make([]Selected, len(picks))
	s.Picked = make([]int, len(picks))
	for at, o := range c.order {
		p, t := &picks[o.pick], &s.Turns[at]
		t.ID, t.CreatedAt = v.ID(p.Node), v.CreatedAt(p.Node)
		t.Admission.fill(v, p)
		if marked {
			t.Admission.mark(v, p.Node)
		}
		s.Picked[o.pick] = at
		c.rank[p.Node] = int32(at) + 1
		c.ranked = append(c.ranked, p.Node)
		leaf := v.Leaf(p.Node)
		c.tree.add((*[32]byte)(&leaf))
		c.text = append(c.text, t.ID.Text())
	}
	for _, o := range c.order {
		c.reasons = append(c.reasons, c.rank[picks[o.pick].From]-1)
	}
}

// sortOrder sorts the turns by id. Ids are usually spread evenly, so after distributing them by their first byte very
// little is left to compare.
func (c *cut) sortOrder() {
	var begins [257]int32
	for i := range c.order {
		begins[c.order[i].high>>56+1]++
	}
	for i := 1; i < len(begins); i++ {
		begins[i] += begins[i-1]
	}
	next := begins
	c.dealt = append(c.dealt[:0], c.order...)
	for i := range c.order {
		at := &next[c.order[i].high>>56]
		c.dealt[*at] = c.order[i]
		*at++
	}
	for i := range len(begins) - 1 {
		if same := c.dealt[begins[i]:begins[i+1]]; len(same) > 1 {
			slices.SortFunc(same, func(a, b sortable) int {
				return cmp.Or(cmp.Compare(a.high, b.high), cmp.Compare(a.low, b.low))
			})
		}
	}
	c.order, c.dealt = c.dealt, c.order
}

// edges fills in every edge between two selected turns, and the leaves of the edges.
func (c *cut) edges(s *Slice, v dag.View, picks []Pick) {
	for child, o := range c.order {
		n := picks[o.pick].Node
		for i := range v.ParentCount(n) {
			parent, kind, leaf := v.Parent(n, i)
			if at := c.rank[parent] - 1; at != nowhere {
				c.pairs = append(c.pairs, pair{at, int32(child), kind, leaf})
			}
		}
	}
	s.Edges = make([]dag.Edge, len(c.pairs))
	for i, p := range c.sortPairs(len(picks)) {
		s.Edges[i] = dag.Edge{Parent: s.Turns[p.parent].ID, Child: s.Turns[p.child].ID, Kind: p.kind}
		c.tree.add((*[32]byte)(p.leaf))
	}
}

// sortPairs sorts the pairs by (parent, child). They are already in the order of the children, so it suffices to
// distribute them by parent.
func (c *cut) sortPairs(turns int) []pair {
	c.begins = append(c.begins[:0], make([]int32, turns+1)...)
	for _, p := range c.pairs {
		c.begins[p.parent+1]++
	}
	for i := 1; i < len(c.begins); i++ {
		c.begins[i] += c.begins[i-1]
	}
	c.sorted = append(c.sorted[:0], c.pairs...)
	for _, p := range c.pairs {
		c.sorted[c.begins[p.parent]] = p
		c.begins[p.parent]++
	}
	return c.sorted
}

// fingerprint fills in the snapshot hash and the slice id. (Hashing the tree's inner nodes, half of the work of a cut,
// on another processor was tried: it saves a fifth of the time on an idle machine and doubles it on a busy one.)
func (c *cut) fingerprint(p *Provenance, asOf dag.Seq, settings []Setting, turns []Selected, edges []dag.Edge) {
	c.json.Reset(append(c.json.Bytes[:0], 0)) // RFC 6962: a leaf is hashed after a zero byte
	c.appendAdmissions(p.SchemaVersion, asOf, settings, turns)
	reasons := sha256.Sum256(c.json.Bytes)
	c.tree.add(&reasons)
	p.GraphSnapshotHash = dag.Digest(c.tree.root())
	p.SliceID = c.sliceID(p, edges)
}

// appendAdmissions writes the leaf with the reasons.
func (c *cut) appendAdmissions(version string, asOf dag.Seq, settings []Setting, turns []Selected) {
	schema := schemaNamed(version)
	marked := schema.Marked
	w := &c.json
	w.BeginObject()
	w.Key("admissions")
	w.BeginArray()
	for i := range turns {
		a := &turns[i].Admission
		w.BeginArray()
		w.UUID(&c.text[i])
		if marked {
			a.writeMarks(w)
		}
		w.Uint(uint64(a.Distance))
		w.Uint(uint64(a.Score))
		w.Text(viaTexts[a.Via])
		switch from := c.reasons[i]; {
		case a.Via == ViaAnchor:
			w.Text(nil)
		case from == nowhere:
			w.String(a.From.String())
		default:
			w.UUID(&c.text[from])
		}
		if marked {
			a.writeThing(w)
		}
		w.EndArray()
	}
	w.EndArray()
	if marked {
		w.Key("as_of")
		w.Uint(uint64(asOf))
	}
	if schema.Counted {
		WriteSettingsLeaf(w, settings)
	}
	w.Key("type")
	w.String("admissions")
	w.EndObject()
}

// AppendAdmissionsLeaf appends the leaf with the reasons of a slice whose turns are by ascending id. From gkp/2 on the
// leaf also contains asOf, the number at which the slice was cut, and under gkp/3 the settings.
func AppendAdmissionsLeaf(dst []byte, schema string, asOf dag.Seq, settings []Setting, turns []Selected) []byte {
	c := &cut{}
	c.read(turns, nil)
	c.json.Reset(dst)
	c.appendAdmissions(schema, asOf, settings, turns)
	return c.json.Bytes
}

// read fills the cut with turns and edges that do not come from a graph.
func (c *cut) read(turns []Selected, edges []dag.Edge) {
	index := make(map[dag.TurnID]int32, len(turns))
	for i := range turns {
		c.text = append(c.text, turns[i].ID.Text())
		index[turns[i].ID] = int32(i)
	}
	find := func(id dag.TurnID) int32 {
		if at, ok := index[id]; ok {
			return at
		}
		return nowhere
	}
	for i := range turns {
		c.reasons = append(c.reasons, find(turns[i].Admission.From))
	}
	for _, e := range edges {
		c.sorted = append(c.sorted, pair{parent: find(e.Parent), child: find(e.Child), kind: e.Kind})
	}
}

// sliceID computes the id of the slice.
func (c *cut) sliceID(p *Provenance, edges []dag.Edge) SliceID {
	w := &c.json
	w.Reset(w.Bytes[:0])
	w.BeginObject()
	w.Key("anchor")
	w.String(p.Anchor.String())
	w.Key("edges")
	w.BeginArray()
	for i, e := range edges {
		w.BeginArray()
		c.writeEnd(c.sorted[i].parent, e.Parent)
		c.writeEnd(c.sorted[i].child, e.Child)
		w.Text(kindTexts[e.Kind])
		w.EndArray()
	}
	w.EndArray()
	w.Key("policy_id")
	w.String(string(p.PolicyID))
	w.Key("policy_params_hash")
	w.Hex(p.PolicyParamsHash[:])
	w.Key("schema_version")
	w.String(p.SchemaVersion)
	w.Key("turns")
	w.BeginArray()
	for i := range c.text {
		w.UUID(&c.text[i])
	}
	w.EndArray()
	w.EndObject()
	return SliceID(fmt.Sprintf("%016x", xxhash.Sum64(w.Bytes)))
}

// writeEnd writes the id of an edge's end. If the end is among the turns, the formatted id is reused.
func (c *cut) writeEnd(at int32, id dag.TurnID) {
	if at == nowhere {
		c.json.String(id.String())
		return
	}
	c.json.UUID(&c.text[at])
}

// fill sets the fields of an admission in place; copying a whole admission would cost a cut some microseconds.
func (a *Admission) fill(v dag.View, p *Pick) {
	a.Score, a.Distance, a.Via = p.Score, p.Distance, p.Via
	if p.Via != ViaAnchor {
		a.From = v.ID(p.From)
	}
	if p.Via == ViaTouch {
		a.Thing = v.Thing(p.From, int(p.Thing))
	}
}

// Order returns the indexes of turns in the order for readers and prompts: a topological order along edges; among the
// turns that are ready, the earliest (CreatedAt, ID) comes first. turns must be by ascending id. Turns on a cycle, and
// turns reachable from one, are left out. An edge with an end that is not among the turns is ignored.
func Order(turns []Selected, edges []dag.Edge) []int32 {
	index := make(map[dag.TurnID]int32, len(turns))
	for i := range turns {
		index[turns[i].ID] = int32(i)
	}
	pairs := make([][2]int32, 0, len(edges))
	for _, e := range edges {
		parent, hasParent := index[e.Parent]
		child, hasChild := index[e.Child]
		if hasParent && hasChild {
			pairs = append(pairs, [2]int32{parent, child})
		}
	}
	return dag.Topological(len(turns), pairs, func(a, b int32) bool {
		if turns[a].CreatedAt != turns[b].CreatedAt {
			return turns[a].CreatedAt < turns[b].CreatedAt
		}
		return a < b
	})
}
