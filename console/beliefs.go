package console

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	h "github.com/graphkernel/graphkernel/internal/markup"
)

// krefScheme is the prefix of the address of a belief item.
const krefScheme = "kref://"

// mostStatements is the number of statements on a page.
const mostStatements = 200

type beliefsData struct {
	Spaces []api.Space
	None   bool // no space exists

	Space, AsOf, ValidAt, Subject string
	From                          int // index in Base of the first statement shown
	Base                          api.BeliefBase
	Conflicts                     int
}

// Shown returns the statements of the page.
func (d *beliefsData) Shown() []api.HeldStatement {
	list := d.Base.Statements[min(d.From, len(d.Base.Statements)):]
	return list[:min(len(list), mostStatements)]
}

func (d *beliefsData) body(string) h.Node {
	if d.Space == "" {
		spaces := h.P(h.Text("No space was made yet. A space holds what is taken to be true in a project, such as a decision or a rule, with the reason for it and the turns that it rests on, and its contexts tell agents of it. "),
			code("graphkernel belief space PROJECT/NAME"), h.Text(" makes one, and "), code("graphkernel belief revise PROJECT/NAME SUBJECT PREDICATE OBJECT"), h.Text(" states something in it."))
		if !d.None {
			spaces = h.Div(h.Class("scroll"), bare(nil, "hidden", "Spaces", "Space|Policy", h.Map(d.Spaces, func(s api.Space) h.Node { return row(spaceLink(string(s.Space)), h.Td(policyLink(string(s.Policy)))) })))
		}
		return h.Group{h.H1(h.Text("Beliefs")), spaces, h.Form(h.Class("inline"), h.Action("/beliefs/item"), h.P(
			field("ref", "Address of an item", "ref", h.Placeholder("kref://project/space/name.kind"), h.Size("40"), h.MaxLength("2048"), h.Required()), space, button("Show")))}
	}
	return h.Group{
		h.H1(h.Text("Beliefs in " + d.Space)),
		h.Form(h.Class("inline"), h.Action("/beliefs"), h.P(hidden("space", d.Space), field("subject", "About", "subject", h.Value(d.Subject), h.MaxLength("2048")), space, asOfField("as of number", d.AsOf), space,
			field("validat", "holds at", "valid_at", h.Value(d.ValidAt), h.Placeholder("2026-01-31"), h.Size("12")), space, button("Show"))),
		para("dim", h.Textf("%s as of %d, under ", count(len(d.Base.Statements), "statement", "statements"), d.Base.AsOf), policyLink(string(d.Base.Policy)), h.Text(" · "),
			link("/beliefs/conflicts?"+query("space", d.Space), h.Text(count(d.Conflicts, "proposal was", "proposals were")+" not taken")), h.Text(" · "), link("/beliefs/diff?"+query("space", d.Space), h.Text("What changed"))),
		h.Either(len(d.Shown()) > 0, heldTable(d.Space, uint64(d.Base.AsOf), d.Shown()), h.P(h.Text("Nothing is believed"), h.If(d.Subject != "", h.Text(" about "), bdi(d.Subject)), h.If(d.AsOf != "", h.Text(" as of "+d.AsOf)), h.Text("."))),
		h.If(d.Next() != 0, next("/beliefs?"+query("space", d.Space, "subject", d.Subject, "as_of", d.AsOf, "valid_at", d.ValidAt, "from", nonzero(d.Next())), "More statements")),
	}
}

// statement shows a statement on one line.
func statement(s api.WrittenStatement) h.Node {
	if said := s.Said(); said != "" {
		return bdi(line(said, 160))
	}
	w := s.Words()
	return h.Group{denied(s.Not), bdi(line(w.Subject, 80)), space, dim("—"), space, bdi(line(w.Predicate, 60)), space, dim("→"), space, bdi(line(w.Object, 160))}
}

// statementWhole shows a statement with its whole text.
func statementWhole(s api.WrittenStatement) h.Node {
	if said := s.Said(); said != "" {
		return h.Span(h.Class("said"), h.Dir("auto"), text(said))
	}
	w := s.Words()
	return h.Group{denied(s.Not), bdi(w.Subject), space, dim("—"), space, bdi(w.Predicate), space, dim("→"), space, h.Span(h.Class("said"), h.Dir("auto"), text(w.Object))}
}

