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
	linksPicked  = 16  // links of a new vector on each level
	linksMost    = 32  // most links of a vector on the lowest level
	linksAbove   = 16  // most links of a vector on each other level
	branchesMost = 8   // most children in the tree
	widthBuild   = 200 // candidates for links
	widthAbove   = 8   // candidates on the levels above, on the way down
	batch        = 256 // vectors that are linked together
	levelBits    = 4   // one vector in 16 of each level is also on the next level
)

// An HNSW finds vectors of a Flat that are near a query with a graph, and may miss some. Places are linked in batches of a fixed size:
// each vector is compared with the graph as it was before the batch and with the vectors before it in the batch, so the graph does not
// depend on the number of workers. A search compares vectors that wait for their batch one by one.
//
// The graph keeps only the most useful links. In addition, a tree connects each vector to one near it. Branches of the tree are
// never dropped, so every vector can be reached, even if many are equal or almost equal.
//
// An HNSW must not be changed while it is read.
type HNSW struct {
	flat    *Flat
	workers int
	nodes   []node // by place; later places of the Flat wait for their batch
	entry   int32  // a node of the highest level; none: no node is linked
	size    int
	marks   sync.Pool
}

const none = -1

// A node is a place in the graph.
type node struct {
	links    [][]int32 // by level; nil: the place has no vector
	parent   int32     // while it is linked, the nearest node; then the node above it in the tree; none for the root
	children []int32
}

// NewHNSW returns an empty graph over a Flat. workers goroutines extend it, at least one.
func NewHNSW(f *Flat, workers int) *HNSW {
	return &HNSW{flat: f, workers: max(1, workers), entry: none, marks: sync.Pool{New: func() any { return &marks{} }}}
}

// Waits reports whether enough places for a batch wait for Link.
func (h *HNSW) Waits() bool { return h.flat.Len()-len(h.nodes) >= batch }

// Size returns the approximate number of bytes that the graph takes in memory, without the vectors.
func (h *HNSW) Size() int { return h.size }

func (h *HNSW) vector(n int32) []int8 { return h.flat.At(int(n)) }

func (h *HNSW) id(n int32) dag.TurnID { return h.flat.turns[n].id }

// levelOf returns the highest level that a vector is on.
func levelOf(id dag.TurnID) int {
	sum := sha256.Sum256(id[:])
	return bits.TrailingZeros32(binary.LittleEndian.Uint32(sum[:])) / levelBits
}

func (n *node) level() int { return len(n.links) - 1 }

// A candidate is a node with its score for a query or for another node.
type candidate struct {
	score int64
	place int32
	done  bool // its links have been followed
}

func nearer(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.place, b.place))
}

// Search returns vectors near the query: the best of those that it examined, the best first and equal scores by ascending id. A
// wider search examines more vectors; a width of 64 suits 10 hits.
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

// marks record the nodes that a search has seen: those whose entry is the number of the search.
type marks struct {
	seen []uint32
	now  uint32
}

// begin begins a search of a graph with a number of nodes, none of which is marked.
func (m *marks) begin(nodes int) {
	if m.now++; m.now == 0 || len(m.seen) < nodes {
		m.seen, m.now = make([]uint32, nodes+nodes/4), 1
	}
}

// first marks a node, and reports whether it was not marked before.
func (m *marks) first(n int32) bool {
	if m.seen[n] == m.now {
		return false
	}
	m.seen[n] = m.now
	return true
}

// beam follows links of a level from some candidates on. It always follows the links of the best candidate whose links have not been
// followed, and returns the best candidates that it saw, at most width.
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

// pick returns the candidates to link to, the nearest first. It picks a candidate only if no picked one is nearer to it than the
// node is, so that links lead in all directions. If there is room left, it adds the nearest of the others.
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

// candidates returns nodes as candidates for a vector, the nearest first.
func (h *HNSW) candidates(v []int8, nodes []int32) []candidate {
	list := make([]candidate, len(nodes))
	for i, n := range nodes {
		list[i] = candidate{score: Dot(v, h.vector(n)), place: n}
	}
	slices.SortFunc(list, nearer)
	return list
}
