package console

import (
	"io"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/graphkernel/graphkernel/access"
)

// A content is what a page shows. The token is for forms that change something.
type content interface{ body(token string) g.Node }

// A place is a place in the console with its name.
type place struct{ Path, Name string }

// sections are what the navigation leads to: the pages that a role may open.
func sections(role string) (list []place) {
	for _, one := range []struct {
		place
		may access.Permission // 0: everybody
	}{
		{place{"", "Home"}, 0}, {place{"search", "Search"}, access.Recall}, {place{"conversations", "Conversations"}, access.Read}, {place{"slices", "Handed out"}, access.Read},
		{place{"facts", "Facts"}, access.Recall}, {place{"beliefs", "Beliefs"}, access.Recall}, {place{"atlas", "Atlas"}, access.Read}, {place{"ledger", "Ledger"}, access.Follow}, {place{"policies", "Policies"}, access.ListPolicies}, {place{"keys", "Keys"}, access.ManageKeys},
	} {
		if one.may == 0 || access.Role(role).May(one.may) {
			list = append(list, one.place)
		}
	}
	return list
}

// mark is the sign of the program.
const mark = `<svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true"><path d="M5 5L12 12L19 5M12 12V20" fill="none" stroke="currentColor" stroke-width="2"/><g fill="currentColor"><circle cx="5" cy="5" r="3"/><circle cx="19" cy="5" r="3"/><circle cx="12" cy="12" r="3"/><circle cx="12" cy="20" r="3"/></g></svg>`

// render writes a page with the frame that every page has around it.
func (v *visit) render(w io.Writer, p *page) error {
	token := ""
	if v.sign != nil {
		token = v.seal.token(v.sign.ID)
	}
	return h.Doctype(h.HTML(h.Lang("en"),
		h.Head(
			h.Meta(h.Charset("utf-8")), h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")), h.Meta(h.Name("color-scheme"), h.Content("light dark")),
			g.Iff(p.onward != "", func() g.Node { return h.Meta(g.Attr("http-equiv", "refresh"), h.Content("0;url="+ours(p.onward))) }),
			h.TitleEl(g.Text(plain(p.title)+" · Graph Kernel")),
			h.Link(h.Rel("icon"), href("/assets/icon.svg"), h.Type("image/svg+xml")), h.Link(h.Rel("stylesheet"), href("/assets/console.css")), h.Script(h.Type("module"), h.Src("/assets/console.mjs")),
		),
		h.Body(
			h.A(h.Class("skip"), href("#main"), g.Text("Skip to the content")),
			h.Header(h.A(h.Class("brand"), href("/"), g.Raw(mark), g.Text("Graph Kernel")), v.navigation(token)),
			h.Main(h.ID("main"), h.TabIndex("-1"), p.content.body(token)),
			h.Footer(g.Text("Graph Kernel "+v.config.Version+" · times are UTC · "), link("/docs", g.Text("API"))),
		),
	)).Render(w)
}

// navigation is for somebody who is let in.
func (v *visit) navigation(token string) g.Node {
	if v.who == nil {
		return nil
	}
	here := sectionOf(v.r.URL.Path)
	return g.Group{
		space, h.Nav(h.Aria("label", "Pages"), g.Map(sections(v.who.Role), func(p place) g.Node {
			return g.Group{space, link("/"+p.Path, g.If(p.Path == here, h.Aria("current", "page")), g.Text(p.Name))}
		})),
		space, h.Form(h.Class("quick"), action("/search"), h.Role("search"), h.Input(h.Name("q"), h.Type("search"), h.Aria("label", "Search turns, or the beginning of an id"), h.Placeholder("Words or id"), h.MaxLength("4096"))),
		only(token != "", space, post("who", "/sign-out", token, h.Span(g.Text(v.who.Tenant+" · "+v.who.Role)), space, button("Sign out"))),
	}
}

// A problem is an error as a page shows it.
type problem struct {
	Status                        int
	Title, Detail, Place, Request string
	Turns                         []string // that may be meant
}

func (p *problem) body(string) g.Node {
	return g.Group{
		h.H1(g.Text(p.Title)),
		h.P(h.Class("wrong"), h.Role("alert"), bdi(p.Detail), only(p.Place != "", g.Text(" (at "), bdi(p.Place), g.Text(")"))),
		only(p.Request != "", para("dim", g.Textf("Status %d, request %s", p.Status, p.Request))),
		wholeTurns(p.Turns),
		only(p.Status == 403, h.P(g.Text("Another key may be allowed to: "), link("/sign-in", g.Text("sign in with it")), g.Text("."))),
		h.P(link("/", g.Text("Home"))),
	}
}

// wholeTurns lists turns by their whole ids.
func wholeTurns(ids []string) g.Node {
	return g.If(len(ids) > 0, h.Ul(g.Map(ids, func(id string) g.Node { return h.Li(link("/turns/"+id, code(id))) })))
}