func denied(not bool) h.Node { return h.If(not, h.Strong(h.Text("not")), space) }

// because shows the premises of a statement.
func because(premises []api.WrittenStatement) h.Node {
	return h.Join(" and ", premises, statementWhole)
}

// heldTable shows a table of statements of a space, as of a number.
func heldTable(space string, asOf uint64, list []api.HeldStatement) h.Node {
	return table("Statements", "Statement|Whose|Item|Holds|Since number", h.Map(list, func(s api.HeldStatement) h.Node {
		return h.Tr(h.Td(link(whyPath(space, asOf, s.BeliefStatement), statement(s.WrittenStatement)), h.If(s.Derived, h.Text(" "), dim("by rule")),
			h.If(s.Title != "", h.Div(bdi(s.Title))), h.If(s.Summary != "", h.Div(h.Class("dim"), bdi(s.Summary)))), h.Td(counts(s.Standing)), h.Td(itemLink(refOf(string(s.Item), s.Revision))), h.Td(holds(s.ValidFrom, s.ValidUntil)), digits(nonzero(s.Since)))
	}))
}

// Next returns the index of the next page's first statement, or 0 if this is the last page.
func (d *beliefsData) Next() int {
	if next := d.From + mostStatements; next < len(d.Base.Statements) {
		return next
	}
	return 0
}

// beliefs lists the spaces, or the believed statements of one space, as of a number and at an instant.
func beliefs(v *visit) (*page, error) {
	q := v.r.URL.Query()
	d := beliefsData{Space: strings.Trim(strings.TrimSpace(q.Get("space")), "/"), AsOf: q.Get("as_of"), ValidAt: strings.TrimSpace(q.Get("valid_at")), Subject: strings.TrimSpace(q.Get("subject"))}
	if d.Space == "" {
		list, err := ask(v, api.ListSpaces, api.SpacesQuery{})
		d.Spaces, d.None = list.Spaces, len(list.Spaces) == 0
		return &page{title: "Beliefs", content: &d}, err
	}
	in := api.BaseQuery{Space: belief.Space(d.Space), Subject: d.Subject}
	var err error
	if in.AsOf, err = number(d.AsOf); err != nil {
		return nil, refused(http.StatusBadRequest, "As of: %v", err)
	}
	from, err := number(q.Get("from"))
	if err != nil {
		return nil, refused(http.StatusBadRequest, "%v", err)
	}
	d.From = int(min(from, 1<<30))
	if d.ValidAt != "" {
		at, err := dag.ReadTime(instant(d.ValidAt))
		if err != nil {
			return nil, refused(http.StatusBadRequest, "Holds at: %v", err)
		}
		in.ValidAt = &at
	}
	if d.Base, err = ask(v, api.GetBeliefBase, in); err != nil {
		return nil, err
	}
	waiting, err := ask(v, api.BeliefConflicts, api.ConflictsQuery{Space: belief.Space(d.Space)})
	d.Conflicts = len(waiting.Conflicts)
	return &page{title: "Beliefs: " + line(d.Space, 60), content: &d}, err
}

// instant completes a date to its first instant.
func instant(text string) string {
	if len(text) == len("2026-01-02") {
		return text + "T00:00:00Z"
	}
	return text
}

// refOf returns the address of a revision; 0 is the current one.
func refOf(item string, revision int) string {
	if revision == 0 {
		return item
	}
	return item + "?r=" + strconv.Itoa(revision)
}

// itemPath returns the path of the page that shows an address.
func itemPath(ref string) string { return "/beliefs/item?" + query("ref", ref) }

// whyPath returns the path of the page that explains a statement, as of a number; 0 is now.
func whyPath(space string, asOf uint64, s api.BeliefStatement) string {
	not := ""
	if s.Not {
		not = "1"
	}
	return "/beliefs/why?" + query("space", space, "subject", s.Subject, "predicate", s.Predicate, "object", s.Object, "not", not, "as_of", nonzero(asOf))
}

type itemData struct {
	Ref       string
	Kref      api.ResolvedKref
	Space     string
	Revisions []api.ItemRevision // the newest first
	Older     int                // older revisions that are not listed
	Impact    *api.Impact        // of the revision shown; nil: there is none
}

