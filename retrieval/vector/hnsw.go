package vector

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"slices"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
)

const (
	linksPicked  = 16  // that a vector gets on each level when it comes
	linksMost    = 32  // that it has on the lowest level
	linksAbove   = 16  // that it has on each other level
	branchesMost = 8   // children in the tree
	widthBuild   = 200 // candidates for links
	widthAbove   = 8   // candidates while a search goes down
	batch        = 256 // vectors that are linked together
	levelBits    = 4   // one vector in 16 of each level is on the next one too
)

// An HNSW finds vectors of a Flat that are near a query by a graph, and may miss some. Places are linked in batches of a fixed size: each vector
// is compared with the graph as it was before the batch and with those that come before it in the batch, so the graph does not depend on the number
// of workers. Vectors that wait for their batch are compared one by one.
//
// Beside the links, of which the graph keeps the most useful, a tree joins each vector to one near it. Its branches are
// never dropped, so every vector can be reached, however many are equal or almost equal.
//
// An HNSW must not be changed while it is read.
type HNSW struct {
	flat    *Flat
	workers int
	nodes   []node // by place; those of the Flat from here on wait for their batch
	entry   int32  // a node of the highest level; none: no node is linked
	size    int
	marks   sync.Pool
}

const none = -1

// A node is a place in the graph.
type node struct {
	links    [][]int32 // by level; nil: the place has no vector
	parent   int32     // the nearest node while it is linked, then the one above it in the tree; none for the root
	children []int32
}

// NewHNSW returns a graph without any of the places of a Flat, which so many goroutines extend; at least one.
func NewHNSW(f *Flat, workers int) *HNSW {
	return &HNSW{flat: f, workers: max(1, workers), entry: none, marks: sync.Pool{New: func() any { return &marks{} }}}
}

// Waits reports whether there are as many places that are not in the graph as Link takes.
func (h *HNSW) Waits() bool { return h.flat.Len()-len(h.nodes) >= batch }

// Size estimates the bytes of the graph, without those of the vectors.
func (h *HNSW) Size() int { return h.size }

func (h *HNSW) vector(n int32) []int8 { return h.flat.At(int(n)) }

func (h *HNSW) id(n int32) dag.TurnID { return h.flat.turns[n].id }

// levelOf returns the highest level that a vector is on.
func levelOf(id dag.TurnID) int {
	sum := sha256.Sum256(id[:])
	return bits.TrailingZeros32(binary.LittleEndian.Uint32(sum[:])) / levelBits
}

func (n *node) level() int { return len(n.links) - 1 }

// A candidate is a node by its score, for a query or another node.
type candidate struct {
	score int64
	place int32
	done  bool // its links have been followed
}

func nearer(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.place, b.place))
}

// Search returns vectors near the query, the best of those that it saw first, and of equal ones the one with the lower id first. The
// wider a search is, the more it sees; a width of 64 suits 10 hits.
func (h *HNSW) Search(query []int8, limit, width int) []Hit {
	var found []candidate
	if h.entry != none {
		m := h.marks.Get().(*marks)
		defer h.marks.Put(m)
		found = h.start(query)
		for level := h.nodes[h.entry].level(); level > 0; level-- {
			found = h.beam(m, query, found, level, widthAbove)
		}
		found = h.beam(m, query, found, 0, max(width, limit))
	}
	for n := len(h.nodes); n < h.flat.Len(); n++ {
		if h.flat.Has(n) {
			found = append(found, candidate{score: Dot(query, h.flat.At(n)), place: int32(n)})
		}
	}
	hits := make([]Hit, len(found))
	for i, c := range found {
		hits[i] = Hit{int(c.place), h.id(c.place), c.score}
	}
	slices.SortFunc(hits, better)
	return hits[:min(limit, len(hits))]
}

func (h *HNSW) start(query []int8) []candidate {
	return []candidate{{score: Dot(query, h.vector(h.entry)), place: h.entry}}
}

// marks are the nodes that a search has seen: those with the number of this search.
type marks struct {
	seen []uint32
	now  uint32
}

// begin forgets all marks, of so many nodes.
func (m *marks) begin(nodes int) {
	if m.now++; m.now == 0 || len(m.seen) < nodes {
		m.seen, m.now = make([]uint32, nodes+nodes/4), 1
	}
}

// first reports whether a node was not seen before.
func (m *marks) first(n int32) bool {
	if m.seen[n] == m.now {
		return false
	}
	m.seen[n] = m.now
	return true
}

// beam follows links of a level from some candidates on, always those of the best whose links have not been followed, and returns the best
// that it saw, at most width.
func (h *HNSW) beam(m *marks, query []int8, from []candidate, level, width int) []candidate {
	m.begin(len(h.nodes))
	best := make([]candidate, 0, width+1)
	see := func(c candidate) (at int) {
		if len(best) == width && nearer(c, best[width-1]) > 0 {
			return width
		}
		at, _ = slices.BinarySearchFunc(best, c, nearer)
		best = slices.Insert(best, at, c)
		best = best[:min(len(best), width)]
		return at
	}
	for _, c := range from {
		m.first(c.place)
		see(candidate{score: c.score, place: c.place})
	}
	for next := 0; next < len(best); {
		if best[next].done {
			next++
			continue
		}
		best[next].done = true
		lowest := next + 1
		follow := func(n int32) {
			if m.first(n) {
				lowest = min(lowest, see(candidate{score: Dot(query, h.vector(n)), place: n}))
			}
		}
		at := &h.nodes[best[next].place]
		for _, n := range at.links[level] {
			follow(n)
		}
		if level == 0 {
			for _, n := range at.children {
				follow(n)
			}
			if at.parent != none {
				follow(at.parent)
			}
		}
		next = lowest
	}
	return best
}

// pick returns candidates to link to, the nearest first: one counts only if none that was picked is nearer to it than the
// node is, so that links lead in all directions. Where that leaves room, the nearest of the others fill it.
func (h *HNSW) pick(near []candidate, most int) []int32 {
	picked := make([]int32, 0, most)
	var others []int32
	for _, c := range near {
		if len(picked) == most {
			return picked
		}
		v := h.vector(c.place)
		if slices.ContainsFunc(picked, func(n int32) bool { return Dot(v, h.vector(n)) >= c.score }) {
			others = append(others, c.place)
			continue
		}
		picked = append(picked, c.place)
	}
	return append(picked, others[:min(len(others), most-len(picked))]...)
}

// candidates returns nodes by their score for a vector, the nearest first.
func (h *HNSW) candidates(v []int8, nodes []int32) []candidate {
	list := make([]candidate, len(nodes))
	for i, n := range nodes {
		list[i] = candidate{score: Dot(v, h.vector(n)), place: n}
	}
	slices.SortFunc(list, nearer)
	return list
}
