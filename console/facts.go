package console

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	h "github.com/graphkernel/graphkernel/internal/markup"
)

// pathEscape escapes a name for the last part of a path. That part is the rest of the path, so slashes in the name are kept, unless a
// browser or the router would clean the path: then they are escaped. The name ".." has no slash to escape, so one is appended; the
// canonical form of names drops it.
func pathEscape(name string) string {
	escaped := strings.ReplaceAll(url.PathEscape(name), "%2F", "/")
	if path.Clean("/"+escaped) == "/"+escaped {
		return escaped
	}
	if name == ".." {
		name += "/"
	}
	return url.PathEscape(name)
}

// entityPath returns the path of the page with the facts about a name.
func entityPath(name string) string { return "/facts/" + pathEscape(name) }

type factsData struct {
	Q, AsOf, After string
	Stats          api.KnowledgeStats
	Facts          api.Facts
}

func (d *factsData) body(string) h.Node {
	none := h.P(h.Text("No fact was known as of number " + d.AsOf + "."))
	if d.AsOf == "" {
		none = h.P(h.Text("No fact is known yet. Facts say how things are related, such as a command and the file that it changed, since when, and which turn says so: agents ask for them, and contexts hold them. "),
			code("graphkernel knowledge extract"), h.Text(" learns facts from the turns that are here, and "), code("graphkernel knowledge add"), h.Text(" records one."))
	}
	return h.Group{
		h.H1(h.Text("Facts")),
		h.Form(h.Class("inline"), h.Action("/facts"), h.P(field("name", "Entity", "q", h.Value(d.Q), h.MaxLength("2048")), space, asOfField("as of number", d.AsOf), space, button("Show"))),
		para("dim", h.Textf("%s about %s, %s, as of number %d.", count(d.Stats.Facts, "fact", "facts"), count(d.Stats.Entities, "entity", "entities"), count(d.Stats.Aliases, "alias", "aliases"), d.Stats.AsOf)),
		h.Either(len(d.Facts.Facts) > 0, factsTable(d.Facts.Facts), none),
		h.If(d.Facts.Next != "", next("/facts?"+query("as_of", d.AsOf, "after", d.Facts.Next), "More facts")),
	}
}

// facts lists the believed facts, or searches them by a name.
func facts(v *visit) (*page, error) {
	q := v.r.URL.Query()
	d := factsData{Q: strings.TrimSpace(q.Get("q")), AsOf: q.Get("as_of"), After: q.Get("after")}
	if d.Q != "" {
		to := entityPath(d.Q)
		if d.AsOf != "" {
			to += "?as_of=" + url.QueryEscape(d.AsOf)
		}
		return &page{to: to}, nil
	}
	n, err := number(d.AsOf)
	if err != nil {
		return nil, refused(http.StatusBadRequest, "As of: %v", err)
	}
	at := api.View{AsOf: n}
	if d.Stats, err = ask(v, api.CountKnowledge, api.KnowledgeCount{View: at, Brief: true}); err != nil {
		return nil, err
	}
	d.Facts, err = ask(v, api.ListFacts, api.FactQuery{View: at, Paging: api.Paging{Limit: 50, After: d.After}})
	return &page{title: "Facts", content: &d}, err
}

type entityData struct {
	Name, AsOf, After string
	Facts             api.Facts
	Drawing           *drawing
	Graph             api.D3Graph
	Aliases           []api.Alias
	Statement         string
	History           []api.KnowledgeAct
}

func (d *entityData) body(string) h.Node {
	return h.Group{
		h.H1(bdi(d.Name)),
		inline(asOfField("As of number", d.AsOf), space, button("Show"), space, dim(fmt.Sprintf("%s as of %d", count(d.Facts.Total, "fact", "facts"), d.Facts.AsOf))),
		h.If(len(d.Aliases) > 0, h.P(h.Text("Names that count as one: "), h.Join(", ", d.Aliases, func(a api.Alias) h.Node {
			return h.Group{entityLink(a.Alias, 0), h.Text(" is "), entityLink(a.Canonical, 0)}
		}))),
		d.Drawing.figure(),
		h.Either(len(d.Facts.Facts) > 0, factsTable(d.Facts.Facts), h.P(h.Text("Nothing is believed of this name"), h.If(d.AsOf != "", h.Text(" as of "+d.AsOf)), h.Text("."))),
		h.If(d.Facts.Next != "", next("?"+query("as_of", d.AsOf, "after", d.Facts.Next), "More facts")),
		h.If(len(d.History) > 0, section("history", "All that was said of it", h.Ol(h.Map(d.History, acted)))),
	}
}

// acted shows one act in the history of a fact.
func acted(a api.KnowledgeAct) h.Node {
	words := span("gone", h.Text("erased with its turn"))
	if !a.Erased {
		words = h.Group{bdi(a.Subject), space, bdi(a.Predicate), space, bdi(a.Object), h.If(a.Confidence != nil, h.Text(", confidence "+fmt.Sprint(a.Confidence))), h.If(a.Source != "", h.Text(", by "), bdi(a.Source)), h.If(a.Reason != "", h.Text(": "), bdi(a.Reason))}
	}
	return h.Li(h.Textf("number %d, ", a.Seq), moment(a.At), h.Text(": "+a.Kind+" "), words, h.If(a.Turn != (dag.TurnID{}), h.Text(" from turn "), turnLink(a.Turn)), h.If(a.Until != 0, h.Textf(", believed until number %d", a.Until)))
}

// entity shows the believed facts about a name as of a number, the aliases of the name, and the graph around it.
func entity(v *visit) (*page, error) {
	q := v.r.URL.Query()
	d := entityData{Name: v.r.PathValue("name"), AsOf: q.Get("as_of"), After: q.Get("after"), Statement: q.Get("statement")}
	n, err := number(d.AsOf)
	if err != nil {
		return nil, refused(http.StatusBadRequest, "As of: %v", err)
	}
	at := api.View{AsOf: n}
	if d.Facts, err = ask(v, api.ListFacts, api.FactQuery{FactFilter: api.FactFilter{Entity: d.Name}, View: at, Paging: api.Paging{Limit: 50, After: d.After}}); err != nil {
		return nil, err
	}
	if d.Graph, err = ask(v, api.Operation[api.Drawing, api.D3Graph](api.DrawKnowledge), api.Drawing{Entity: d.Name, MaxHops: 2, MaxResults: 60, AsOf: at.AsOf}); err != nil {
		return nil, err
	}
	d.Drawing = drawFacts(&d.Graph)
	aliases, err := ask(v, api.ListAliases, api.AliasesOf{View: at, Paging: api.Paging{Limit: 1000}})
	if err != nil {
		return nil, err
	}
	for _, a := range aliases.Aliases {
		if a.Canonical == d.Name || a.Alias == d.Name {
			d.Aliases = append(d.Aliases, a)
		}
	}
	if d.Statement != "" {
		statement, err := dag.ParseDigest(d.Statement)
		if err != nil {
			return nil, refused(http.StatusBadRequest, "Statement: %v", err)
		}
		h, err := ask(v, api.FactsHistory, api.HistoryOf{Statement: statement})
		if err != nil {
			return nil, err
		}
		d.History = h.Acts
	}
	return &page{title: "Facts: " + line(d.Name, 60), content: &d}, nil
}