func (d *itemData) body(string) h.Node {
	leads := h.P(h.Text("Nothing of it is believed"), h.If(d.Ref != string(d.Kref.Item), h.Text(": "), code(d.Ref), h.Text(" leads to no revision")), h.Text("."))
	if r := d.Kref.Revision; r != nil {
		leads = h.P(code(d.Ref), h.Textf(" leads to revision %d.", r.Revision))
	}
	tags := h.P(h.Text("It has none."))
	if len(d.Kref.Tags) > 0 {
		tags = h.Div(h.Class("scroll"), bare(nil, "hidden", "Tags", "Tag|Revision|From number|Until number", h.Map(d.Kref.Tags, func(t api.ItemTag) h.Node {
			until := dim("now")
			if t.Until != 0 {
				until = h.Text(fmt.Sprint(t.Until))
			}
			return row(h.Text(t.Tag), h.Td(link(fmt.Sprintf("#r%d", t.Revision), h.Textf("%d", t.Revision))), digits(fmt.Sprint(t.Since)), h.Td(h.Class("number"), until))
		})))
	}
	return h.Group{
		h.H1(h.Class("address"), code(d.Kref.Item)),
		para("dim", h.Text("in "), spaceLink(d.Space), h.Textf(", as of %d", d.Kref.AsOf), h.If(d.Kref.Deprecated, h.Text(" · "), span("gone", h.Text("deprecated: nothing of it is believed until somebody restores it")))),
		leads, section("h-tags", "Tags in time", tags),
		section("h-revisions", "Revisions, the newest first", h.Map(d.Revisions, d.revision),
			h.If(d.Older > 0, para("dim", h.Text(count(d.Older, "older revision is", "older revisions are")+" not shown. "), code(fmt.Sprintf("?r=%d", d.Older)), h.Text(" leads to the next one.")))),
		d.impact(),
	}
}

func (d *itemData) revision(r api.ItemRevision) h.Node {
	head := h.Group{
		h.H3(h.Textf("Revision %d", r.Revision), h.If(r.Title != "", h.Text(": "), bdi(line(r.Title, 90)))),
		para("dim", h.Textf("number %d, ", r.Seq), moment(r.At), by(", by ", r.By), h.If(r.Supersedes != 0, h.Text(", in the place of "), link(fmt.Sprintf("#r%d", r.Supersedes), h.Textf("revision %d", r.Supersedes))),
			h.If(!r.Erased, h.Text(", source "), code(r.Source), h.Text(", confidence "+r.Confidence.String()))),
	}
	id := h.ID(fmt.Sprintf("r%d", r.Revision))
	if r.Erased {
		return h.Article(id, head, para("gone", h.Text("What it said was erased with the turns that it rested on.")))
	}
	statements := h.Ul(h.Li(h.Class("dim"), h.Text("no statement")))
	if len(r.Statements) > 0 {
		statements = h.Ul(h.Map(r.Statements, func(s api.RevisionElement) h.Node {
			return h.Li(link(whyPath(d.Space, 0, s.BeliefStatement), statementWhole(s.WrittenStatement)), h.If(len(s.Premises) > 0, h.Text(" because "), because(s.Premises)), space,
				span("dim", h.Text(s.Class), valid(s.ValidFrom, s.ValidUntil, ",")), h.Map(s.Turns, func(t dag.TurnID) h.Node { return h.Group{h.Text(" turn "), turnLink(t)} }))
		}))
	}
	return h.Article(id, head,
		h.If(r.Withheld, para("dim", h.Text("Contexts leave its title and summary out: they may say what was given up."))),
		h.If(r.Reason != "", h.P(h.Text("Reason: "), bdi(r.Reason))), statements,
		h.If(r.Summary != "", said(r.Summary)), h.If(len(r.Keywords) > 0, para("dim", h.Text("Keywords: "), bdi(strings.Join(r.Keywords, ", ")))))
}

// impact shows what depends on the revision shown.
func (d *itemData) impact() h.Node {
	i := d.Impact
	if i == nil {
		return nil
	}
	return section("h-impact", "What depends on it", h.If(len(i.Falls)+len(i.Links) == 0, h.P(h.Text("Nothing."))),
		h.If(len(i.Falls) > 0, h.P(h.Textf("Without revision %d this would no longer follow:", d.Kref.Revision.Revision)), h.Ul(h.Map(i.Falls, func(s api.WrittenStatement) h.Node {
			return h.Li(link(whyPath(d.Space, 0, s.BeliefStatement), statement(s)))
		}))),
		h.If(len(i.Links) > 0, h.P(h.Text("These link to it:")), h.Ul(h.Map(i.Links, func(l api.Dependent) h.Node {
			return h.Li(itemLink(l.Ref), h.Text(" "+l.Type+" "), itemLink(l.To), h.If(l.Depth > 1, space, dim(fmt.Sprintf("over %d links", l.Depth))), h.If(l.Deprecated, space, span("gone", h.Text("deprecated"))))
		}))))
}

