package knowledge

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/normalize"
)

// An Edge is a version as it is found from one of its ends.
type Edge struct {
	Version
	Incoming bool           // it was found from its object, and leads to its subject
	Rule     normalize.Rule // that formed the names
	Written  Written        // how they were spelled; one of more than MaxWritten bytes is left out
}

// Direction is Outgoing if the edge leads from its subject to its object, and else Incoming.
func (e *Edge) Direction() Direction {
	if e.Incoming {
		return Incoming
	}
	return Outgoing
}

// Other returns the name at the far end, as it was asserted.
func (e *Edge) Other() string {
	if e.Incoming {
		return e.Subject
	}
	return e.Object
}

// Compare is the order of the edges of a name.
func (e *Edge) Compare(o *Edge) int { return compareEdges(e, o) }

// compareEdges is the order of the edges of a name: by confidence, the highest first, then by
// statement, an outgoing one first, then by age. No two edges of a name are equal.
func compareEdges(a, b *Edge) int {
	incoming := func(e *Edge) int {
		if e.Incoming {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), compareIDs(&a.ID, &b.ID), cmp.Compare(incoming(a), incoming(b)), cmp.Compare(a.Since, b.Since))
}

// A Mark is a place in the order of the edges of one name in one direction: after the edge
// that it was made of. The zero Mark is before all.
type Mark struct {
	Confidence dag.PPM
	ID         ID
	Since      dag.Seq // 0: the zero Mark
}

// Mark returns the place after an edge.
func (e *Edge) Mark() Mark { return Mark{e.Confidence, e.ID, e.Since} }

// Before reports whether an edge follows the mark.
func (m Mark) Before(e *Edge) bool {
	if m.Since == 0 {
		return true
	}
	return cmp.Or(cmp.Compare(m.Confidence, e.Confidence), compareIDs(&e.ID, &m.ID), cmp.Compare(e.Since, m.Since)) > 0
}

// An Ask is a question for some of a name's edges.
type Ask struct {
	Name     string
	Incoming bool
	After    Mark
	Limit    int  // above 0
	Earlier  bool // only edges of facts whose names an earlier rule than normalize.Newest formed
}

// A Run is edges of one name in one direction that are together in their order.
type Run struct {
	Edges []Edge
	Whole bool // none follow
}

// Of reports whether a version is an edge of the name that is asked for, in the direction.
func (a *Ask) Of(v *Version) bool {
	if a.Incoming {
		return v.Object == a.Name
	}
	return v.Subject == a.Name
}

// Runs returns lists as runs, each of which has all edges that there are if it has fewer than its
// question's Limit.
func Runs(asks []Ask, lists [][]Edge) []Run {
	runs := make([]Run, len(asks))
	for i := range asks {
		runs[i] = Run{lists[i], len(lists[i]) < asks[i].Limit}
	}
	return runs
}

// A Graph gives the edges of names as they were asserted, without any alias.
type Graph interface {
	// Edges answers questions, each with the first edges after After in their order, whether
	// they ended or not: as many as are at hand, at least one unless there is none, at most
	// Limit. No version is left out that is numbered up to the head that the caller has seen.
	// What comes is not changed by who asked.
	Edges(ctx context.Context, asks []Ask) ([]Run, error)
}

// A Keeper is a Graph that has some edges at hand.
type Keeper interface {
	Graph

	// Kept answers as Edges does, without asking anybody, or gives false. It is called for
	// one name after the other, where Edges would be asked for many at once that may not all
	// be needed.
	Kept(a *Ask) (Run, bool)
}

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
	MaxWork    = 200_000 // edges that a traversal looks at before it is cut; newer ones than AsOf do not count

	// MaxNewer bounds the edges that a traversal passes over since they are newer than AsOf.
	// Beyond it there is an error and no answer: one that was cut there would change with
	// every edge that comes.
	MaxNewer = 10 * MaxWork
)

// bounds is MaxWork and MaxNewer, except for tests.
type bounds struct{ work, newer int }

