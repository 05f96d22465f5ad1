package console

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	h "github.com/graphkernel/graphkernel/internal/markup"
)

var space = h.Text(" ")

func link(to string, nodes ...h.Node) h.Node { return h.A(h.Href(to), h.Group(nodes)) }

func para(class string, nodes ...h.Node) h.Node { return h.P(h.Class(class), h.Group(nodes)) }

func span(class string, nodes ...h.Node) h.Node { return h.Span(h.Class(class), h.Group(nodes)) }

func dim(s string) h.Node { return span("dim", h.Text(s)) }

func code(s any) h.Node { return h.Code(h.Text(fmt.Sprint(s))) }

// bdi isolates text by others from the direction of the surrounding text.
func bdi(s string) h.Node { return h.Bdi(text(s)) }

// said shows text by others, with its line breaks.
func said(s string) h.Node { return h.Div(h.Class("said"), h.Dir("auto"), text(s)) }

// section shows a part of a page with its heading. id is the id of the heading and begins with h.
func section(id, heading string, nodes ...h.Node) h.Node {
	return h.Section(h.Aria("labelledby", id), h.H2(h.ID(id), h.Text(heading)), h.Group(nodes))
}

// terms shows a list of terms with their descriptions.
func terms(class string, pairs ...h.Node) h.Node { return h.Dl(h.Class(class), h.Group(pairs)) }

func term(name string, nodes ...h.Node) h.Node {
	return h.Group{h.Dt(h.Text(name)), h.Dd(h.Group(nodes))}
}

// table shows rows below the names of their columns, which are separated by |, in a box that scrolls. A column whose name begins with #
// contains numbers.
func table(caption, columns string, rows ...h.Node) h.Node {
	return h.Div(h.Class("scroll"), bare(h.Class("wide"), "hidden", caption, columns, rows...))
}

// bare shows a table without the box.
func bare(attr h.Node, captionClass, caption, columns string, rows ...h.Node) h.Node {
	return h.Table(attr, h.Caption(h.If(captionClass != "", h.Class(captionClass)), h.Text(caption)),
		h.THead(h.Tr(h.Map(strings.Split(columns, "|"), func(name string) h.Node {
			name, isNumber := strings.CutPrefix(name, "#")
			return h.Th(h.Scope("col"), h.If(isNumber, h.Class("number")), h.Text(name))
		}))), h.TBody(h.Group(rows)))
}

// row shows a row of a table, with its heading.
func row(heading h.Node, cells ...h.Node) h.Node {
	return h.Tr(h.Th(h.Scope("row"), heading), h.Group(cells))
}

func digits(s string) h.Node { return h.Td(h.Class("number"), h.Text(s)) }

// next links to the next page of a list.
func next(to, label string) h.Node { return para("pager", nextLink(to, label)) }

func nextLink(to, label string) h.Node { return h.A(h.Rel("next"), h.Href(to), h.Text(label)) }

// inline shows a form on one line that changes nothing.
func inline(nodes ...h.Node) h.Node {
	return h.Form(h.Class("inline"), h.P(h.Group(nodes)))
}

// field shows an input with its label.
func field(id, label, name string, attributes ...h.Node) h.Node {
	return h.Group{h.Label(h.For(id), h.Text(label)), space, h.Input(h.ID(id), h.Name(name), h.Group(attributes))}
}

func hidden(name, value string) h.Node {
	return h.Input(h.Type("hidden"), h.Name(name), h.Value(value))
}

func button(label string) h.Node { return h.Button(h.Text(label)) }

func option(value, label, chosen string) h.Node {
	return h.Option(h.Value(value), h.If(value == chosen, h.Selected()), h.Text(label))
}

// sequence shows an input for a sequence number.
func sequence(id, label, name, value string, attributes ...h.Node) h.Node {
	return field(id, label, name, h.Value(value), h.InputMode("numeric"), h.Size("8"), h.Group(attributes))
}

func asOfField(label, value string) h.Node { return sequence("asof", label, "as_of", value) }

// evidenceField shows an input for the id of a slice or a context.
func evidenceField(id, label, name string, attributes ...h.Node) h.Node {
	return field(id, label, name, h.Group(attributes), h.Required(), h.Pattern("[0-9a-fA-F]{16}"), h.Tip("16 hexadecimal digits"), h.AutoComplete("off"))
}

func compareWith() h.Node {
	return h.Group{evidenceField("c-b", "with", "b"), space, button("Compare")}
}

// wrong shows what is wrong with the input.
func wrong(s string) h.Node { return h.If(s != "", h.P(h.Class("wrong"), h.Role("alert"), bdi(s))) }

// line shows why a part of the page is missing.
func (m *missing) line() h.Node { return para("dim", bdi(m.Why)) }

func shortID(of any) h.Node {
	id := fmt.Sprint(of)
	return h.Code(h.Class("id"), h.Tip(id), h.Text(short(id)))
}

func turnLink(id any) h.Node { return link("/turns/"+fmt.Sprint(id), shortID(id)) }

// moment shows a time.
func moment(t any) h.Node {
	at := fmt.Sprint(t)
	return h.Time(h.DateTime(at), h.Text(when(at)))
}

// holds shows the period in which something holds.
func holds(from, until *dag.Time) h.Node {
	var list h.Group
	if from != nil {
		list = append(list, h.Text("from "), moment(from), space)
	}
	if until != nil {
		list = append(list, h.Text("until "), moment(until))
	}
	return list
}