// mostRevisions is the number of revisions on a page.
const mostRevisions = 30

// item shows an item: its revisions with their statements, the periods of its tags, and the dependents of the revision that the address
// leads to.
func item(v *visit) (*page, error) {
	d := itemData{Ref: strings.TrimSpace(v.r.URL.Query().Get("ref"))}
	if d.Ref == "" {
		return &page{to: "/beliefs"}, nil
	}
	var err error
	if d.Kref, err = ask(v, api.ResolveKref, api.KrefQuery{Ref: d.Ref}); err != nil {
		return nil, err
	}
	d.Space = spaceOf(string(d.Kref.Item))
	for n := d.Kref.Revisions; n >= 1; n-- {
		if len(d.Revisions) == mostRevisions {
			d.Older = n
			break
		}
		one, err := ask(v, api.ResolveKref, api.KrefQuery{Ref: refOf(string(d.Kref.Item), n)})
		if err != nil {
			return nil, err
		}
		if one.Revision != nil {
			d.Revisions = append(d.Revisions, *one.Revision)
		}
	}
	if r := d.Kref.Revision; r != nil && !r.Erased {
		impact, err := ask(v, api.BeliefImpact, api.ImpactQuery{Ref: refOf(string(d.Kref.Item), r.Revision), Depth: 10})
		if err != nil {
			return nil, err
		}
		d.Impact = &impact
	}
	return &page{title: "Item: " + line(string(d.Kref.Item), 60), content: &d}, nil
}

// spaceOf returns the space of an item's address.
func spaceOf(item string) string {
	path := strings.TrimPrefix(item, krefScheme)
	at := strings.LastIndex(path, "/")
	return path[:max(at, 0)]
}

type whyData struct {
	Space, AsOf string
	Statement   api.WrittenStatement
	Why         api.Why
}

func (d *whyData) body(string) h.Node {
	heading := "It is not believed"
	if d.Why.Believed {
		heading = "Why is it believed?"
	}
	return h.Group{
		h.H1(h.Text(heading)),
		h.P(statementWhole(d.Statement), space, span("dim", h.Text("in "), spaceLink(d.Space), h.Textf(", as of %d", d.Why.AsOf))),
		h.If(d.Why.Believed, section("h-support", "It follows from", h.Ul(h.Map(d.Why.Support, supported)))),
		section("h-ended", "When it was believed, and who ended it", d.ended()),
	}
}

func supported(s api.Support) h.Node {
	turns := h.Group{space, dim("on its author's word")}
	if len(s.Turns) > 0 {
		turns = h.Map(s.Turns, func(t dag.TurnID) h.Node { return h.Group{h.Text(" turn "), turnLink(t)} })
	}
	return h.Li(statementWhole(s.Statement), h.If(len(s.Premises) > 0, h.Text(" because "), because(s.Premises)), h.Br(), itemLink(refOf(string(s.Item), s.Revision)), space,
		span("dim", h.Textf("%s, since number %d", s.Class, s.Since), by(", by ", s.By)), turns)
}

// ended shows when the statement was believed before, and why it no longer is.
func (d *whyData) ended() h.Node {
	switch {
	case len(d.Why.Ended) > 0:
		return h.Ul(h.Map(d.Why.Ended, d.end))
	case d.Why.State == "believed":
		return h.P(h.Text("It has not ended."))
	case d.Why.State == "erased":
		return h.Group{h.P(h.Text("Nothing that is left ever stated it. These revisions may have; their words were erased:")), h.Ul(h.Map(d.Why.Erased, func(e api.ErasedRevision) h.Node {
			return h.Li(itemLink(refOf(string(e.Item), e.Revision)), space, dim(fmt.Sprintf("number %d, erased by number %d", e.Seq, e.Erasure)), h.If(e.Turn != (dag.TurnID{}), h.Text(" with turn "), turnLink(e.Turn)))
		}))}
	}
	return h.P(h.Text("Nobody stated it, and it followed from nothing."))
}

