package knowledge

import (
	"cmp"
	"container/heap"

	"github.com/graphkernel/graphkernel/dag"
)

// A fan merges the edges of one node, in order, from several streams: one for each name of the node and each direction.
type fan struct {
	node    int
	low     dag.PPM // the lowest confidence on the path to the node
	streams []stream

	next    *Edge   // the next edge; nil: there is none, or it is not known
	min     dag.PPM // the lowest confidence of the path extended by next; if the fan is pending, of the path extended by the best edge that may come
	pending bool    // a stream must be asked before the next edge is known
	from    int     // the stream of next, or the stream that must be asked
}

// A stream is the edges of one name in one direction.
type stream struct {
	ask   Ask
	edges []Edge // received and not taken yet
	whole bool   // no more will come
}

// empty reports whether the stream must be asked for more edges.
func (s *stream) empty() bool { return len(s.edges) == 0 && !s.whole }

// fans returns a heap with a pending fan for each node from first on.
func (w *walk) fans(first int) fanHeap {
	nodes := w.nodes[first:]
	h, fans := make(fanHeap, len(nodes)), make([]fan, len(nodes))
	for i := range nodes {
		fans[i] = fan{node: first + i, low: nodes[i].min, min: nodes[i].min, pending: true}
		h[i] = &fans[i]
	}
	heap.Init(&h)
	return h
}

// open creates the streams of a fan, if it has none.
func (w *walk) open(f *fan) {
	if f.streams != nil {
		return
	}
	at := &w.nodes[f.node]
	members := w.aliases.Members(at.name)
	f.streams = make([]stream, 0, 2*len(members))
	for _, name := range members {
		for _, incoming := range [...]bool{false, true} {
			if w.Direction == Both || incoming == (w.Direction == Incoming) {
				f.streams = append(f.streams, stream{ask: Ask{Name: name, Incoming: incoming, Limit: w.limit}})
			}
		}
	}
}

// look finds the next edge. A stream that must be asked takes precedence over an edge, unless the edge is better than every edge that can come.
func (f *fan) look() {
	f.next, f.pending, f.min = nil, false, 0
	for i := range f.streams {
		s := &f.streams[i]
		switch {
		case len(s.edges) > 0:
			e := &s.edges[0]
			if f.next == nil && !f.pending || f.next != nil && compareEdges(e, f.next) < 0 || f.pending && !f.streams[f.from].ask.After.Before(e) {
				f.next, f.pending, f.from = e, false, i
			}
		case !s.whole:
			// Edges that may come are after the mark; the edge of the mark has been read.
			if f.next == nil || s.ask.After.Before(f.next) {
				if !f.pending || s.ask.After.less(f.streams[f.from].ask.After) {
					f.next, f.pending, f.from = nil, true, i
				}
			}
		}
	}
	switch {
	case f.pending:
		f.min = f.low
		if m := f.streams[f.from].ask.After; m.Since != 0 {
			f.min = min(f.low, m.Confidence)
		}
	case f.next != nil:
		f.min = min(f.low, f.next.Confidence)
	}
}

// take removes the next edge and finds the one after it.
func (f *fan) take() {
	s := &f.streams[f.from]
	s.edges = s.edges[1:]
	f.look()
}

// less reports whether m is before o.
func (m Mark) less(o Mark) bool {
	if m.Since == 0 || o.Since == 0 {
		return m.Since == 0 && o.Since != 0
	}
	return cmp.Or(cmp.Compare(o.Confidence, m.Confidence), compareIDs(&m.ID, &o.ID), cmp.Compare(m.Since, o.Since)) < 0
}

// A fanHeap has the fan with the best extension of its path at the front. A pending fan counts with the best edge that may come.
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

// take gives a stream the run that it asked for.
func (w *walk) take(s *stream, run Run) {
	s.edges, s.whole = w.sure(run)
	if n := len(s.edges); n > 0 {
		s.ask.After = s.edges[n-1].Mark()
		s.ask.Limit = min(4*s.ask.Limit, 4096)
	}
}

// fromKept fills a pending fan from edges in memory, and reports whether that was possible.
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

// feed asks, in one call, for the edges that pending fans lack: for fans that may
// have a better edge than the best known one, or with all for every pending fan.
func (w *walk) feed(h fanHeap, all bool) error {
	best := dag.PPM(0)
	for _, f := range h {
		if f.next != nil {
			best = max(best, f.min)
		}
	}
	asks, of := make([]Ask, 0, 2*len(h)), make([]*stream, 0, 2*len(h))
	hungry := func(f *fan) bool { return f.pending && (f.min >= best || all) }
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
