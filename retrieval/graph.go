package retrieval

import (
	"slices"

	"github.com/graphkernel/graphkernel/retrieval/vector"
)

// graphWidth is how wide a graph is walked at least: .95 of what it finds is as good as what an exact search does, see package vector.
const graphWidth = 64

// A graph leads to the vectors of an index that are near a query, where there are many.
type graph struct {
	over    int          // the vectors that are all compared; 0: however many there are
	hnsw    *vector.HNSW // nil: none yet
	linking bool         // it is being extended, so nobody walks it
	size    int          // of hnsw, when it was last walked
}

func (g *graph) erase(n int32) {
	if g.hnsw != nil {
		g.hnsw.Erase(int(n))
	}
}

// GraphOver sets how many vectors are compared one by one, whatever is asked. If there are more, the index wants a graph of them. 0: however many there are.
func (x *Index) GraphOver(vectors int) { x.graph.over = vectors }

// many reports whether there are so many vectors that a graph pays.
func (x *Index) many() bool {
	return x.vectors != nil && x.graph.over > 0 && x.vectors.Count() > x.graph.over
}

// WantsLinks reports whether there are vectors to put into the graph, and nobody who does.
func (x *Index) WantsLinks() bool {
	return x.many() && !x.graph.linking && (x.graph.hnsw == nil || x.graph.hnsw.Waits())
}

// BeginLinks begins to extend the graph by so many goroutines. Until EndLinks, searches compare all vectors, and Link may run beside them, though beside
// nothing that changes the index.
func (x *Index) BeginLinks(workers int) {
	if x.graph.linking = true; x.graph.hnsw == nil {
		x.graph.hnsw = vector.NewHNSW(x.vectors, workers)
	}
}

// Link puts a batch of vectors into the graph, and reports whether there is another one.
func (x *Index) Link() (more bool) {
	x.graph.hnsw.Link()
	return x.graph.hnsw.Waits()
}

// EndLinks lets searches walk the graph.
func (x *Index) EndLinks() { x.graph.linking, x.graph.size = false, x.graph.hnsw.Size() }

// mayWalk reports whether a query may go by the graph: one of the whole present that no filter narrows, since a filter would leave few of those that
// the graph leads to.
func (x *Index) mayWalk(q *Query) bool {
	return q.Approximate && x.many() && x.graph.hnsw != nil && !x.graph.linking && q.Vector != nil && q.AsOf >= x.Last() && len(q.Also) == 0 &&
		!q.filters()
}

// walked returns what vectors count by the graph. Those that it leads to may be found by their likeness alone. Of others that are found, by their
// words, it is exact. The least likeness is that of the vector nearest to the opposite of the query.
func (x *Index) walked(q *Query, p *Policy, limit int) *likeness {
	width := max(limit, graphWidth)
	if p.Fusion.Method != FusionSum || p.Fusion.InterleaveBelow > 0 || p.Rerank.here() {
		width = max(p.MaxHits, graphWidth) // the list by likeness, or the hits that are reranked
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