func who(role, author string) h.Node {
	return h.Group{span("role role-"+role, h.Text(role)), h.If(author != "", space, h.Bdi(h.Class("author"), text(author)))}
}

func author(name string) h.Node {
	return h.Either(name != "", h.Bdi(h.Class("author"), text(name)), span("gone", h.Text("a name that was erased or never came")))
}

// by shows a key after a word.
func by(before, key string) h.Node { return h.If(key != "", h.Text(before), code(key)) }

// issuedTo links to issued evidence.
func issuedTo(i *api.Issued) h.Node {
	if kindOf(i.SchemaVersion) == "context" {
		return link("/contexts/"+string(i.SliceID), code(i.SliceID))
	}
	return link("/slices/"+string(i.SliceID), code(i.SliceID))
}

func policyLink(id string) h.Node { return link("/policies/"+url.PathEscape(id), h.Text(id)) }

func entityLink(name string, most int) h.Node {
	shown := name
	if most > 0 {
		shown = line(name, most)
	}
	return link(entityPath(name), bdi(shown))
}

func itemLink(ref string) h.Node { return link(itemPath(ref), code(ref)) }

func spaceLink(space string) h.Node { return link("/beliefs?"+query("space", space), h.Text(space)) }

// issuedTable shows a table of issued evidence.
func issuedTable(caption string, list []api.Issued) h.Node {
	return table(caption, "Id|Kind|Handed out|Policy|For|To", h.Map(list, func(i api.Issued) h.Node {
		kind, isFor, to := kindOf(i.SchemaVersion), span("gone", h.Text("erased")), dim("not recorded")
		switch {
		case i.Asked != "":
			isFor = bdi(line(i.Asked, 90))
		case kind == "slice":
			isFor = h.Group{h.Text("turn "), turnLink(i.Anchor)}
		}
		switch r := i.Recipient; {
		case r != nil:
			to = h.Group{code(r.Agent), h.Text(" session " + r.Session)}
		case i.By != "":
			to = code(i.By)
		}
		return row(issuedTo(&i), h.Td(h.Text(kind)), h.Td(moment(i.IssuedAt)), h.Td(policyLink(string(i.PolicyID))), h.Td(isFor), h.Td(to, h.If(i.NotGiven != 0, h.Text(", not given"))))
	}))
}

func factsTable(list []api.Fact) h.Node {
	return table("Facts", "Subject|Relation|Object|Confidence|Source|Holds|Since number", h.Map(list, func(f api.Fact) h.Node {
		return h.Tr(h.Td(entityLink(f.Subject, 80)), h.Td(bdi(line(f.Predicate, 60))), h.Td(entityLink(f.Object, 80)), digits(f.Confidence.String()),
			h.Td(bdi(f.Source), h.If(f.Turn != (dag.TurnID{}), h.Text(", turn "), turnLink(f.Turn))),
			h.Td(h.If(f.ValidFrom != 0, h.Text("from "), moment(f.ValidFrom), space), h.If(f.ValidUntil != 0, h.Text("until "), moment(f.ValidUntil))),
			h.Td(link(entityPath(f.Subject)+"?"+query("statement", f.Statement.String())+"#history", h.Text(fmt.Sprint(f.Since)))))
	}))
}

// checksTable shows the result of each check by the service.
func checksTable(list []api.Check) h.Node {
	return h.Div(h.Class("scroll"), h.TabIndex("0"), h.Role("region"), h.Aria("label", "Checks by the service"), bare(h.Class("wide checks"), "hidden", "Checks", "Check|Result|Detail", h.Map(list, func(c api.Check) h.Node {
		return row(h.Text(string(c.ID)), h.Td(h.Class("status "+string(c.Status)), h.Text(string(c.Status))), h.Td(bdi(c.Detail)))
	})))
}

// verdict shows the service's verdict on a bundle, with its checks.
func verdict(v *api.BundleVerdict, attributes ...h.Node) h.Node {
	return h.Group{
		h.P(h.Class("verdict "+passed(v.Admissible)), h.Group(attributes), h.Text("The service: "), h.Strong(h.Text(outcome(v))), h.If(v.Reason != "", h.Text(": "), bdi(v.Reason)),
			h.If(len(v.Redacted) > 0, h.Text(" ("+count(len(v.Redacted), "turn", "turns")+" without text)"))),
		h.Details(h.Summary(h.Text(count(len(v.Checks), "check", "checks")+" by the service")), checksTable(v.Checks)),
	}
}

func outcome(v *api.BundleVerdict) string {
	if v.Admissible {
		return "verified"
	}
	return v.Outcome
}

// passed returns the CSS class of a passed or failed check.
func passed(did bool) string {
	if did {
		return "ok"
	}
	return "fail"
}

// fileForm shows the form for uploading a bundle.
func fileForm(token string) h.Node {
	return h.Form(h.Class("inline"), h.Method("post"), h.Action(checkPath), h.EncType("multipart/form-data"),
		h.P(hidden("token", token), field("bundle", "A bundle that you were given", "bundle", h.Type("file"), h.Required()), space, button("Check it")))
}

// post shows a form that changes something.
func post(class, to, token string, nodes ...h.Node) h.Node {
	return h.Form(h.If(class != "", h.Class(class)), h.Method("post"), h.Action(to), hidden("token", token), h.Group(nodes))
}