// A Filter says which versions a question sees.
type Filter struct {
	AsOf          dag.Seq   // below dag.MaxSeq, before which what is believed now has no end
	ValidAt       *dag.Time // nil: whenever it held
	Predicates    []string  // in the form of normalize.Name; empty: all
	MinConfidence dag.PPM
}

// Admits reports whether the filter lets a version through.
func (f *Filter) Admits(v *Version) bool {
	return v.Seen(f.AsOf) && v.Confidence >= f.MinConfidence &&
		(f.ValidAt == nil || v.Holds(*f.ValidAt)) &&
		(len(f.Predicates) == 0 || slices.Contains(f.Predicates, v.Predicate))
}

// A Query is a traversal.
type Query struct {
	Filter
	Start      []string // entities, in the form of normalize.Name
	Earlier    Earlier
	Direction  Direction
	MaxHops    int // 1 to MaxHops
	MaxResults int // 1 to MaxResults
}

// Earlier has, by the name of an entity that is asked about, the forms that what was written has
// under earlier rules. They stand for the entity in facts of those rules.
type Earlier map[string][]string

// ErrQuery is wrapped by the errors about what was asked.
var ErrQuery = errors.New("cannot be asked")

// Check refuses what is out of bounds.
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

// A Reached entity is a result of a traversal, with one way to it.
type Reached struct {
	Entity        string  // the canonical name
	Hops          int     // 1 or more
	MinConfidence dag.PPM // the lowest of the path's
	Path          []*Edge // from a start to the entity; none has an end, which would be behind AsOf. They are the graph's
	From          string  // the start
}

// A Cut says why a traversal does not give all that could be reached.
type Cut string

// The cuts.
const (
	Whole      Cut = ""        // it returns all within the hops
	CutResults Cut = "results" // more entities can be reached than were asked for
	CutWork    Cut = "work"    // it would have looked at more than MaxWork edges; what it returns is right, and not all
)

// Answer is what a traversal gives. It follows from the acts up to Query.AsOf: none that comes
// later changes anything of it.
type Answer struct {
	Reached []Reached
	Cut     Cut
	Looked  int // at so many edges, MaxWork at most
}

// A node is an entity that was reached, or a start.
type node struct {
	name   string
	parent int // index of the node before; -1 for a start
	hops   int
	min    dag.PPM
	by     *Edge
}

// A walk is a traversal on its way.
type walk struct {
	*Query
	ctx     context.Context
	g       Graph
	keeper  Keeper // g, if it is one
	aliases *normalize.Table
	most    bounds
	newer   int    // edges that were passed over
	spent   bool   // the work went no further, and the answer is cut
	limit   int    // edges that are asked for first, of a name
	nodes   []node // the starts, then what was reached, in order
	seen    map[string]struct{}
	earlier map[string][]string // by entity that was asked about: names of earlier rules that stand for it
	answer  Answer
}

// resolveEarlier fills w.earlier for names that were asked about. A name that is asked about
// itself stands for nothing else.
func (w *walk) resolveEarlier(asked ...string) {
	if len(w.Earlier) == 0 {
		return
	}
	entities := map[string]bool{}
	for _, name := range asked {
		entities[w.aliases.Resolve(name)] = true
	}
	w.earlier = map[string][]string{}
	for _, name := range asked {
		entity := w.aliases.Resolve(name)
		for _, old := range w.Earlier[name] {
			if old = w.aliases.Resolve(old); entities[old] {
				continue
			}
			for _, member := range w.aliases.Members(old) {
				if !slices.Contains(w.earlier[entity], member) {
					w.earlier[entity] = append(w.earlier[entity], member)
				}
			}
		}
	}
}

// look counts an edge that came, and reports whether the filter lets it through. It cuts the
// answer where there would be too many. What is counted must not rest on how the edges were
// asked for, nor on those that are newer.
func (w *walk) look(e *Edge) (bool, error) {
	switch {
	case e.Since > w.AsOf:
		if w.newer++; w.newer > w.most.newer {
			return false, fmt.Errorf("%w: more than %d newer facts are among those as of number %d; ask as of a later one, from fewer entities, in fewer hops, or with a minimum confidence", ErrQuery, w.most.newer, w.AsOf)
		}
		return false, nil
	case w.answer.Looked == w.most.work:
		w.spent, w.answer.Cut = true, CutWork
		return false, nil
	}
	w.answer.Looked++
	return w.Admits(&e.Version), nil
}

