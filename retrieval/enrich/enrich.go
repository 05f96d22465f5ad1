// Package enrich owns what a graph of facts adds to turns that were found: each hit gets the facts around the entities that it speaks of, and
// a score that weighs both. It is pure; what the entities of a turn are, and what is around them, is package kernel's to find.
//
// Source: Graph Kernel paper, enrichment of retrieval (RAG++).
package enrich

import (
	"cmp"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// A Fact is one of the neighbourhood of a hit's entities.
type Fact struct {
	Confidence dag.PPM
	Hops       int     // from an entity of the hit: 1 or more
	Fit        dag.PPM // the share of the query's words that its names have; 1 if there is no query
}

// A Hit is a turn that was found.
type Hit struct {
	Turn  dag.TurnID
	Found int64 // its score in the search, 0 or more
	Facts []Fact

	Graph    dag.PPM // what its facts say for it, of the best hit's; set by Combine
	Combined dag.PPM // set by Combine
}

// weight is what the facts around a hit say for it, in ppm: of each its confidence and its fit, halved for each hop after the first. Of
// many the best few decide, as each further one counts half of the one before: a name that everything leads to is no reason.
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

// Combine sets the scores of hits and orders them: the share of the best score in the search times 1 - alpha, and the share of the best
// weight of facts times alpha. The best come first, of equal ones the one with the lower id. It costs O(n log n).
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
		share := h.Found/found*one + h.Found%found*one/found // without overflow for any score
		h.Combined = dag.PPM((share*(one-int64(alpha)) + int64(h.Graph)*int64(alpha)) / one)
	}
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Combined, a.Combined), a.Turn.Compare(b.Turn)) })
}
