package console

import (
	"fmt"
	"net/url"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
)

// This file has the parts of pages that several pages show in the same way. Text and the values of attributes are escaped by the library. Addresses are checked here, by
// href and action, and only text writes markup by itself: TestMarkup holds pages to both.

var space = g.Text(" ")

// only is the nodes if a condition holds. The nodes are made in either case.
func only(condition bool, nodes ...g.Node) g.Node { return g.If(condition, g.Group(nodes)) }

// either is the first node if a condition holds, and else the second. Both are made.
func either(condition bool, yes, no g.Node) g.Node {
	if condition {
		return yes
	}
	return no
}

// href is the address of a link within this console.
func href(to string) g.Node { return h.Href(ours(to)) }

// action is the address within this console that a form is sent to.
func action(to string) g.Node { return h.Action(ours(to)) }

// ours is an address within this console: a path, a query or a fragment. In place of any other it is the page that is shown.
func ours(to string) string {
	if to == "" || !strings.ContainsRune("/?#", rune(to[0])) || elsewhere(to) {
		return "#"
	}
	return to
}

func link(to string, nodes ...g.Node) g.Node { return h.A(href(to), g.Group(nodes)) }

func para(class string, nodes ...g.Node) g.Node { return h.P(h.Class(class), g.Group(nodes)) }

func span(class string, nodes ...g.Node) g.Node { return h.Span(h.Class(class), g.Group(nodes)) }

func dim(s string) g.Node { return span("dim", g.Text(s)) }

func code(s string) g.Node { return h.Code(g.Text(s)) }

// bdi isolates what somebody wrote from the direction of the text around it.
func bdi(s string) g.Node { return g.El("bdi", text(s)) }

// said is what somebody wrote, with its lines.
func said(s string) g.Node { return h.Div(h.Class("said"), h.Dir("auto"), text(s)) }

// section is a part of a page below its heading, whose id begins with h.
func section(id, heading string, nodes ...g.Node) g.Node {
	return h.Section(h.Aria("labelledby", id), h.H2(h.ID(id), g.Text(heading)), g.Group(nodes))
}

// terms is a list of terms, each with what it is.
func terms(class string, pairs ...g.Node) g.Node { return h.Dl(h.Class(class), g.Group(pairs)) }

func term(name string, nodes ...g.Node) g.Node {
	return g.Group{h.Dt(g.Text(name)), h.Dd(g.Group(nodes))}
}

// table is rows below the names of their columns, which have | between them, in a box that scrolls by itself. A column whose name begins with # is of numbers.
func table(caption, columns string, rows ...g.Node) g.Node {
	return h.Div(h.Class("scroll"), bare(h.Class("wide"), "hidden", caption, columns, rows...))
}

// bare is a table without its box.
func bare(attr g.Node, captionClass, caption, columns string, rows ...g.Node) g.Node {
	return h.Table(attr, h.Caption(g.If(captionClass != "", h.Class(captionClass)), g.Text(caption)),
		h.THead(h.Tr(g.Map(strings.Split(columns, "|"), func(name string) g.Node {
			name, isNumber := strings.CutPrefix(name, "#")
			return h.Th(h.Scope("col"), g.If(isNumber, h.Class("number")), g.Text(name))
		}))), h.TBody(g.Group(rows)))
}

// row is a row of a table with its heading.
func row(heading g.Node, cells ...g.Node) g.Node {
	return h.Tr(h.Th(h.Scope("row"), heading), g.Group(cells))
}

func digits(s string) g.Node { return h.Td(h.Class("number"), g.Text(s)) }

// next leads to the page that a list goes on with.
func next(to, label string) g.Node { return para("pager", nextLink(to, label)) }

func nextLink(to, label string) g.Node { return h.A(h.Rel("next"), href(to), g.Text(label)) }

// inline is a form on one line that changes nothing.
func inline(nodes ...g.Node) g.Node {
	return h.Form(h.Class("inline"), h.P(g.Group(nodes)))
}

