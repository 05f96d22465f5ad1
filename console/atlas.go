package console

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	h "github.com/graphkernel/graphkernel/internal/markup"
)

// atlasParts are the parts of an atlas, each with its own page.
var atlasParts = []place{{"", "Counts"}, {"influence", "Influence"}, {"overlap", "Overlap"}, {"turns", "Communities of turns"}, {"facts", "Communities of facts"}}

type atlasData struct {
	Part, By, AsOf string
	Of             api.AtlasOf
	Snapshot       *api.Snapshot
	Influence      *api.Influence
	Overlap        *api.Overlap
	Communities    *api.Communities
}

// atlasBy are the sort keys for turns in an atlas.
var atlasBy = []place{{"", "weight"}, {"rank", "rank"}, {"betweenness", "betweenness"}}

func (d *atlasData) body(string) h.Node {
	return h.Group{
		h.H1(h.Text("Atlas")),
		para("tabs", h.Map(atlasParts, func(p place) h.Node {
			return h.Group{link("/atlas?"+query("part", p.Path, "as_of", d.AsOf), h.If(p.Path == d.Part, h.Aria("current", "true")), h.Text(p.Name)), space}
		})),
		para("dim", h.Textf("As of number %d, with %s and %s up to record %d.", d.Of.AsOf, count(d.Of.Slices, "slice", "slices"), count(d.Of.Handed, "context", "contexts"), d.Of.Issued),
			h.If(d.Of.Unknown > 0, h.Text(" "+thousands(d.Of.Unknown)+" older records were not looked at."))),
		inline(hidden("part", d.Part), asOfField("As of number", d.AsOf), h.If(d.Influence != nil, space, h.Label(h.For("by"), h.Text("sorted by")), space,
			h.Select(h.ID("by"), h.Name("by"), h.Map(atlasBy, func(p place) h.Node { return option(p.Path, p.Name, d.By) }))), space, button("Show")),
		d.empty(), d.snapshot(), d.influence(), d.overlap(), d.communities(),
	}
}

// empty explains the atlas when there is nothing to show yet.
func (d *atlasData) empty() h.Node {
	const handed = " The atlas shows what there is, and what of it agents were given: which turns count most, what was given together, and which turns and facts belong together. "
	switch {
	case d.Snapshot != nil && d.Snapshot.Turns == 0, d.Influence != nil && len(d.Influence.Turns) == 0, d.Part == "turns" && len(d.Communities.List) == 0:
		return h.P(h.Text("There is no conversation yet."+handed), howTheyCome())
	case d.Overlap != nil && d.Of.Slices+d.Of.Handed < 2:
		return h.P(h.Text("Fewer than two slices or contexts were handed out."+handed), code("graphkernel context WORDS"), h.Text(" hands out one."))
	case d.Part == "facts" && len(d.Communities.List) == 0:
		return h.P(h.Text("There are no facts yet."+handed), code("graphkernel knowledge extract"), h.Text(" learns facts from the turns."))
	}
	return nil
}

func (d *atlasData) snapshot() h.Node {
	s := d.Snapshot
	if s == nil {
		return nil
	}
	amount := func(name string, n int) h.Node { return term(name, h.Text(thousands(n))) }
	shares := func(caption string, list []api.NameShare) h.Node {
		return h.Div(h.Class("scroll"), h.Table(h.Class("wide"), h.Caption(h.Text(caption)), h.TBody(h.Map(list, func(n api.NameShare) h.Node {
			return row(bdi(line(n.Name, 60)), digits(thousands(n.Count)))
		}))))
	}
	return h.Group{
		terms("facts", amount("Turns", s.Turns), amount("Edges", s.Edges), amount("Conversations", s.Conversations), amount("Begin", s.Roots), amount("End", s.Leaves), amount("Branch", s.Branches), amount("Merge", s.Merges),
			term("Deepest", h.Text(count(s.Depth, "edge", "edges")))),
		h.Div(h.Class("columns"), shares("Roles", s.Roles), shares("Phases", s.Phases), shares("Kinds of edges", s.Kinds), shares("Authors", s.Authors), shares("Turns by depth", s.Depths),
			h.Div(h.Class("scroll"), bare(h.Class("wide"), "", "Growth", "Up to number|#Turns|#Conversations", h.Map(s.Growth, func(step api.GrowthStep) h.Node {
				return row(h.Text(fmt.Sprint(step.Upto)), digits(thousands(step.Turns)), digits(thousands(step.Conversations)))
			})))),
	}
}

func (d *atlasData) influence() h.Node {
	i := d.Influence
	if i == nil {
		return nil
	}
	return h.Group{
		para("dim", h.Textf("Without %s others would not be connected, and %s of that kind.", count(i.Cuts, "turn", "turns"), count(i.Bridges, "edge is", "edges are")), h.If(i.Sampled, h.Text(" Betweenness is counted from 256 turns."))),
		table("Turns, the most used first", "Turn|#Slices|#Contexts|#Weight|#Degree|#Rank|#Betweenness|Holds together", h.Map(i.Turns, func(t api.InfluencedTurn) h.Node {
			return row(turnLink(t.Turn), digits(fmt.Sprint(t.Slices)), digits(fmt.Sprint(t.Contexts)), digits(millionths(t.Weight)), digits(fmt.Sprint(t.Degree)), digits(millionths(t.Rank/1_000_000)), digits(thousands(t.Betweenness/1000)),
				h.Td(h.If(t.Cut, h.Text("yes"))))
		})),
	}
}

func (d *atlasData) overlap() h.Node {
	switch o := d.Overlap; {
	case o == nil:
		return nil
	case len(o.Pairs) == 0:
		return h.P(h.Text("No two share a turn."))
	default:
		return h.Group{
			table("Pairs, the most alike first", "One|Other|#Turns of both|#Jaccard|Compare", h.Map(o.Pairs, func(p api.OverlapPair) h.Node {
				return row(link("/slices/"+string(p.A), code(p.A)), h.Td(link("/slices/"+string(p.B), code(p.B))), digits(fmt.Sprint(p.Shared)), digits(millionths(p.Jaccard)),
					h.Td(link("/compare?"+query("a", string(p.A), "b", string(p.B)), h.Aria("label", fmt.Sprintf("Compare %s with %s", p.A, p.B)), h.Text("compare"))))
			})),
			h.If(o.Sampled, para("dim", h.Text("There are more than 10 000, so some pairs may be missing."))),
		}
	}
}

func (d *atlasData) communities() h.Node {
	c := d.Communities
	if c == nil {
		return nil
	}
	member := func(name string, most int) h.Node {
		if d.Part == "turns" {
			return turnLink(name)
		}
		return entityLink(name, most)
	}
	const shown = 8
	return h.Group{
		para("dim", h.Textf("%s, modularity %s.", count(c.Total, "community", "communities"), millionths(c.Modularity))),
		table("Communities, the largest first", "#Size|Most edges|Some members", h.Map(c.List, func(one api.Community) h.Node {
			return h.Tr(digits(fmt.Sprint(one.Size)), h.Td(member(one.Central, 60)), h.Td(h.Map(one.Members[:min(len(one.Members), shown)], func(m string) h.Node { return h.Group{member(m, 40), space} }), h.If(one.Size > shown, h.Text("…"))))
		})),
	}
}

// atlasPage shows a part of the atlas.
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
