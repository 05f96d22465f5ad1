// Package enrich owns the enrichment of hits by a graph of facts: each hit has the facts around the entities that it mentions, and
// gets a score that combines both. It is pure; package kernel finds the entities of a turn and the facts around them.
//
// Source: Graph Kernel paper, enrichment of retrieval (RAG++).
package enrich

import (
	"cmp"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// A Fact is a fact in the neighbourhood of a hit's entities.
type Fact struct {
	Confidence dag.PPM
	Hops       int     // from an entity of the hit: 1 or more
	Fit        dag.PPM // the share of the query's words that occur in its names; 1 if there is no query
}

// A Hit is a turn that was found.
type Hit struct {
	Turn  dag.TurnID
	Found int64 // its score in the search, 0 or more
	Facts []Fact

	Graph    dag.PPM // the weight of its facts, as a share of the best hit's; set by Combine
	Combined dag.PPM // set by Combine
}

// weight returns the weight of a hit's facts, in ppm. A fact contributes its confidence times its fit, halved for each hop after the
// first. The best facts decide, because each further fact counts half as much as the one before: an entity with very many facts gets no
// advantage from their number.
func (h *Hit) weight() int64 {
	parts := make([]int64, len(h.Facts))
	for i, f := range h.Facts {
		parts[i] = int64(f.Confidence) * int64(f.Fit) / int64(dag.One) >> (f.Hops - 1)
	}
	slices.SortFunc(parts, func(a, b int64) int { return cmp.Compare(b, a) })
	sum := int64(0)
	for i, p := range parts[:min(len(parts), 20)] {
		sum += p >> i
	}
	return sum
}

// Combine sets the scores of hits and sorts them. The combined score is (1 - alpha) times the share of the best score in the search,
// plus alpha times the share of the best weight of facts. The best come first, and equal scores by ascending id. It costs O(n log n).
func Combine(hits []Hit, alpha dag.PPM) {
	weights := make([]int64, len(hits))
	most, found := int64(1), int64(1)
	for i := range hits {
		weights[i] = hits[i].weight()
		most, found = max(most, weights[i]), max(found, hits[i].Found)
	}
	const one = int64(dag.One)
	for i := range hits {
		h := &hits[i]
		h.Graph = dag.PPM(weights[i] * one / most)
		share := h.Found/found*one + h.Found%found*one/found // no score overflows
		h.Combined = dag.PPM((share*(one-int64(alpha)) + int64(h.Graph)*int64(alpha)) / one)
	}
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Combined, a.Combined), a.Turn.Compare(b.Turn)) })
}
