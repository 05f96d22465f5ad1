package knowledge

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/normalize"
)

// A Direction says which edges of an entity are followed.
type Direction string

// The directions.
const (
	Outgoing Direction = "outgoing" // from subjects to objects
	Incoming Direction = "incoming" // from objects to subjects
	Both     Direction = "both"
)

// Bounds of a traversal.
const (
	MaxHops    = 8
	MaxResults = 1000
	MaxStarts  = 64
	MaxWork    = 200_000 // edges that a traversal looks at before it is cut; edges newer than AsOf do not count

	// MaxNewer bounds the edges that a traversal skips because they are newer than AsOf. Beyond
	// it the traversal fails: an answer that was cut there would change with every new edge.
	MaxNewer = 10 * MaxWork
)

// bounds contains MaxWork and MaxNewer, or smaller values in tests.
type bounds struct{ work, newer int }

// A Filter selects the versions that a query sees.
type Filter struct {
	AsOf          dag.Seq   // below dag.MaxSeq, which is the Until of versions that are believed now
	ValidAt       *dag.Time // nil: any time
	Predicates    []string  // in the form of normalize.Name; empty: all
	MinConfidence dag.PPM
}

// Admits reports whether the filter selects a version.
func (f *Filter) Admits(v *Version) bool {
	return v.Seen(f.AsOf) && v.Confidence >= f.MinConfidence &&
		(f.ValidAt == nil || v.Holds(*f.ValidAt)) &&
		(len(f.Predicates) == 0 || slices.Contains(f.Predicates, v.Predicate))
}

// A Query is a traversal.
type Query struct {
	Filter
	Start      []string // entities, in the form of normalize.Name
	Direction  Direction
	MaxHops    int // 1 to MaxHops
	MaxResults int // 1 to MaxResults
}

// ErrQuery is wrapped by errors about the query itself.
var ErrQuery = errors.New("the query cannot be answered")

// Check refuses a query that is out of bounds.
func (q *Query) Check() error {
	switch {
	case len(q.Start) == 0 || len(q.Start) > MaxStarts:
		return fmt.Errorf("%w: %d entities to start from, want 1 to %d", ErrQuery, len(q.Start), MaxStarts)
	case q.MaxHops < 1 || q.MaxHops > MaxHops:
		return fmt.Errorf("%w: max_hops %d, want 1 to %d", ErrQuery, q.MaxHops, MaxHops)
	case q.MaxResults < 1 || q.MaxResults > MaxResults:
		return fmt.Errorf("%w: max_results %d, want 1 to %d", ErrQuery, q.MaxResults, MaxResults)
	case q.Direction != Outgoing && q.Direction != Incoming && q.Direction != Both:
		return fmt.Errorf("%w: direction %.40q, want outgoing, incoming or both", ErrQuery, q.Direction)
	}
	return nil
}

// A Reached is an entity that a traversal reached, with one path to it.
type Reached struct {
	Entity        string  // the canonical name
	Hops          int     // 1 or more
	MinConfidence dag.PPM // the lowest confidence of the path
	Path          []*Edge // from a start to the entity; no edge has an end, since it would be after AsOf. The edges belong to the graph
	From          string  // the start
}

// A Cut says why a traversal does not return everything that can be reached.
type Cut string

// The cuts.
const (
	Whole      Cut = ""        // the answer contains everything within the hops
	CutResults Cut = "results" // more entities can be reached than were asked for
	CutWork    Cut = "work"    // it would have looked at more than MaxWork edges; the answer is correct but not complete
)

// Answer is the result of a traversal. It follows from the acts up to Query.AsOf: later acts never change it.
type Answer struct {
	Reached []Reached
	Cut     Cut
	Looked  int // edges that were looked at, at most MaxWork
}

// A node is an entity that was reached, or a start.
type node struct {
	name   string
	parent int // index of the previous node; -1 for a start
	hops   int
	min    dag.PPM
	by     *Edge
}

// A walk is the state of a running traversal.
type walk struct {
	*Query
	ctx     context.Context
	g       Graph
	keeper  Keeper // g, if it is one
	aliases *normalize.Table
	most    bounds
	newer   int    // edges that were skipped as newer than AsOf
	spent   bool   // the work limit was reached, and the answer is cut
	limit   int    // edges of a name to ask for at first
	nodes   []node // the starts, then the reached entities, in order
	seen    map[string]struct{}
	answer  Answer
}

// look counts an edge, and reports whether the filter selects it. It cuts the answer at the
// work limit. The count must depend neither on how the edges were asked for nor on newer edges.
func (w *walk) look(e *Edge) (bool, error) {
	switch {
	case e.Since > w.AsOf:
		if w.newer++; w.newer > w.most.newer {
			return false, fmt.Errorf("%w: the query meets more than %d facts that are newer than number %d; ask as of a later number, from fewer entities, in fewer hops, or with a minimum confidence", ErrQuery, w.most.newer, w.AsOf)
		}
		return false, nil
	case w.answer.Looked == w.most.work:
		w.spent, w.answer.Cut = true, CutWork
		return false, nil
	}
	w.answer.Looked++
	return w.Admits(&e.Version), nil
}

