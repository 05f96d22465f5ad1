package console

import (
	"fmt"
	"net/http"
	"slices"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/graphkernel/graphkernel/api"
)

// The parts of an atlas, each on a page of its own.
var atlasParts = []place{{"", "Counts"}, {"influence", "Influence"}, {"overlap", "Overlap"}, {"turns", "Communities of turns"}, {"facts", "Communities of facts"}}

type atlasData struct {
	Part, By, AsOf string
	Of             api.AtlasOf
	Snapshot       *api.Snapshot
	Influence      *api.Influence
	Overlap        *api.Overlap
	Communities    *api.Communities
}

// atlasBy is what turns are sorted by in an atlas.
var atlasBy = []place{{"", "weight"}, {"rank", "rank"}, {"betweenness", "betweenness"}}

func (d *atlasData) body(string) g.Node {
	return g.Group{
		h.H1(g.Text("Atlas")),
		para("tabs", g.Map(atlasParts, func(p place) g.Node {
			return g.Group{link("/atlas?"+query("part", p.Path, "as_of", d.AsOf), g.If(p.Path == d.Part, h.Aria("current", "true")), g.Text(p.Name)), space}
		})),
		para("dim", g.Textf("As of number %d, with %s and %s up to record %d.", d.Of.AsOf, count(d.Of.Slices, "slice", "slices"), count(d.Of.Handed, "context", "contexts"), d.Of.Issued),
			g.If(d.Of.Unknown > 0, g.Text(" "+thousands(d.Of.Unknown)+" older records were not looked at."))),
		inline(hidden("part", d.Part), asOfField("As of number", d.AsOf), only(d.Influence != nil, space, h.Label(h.For("by"), g.Text("sorted by")), space,
			h.Select(h.ID("by"), h.Name("by"), g.Map(atlasBy, func(p place) g.Node { return option(p.Path, p.Name, d.By) }))), space, button("Show")),
		d.snapshot(), d.influence(), d.overlap(), d.communities(),
	}
}

func (d *atlasData) snapshot() g.Node {
	s := d.Snapshot
	if s == nil {
		return nil
	}
	amount := func(name string, n int) g.Node { return term(name, g.Text(thousands(n))) }
	shares := func(caption string, list []api.NameShare) g.Node {
		return h.Table(h.Class("wide"), h.Caption(g.Text(caption)), h.TBody(g.Map(list, func(n api.NameShare) g.Node { return row(bdi(line(n.Name, 60)), digits(thousands(n.Count))) })))
	}
	return g.Group{
		terms("facts", amount("Turns", s.Turns), amount("Edges", s.Edges), amount("Conversations", s.Conversations), amount("Begin", s.Roots), amount("End", s.Leaves), amount("Branch", s.Branches), amount("Merge", s.Merges),
			term("Deepest", g.Text(count(s.Depth, "edge", "edges")))),
		h.Div(h.Class("columns"), shares("Roles", s.Roles), shares("Phases", s.Phases), shares("Kinds of edges", s.Kinds), shares("Authors", s.Authors), shares("Turns by depth", s.Depths),
			bare(h.Class("wide"), "", "Growth", "Up to number|#Turns|#Conversations", g.Map(s.Growth, func(step api.GrowthStep) g.Node {
				return row(g.Text(fmt.Sprint(step.Upto)), digits(thousands(step.Turns)), digits(thousands(step.Conversations)))
			}))),
	}
}

func (d *atlasData) influence() g.Node {
	i := d.Influence
	if i == nil {
		return nil
	}
	return g.Group{
		para("dim", g.Textf("Without %s others would not be connected, and %s of that kind.", count(i.Cuts, "turn", "turns"), count(i.Bridges, "edge is", "edges are")), g.If(i.Sampled, g.Text(" Betweenness is counted from 256 turns."))),
		table("Turns, the most used first", "Turn|#Slices|#Contexts|#Weight|#Degree|#Rank|#Betweenness|Holds together", g.Map(i.Turns, func(t api.InfluencedTurn) g.Node {
			return row(turnLink(t.Turn), digits(fmt.Sprint(t.Slices)), digits(fmt.Sprint(t.Contexts)), digits(millionths(t.Weight)), digits(fmt.Sprint(t.Degree)), digits(millionths(t.Rank/1_000_000)), digits(thousands(t.Betweenness/1000)),
				h.Td(g.If(t.Cut, g.Text("yes"))))
		})),
	}
}

