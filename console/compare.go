package console

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	h "github.com/graphkernel/graphkernel/internal/markup"
)

// A comparison is a comparison of two bundles.
type comparison struct {
	A, B             string
	Left, Right      *evidenceData
	Both, OnlyA      []shownTurn
	OnlyB            []shownTurn
	Policy           []difference
	FactsA, FactsB   int
	PolicyA, PolicyB string
}

// A difference is a parameter with different values in two policies.
type difference struct{ Name, A, B string }

func (c *comparison) body(string) h.Node {
	form := inline(evidenceField("a", "Compare", "a", h.Value(c.A)), space, evidenceField("b", "with", "b", h.Value(c.B)), space, button("Compare"))
	if c.Left == nil {
		return h.Group{h.H1(h.Text("Compare")), form}
	}
	column := func(id string) h.Node { return h.Th(h.Scope("col"), link("/slices/"+id, code(id))) }
	pair := func(name, a, b string) h.Node { return row(h.Text(name), h.Td(h.Text(a)), h.Td(h.Text(b))) }
	side := func(heading h.Node, list []shownTurn) h.Node {
		turns := h.Group{h.Li(h.Class("dim"), h.Text("none"))}
		if len(list) > 0 {
			turns = h.Map(list, func(t shownTurn) h.Node { return h.Li(t.brief("")) })
		}
		return h.Group{h.H2(heading, h.Text(": "+count(len(list), "turn", "turns"))), h.Ul(turns)}
	}
	alone := func(id string) h.Node { return h.Group{h.Text("In "), code(id), h.Text(" alone")} }
	return h.Group{
		h.H1(h.Text("Compare")), form,
		h.Div(h.Class("scroll"), h.Table(h.Class("wide"), h.Caption(h.Class("hidden"), h.Text("The two side by side")), h.THead(h.Tr(h.Th(h.Scope("col"), h.Text("Of")), column(c.A), column(c.B))), h.TBody(
			pair("Turns", strconv.Itoa(len(c.Left.Turns)), strconv.Itoa(len(c.Right.Turns))), pair("Facts", strconv.Itoa(c.FactsA), strconv.Itoa(c.FactsB)),
			pair("As of", fmt.Sprint(c.Left.Bundle.AsOf), fmt.Sprint(c.Right.Bundle.AsOf)), pair("Policy", c.PolicyA, c.PolicyB),
			h.Map(c.Policy, func(d difference) h.Node { return row(h.Text(d.Name), h.Td(bdi(d.A)), h.Td(bdi(d.B))) })))),
		side(h.Text("In both"), c.Both), side(alone(c.A), c.OnlyA), side(alone(c.B), c.OnlyB),
	}
}

// compare shows the contents that two slices or contexts share, and the contents of only one of them.
func compare(v *visit) (*page, error) {
	q := v.r.URL.Query()
	c := comparison{A: strings.ToLower(strings.TrimSpace(q.Get("a"))), B: strings.ToLower(strings.TrimSpace(q.Get("b")))}
	p := &page{title: "Compare", content: &c}
	if c.A == "" || c.B == "" {
		return p, nil
	}
	for _, side := range []struct {
		id   string
		into **evidenceData
	}{{c.A, &c.Left}, {c.B, &c.Right}} {
		data, err := v.bytes(bundlePath(side.id, ""))
		if err != nil {
			return nil, err
		}
		d := &evidenceData{ID: side.id}
		if err := json.Unmarshal(data, &d.Bundle); err != nil {
			return nil, fmt.Errorf("the bundle of %s cannot be read: %w", side.id, err)
		}
		if err := d.turns(); err != nil {
			return nil, err
		}
		d.Policy = parameters("", d.Bundle.Policy)
		*side.into = d
	}
	c.compare()
	return p, nil
}

func (c *comparison) compare() {
	has := func(list []shownTurn, id string) bool {
		return slices.ContainsFunc(list, func(t shownTurn) bool { return t.ID == id })
	}
	for _, t := range c.Left.Turns {
		if has(c.Right.Turns, t.ID) {
			c.Both = append(c.Both, t)
		} else {
			c.OnlyA = append(c.OnlyA, t)
		}
	}
	for _, t := range c.Right.Turns {
		if !has(c.Left.Turns, t.ID) {
			c.OnlyB = append(c.OnlyB, t)
		}
	}
	sides := [2]map[string]string{{}, {}}
	names := map[string]bool{}
	for i, side := range []*evidenceData{c.Left, c.Right} {
		for _, p := range side.Policy {
			sides[i][p.Name], names[p.Name] = p.Value, true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if sides[0][name] != sides[1][name] {
			c.Policy = append(c.Policy, difference{name, sides[0][name], sides[1][name]})
		}
	}
	c.FactsA, c.FactsB = len(c.Left.Bundle.Facts), len(c.Right.Bundle.Facts)
	c.PolicyA, c.PolicyB = string(c.Left.Bundle.Provenance.PolicyID), string(c.Right.Bundle.Provenance.PolicyID)
}
