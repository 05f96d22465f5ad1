package slice

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
)

// An Admission is the reason why a turn is in a slice. It is under the snapshot
// hash.
type Admission struct {
	Score    policy.Score
	Distance int
	Via      Via
	From     dag.TurnID // the turn it was reached from; zero for the anchor
}

// A Selected turn, as far as a slice knows it without its text.
type Selected struct {
	ID        dag.TurnID
	CreatedAt dag.Time
	Admission Admission
}

// A Slice is a finished cut: the turns that may influence the anchor, the
// edges between them, the reasons and the fingerprints. It holds no text and
// no part of the graph it was cut from.
type Slice struct {
	AsOf       dag.Seq
	Policy     policy.Registered
	Provenance Provenance
	Turns      []Selected // by ascending id
	Edges      []dag.Edge // by ascending (parent, child)
	Picked     []int      // indexes into Turns, in the order of selection
}

// Cut selects around an anchor and fingerprints what was selected.
func Cut(v dag.View, anchor dag.TurnID, p policy.Registered) (*Slice, error) {
	picks, err := Select(v, anchor, p.Params())
	if err != nil {
		return nil, err
	}
	c := cuts.Get().(*cut)
	defer cuts.Put(c)
	c.reset()
	s := &Slice{AsOf: v.Seq(), Policy: p}
	c.turns(s, v, picks)
	c.edges(s, v, picks)
	s.Provenance = Provenance{
		Anchor:            anchor,
		PolicyID:          p.ID(),
		PolicyParamsHash:  p.Hash(),
		GraphSnapshotHash: c.snapshot(s.Turns),
		SchemaVersion:     SchemaVersion,
	}
	s.Provenance.SliceID = c.sliceID(&s.Provenance, s.Turns, s.Edges)
	return s, nil
}

// A cut is the working memory of one Cut or check, kept for the next.
type cut struct {
	order  []sortable
	rank   map[dag.Node]int32 // of a selected node: its index by ascending id
	pairs  []pair
	leaves []tlog.Hash // turns, then edges, then admissions
	text   []byte      // the turns' ids as text, 36 bytes each
	json   canon.Writer
}

type sortable struct {
	high, low uint64 // the id
	pick      int
}

// A pair is an edge whose ends are given by their indexes.
type pair struct {
	key  uint64 // parent's index << 32 | child's index
	kind dag.EdgeKind
	leaf *dag.Digest
}

var cuts = sync.Pool{New: func() any { return &cut{rank: map[dag.Node]int32{}} }}

func (c *cut) reset() {
	c.order, c.pairs, c.leaves, c.text = c.order[:0], c.pairs[:0], c.leaves[:0], c.text[:0]
	clear(c.rank)
}

const idText = 36 // characters of an id

// turns fills in the selected turns by ascending id, their leaves and the order
// of selection.
func (c *cut) turns(s *Slice, v dag.View, picks []Pick) {
	for i, p := range picks {
		id := v.ID(p.Node)
		c.order = append(c.order, sortable{binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:]), i})
	}
	slices.SortFunc(c.order, func(a, b sortable) int {
		if a.high != b.high {
			return cmp.Compare(a.high, b.high)
		}
		return cmp.Compare(a.low, b.low)
	})
	s.Turns = make([]Selected, len(picks))
	s.Picked = make([]int, len(picks))
	for at, o := range c.order {
		p := picks[o.pick]
		t := Selected{ID: v.ID(p.Node), CreatedAt: v.CreatedAt(p.Node), Admission: admissionOf(v, p)}
		s.Turns[at] = t
		s.Picked[o.pick] = at
		c.rank[p.Node] = int32(at)
		c.leaves = append(c.leaves, tlog.Hash(v.Leaf(p.Node)))
		c.text = t.ID.AppendText(c.text)
	}
}

// edges fills in every edge with both ends selected, and their leaves.
func (c *cut) edges(s *Slice, v dag.View, picks []Pick) {
	for _, o := range c.order {
		n := picks[o.pick].Node
		for i := range v.ParentCount(n) {
			parent, kind, leaf := v.Parent(n, i)
			if at, ok := c.rank[parent]; ok {
				c.pairs = append(c.pairs, pair{uint64(at)<<32 | uint64(c.rank[n]), kind, leaf})
			}
		}
	}
	slices.SortFunc(c.pairs, func(a, b pair) int { return cmp.Compare(a.key, b.key) })
	s.Edges = make([]dag.Edge, len(c.pairs))
	for i, p := range c.pairs {
		s.Edges[i] = dag.Edge{Parent: s.Turns[p.key>>32].ID, Child: s.Turns[uint32(p.key)].ID, Kind: p.kind}
		c.leaves = append(c.leaves, tlog.Hash(*p.leaf))
	}
}

