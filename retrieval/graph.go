package retrieval

import (
	"slices"

	"github.com/graphkernel/graphkernel/retrieval/vector"
)

// graphWidth is the least width of a search in a graph. At this width, 0.95 of the hits are as good as those of an exact search, see
// package vector.
const graphWidth = 64

// A graph finds the vectors of an index that are near a query, if there are many vectors.
type graph struct {
	over    int          // up to this number, all vectors are compared; 0: always
	hnsw    *vector.HNSW // nil: not made yet
	linking bool         // it is being extended, so searches must not walk it
	size    int          // size of hnsw at the last EndLinks
}

func (g *graph) erase(n int32) {
	if g.hnsw != nil {
		g.hnsw.Erase(int(n))
	}
}

// GraphOver sets the number of vectors up to which every search compares all of them. If there are more, the index wants a graph. 0
// means no graph.
func (x *Index) GraphOver(vectors int) { x.graph.over = vectors }

// many reports whether there are so many vectors that the index wants a graph.
func (x *Index) many() bool {
	return x.vectors != nil && x.graph.over > 0 && x.vectors.Count() > x.graph.over
}

// WantsLinks reports whether there are vectors to put into the graph and the graph is not being extended.
func (x *Index) WantsLinks() bool {
	return x.many() && !x.graph.linking && (x.graph.hnsw == nil || x.graph.hnsw.Waits())
}

// BeginLinks begins to extend the graph with a number of goroutines. Until EndLinks, searches compare all vectors. Link may run at the
// same time as searches, but not while the index is changed.
func (x *Index) BeginLinks(workers int) {
	if x.graph.linking = true; x.graph.hnsw == nil {
		x.graph.hnsw = vector.NewHNSW(x.vectors, workers)
	}
}

// Link puts a batch of vectors into the graph, and reports whether there is another batch.
func (x *Index) Link() (more bool) {
	x.graph.hnsw.Link()
	return x.graph.hnsw.Waits()
}

// EndLinks lets searches walk the graph.
func (x *Index) EndLinks() { x.graph.linking, x.graph.size = false, x.graph.hnsw.Size() }

// mayWalk reports whether a query may use the graph. The query must be of the whole present and have no filters, because a filter would
// leave few of the turns that the graph finds.
func (x *Index) mayWalk(q *Query) bool {
	return q.Approximate && x.many() && x.graph.hnsw != nil && !x.graph.linking && q.Vector != nil && q.AsOf >= x.Last() && len(q.Also) == 0 &&
		!q.filters()
}

// walked returns likenesses from a walk of the graph. Turns that the walk finds can be hits by their likeness alone. For hits by words,
// the likeness is computed exactly. The least likeness is that of the vector nearest to the opposite of the query.
func (x *Index) walked(q *Query, p *Policy, limit int) *likeness {
	width := max(limit, graphWidth)
	if p.Fusion.Method != FusionSum || p.Fusion.InterleaveBelow > 0 || p.Rerank.here() {
		width = max(p.MaxHits, graphWidth) // for the list by likeness, or the hits to rerank
	}
	l := &likeness{weight: p.Dense.Weight, flat: x.vectors, query: q.Vector}
	for i, h := range x.graph.hnsw.Search(q.Vector, width, width) {
		if i == 0 {
			l.Most = h.Score
		}
		l.places = append(l.places, int32(h.Place))
	}
	slices.Sort(l.places)
	opposite := make([]int8, len(q.Vector))
	for i, c := range q.Vector {
		opposite[i] = -max(c, -127)
	}
	for _, h := range x.graph.hnsw.Search(opposite, 1, graphWidth) {
		l.Least = vector.Dot(q.Vector, x.vectors.At(h.Place))
	}
	return l
}