// field is an input with its label.
func field(id, label, name string, attributes ...g.Node) g.Node {
	return g.Group{h.Label(h.For(id), g.Text(label)), space, h.Input(h.ID(id), h.Name(name), g.Group(attributes))}
}

func hidden(name, value string) g.Node {
	return h.Input(h.Type("hidden"), h.Name(name), h.Value(value))
}

func button(label string) g.Node { return h.Button(g.Text(label)) }

func option(value, label, chosen string) g.Node {
	return h.Option(h.Value(value), g.If(value == chosen, h.Selected()), g.Text(label))
}

// sequence is an input for a sequence number.
func sequence(id, label, name, value string, attributes ...g.Node) g.Node {
	return field(id, label, name, h.Value(value), g.Attr("inputmode", "numeric"), g.Attr("size", "8"), g.Group(attributes))
}

func asOfField(label, value string) g.Node { return sequence("asof", label, "as_of", value) }

// evidenceField is an input for the id of a slice or a context.
func evidenceField(id, label, name string, attributes ...g.Node) g.Node {
	return field(id, label, name, g.Group(attributes), h.Required(), h.Pattern("[0-9a-fA-F]{16}"), h.Title("16 hexadecimal digits"), h.AutoComplete("off"))
}

func compareWith() g.Node {
	return g.Group{evidenceField("c-b", "with", "b"), space, button("Compare")}
}

// wrong says what is wrong with what was typed.
func wrong(s string) g.Node { return g.If(s != "", h.P(h.Class("wrong"), h.Role("alert"), bdi(s))) }

// line is in place of a part that the service did not give.
func (m *missing) line() g.Node { return para("dim", bdi(m.Why)) }

func shortID(id string) g.Node { return h.Code(h.Class("id"), h.Title(id), g.Text(short(id))) }

func turnLink(id string) g.Node { return link("/turns/"+id, shortID(id)) }

// moment is a time.
func moment(at string) g.Node { return h.Time(h.DateTime(at), g.Text(when(at))) }

// holds says when something holds.
func holds(from, until *dag.Time) g.Node {
	var list g.Group
	if from != nil {
		list = append(list, g.Text("from "), moment(from.String()), space)
	}
	if until != nil {
		list = append(list, g.Text("until "), moment(until.String()))
	}
	return list
}

func who(role, author string) g.Node {
	return g.Group{span("role role-"+role, g.Text(role)), only(author != "", space, g.El("bdi", h.Class("author"), text(author)))}
}

func author(name string) g.Node {
	return either(name != "", g.El("bdi", h.Class("author"), text(name)), span("gone", g.Text("a name that was erased or never came")))
}

// by names a key, after a word.
func by(before, key string) g.Node { return only(key != "", g.Text(before), code(key)) }

// issuedTo is the link to what was handed out.
func issuedTo(i *api.Issued) g.Node {
	if kindOf(i.SchemaVersion) == "context" {
		return link("/contexts/"+i.SliceID, code(i.SliceID))
	}
	return link("/slices/"+i.SliceID, code(i.SliceID))
}

func policyLink(id string) g.Node { return link("/policies/"+url.PathEscape(id), g.Text(id)) }

func entityLink(name string, most int) g.Node {
	shown := name
	if most > 0 {
		shown = line(name, most)
	}
	return link(entityPath(name), bdi(shown))
}

func itemLink(ref string) g.Node { return link(itemPath(ref), code(ref)) }

func spaceLink(space string) g.Node { return link("/beliefs?"+query("space", space), g.Text(space)) }