func (d *whyData) end(e api.EndedBelief) h.Node {
	began, given, contradicted, item := "It was stated", "It was given up", "It gave way", "Its item"
	if e.Derived {
		began, given, contradicted, item = "It followed from others", "A premise or the rule was given up", "A premise gave way", "The item of a premise"
	}
	how := h.Text(given)
	switch e.Ending {
	case "contradicted":
		how = h.Text(contradicted)
		if e.Instead != nil {
			how = h.Group{how, h.Text(" to "), link(whyPath(d.Space, 0, e.Instead.BeliefStatement), statement(*e.Instead))}
		}
	case "deprecated":
		how = h.Text(item + " was deprecated")
	case "moved":
		how = h.Group{code("current"), h.Text(" was moved to another revision")}
	case "policy":
		how = h.Text("The space came under another policy")
	}
	return h.Li(h.Textf("%s from number %d until number %d, ", began, e.Since, e.Until), moment(e.At), h.Text(". "), how, by(", by ", e.By), h.If(e.Reason != "", h.Text(": "), bdi(e.Reason)), h.Text("."),
		h.Map(e.Lost, func(s api.Support) h.Node {
			return h.Group{h.Br(), itemLink(refOf(string(s.Item), s.Revision)), h.If(e.Derived, space, link(whyPath(d.Space, 0, s.Statement.BeliefStatement), statement(s.Statement)))}
		}))
}

// whyBelieved shows why a statement is believed, down to the turns, or who ended it.
func whyBelieved(v *visit) (*page, error) {
	q := v.r.URL.Query()
	d := whyData{Space: q.Get("space"), AsOf: q.Get("as_of"), Statement: api.WrittenStatement{BeliefStatement: api.BeliefStatement{Subject: q.Get("subject"), Predicate: q.Get("predicate"), Object: q.Get("object"), Not: q.Get("not") != ""}}}
	in := api.WhyQuery{Space: belief.Space(d.Space), Subject: d.Statement.Subject, Predicate: d.Statement.Predicate, Object: d.Statement.Object, Not: d.Statement.Not}
	var err error
	if in.AsOf, err = number(d.AsOf); err != nil {
		return nil, refused(http.StatusBadRequest, "As of: %v", err)
	}
	if d.Why, err = ask(v, api.ExplainBelief, in); err == nil {
		d.Statement = d.Why.Statement
		if n := len(d.Why.Support); n > 0 && d.Why.Support[n-1].Statement.BeliefStatement == d.Statement.BeliefStatement {
			d.Statement = d.Why.Support[n-1].Statement // in the original spelling
		}
	}
	return &page{title: "Why is it believed?", content: &d}, err
}

type conflictsData struct {
	Space     string
	Conflicts []proposal
}

func (d *conflictsData) body(string) h.Node {
	list := h.Group{h.P(h.Text("Every proposal was taken."))}
	if len(d.Conflicts) > 0 {
		list = h.Map(d.Conflicts, func(p proposal) h.Node { return p.article(d.Space) })
	}
	return h.Group{h.H1(h.Text("Proposals that were not taken")), para("dim", h.Text("in "), spaceLink(d.Space)), list}
}

// A proposal is a proposal that was not accepted, with the revisions that would have given way.
type proposal struct {
	api.Conflict
	Against []opposed
}

func (p *proposal) article(of string) h.Node {
	head := h.Group{
		h.H2(h.Textf("Number %d, ", p.Seq), moment(p.At)),
		para("dim", h.Text("proposed"), by(" by ", p.By), h.Map(p.Turns, func(t dag.TurnID) h.Node { return h.Group{h.Text(", turn "), turnLink(t)} })),
	}
	if p.Erased {
		return h.Article(head, para("gone", h.Text("What was proposed was erased with the turns that it rested on.")))
	}
	return h.Article(head, h.If(p.Reason != "", h.P(h.Text("Reason: "), bdi(p.Reason))),
		h.H3(h.Text("Proposed")), h.Ul(h.Map(p.Statements, func(s api.WrittenStatement) h.Node {
			return h.Li(link(whyPath(of, 0, s.BeliefStatement), statementWhole(s)))
		})),
		h.If(len(p.Premises) > 0, h.P(h.Text("because "), because(p.Premises))),
		h.If(p.ValidFrom != nil || p.ValidUntil != nil, para("dim", h.Text("It would hold"), valid(p.ValidFrom, p.ValidUntil, ""), h.Text("."))),
		h.H3(h.Text("Believed, and would have given way")), h.Ul(h.Map(p.Against, opposed.item)))
}