// snapshot is the Merkle tree hash over the leaves gathered so far and the
// admissions' leaf.
func (c *cut) snapshot(turns []Selected) dag.Digest {
	c.json.Reset(append(c.json.Bytes[:0], 0)) // RFC 6962: a leaf is hashed behind a zero byte
	appendAdmissions(&c.json, turns, c.text)
	c.leaves = append(c.leaves, sha256.Sum256(c.json.Bytes))
	return treeHash(c.leaves)
}

// AppendAdmissionsLeaf appends the leaf of the reasons of a slice whose turns
// stand by ascending id.
func AppendAdmissionsLeaf(dst []byte, turns []Selected) []byte {
	var text []byte
	for i := range turns {
		text = turns[i].ID.AppendText(text)
	}
	w := canon.NewWriter(dst)
	appendAdmissions(w, turns, text)
	return w.Bytes
}

// appendAdmissions writes the leaf of the reasons. text holds the turns' ids.
func appendAdmissions(w *canon.Writer, turns []Selected, text []byte) {
	w.BeginObject()
	w.Key("admissions")
	w.BeginArray()
	for i := range turns {
		a := &turns[i].Admission
		w.BeginArray()
		w.Text(text[i*idText : (i+1)*idText])
		w.Uint(uint64(a.Distance))
		w.Uint(uint64(a.Score))
		w.String(a.Via.String())
		if a.Via == ViaAnchor {
			w.Text(nil)
		} else {
			var from [idText]byte
			w.Text(a.From.AppendText(from[:0]))
		}
		w.EndArray()
	}
	w.EndArray()
	w.Key("type")
	w.String("admissions")
	w.EndObject()
}

// sliceID names the slice.
func (c *cut) sliceID(p *Provenance, turns []Selected, edges []dag.Edge) SliceID {
	w := &c.json
	w.Reset(w.Bytes[:0])
	w.BeginObject()
	w.Key("anchor")
	w.String(p.Anchor.String())
	w.Key("edges")
	w.BeginArray()
	var id [idText]byte
	for _, e := range edges {
		w.BeginArray()
		w.Text(e.Parent.AppendText(id[:0]))
		w.Text(e.Child.AppendText(id[:0]))
		w.String(e.Kind.String())
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
	for i := range turns {
		w.Text(c.text[i*idText : (i+1)*idText])
	}
	w.EndArray()
	w.EndObject()
	return SliceID(fmt.Sprintf("%016x", xxhash.Sum64(w.Bytes)))
}

func admissionOf(v dag.View, p Pick) Admission {
	a := Admission{Score: p.Score, Distance: p.Distance, Via: p.Via}
	if p.Via != ViaAnchor {
		a.From = v.ID(p.From)
	}
	return a
}

// treeHash is the Merkle tree hash of RFC 6962, section 2.1, over leaf hashes.
// It overwrites them. Joining neighbours level by level and carrying a last odd
// one up gives the same tree as the RFC's recursive split, without a stack.
func treeHash(level []tlog.Hash) dag.Digest {
	if len(level) == 0 {
		return sha256.Sum256(nil)
	}
	for len(level) > 1 {
		half := 0
		for i := 0; i+1 < len(level); i += 2 {
			level[half] = tlog.NodeHash(level[i], level[i+1])
			half++
		}
		if len(level)%2 == 1 {
			level[half] = level[len(level)-1]
			half++
		}
		level = level[:half]
	}
	return dag.Digest(level[0])
}

// Order gives the indexes of turns in the order for readers and prompts: a
// topological order along edges; among the turns that are ready, the earliest
// (CreatedAt, ID) comes first. Turns are by ascending id, and the edges' ends
// among them. Turns on a cycle, and behind one, are left out.
func Order(turns []Selected, edges []dag.Edge) []int32 {
	index := make(map[dag.TurnID]int32, len(turns))
	for i := range turns {
		index[turns[i].ID] = int32(i)
	}
	pairs := make([][2]int32, len(edges))
	for i, e := range edges {
		pairs[i] = [2]int32{index[e.Parent], index[e.Child]}
	}
	return dag.Topological(len(turns), pairs, func(a, b int32) bool {
		if turns[a].CreatedAt != turns[b].CreatedAt {
			return turns[a].CreatedAt < turns[b].CreatedAt
		}
		return a < b
	})
}
