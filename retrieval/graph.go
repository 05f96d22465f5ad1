package retrieval

import (
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval/vector"
)

// graphWidth is the least width of a search in a graph. At this width, 0.95 of the hits are as good as those of an exact search, see
// package vector.
const graphWidth = 64

// A dense has the vectors of an index's turns. To find those near a query, it compares all of them, or walks a graph if there are many.
type dense struct {
	vectors *vector.Flat // nil: an index without vectors
	over    int          // up to this number, all vectors are compared; 0: always
	graph   *vector.HNSW // nil: not made yet
	linking bool         // the graph is being extended, so searches must not walk it
	size    int          // size of the graph at the last EndLinks
}

// erase removes the vector of a turn.
func (d *dense) erase(n int) {
	if d.vectors == nil {
		return
	}
	if d.vectors.Erase(n); d.graph != nil {
		d.graph.Erase(n)
	}
}

// GraphOver sets the number of vectors up to which every search compares all of them. If there are more, the index wants a graph. 0
// means no graph.
func (d *dense) GraphOver(vectors int) { d.over = vectors }

// many reports whether there are so many vectors that the index wants a graph.
func (d *dense) many() bool {
	return d.vectors != nil && d.over > 0 && d.vectors.Count() > d.over
}

// WantsLinks reports whether there are vectors to put into the graph and the graph is not being extended.
func (d *dense) WantsLinks() bool {
	return d.many() && !d.linking && (d.graph == nil || d.graph.Waits())
}

// BeginLinks begins to extend the graph with a number of goroutines. Until EndLinks, searches compare all vectors. Link may run at the
// same time as searches, but not while the index is changed.
func (d *dense) BeginLinks(workers int) {
	if d.linking = true; d.graph == nil {
		d.graph = vector.NewHNSW(d.vectors, workers)
	}
}

// Link puts a batch of vectors into the graph, and reports whether there is another batch.
func (d *dense) Link() (more bool) {
	d.graph.Link()
	return d.graph.Waits()
}

// EndLinks lets searches walk the graph.
func (d *dense) EndLinks() { d.linking, d.size = false, d.graph.Size() }

// mayWalk reports whether a query may use the graph, if the last turn of the index has the number last. The query must be of the whole
// present and have no filters, because a filter would leave few of the turns that the graph finds.
func (d *dense) mayWalk(q *Query, last dag.Seq) bool {
	return q.Approximate && d.many() && d.graph != nil && !d.linking && q.Vector != nil && q.AsOf >= last && len(q.Also) == 0 &&
		!q.filters()
}

// walked returns likenesses from a walk of the graph. Turns that the walk finds can be hits by their likeness alone. For hits by words,
// the likeness is computed exactly. The least likeness is that of the vector nearest to the opposite of the query.
func (d *dense) walked(q *Query, p *Policy, limit int) *likeness {
	width := max(limit, graphWidth)
	if p.Fusion.Method != FusionSum || p.Fusion.InterleaveBelow > 0 || p.Rerank.here() {
		width = max(p.MaxHits, graphWidth) // for the list by likeness, or the hits to rerank
	}
	l := &likeness{weight: p.Dense.Weight, flat: d.vectors, query: q.Vector}
	for i, h := range d.graph.Search(q.Vector, width, width) {
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
	for _, h := range d.graph.Search(opposite, 1, graphWidth) {
		l.Least = vector.Dot(q.Vector, d.vectors.At(h.Place))
	}
	return l
}