// sure returns the edges of a run with at least the minimum confidence, and whether no more such edges follow.
func (w *walk) sure(run Run) (edges []Edge, whole bool) {
	n := len(run.Edges)
	for n > 0 && run.Edges[n-1].Confidence < w.MinConfidence {
		n--
	}
	return run.Edges[:n], run.Whole || n == 0 || n < len(run.Edges)
}

// step returns an edge as part of a path, without an end. It returns the graph's own edge if that has none.
func step(e *Edge) *Edge {
	if e.Version.Until == dag.MaxSeq {
		return e
	}
	s := *e
	s.Version.Until = dag.MaxSeq
	return &s
}

// Traverse returns the entities that can be reached from the starts, each once and by its best path: the fewest hops,
// then the highest minimum confidence, then the path that continues from the better result, then the better edge
// (higher confidence, smaller statement digest, outgoing). The results are listed in this order, so there are no ties.
//
// For each entity it looks only at the edges that decide this, in one call of g per hop and a few more where
// the first edges were not enough: an entity with 100 000 edges costs no more than one with some hundreds.
func Traverse(ctx context.Context, g Graph, aliases *normalize.Table, q Query) (Answer, error) {
	return traverse(ctx, g, aliases, q, bounds{MaxWork, MaxNewer})
}

func traverse(ctx context.Context, g Graph, aliases *normalize.Table, q Query, most bounds) (Answer, error) {
	if err := q.Check(); err != nil {
		return Answer{}, err
	}
	w := &walk{Query: &q, ctx: ctx, g: g, aliases: aliases, most: most}
	room := len(q.Start) + q.MaxResults + 1
	w.keeper, _ = g.(Keeper)
	w.seen, w.nodes = make(map[string]struct{}, room), make([]node, 0, room)
	for _, name := range q.Start {
		if name = aliases.Resolve(name); w.first(name) {
			w.nodes = append(w.nodes, node{name: name, parent: -1, min: dag.One})
		}
	}
	starts := len(w.nodes)
	// The search looks for one more than was asked for, to know whether there are more.
	need := func() int { return q.MaxResults + 1 - (len(w.nodes) - starts) }
	for first, hop := 0, 1; hop <= q.MaxHops && first < len(w.nodes) && need() > 0 && w.answer.Cut == Whole; hop++ {
		last := len(w.nodes)
		if err := w.level(first, hop, need()); err != nil {
			return Answer{}, err
		}
		first = last
	}
	if len(w.nodes)-starts > q.MaxResults {
		w.nodes = w.nodes[:starts+q.MaxResults]
		if w.answer.Cut == Whole {
			w.answer.Cut = CutResults
		}
	}
	w.answer.Reached = w.reached(starts)
	return w.answer, nil
}

// first reports whether an entity is met for the first time.
func (w *walk) first(name string) bool {
	n := len(w.seen)
	w.seen[name] = struct{}{}
	return len(w.seen) > n
}

// reached returns the results, with their paths.
func (w *walk) reached(starts int) []Reached {
	steps := 0
	for i := range w.nodes[starts:] {
		steps += w.nodes[starts+i].hops
	}
	n := len(w.nodes) - starts
	list, room := make([]Reached, n), make([]*Edge, steps)
	for i := range list {
		at := &w.nodes[starts+i]
		r := &list[i]
		*r = Reached{Entity: at.name, Hops: at.hops, MinConfidence: at.min, Path: room[:at.hops:at.hops], From: at.name}
		room = room[at.hops:]
		r.Path[at.hops-1] = step(at.by)
		if before := at.parent - starts; before >= 0 {
			copy(r.Path, list[before].Path)
			r.From = list[before].From
		} else {
			r.From = w.nodes[at.parent].name
		}
	}
	return list
}

// level extends the nodes from first on by one hop, and appends the best need entities
// that it reaches: it merges the edges of all nodes, each node's in their order.
func (w *walk) level(first, hop, need int) error {
	h := w.fans(first)
	w.limit = max(8, min(128, 2*need/len(h)+4))
	for calls := 0; need > 0 && len(h) > 0; {
		f := h[0]
		switch {
		case f.pending:
			if w.fromKept(f) {
				heap.Fix(&h, 0)
				continue
			}
			calls++
			if err := w.feed(h, calls > 2); err != nil {
				return err
			}
			heap.Init(&h)
		case f.next == nil:
			heap.Pop(&h)
		default:
			e, low := f.next, f.min
			admitted, err := w.look(e)
			if err != nil || w.spent {
				return err
			}
			f.take()
			heap.Fix(&h, 0)
			if !admitted {
				continue
			}
			if name := w.aliases.Resolve(e.Other()); w.first(name) {
				w.nodes = append(w.nodes, node{name: name, parent: f.node, hops: hop, min: low, by: e})
				need--
			}
		}
	}
	return nil
}
