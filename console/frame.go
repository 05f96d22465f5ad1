package console

import (
	"io"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	h "github.com/graphkernel/graphkernel/internal/markup"
)

// A content is the content of a page. The token is for forms that change something.
type content interface{ body(token string) h.Node }

// A place is a path in the console with its name.
type place struct{ Path, Name string }

// sections returns the links in the navigation: the pages that a role may open.
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

// mark is the logo of the program.
const mark = `<svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true"><path d="M5 5L12 12L19 5M12 12V20" fill="none" stroke="currentColor" stroke-width="2"/><g fill="currentColor"><circle cx="5" cy="5" r="3"/><circle cx="19" cy="5" r="3"/><circle cx="12" cy="12" r="3"/><circle cx="12" cy="20" r="3"/></g></svg>`

// render writes a page inside the frame that all pages have.
func (v *visit) render(w io.Writer, p *page) error {
	token := ""
	if v.sign != nil {
		token = v.seal.token(v.sign.ID)
	}
	var onward h.Node
	if p.onward != "" {
		onward = h.Refresh(p.onward)
	}
	return h.Document(
		h.Head(
			h.Meta(h.Charset("utf-8")), h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")), h.Meta(h.Name("color-scheme"), h.Content("light dark")),
			onward,
			h.Title(h.Text(plain(p.title)+" · Graph Kernel")),
			h.Link(h.Rel("icon"), h.Href("/assets/icon.svg"), h.Type("image/svg+xml")), h.Link(h.Rel("stylesheet"), h.Href("/assets/console.css")), h.Script(h.Type("module"), h.Src("/assets/console.mjs")),
		),
		h.Body(
			h.A(h.Class("skip"), h.Href("#main"), h.Text("Skip to the content")),
			h.Header(h.A(h.Class("brand"), h.Href("/"), h.Raw(mark), h.Text("Graph Kernel")), v.navigation(token)),
			h.Main(h.ID("main"), h.TabIndex("-1"), p.content.body(token)),
			h.Footer(h.Text("Graph Kernel "+v.config.Version+" · times are UTC · "), link("/docs", h.Text("API"))),
		),
	).Render(w)
}

// navigation shows the navigation to a signed-in caller.
func (v *visit) navigation(token string) h.Node {
	if v.who == nil {
		return nil
	}
	here := sectionOf(v.r.URL.Path)
	return h.Group{
		space, h.Nav(h.Aria("label", "Pages"), h.Map(sections(v.who.Role), func(p place) h.Node {
			return h.Group{space, link("/"+p.Path, h.If(p.Path == here, h.Aria("current", "page")), h.Text(p.Name))}
		})),
		space, h.Form(h.Class("quick"), h.Action("/search"), h.Role("search"), h.Input(h.Name("q"), h.Type("search"), h.Aria("label", "Search turns, or the beginning of an id"), h.Placeholder("Words or id"), h.MaxLength("4096"))),
		h.If(token != "", space, post("who", "/sign-out", token, h.Span(h.Text(v.who.Tenant+" · "+v.who.Role)), space, button("Sign out"))),
	}
}

// A problem is an error as shown on a page.
type problem struct {
	Status                        int
	Title, Detail, Place, Request string
	Turns                         []dag.TurnID // turns that the name may refer to
}

func (p *problem) body(string) h.Node {
	return h.Group{
		h.H1(h.Text(p.Title)),
		h.P(h.Class("wrong"), h.Role("alert"), bdi(p.Detail), h.If(p.Place != "", h.Text(" (at "), bdi(p.Place), h.Text(")"))),
		h.If(p.Request != "", para("dim", h.Textf("Status %d, request %s", p.Status, p.Request))),
		wholeTurns(p.Turns),
		h.If(p.Status == 403, h.P(h.Text("Another key may be allowed to: "), link("/sign-in", h.Text("sign in with it")), h.Text("."))),
		h.P(link("/", h.Text("Home"))),
	}
}

// wholeTurns lists turns by their full ids.
func wholeTurns(ids []dag.TurnID) h.Node {
	return h.If(len(ids) > 0, h.Ul(h.Map(ids, func(id dag.TurnID) h.Node { return h.Li(link("/turns/"+id.String(), code(id))) })))
}