func (d *atlasData) overlap() g.Node {
	switch o := d.Overlap; {
	case o == nil:
		return nil
	case len(o.Pairs) == 0:
		return h.P(g.Text("No two share a turn."))
	default:
		return g.Group{
			table("Pairs, the most alike first", "One|Other|#Turns of both|#Jaccard|Compare", g.Map(o.Pairs, func(p api.OverlapPair) g.Node {
				return row(link("/slices/"+p.A, code(p.A)), h.Td(link("/slices/"+p.B, code(p.B))), digits(fmt.Sprint(p.Shared)), digits(millionths(p.Jaccard)),
					h.Td(link("/compare?"+query("a", p.A, "b", p.B), h.Aria("label", "Compare "+p.A+" with "+p.B), g.Text("compare"))))
			})),
			only(o.Sampled, para("dim", g.Text("There are more than 10 000, so some pairs may be missing."))),
		}
	}
}

func (d *atlasData) communities() g.Node {
	c := d.Communities
	if c == nil {
		return nil
	}
	member := func(name string, most int) g.Node {
		if d.Part == "turns" {
			return turnLink(name)
		}
		return entityLink(name, most)
	}
	const shown = 8
	return g.Group{
		para("dim", g.Textf("%s, modularity %s.", count(c.Total, "community", "communities"), millionths(c.Modularity))),
		table("Communities, the largest first", "#Size|Most edges|Some members", g.Map(c.List, func(one api.Community) g.Node {
			return h.Tr(digits(fmt.Sprint(one.Size)), h.Td(member(one.Central, 60)), h.Td(g.Map(one.Members[:min(len(one.Members), shown)], func(m string) g.Node { return g.Group{member(m, 40), space} }), g.If(one.Size > shown, g.Text("…"))))
		})),
	}
}

// atlasPage shows a part of the graph of what was used.
func atlasPage(v *visit) (*page, error) {
	q := v.r.URL.Query()
	d := atlasData{Part: q.Get("part"), By: q.Get("by"), AsOf: q.Get("as_of")}
	n, err := number(d.AsOf)
	if err != nil {
		return nil, refused(http.StatusBadRequest, "As of: %v", err)
	}
	of := api.AtlasView{AsOf: n}
	list := api.AtlasQuery{AtlasView: of, Limit: 50}
	switch d.Part {
	case "":
		s, err := ask(v, api.AtlasSnapshot, of)
		if err != nil {
			return nil, err
		}
		d.Snapshot, d.Of = &s, s.AtlasOf
	case "influence":
		i, err := ask(v, api.AtlasInfluence, api.InfluenceQuery{AtlasQuery: list, By: d.By})
		if err != nil {
			return nil, err
		}
		d.Influence, d.Of = &i, i.AtlasOf
	case "overlap":
		o, err := ask(v, api.AtlasOverlap, list)
		if err != nil {
			return nil, err
		}
		d.Overlap, d.Of = &o, o.AtlasOf
	case "turns", "facts":
		c, err := ask(v, api.AtlasCommunities, api.CommunityQuery{AtlasQuery: list, Of: d.Part})
		if err != nil {
			return nil, err
		}
		d.Communities, d.Of = &c, c.AtlasOf
	default:
		return nil, refused(http.StatusNotFound, "an atlas has no part %.40q", d.Part)
	}
	i := slices.IndexFunc(atlasParts, func(p place) bool { return p.Path == d.Part })
	return &page{title: "Atlas: " + atlasParts[i].Name, content: &d}, nil
}
