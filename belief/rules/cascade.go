package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// InvalidBelow is the confidence below which a belief is invalidated.
const InvalidBelow dag.PPM = 300_000

// A Node is a belief or a piece of evidence.
type Node struct {
	ID         string
	Confidence dag.PPM
	Fell       bool // it is no longer believed
	Kept       bool // it is protected: it neither falls nor loses confidence
}

// A Rest says that a belief rests on a piece of evidence. Both fields are ids of nodes.
type Rest struct{ Belief, Evidence string }

// A Lowering says what happens to a belief whose evidence fell.
type Lowering struct {
	ID            string
	Before, After dag.PPM
	Invalid       bool // it ends now; otherwise it goes on with the lower confidence
	Kept          bool // it does not change, although some of its evidence fell
	Fell          []string
	Reason        string
}

// Cascade returns the changes of the beliefs that rest on nodes that fell, by ascending id. The confidence of each belief is computed anew:
// it is multiplied by the share of the remaining evidence in the summed confidence of all of its evidence, and rounded down. A belief whose
// confidence drops below InvalidBelow falls too, and so does a belief whose remaining evidence rests, over any number of steps, only on the
// belief itself: beliefs in a circle do not support each other. Cascade ends on any graph because each node falls at most once. Beliefs
// that lost no evidence do not change, and neither do kept beliefs. The cost is the number of links times the number of rounds in which
// circles fall.
func Cascade(nodes []Node, rests []Rest) []Lowering {
	g := newGraph(nodes, rests)
	for id := range g.nodes {
		if g.fell[id] {
			g.next = append(g.next, id)
		}
	}
	g.spread()
	for g.circles() {
		g.spread()
	}
	var all []Lowering
	for id, touched := range g.touched {
		if !touched {
			continue
		}
		before := g.nodes[id].Confidence
		l := Lowering{ID: id, Before: before, After: g.confidence(id), Invalid: g.fell[id], Kept: g.nodes[id].Kept}
		if l.Kept {
			l.After = before
		}
		for _, e := range g.on[id] {
			if g.fell[e] {
				l.Fell = append(l.Fell, e)
			}
		}
		if !l.Invalid && !l.Kept && l.After == before {
			continue // the fallen evidence had no confidence
		}
		if l.Kept {
			all = append(all, l)
			continue
		}
		l.Reason = fmt.Sprintf("%d of %d pieces of evidence fell; confidence %s, before %s", len(l.Fell), len(g.on[id]), l.After, before)
		if l.Invalid {
			l.Reason += fmt.Sprintf("; below %s, or supported by itself alone", InvalidBelow)
		}
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b Lowering) int { return strings.Compare(a.ID, b.ID) })
	return all
}

type graph struct {
	nodes   map[string]Node
	on      map[string][]string // the evidence of a belief, ascending
	of      map[string][]string // the beliefs that rest on a node
	fell    map[string]bool
	touched map[string]bool // beliefs that lost evidence before they fell, if they fell
	founded map[string]bool // the foundations before any node fell
	next    []string        // fallen nodes whose dependents were not yet visited
}

func newGraph(nodes []Node, rests []Rest) *graph {
	g := &graph{nodes: map[string]Node{}, on: map[string][]string{}, of: map[string][]string{}, fell: map[string]bool{}, touched: map[string]bool{}}
	for _, n := range nodes {
		if old, ok := g.nodes[n.ID]; ok { // of two nodes with the same id, the weaker values count
			n.Confidence, n.Fell, n.Kept = min(n.Confidence, old.Confidence), n.Fell || old.Fell, n.Kept && old.Kept
		}
		g.nodes[n.ID] = n
		g.fell[n.ID] = n.Fell
	}
	for _, r := range rests {
		_, belief := g.nodes[r.Belief]
		_, evidence := g.nodes[r.Evidence]
		if belief && evidence && !slices.Contains(g.on[r.Belief], r.Evidence) {
			g.on[r.Belief] = append(g.on[r.Belief], r.Evidence)
			g.of[r.Evidence] = append(g.of[r.Evidence], r.Belief)
		}
	}
	for _, list := range g.on {
		slices.Sort(list)
	}
	g.founded = g.foundations(func(string) bool { return false })
	return g
}

// confidence returns the confidence of a belief by its remaining evidence.
func (g *graph) confidence(id string) dag.PPM {
	var all, left uint64
	for _, e := range g.on[id] {
		all += uint64(g.nodes[e].Confidence)
		if !g.fell[e] {
			left += uint64(g.nodes[e].Confidence)
		}
	}
	if all == 0 {
		return g.nodes[id].Confidence
	}
	return dag.PPM(uint64(g.nodes[id].Confidence) * left / all)
}

// spread visits the beliefs that rest on each fallen node.
func (g *graph) spread() {
	for len(g.next) > 0 {
		id := g.next[len(g.next)-1]
		g.next = g.next[:len(g.next)-1]
		for _, b := range g.of[id] {
			if g.fell[b] {
				continue
			}
			g.touched[b] = true
			if c := g.confidence(b); !g.nodes[b].Kept && c < InvalidBelow && c < g.nodes[b].Confidence {
				g.fall(b)
			}
		}
	}
}

func (g *graph) fall(id string) {
	g.fell[id] = true
	g.next = append(g.next, id)
}

// circles lets the beliefs fall that rested on a foundation at the beginning and no longer rest on any. It reports whether there were any.
func (g *graph) circles() bool {
	founded := g.foundations(func(id string) bool { return g.fell[id] })
	var list []string
	for id := range g.nodes {
		if !g.fell[id] && g.founded[id] && !founded[id] {
			list = append(list, id)
		}
	}
	for _, id := range list {
		g.touched[id] = true
		g.fall(id)
	}
	return len(list) > 0
}

// foundations returns the unfallen nodes that have no evidence or are kept, and the unfallen nodes that rest on one of these over any
// number of steps.
func (g *graph) foundations(fell func(string) bool) map[string]bool {
	founded := map[string]bool{}
	var next []string
	for id := range g.nodes {
		if (len(g.on[id]) == 0 || g.nodes[id].Kept) && !fell(id) {
			founded[id] = true
			next = append(next, id)
		}
	}
	for len(next) > 0 {
		id := next[len(next)-1]
		next = next[:len(next)-1]
		for _, b := range g.of[id] {
			if !founded[b] && !fell(b) {
				founded[b] = true
				next = append(next, b)
			}
		}
	}
	return founded
}
