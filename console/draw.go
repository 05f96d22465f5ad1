package console

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/graphkernel/graphkernel/api"
	h "github.com/graphkernel/graphkernel/internal/markup"
)

// A drawing is a graph laid out in integers: the same graph always has the same bytes. A list or a table next to it has the same
// information as text.
type drawing struct {
	Width, Height int
	Nodes         []node
	Lines         []edge
	Label         string
	Turns         bool // its nodes are turns, and not entities
}

type node struct {
	X, Y              int
	Label, Href, Kind string
	Text              string // next to the node; "": none
}

type edge struct {
	X1, Y1, X2, Y2 int
	Kind           string
	Text           string
}

// Straight reports whether an edge is drawn as a straight line in its row.
func (e edge) Straight() bool { return e.Y1 == e.Y2 && e.X2-e.X1 <= 2*step }

// Curve returns the SVG path of an edge that changes its row or passes other nodes.
func (e edge) Curve() string {
	mid := (e.X1 + e.X2) / 2
	lift := e.Y1
	if e.Y1 == e.Y2 {
		lift = e.Y1 - 9
	}
	if e.Y1 == e.Y2 {
		return fmt.Sprintf("M%d %dQ%d %d %d %d", e.X1, e.Y1, mid, lift, e.X2, e.Y2)
	}
	return fmt.Sprintf("M%d %dC%d %d %d %d %d %d", e.X1, e.Y1, mid, e.Y1, mid, e.Y2, e.X2, e.Y2)
}

// figure shows a drawing, or nothing if it is nil.
func (d *drawing) figure() h.Node {
	if d == nil {
		return nil
	}
	width, height := strconv.Itoa(d.Width), strconv.Itoa(d.Height)
	class := ""
	if d.Width > mostWide && d.Turns {
		class = "fits"
	}
	return h.Figure(h.Class("drawing"), d.legend(), h.Div(h.Class("scroll"), h.TabIndex("0"), h.Role("region"), h.Aria("label", d.Label),
		h.SVG(h.If(class != "", h.Class(class)), h.ViewBox("0 0 "+width+" "+height), h.Width(width), h.Height(height), h.Role("group"), h.Aria("label", d.Label+". The list says the same."),
			h.Map(d.Lines, edge.svg), h.Map(d.Nodes, node.svg))))
}

// legend explains each kind of node and edge in a drawing.
func (d *drawing) legend() h.Node {
	var list h.Group
	for _, kind := range []struct{ kind, name string }{{"anchor", "the anchor"}, {"user", "user"}, {"assistant", "assistant"}, {"tool", "tool"}, {"system", "system"}, {"entity", "entity"}} {
		if slices.ContainsFunc(d.Nodes, func(n node) bool { return n.Kind == kind.kind }) {
			list = append(list, h.Span(sample(h.Circle(h.Class("node "+kind.kind), h.CX(8), h.CY(8), h.R(6))), h.Text(kind.name)), space)
		}
	}
	for _, kind := range []struct{ kind, name string }{{"reply", "continues"}, {"spawn", "starts a sub-agent"}, {"reference", "refers to"}, {"merge", "takes up"}, {"fact", "fact"}} {
		if slices.ContainsFunc(d.Lines, func(e edge) bool { return e.Kind == kind.kind }) {
			list = append(list, h.Span(sample(h.Line(h.Class("edge "+kind.kind), h.X1(0), h.Y1(8), h.X2(16), h.Y2(8))), h.Text(kind.name)), space)
		}
	}
	what := count(len(d.Nodes), "entity", "entities") + ", by their distance from the left: "
	if d.Turns {
		what = count(len(d.Nodes), "turn", "turns") + " from left to right. A dot leads to its turn: "
	}
	return h.FigCaption(h.Text(what), list)
}

// sample shows a node or an edge in a legend.
func sample(shape h.Node) h.Node {
	return h.SVG(h.ViewBox("0 0 16 16"), h.Width("16"), h.Height("16"), h.Aria("hidden", "true"), shape)
}

// mostWide is the width in pixels up to which a drawing of turns is shown at full size. A wider one is scaled to fit its box, to a size at
// which dots can still be distinguished.
const mostWide = 700

func (e edge) svg() h.Node {
	class := h.Class("edge " + e.Kind)
	if e.Straight() {
		return h.Line(class, h.X1(e.X1), h.Y1(e.Y1), h.X2(e.X2), h.Y2(e.Y2))
	}
	return h.Path(class, h.D(e.Curve()), h.If(e.Text != "", h.Title(h.Text(e.Text))))
}

func (n node) svg() h.Node {
	return link(n.Href, h.TabIndex("-1"), h.Circle(h.Class("node "+n.Kind), h.CX(n.X), h.CY(n.Y), h.R(6), h.Title(h.Text(n.Label))),
		h.If(n.Text != "", h.SVGText(h.X(n.X+11), h.Y(n.Y+4), h.Text(n.Text))))
}

