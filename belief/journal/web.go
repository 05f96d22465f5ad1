package journal

import (
	"cmp"
	"context"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// A Dependent is a revision that links to another.
type Dependent struct {
	Link
	Depth int
}

// Dependents returns the links to a revision, the links to the revisions that these come from, and so on over depth steps. It follows
// each revision once, and takes no further step once it has MaxNeighbours links.
func (b Items) Dependents(ctx context.Context, tenant dag.Tenant, of belief.Address, depth int, asOf dag.Seq) ([]Dependent, error) {
	seen := map[string]bool{of.String(): true}
	next := []string{of.String()}
	var all []Dependent
	for step := 1; step <= depth && len(next) > 0 && len(all) < MaxNeighbours; step++ {
		lists, err := b.Links(ctx, tenant, next, true, asOf)
		if err != nil {
			return nil, err
		}
		links := slices.Concat(lists...)
		slices.SortFunc(links, func(a, b *Link) int { return cmp.Compare(a.Seq, b.Seq) })
		next = nil
		for _, l := range links {
			all = append(all, Dependent{*l, step})
			if from := l.From.String(); !seen[from] {
				seen[from] = true
				next = append(next, from)
			}
		}
	}
	return all, nil
}

// EachLink calls fn with each link of a tenant up to a number, in no particular order, until fn returns false.
func (b Items) EachLink(ctx context.Context, tenant dag.Tenant, upTo dag.Seq, fn func(*Link) bool) error {
	const most = 4096
	r := history.Range{Index: indexLinks, Limit: most, Entries: true}
	for {
		lists, err := b.Terms(ctx, tenant, []history.Range{r})
		if err != nil {
			return err
		}
		for i := range lists[0] {
			if t := &lists[0][i]; t.Since <= upTo {
				l, err := ReadLink(t.Entry)
				if err != nil {
					return err
				}
				if !fn(l) {
					return nil
				}
			}
		}
		if len(lists[0]) < most {
			return nil
		}
		last := &lists[0][most-1]
		r.After = &history.Place{Key: last.Key, Since: last.Since}
	}
}

// A Web contains the links of a tenant in memory. A link never ends and is never erased, so the links as of a number are the links
// numbered up to it.
type Web struct {
	nodes []webNode
	links []webLink
	named map[string]int32 // index in nodes, by name
	words []string         // the types and authors of links
	known map[string]int32 // index in words
	bytes int
}

type webNode struct {
	name string         // an address with a revision, "turn:ID" or "slice:ID"
	from belief.Address // the parsed name, if links come from it
	to   []int32        // the links to it, ascending by number
}

type webLink struct {
	seq      dag.Seq
	at       dag.Time
	from, to int32
	what, by int32
}

// NewWeb returns a web without links.
func NewWeb() *Web { return &Web{named: map[string]int32{}, known: map[string]int32{}} }

// Size returns the approximate number of bytes that the web takes in memory.
func (w *Web) Size() int { return w.bytes }

// Add adds a link that the web does not contain. If links are not added in the order of their numbers, the caller must call Sort afterwards.
func (w *Web) Add(l *Link) {
	from, to := w.node(l.From.String()), w.node(l.To)
	w.nodes[from].from = l.From
	w.nodes[to].to = append(w.nodes[to].to, int32(len(w.links)))
	w.links = append(w.links, webLink{l.Seq, l.At, from, to, w.word(l.Type), w.word(l.By)})
	w.bytes += 80
}

// Sort sorts the links of each node by number.
func (w *Web) Sort() {
	for i := range w.nodes {
		slices.SortFunc(w.nodes[i].to, w.compare)
	}
}

func (w *Web) compare(a, b int32) int { return cmp.Compare(w.links[a].seq, w.links[b].seq) }

func (w *Web) node(name string) int32 {
	n, ok := w.named[name]
	if !ok {
		n = int32(len(w.nodes))
		w.nodes, w.named[name] = append(w.nodes, webNode{name: name}), n
		w.bytes += 320 + 2*len(name)
	}
	return n
}

func (w *Web) word(s string) int32 {
	n, ok := w.known[s]
	if !ok {
		n = int32(len(w.words))
		w.words, w.known[s] = append(w.words, s), n
		w.bytes += 96 + len(s)
	}
	return n
}

// Dependents is like [Base.Dependents].
func (w *Web) Dependents(of belief.Address, depth int, asOf dag.Seq) []Dependent {
	start, ok := w.named[of.String()]
	if !ok {
		return nil
	}
	seen := make([]bool, len(w.nodes))
	seen[start] = true
	next := []int32{start}
	var all []Dependent
	for step := 1; step <= depth && len(next) > 0 && len(all) < MaxNeighbours; step++ {
		var links []int32
		for _, n := range next {
			for _, l := range w.nodes[n].to {
				if w.links[l].seq > asOf {
					break
				}
				links = append(links, l)
			}
		}
		slices.SortFunc(links, w.compare)
		next = next[:0]
		all = slices.Grow(all, len(links))
		for _, i := range links {
			l := &w.links[i]
			from := &w.nodes[l.from]
			all = append(all, Dependent{Link{From: from.from, Type: w.words[l.what], To: w.nodes[l.to].name, By: w.words[l.by], Seq: l.seq, At: l.at}, step})
			if !seen[l.from] {
				seen[l.from] = true
				next = append(next, l.from)
			}
		}
	}
	return all
}