// sure returns those of a run that have the confidence which is asked for, and whether none
// that has it follows.
func (w *walk) sure(run Run) (edges []Edge, whole bool) {
	n := len(run.Edges)
	for n > 0 && run.Edges[n-1].Confidence < w.MinConfidence {
		n--
	}
	return run.Edges[:n], run.Whole || n == 0 || n < len(run.Edges)
}

// step returns an edge as part of a path. It is the graph's own if that has no end.
func step(e *Edge) *Edge {
	if e.Version.Until == dag.MaxSeq {
		return e
	}
	s := *e
	s.Version.Until = dag.MaxSeq
	return &s
}

// Traverse returns the entities that can be reached from the starts, each once and by its best
// path: the fewest hops; of those the highest minimum confidence; of those the one that goes
// on from the better result, by the better edge (higher confidence, smaller statement digest,
// outgoing). In this order they are listed, so that no tie is open.
//
// It looks at as few edges of each entity as decide that, in one call of g for each hop and a
// few more where what came is not enough: an entity with 100 000 edges costs no more than one
// with some hundreds.
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
	w.resolveEarlier(q.Start...)
	w.seen, w.nodes = make(map[string]struct{}, room), make([]node, 0, room)
	for _, name := range q.Start {
		if name = aliases.Resolve(name); w.first(name) {
			w.nodes = append(w.nodes, node{name: name, parent: -1, min: dag.One})
		}
	}
	starts := len(w.nodes)
	// One more is looked for than was asked for, which says whether there are more.
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

// first reports whether an entity was not met before.
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

