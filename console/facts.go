package console

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
)

// pathEscape writes a name as the last part of an address. Slashes stay, since the part takes all that is left, unless a browser or the router would
// make another path of them: then they are escaped. Nothing else leads away from "..", which is a name, but a slash that its form drops.
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

type factsData struct {
	Q, AsOf, After string
	Stats          api.KnowledgeStats
	Facts          api.Facts
}

// facts lists what is believed, and searches it by a name.
func facts(v *visit) (*page, error) {
	q := v.r.URL.Query()
	d := factsData{Q: strings.TrimSpace(q.Get("q")), AsOf: q.Get("as_of"), After: q.Get("after")}
	if d.Q != "" {
		to := "/facts/" + pathEscape(d.Q)
		if d.AsOf != "" {
			to += "?as_of=" + url.QueryEscape(d.AsOf)
		}
		return &page{to: to}, nil
	}
	n, err := number(d.AsOf)
	if err != nil {
		return nil, refused(http.StatusBadRequest, "As of: %v", err)
	}
	at := api.View{AsOf: dag.Seq(n)}
	if d.Stats, err = ask(v, api.CountKnowledge, api.KnowledgeCount{View: at, Brief: true}); err != nil {
		return nil, err
	}
	d.Facts, err = ask(v, api.ListFacts, api.FactQuery{View: at, Paging: api.Paging{Limit: 50, After: d.After}})
	return &page{"Facts", "facts", &d, ""}, err
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

// entity shows what is believed of a name, as of a number, the aliases that lead to it, and the graph around it.
func entity(v *visit) (*page, error) {
	q := v.r.URL.Query()
	d := entityData{Name: v.r.PathValue("name"), AsOf: q.Get("as_of"), After: q.Get("after"), Statement: q.Get("statement")}
	n, err := number(d.AsOf)
	if err != nil {
		return nil, refused(http.StatusBadRequest, "As of: %v", err)
	}
	at := api.View{AsOf: dag.Seq(n)}
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
	return &page{"Facts: " + line(d.Name, 60), "entity", &d, ""}, nil
}