// issuedTable is a table of what was handed out.
func issuedTable(caption string, list []api.Issued) g.Node {
	return table(caption, "Id|Kind|Handed out|Policy|For|To", g.Map(list, func(i api.Issued) g.Node {
		kind, isFor, to := kindOf(i.SchemaVersion), span("gone", g.Text("erased")), dim("not recorded")
		switch {
		case i.Asked != "":
			isFor = bdi(line(i.Asked, 90))
		case kind == "slice":
			isFor = g.Group{g.Text("turn "), turnLink(i.Anchor)}
		}
		switch r := i.Recipient; {
		case r != nil:
			to = g.Group{code(r.Agent), g.Text(" session " + r.Session)}
		case i.By != "":
			to = code(i.By)
		}
		return row(issuedTo(&i), h.Td(g.Text(kind)), h.Td(moment(i.IssuedAt)), h.Td(policyLink(i.PolicyID)), h.Td(isFor), h.Td(to, g.If(i.NotGiven != 0, g.Text(", not given"))))
	}))
}

func factsTable(list []api.Fact) g.Node {
	return table("Facts", "Subject|Relation|Object|Confidence|Source|Holds|Since number", g.Map(list, func(f api.Fact) g.Node {
		return h.Tr(h.Td(entityLink(f.Subject, 80)), h.Td(bdi(line(f.Predicate, 60))), h.Td(entityLink(f.Object, 80)), digits(f.Confidence.String()),
			h.Td(bdi(f.Source), only(f.Turn != "", g.Text(", turn "), turnLink(f.Turn))),
			h.Td(only(f.ValidFrom != "", g.Text("from "), moment(f.ValidFrom), space), only(f.ValidUntil != "", g.Text("until "), moment(f.ValidUntil))),
			h.Td(link(entityPath(f.Subject)+"?"+query("statement", f.Statement)+"#history", g.Text(fmt.Sprint(f.Since)))))
	}))
}

// checksTable says what came of each check by the service.
func checksTable(list []api.Check) g.Node {
	return h.Div(h.Class("scroll"), h.TabIndex("0"), h.Role("region"), h.Aria("label", "Checks by the service"), bare(h.Class("wide checks"), "hidden", "Checks", "Check|Result|Detail", g.Map(list, func(c api.Check) g.Node {
		return row(g.Text(c.ID), h.Td(h.Class("status "+c.Status), g.Text(c.Status)), h.Td(bdi(c.Detail)))
	})))
}

// verdict says what the service found of a bundle, and how.
func verdict(v *api.BundleVerdict, attributes ...g.Node) g.Node {
	return g.Group{
		h.P(h.Class("verdict "+passed(v.Admissible)), g.Group(attributes), g.Text("The service: "), h.Strong(g.Text(outcome(v))), only(v.Reason != "", g.Text(": "), bdi(v.Reason)),
			g.If(len(v.Redacted) > 0, g.Text(" ("+count(len(v.Redacted), "turn", "turns")+" without text)"))),
		h.Details(h.Summary(g.Text(count(len(v.Checks), "check", "checks")+" by the service")), checksTable(v.Checks)),
	}
}

func outcome(v *api.BundleVerdict) string {
	if v.Admissible {
		return "verified"
	}
	return v.Outcome
}

// passed is the class of what passed, or did not.
func passed(did bool) string {
	if did {
		return "ok"
	}
	return "fail"
}

// fileForm is the form by which a bundle is brought.
func fileForm(token string) g.Node {
	return h.Form(h.Class("inline"), h.Method("post"), action(checkPath), h.EncType("multipart/form-data"),
		h.P(hidden("token", token), field("bundle", "A bundle that you were given", "bundle", h.Type("file"), h.Required()), space, button("Check it")))
}

// post is a form that changes something.
func post(class, to, token string, nodes ...g.Node) g.Node {
	return h.Form(g.If(class != "", h.Class(class)), h.Method("post"), action(to), hidden("token", token), g.Group(nodes))
}

// joined is a list with a text between its members.
func joined[T any](between string, list []T, show func(T) g.Node) g.Node {
	var nodes g.Group
	for i, one := range list {
		nodes = append(nodes, g.If(i > 0, g.Text(between)), show(one))
	}
	return nodes
}