// level goes one hop on from the nodes from first on, and appends those that it reaches, the
// best need of them: it merges the edges of all nodes, each node's in their order.
func (w *walk) level(first, hop, need int) error {
	h := w.fans(first)
	w.limit = max(8, min(128, 2*need/len(h)+4))
	for calls := 0; need > 0 && len(h) > 0; {
		f := h[0]
		switch {
		case f.starved:
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

// A fan is the edges of one node, in order, out of several streams: one for each name that
// stands for it and each direction.
type fan struct {
	node    int
	low     dag.PPM // the lowest confidence on the way to the node
	streams []stream

	next    *Edge   // the next edge; nil: there is none, or it is not known
	min     dag.PPM // of the way on by it; if the fan is starved, of the best that may come
	starved bool    // a stream must be asked before the next edge is known
	from    int     // the stream that next is of, or that must be asked
}

// A stream is the edges of one name in one direction.
type stream struct {
	ask   Ask
	edges []Edge // that came and were not taken
	whole bool   // no more will come
}

// empty reports whether it must be asked for more.
func (s *stream) empty() bool { return len(s.edges) == 0 && !s.whole }

// fans returns a fan of each node from first on, as a heap. All of them are starved.
func (w *walk) fans(first int) fanHeap {
	nodes := w.nodes[first:]
	h, fans := make(fanHeap, len(nodes)), make([]fan, len(nodes))
	for i := range nodes {
		fans[i] = fan{node: first + i, low: nodes[i].min, min: nodes[i].min, starved: true}
		h[i] = &fans[i]
	}
	heap.Init(&h)
	return h
}

// open returns a fan its streams, if it has none.
func (w *walk) open(f *fan) {
	if f.streams != nil {
		return
	}
	at := &w.nodes[f.node]
	members := w.aliases.Members(at.name)
	f.streams = make([]stream, 0, 2*len(members))
	add := func(names []string, earlier bool) {
		for _, name := range names {
			for _, incoming := range [...]bool{false, true} {
				if w.Direction == Both || incoming == (w.Direction == Incoming) {
					f.streams = append(f.streams, stream{ask: Ask{Name: name, Incoming: incoming, Limit: w.limit, Earlier: earlier}})
				}
			}
		}
	}
	add(members, false)
	if at.parent < 0 {
		add(w.earlier[at.name], true)
	}
}

// look finds the next edge. A stream that must be asked comes before an edge unless the edge
// is better than all that can come.
func (f *fan) look() {
	f.next, f.starved, f.min = nil, false, 0
	for i := range f.streams {
		s := &f.streams[i]
		switch {
		case len(s.edges) > 0:
			e := &s.edges[0]
			if f.next == nil && !f.starved || f.next != nil && compareEdges(e, f.next) < 0 || f.starved && !f.streams[f.from].ask.After.Before(e) {
				f.next, f.starved, f.from = e, false, i
			}
		case !s.whole:
			// What may come is behind the mark, and the mark itself has been taken.
			if f.next == nil || s.ask.After.Before(f.next) {
				if !f.starved || s.ask.After.less(f.streams[f.from].ask.After) {
					f.next, f.starved, f.from = nil, true, i
				}
			}
		}
	}
	switch {
	case f.starved:
		f.min = f.low
		if m := f.streams[f.from].ask.After; m.Since != 0 {
			f.min = min(f.low, m.Confidence)
		}
	case f.next != nil:
		f.min = min(f.low, f.next.Confidence)
	}
}

// take goes on after the next edge.
func (f *fan) take() {
	s := &f.streams[f.from]
	s.edges = s.edges[1:]
	f.look()
}

// less reports whether a mark is before another.
func (m Mark) less(o Mark) bool {
	if m.Since == 0 || o.Since == 0 {
		return m.Since == 0 && o.Since != 0
	}
	return cmp.Or(cmp.Compare(o.Confidence, m.Confidence), compareIDs(&m.ID, &o.ID), cmp.Compare(m.Since, o.Since)) < 0
}

// A fanHeap has the fan with the best way on at its front; one that is starved counts for
// the best that may come.
type fanHeap []*fan

func (h fanHeap) Len() int      { return len(h) }
func (h fanHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h fanHeap) Less(i, j int) bool {
	a, b := h[i], h[j]
	if a.min != b.min {
		return a.min > b.min
	}
	return a.node < b.node
}
func (h *fanHeap) Push(any) { panic("knowledge: nothing is pushed") }
func (h *fanHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// take returns a stream what it was asked for.
func (w *walk) take(s *stream, run Run) {
	s.edges, s.whole = w.sure(run)
	if n := len(s.edges); n > 0 {
		s.ask.After = s.edges[n-1].Mark()
		s.ask.Limit = min(4*s.ask.Limit, 4096)
	}
}

// fromKept returns a starved fan what it lacks if that is at hand, and reports whether it was.
func (w *walk) fromKept(f *fan) bool {
	if w.keeper == nil {
		return false
	}
	w.open(f)
	for i := range f.streams {
		if s := &f.streams[i]; s.empty() {
			run, ok := w.keeper.Kept(&s.ask)
			if !ok {
				return false
			}
			w.take(s, run)
		}
	}
	f.look()
	return true
}

// feed asks for what starved fans lack, all at once: of those that may come before the best
// edge that is known, or, where that was not enough twice, of all.
func (w *walk) feed(h fanHeap, all bool) error {
	best := dag.PPM(0)
	for _, f := range h {
		if f.next != nil {
			best = max(best, f.min)
		}
	}
	asks, of := make([]Ask, 0, 2*len(h)), make([]*stream, 0, 2*len(h))
	hungry := func(f *fan) bool { return f.starved && (f.min >= best || all) }
	for _, f := range h {
		if !hungry(f) {
			continue
		}
		w.open(f)
		for i := range f.streams {
			if s := &f.streams[i]; s.empty() {
				asks, of = append(asks, s.ask), append(of, s)
			}
		}
	}
	runs, err := w.g.Edges(w.ctx, asks)
	if err != nil {
		return err
	}
	for i, s := range of {
		w.take(s, runs[i])
	}
	for _, f := range h {
		if hungry(f) {
			f.look()
		}
	}
	return nil
}