// Distances in a drawing, in pixels.
const (
	step   = 18
	rowGap = 22
	margin = 16
)

// mostDrawn is the maximum number of nodes in a drawing. A larger graph is shown as a list.
const mostDrawn = 500

// A linked is a turn with the turns that it continues.
type linked struct {
	id, role, label string
	parents         []api.Parent
}

// draw lays turns out from left to right in order. A turn is in the row of the turn it continues, unless an earlier turn already continues
// that one. In that case, and if it continues no turn here, it is in the first free row.
func draw(turns []linked, label string) *drawing {
	if len(turns) < 2 || len(turns) > mostDrawn {
		return nil
	}
	d := &drawing{Label: label, Turns: true}
	place := map[string]int{}
	continued := map[string]bool{}
	rows := 0
	for i, t := range turns {
		row := -1
		for _, p := range t.parents {
			if n, here := place[p.ID]; here && p.Kind == "reply" && !continued[p.ID] {
				row = (d.Nodes[n].Y - margin) / rowGap
				continued[p.ID] = true
				break
			}
		}
		if row < 0 {
			row = rows
			rows++
		}
		place[t.id] = i
		d.Nodes = append(d.Nodes, node{X: margin + i*step, Y: margin + row*rowGap, Label: t.label, Href: "#t-" + t.id, Kind: t.role})
		for _, p := range t.parents {
			if n, here := place[p.ID]; here && n != i {
				from := d.Nodes[n]
				d.Lines = append(d.Lines, edge{X1: from.X, Y1: from.Y, X2: margin + i*step, Y2: margin + row*rowGap, Kind: p.Kind})
			}
		}
	}
	d.Width, d.Height = 2*margin+(len(turns)-1)*step, 2*margin+max(0, rows-1)*rowGap
	return d
}

// drawTurns draws the turns of a page of a conversation.
func drawTurns(rows []turnRow) *drawing {
	list := make([]linked, 0, len(rows))
	for i := range rows {
		list = append(list, linked{id: rows[i].ID, role: rows[i].Role, label: rows[i].Role + ": " + plain(line(rows[i].summary(), 60)), parents: rows[i].Parents})
	}
	return draw(list, "Turns from left to right, and which continues which")
}

// drawBundle draws the turns of a slice with its edges.
func drawBundle(b *bundle) *drawing {
	parents := map[string][]api.Parent{}
	for _, e := range b.Edges {
		parents[e.Child] = append(parents[e.Child], api.Parent{ID: e.Parent, Kind: e.Kind})
	}
	of := map[string]*bundleTurn{}
	for i := range b.Turns {
		of[b.Turns[i].ID] = &b.Turns[i]
	}
	order := b.Order
	if len(order) == 0 {
		for i := range b.Turns {
			order = append(order, b.Turns[i].ID)
		}
	}
	list := make([]linked, 0, len(order))
	for _, id := range order {
		t := of[id]
		if t == nil {
			continue
		}
		kind := t.Role
		if id == b.Anchor {
			kind = "anchor"
		}
		list = append(list, linked{id: id, role: kind, label: t.Role + ": " + plain(line(t.Content, 60)), parents: parents[id]})
	}
	return draw(list, "The turns of the slice from left to right, and which continues which")
}

// In a drawing of facts: the width of a column of entities, and the height of a line.
const (
	column = 230
	lineUp = 24
)

// drawFacts lays entities out in columns by their distance from the first, sorted by name.
func drawFacts(g *api.D3Graph) *drawing {
	if len(g.Nodes) < 2 || len(g.Nodes) > mostDrawn {
		return nil
	}
	d := &drawing{Label: "Entities by their distance, with the facts between them"}
	rows, place := map[int]int{}, map[string]int{}
	for i, n := range g.Nodes {
		place[n.ID] = i
		y := margin + rows[n.Hops]*lineUp
		rows[n.Hops]++
		d.Nodes = append(d.Nodes, node{X: margin + n.Hops*column, Y: y, Label: plain(n.ID), Text: plain(line(n.ID, 26)), Href: entityPath(n.ID), Kind: "entity"})
		d.Width, d.Height = max(d.Width, margin+(n.Hops+1)*column), max(d.Height, y+margin)
	}
	for _, l := range g.Links {
		a, b := d.Nodes[place[l.Source]], d.Nodes[place[l.Target]]
		if a.X > b.X {
			a, b = b, a
		}
		d.Lines = append(d.Lines, edge{X1: a.X, Y1: a.Y, X2: b.X, Y2: b.Y, Kind: "fact", Text: plain(l.Source + " " + l.Predicate + " " + l.Target)})
	}
	return d
}