// valid shows the validity period of something, with the text before preceding each end.
func valid(from, until *dag.Time, before string) h.Node {
	var list h.Group
	if from != nil {
		list = append(list, h.Text(before+" from "), moment(from))
	}
	if until != nil {
		list = append(list, h.Text(before+" until "), moment(until))
	}
	return list
}

type opposed struct {
	Ref      string
	Revision *api.ItemRevision // nil: it no longer exists
}

func (o opposed) item() h.Node {
	statements := h.Group{}
	switch r := o.Revision; {
	case r == nil:
	case r.Erased:
		statements = h.Group{space, span("gone", h.Text("erased"))}
	default:
		statements = h.Map(r.Statements, func(s api.RevisionElement) h.Node { return h.Group{h.Br(), statement(s.WrittenStatement)} })
	}
	return h.Li(itemLink(o.Ref), statements)
}

// conflicts lists the proposals of a space that were not accepted, next to the revisions that would have given way.
func conflicts(v *visit) (*page, error) {
	d := conflictsData{Space: v.r.URL.Query().Get("space")}
	got, err := ask(v, api.BeliefConflicts, api.ConflictsQuery{Space: belief.Space(d.Space)})
	if err != nil {
		return nil, err
	}
	known := map[string]*api.ItemRevision{}
	for _, c := range got.Conflicts {
		p := proposal{Conflict: c}
		for _, ref := range c.With {
			if _, ok := known[ref]; !ok && len(known) < mostStatements {
				one, err := ask(v, api.ResolveKref, api.KrefQuery{Ref: ref})
				if err != nil {
					return nil, err
				}
				known[ref] = one.Revision
			}
			p.Against = append(p.Against, opposed{ref, known[ref]})
		}
		d.Conflicts = append(d.Conflicts, p)
	}
	return &page{title: "Conflicts: " + line(d.Space, 60), content: &d}, nil
}

type baseDiffData struct {
	Space, From, To string
	Diff            *api.BaseDiff // nil: only the form is shown
}

func (d *baseDiffData) body(string) h.Node {
	list := h.Group{
		h.H1(h.Text("What changed in " + d.Space)),
		h.Form(h.Class("inline"), h.Action("/beliefs/diff"), h.P(hidden("space", d.Space), sequence("from", "From number", "from", d.From, h.Required()), space, sequence("to", "to", "to", d.To, h.Placeholder("now")), space, button("Compare"), space,
			link("/beliefs?"+query("space", d.Space), h.Text("What is believed")))),
	}
	part := func(id, heading string, asOf uint64, of []api.HeldStatement) h.Node {
		return section(id, heading, h.Either(len(of) > 0, heldTable(d.Space, asOf, of), h.P(h.Text("Nothing."))))
	}
	if b := d.Diff; b != nil {
		list = append(list, para("dim", h.Textf("%s came and %s went, from %d to %d", count(len(b.Added), "statement", "statements"), count(len(b.Removed), "statement", "statements"), b.From, b.To)),
			part("h-came", "Came", uint64(b.To), b.Added), part("h-went", "Went", uint64(b.To), b.Removed))
	}
	return list
}

// baseDiff compares the believed statements of a space as of two numbers.
func baseDiff(v *visit) (*page, error) {
	q := v.r.URL.Query()
	d := baseDiffData{Space: q.Get("space"), From: q.Get("from"), To: q.Get("to")}
	answer := &page{title: "What changed: " + line(d.Space, 60), content: &d}
	if d.From == "" {
		return answer, nil
	}
	in := api.BaseDiffQuery{Space: belief.Space(d.Space)}
	for _, n := range []struct {
		name, text string
		to         *dag.Seq
	}{{"From", d.From, &in.From}, {"To", d.To, &in.To}} {
		var err error
		if *n.to, err = number(n.text); err != nil {
			return nil, refused(http.StatusBadRequest, "%s: %v", n.name, err)
		}
	}
	diff, err := ask(v, api.DiffBeliefs, in)
	d.Diff = &diff
	return answer, err
}
