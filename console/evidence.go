package console

import (
	"fmt"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	h "github.com/graphkernel/graphkernel/internal/markup"
)

func (d *evidenceData) body(string) h.Node {
	name := map[string]string{"context": "Context ", "facts": "Slice of facts "}[d.Kind()]
	if name == "" {
		name = "Slice "
	}
	head := h.Group{h.H1(h.Text(name), code(d.ID)), d.heads(), h.If(d.Newest.Asked != "", para("task", h.Text("For: "), bdi(d.Newest.Asked))), d.record()}
	if d.Gone != "" {
		return append(head, para("gone", bdi(d.Gone)),
			para("dim", h.Text("What is above stays on record, and so does its leaf in the ledger. A bundle that somebody kept can still be "), link(checkPath, h.Text("checked")), h.Text(".")), d.replayed())
	}
	return append(head, d.verification(), d.prompt(), d.inside(), d.notInside(), d.header())
}

// heads shows the three lines at the top: who asked, what the agent had seen, whether it is genuine. Only a context records what an agent
// was shown.
func (d *evidenceData) heads() h.Node {
	asked := h.Text("not known: no turn is on record that it goes on from")
	switch {
	case d.Asked != nil:
		asked = d.Asked.asked()
	case d.Anchored:
		asked = h.Text("nobody: no person said its anchor or any of the turns " + d.nearest() + "before it")
	}
	held, of := "what it held, whose bytes are gone", "The agent had seen"
	if d.late() {
		of = "Handed out later"
	}
	if d.Gone == "" {
		held = count(len(d.Bundle.Turns), "turn", "turns")
		if n := len(d.Bundle.Facts); n > 0 {
			held += ", " + count(n, "fact", "facts")
		}
		if n := len(d.Bundle.Beliefs); n > 0 {
			held += ", " + count(n, "belief", "beliefs")
		}
	}
	if d.Kind() != "context" {
		of = "May have influenced the agent"
		if n := len(d.Bundle.Turns); d.Gone == "" && n > 0 {
			held = count(n-1, "turn", "turns") + " other than its anchor"
		}
		held += "; what the agent was shown is not in it"
	}
	seen := h.Group{h.Text(held + ", handed out "), moment(d.Newest.IssuedAt)}
	if d.Newest.NotGiven != 0 {
		seen = h.Group{h.Text("nothing of it: it did not reach the agent")}
	}
	if d.late() {
		seen = append(seen, h.Text(", more than a day after its newest turn: who acted then cannot have seen it"))
	}
	genuine := h.Group{h.Text("not checked")}
	switch v := d.Verdict; {
	case d.Gone != "":
		genuine = h.Group{h.Text("only a bundle that somebody kept can be "), link(checkPath, h.Text("checked"))}
	case v != nil:
		genuine = h.Group{h.Strong(h.Class("verdict "+passed(v.Admissible)), h.Text(outcome(v))), h.Text(", "), link("#verification", h.Text("by "+count(len(v.Checks), "check", "checks")))}
	}
	return terms("facts heads", term("Asked by", asked), term(of, seen), term("Genuine", genuine))
}

// lateAfter is the time after the newest turn from which evidence counts as handed out late, as for graphkernel verify.
const lateAfter = 24 * time.Hour

// late reports whether a context was handed out long after its newest turn, and not to a session of an agent: the agent that acted on these turns has not
// seen it.
func (d *evidenceData) late() bool {
	if d.Kind() != "context" || d.Newest.Recipient != nil || d.Newest.NotGiven != 0 {
		return false
	}
	var newest dag.Time
	for i := range d.Turns {
		at, err := readTime(d.Turns[i].CreatedAt.String())
		if err != nil {
			return false
		}
		newest = max(newest, at)
	}
	issued, err := readTime(d.Newest.IssuedAt.String())
	return err == nil && newest != 0 && time.Duration(issued-newest)*time.Microsecond > lateAfter
}

// record shows the store's record of the evidence.
func (d *evidenceData) record() h.Node {
	n, b := &d.Newest, &d.Bundle
	to := by(" to ", n.By)
	if r := n.Recipient; r != nil {
		to = h.Group{h.Text(" to "), code(r.Agent), h.Text(", session "), code(r.Session), h.Text(", at " + r.Event)}
	}
	list := h.Group{
		term("Handed out", moment(n.IssuedAt), to, h.If(n.NotGiven != 0, h.Text(", "), h.Strong(h.Text("and did not reach it")), h.Textf(": number %d says so", n.NotGiven)), h.If(len(d.Records) > 1, h.Textf(", the last of %d times", len(d.Records)))),
		term("Under policy", policyLink(string(n.PolicyID))), term("As of", h.Textf("number %d", n.AsOf)), h.If(d.Kind() == "slice", term("Anchor", turnLink(n.Anchor))),
	}
	if r := b.Request; r != nil {
		list = append(list, h.If(r.Anchor != "", term("Anchor", turnLink(r.Anchor))), term("Budget", h.Text(count(r.Budget, "token", "tokens")+" of text")))
	}
	if p := b.Prompt; p != nil {
		list = append(list, term("Prompt", h.Text(count(p.Cost, "token", "tokens")+" with headings and markup ("+p.Counter+")")))
	}
	return terms("facts", list, h.If(len(b.Candidates) > 0, term("Chosen", h.Textf("%s, %s and %s of %s", count(len(b.Turns), "turn", "turns"), count(len(b.Facts), "fact", "facts"), count(len(b.Beliefs), "belief", "beliefs"), count(len(b.Candidates), "candidate", "candidates")))),
		term("Digest", code(n.BundleSHA256)), term("Leaf of the ledger", link("/ledger?"+query("leaf", fmt.Sprint(n.Leaf)), h.Textf("%d", n.Leaf))))
}

func (d *evidenceData) verification() h.Node {
	var list h.Group
	if d.Verdict != nil {
		list = append(list, verdict(d.Verdict))
	}
	if d.NoVerify != nil {
		list = append(list, d.NoVerify.line())
	}
	path, of := "/slices/"+d.ID, ""
	if d.Digest != "" {
		of = "?" + query("bundle", d.Digest)
	}
	file := func(name, label string) h.Node { return link(path+"/"+name, h.Download(""), h.Text(label)) }
	list = append(list,
		h.Div(h.Class("here"), h.Data("verify", path), h.If(d.Digest != "", h.Data("bundle", d.Digest)), h.NoScript(h.P(h.Text("With JavaScript, this browser checks it again with another implementation.")))),
		h.P(h.Text("To check it elsewhere, put "), link(path+"/bundle.json"+of, h.Download("bundle.json"), h.Text("bundle.json")), h.Text(", "), file("attestation.json", "attestation.json"), h.Text(" and "), file("slice.tlog-proof", "slice.tlog-proof"),
			h.Text(" into a folder, get a trust file from whoever runs this service (or "), file("trust", "from the service itself"), h.Text("), and run "), code("graphkernel verify --trust trust FOLDER"),
			h.Text(". In other forms: "), file("prov.json", "W3C PROV"), h.Text(", "), file("openlineage.json", "OpenLineage"), h.Text(".")))
	switch {
	case d.Replay != nil:
		list = append(list, d.replayed())
	case d.NoReplay != nil:
		list = append(list, d.NoReplay.line())
	default:
		list = append(list, inline(hidden("replay", "1"), button("Replay: choose again and compare byte for byte")))
	}
	return h.Section(h.ID("verification"), h.Aria("labelledby", "h-verify"), h.H2(h.ID("h-verify"), h.Text("Is it genuine?")), list)
}

// replayed shows the result of a replay.
func (d *evidenceData) replayed() h.Node {
	r := d.Replay
	if r == nil {
		return nil
	}
	list := h.Group{h.P(h.Class("verdict "+passed(r.Outcome == "identical" || r.Outcome == "erased")), h.Role("status"), h.Textf("Chosen again as of %d: ", r.AsOf), h.Strong(h.Text(r.Outcome)), h.If(r.Reason != "", h.Text(": "), bdi(r.Reason)))}
	if f := r.Difference; f != nil {
		list = append(list, h.P(h.Textf("First difference at byte %d (%s): ", f.Offset, f.Path), code(f.Expected), h.Text(" and "), code(f.Found), h.Text(".")))
	}
	return append(list, h.If(len(r.Erased) > 0, h.P(h.Text("Erased since ("), link("/erasures", h.Text("when and why")), h.Text("):")), h.Ul(h.Map(r.Erased, func(id dag.TurnID) h.Node { return h.Li(h.Text("turn "), turnLink(id)) }))))
}

func (d *evidenceData) prompt() h.Node {
	if d.Prompt == "" {
		return nil
	}
	title := "The prompt as the agent saw it"
	if d.late() {
		title = "The prompt as it was handed out"
	}
	return section("h-prompt", title, h.Details(h.Summary(h.Text(d.Bundle.Request.Format+", "+count(len(d.Prompt), "byte", "bytes"))), said(d.Prompt)))
}

// inside shows the contents of the evidence, with the reasons for including them.
func (d *evidenceData) inside() h.Node {
	b := &d.Bundle
	list := h.Group{d.Drawing.figure()}
	if len(b.Beliefs) > 0 {
		list = append(list, h.Ul(h.Map(b.Beliefs, func(belief bundleBelief) h.Node {
			return h.Li(itemLink(belief.Ref()), h.If(belief.Private.Title != "" && !belief.Public.Withheld, space, bdi(belief.Private.Title)),
				h.Map(belief.Private.Statements, func(s api.WrittenStatement) h.Node { return h.Group{h.Br(), statement(s)} }), d.CandidateOf(belief.Ref()).counts(), space, d.CandidateOf(belief.Ref()).why())
		})))
	}
	if len(b.Facts) > 0 {
		list = append(list, h.Ul(h.Map(b.Facts, bundleFact.item)))
	}
	return section("h-in", "What is in it, and why", list, h.Ol(h.Class("turns"), h.Map(d.Turns, func(t shownTurn) h.Node { return t.item(b.Anchor) })),
		h.If(len(d.Turns)+len(b.Facts)+len(b.Beliefs) == 0, h.P(h.Text("It holds nothing."))))
}

func (f bundleFact) item() h.Node {
	words, source := code(f.Statement), ""
	if f.Subject != "" {
		words = h.Group{entityLink(f.Subject, 0), space, bdi(f.Predicate), space, entityLink(f.Object, 0)}
	}
	if f.Confidence != "" {
		source = ", confidence " + f.Confidence.String()
	}
	return h.Li(words, space, span("dim", h.If(f.Source != "", h.Text("by "), bdi(f.Source)), h.Text(source)), h.If(f.Turn != "", h.Text(" from turn "), turnLink(f.Turn)))
}

// why shows the reasons for a candidate.
func (c *candidate) why() h.Node {
	if c == nil {
		return nil
	}
	return span("why", h.Text(c.Reasons()+"; found by "+strings.Join(c.From, ", ")+"; "+count(c.Cost, "token", "tokens")))
}

func (t *shownTurn) item(anchor string) h.Node {
	class := "turn by-" + t.Role
	if t.ID == anchor {
		class += " anchor"
	}
	return h.Li(h.ID("t-"+t.ID), h.Class(class), para("head", who(t.Role, t.Author), t.Admission.counts(), t.Candidate.counts(), space, moment(t.CreatedAt), space, turnLink(t.ID), space, t.Admission.why(), space, t.Candidate.why()), t.text())
}

// counts shows what a candidate counts for in the evidence, if it says so.
func (c *candidate) counts() h.Node {
	if c == nil {
		return nil
	}
	return counts(c.Standing)
}

// counts shows what a turn of a slice counts for in the evidence, if it says so.
func (a *admission) counts() h.Node {
	if a == nil {
		return nil
	}
	return counts(a.Standing)
}

// why shows why a turn was selected for a slice.
func (a *admission) why() h.Node {
	if a == nil {
		return nil
	}
	text := a.Via
	switch {
	case a.Via == "anchor":
		text = "the anchor"
	case a.From != "":
		text += " of " + short(a.From)
	}
	text += ", " + count(a.Distance, "edge", "edges") + " away, score " + millionths(a.ScoreNano/1000)
	if a.Voice != "" {
		text += ", voice: " + a.Voice
	}
	if a.Cost != 0 {
		text += ", " + count(a.Cost, "token", "tokens")
	}
	return span("why", h.Text(text))
}

// notInside shows candidates that are not in the evidence, some with the reason, and a form that asks for other reasons.
func (d *evidenceData) notInside() h.Node {
	if d.Kind() == "facts" {
		return nil
	}
	question, none := "Why is this turn in it, or not", "No turn before the anchor is left out."
	switch d.Kind() {
	case "slice":
		question += ", and what would be missing without it"
	case "context":
		none = "Every candidate was chosen."
	}
	list := h.Group{h.Form(h.Class("inline"), h.Action("#h-out"), h.P(field("explain", question+"?", "explain", h.Value(d.Explain), h.Required(), h.MaxLength("2048"), h.AutoComplete("off")), space, button("Ask")))}
	if d.Explain != "" {
		list = append(list, h.P(h.Class("reason"), h.Role("status"), bdi(d.Reason)), d.without())
	}
	if len(d.Outside) == 0 {
		return section("h-out", "What is not in it, and why", append(list, para("dim", h.Text(none))))
	}
	return section("h-out", "What is not in it, and why", list, h.Ul(h.Class("out"), h.Map(d.Outside, outsider.item)), h.If(d.MoreOut > 0, para("dim", h.Text("And "+thousands(d.MoreOut)+" more."))))
}

// without shows what would be missing without the explained turn.
func (d *evidenceData) without() h.Node {
	if !d.Without {
		return nil
	}
	missing := "no other turn would be missing."
	if n := len(d.Lost); n > 0 {
		missing = count(n, "other turn", "other turns") + " would be missing:"
	}
	return h.Group{
		h.P(h.Text("Without it, " + missing)), h.If(len(d.Lost) > 0, h.Ul(h.Map(d.Lost, func(t shownTurn) h.Node { return h.Li(t.brief("")) }))),
		h.If(len(d.Instead) > 0, h.P(h.Text(count(len(d.Instead), "turn", "turns")+" would be in it instead: "), turnLinks(d.Instead))),
	}
}

func turnLinks[T any](ids []T) h.Node {
	return h.Map(ids, func(id T) h.Node { return h.Group{turnLink(id), space} })
}

func (o outsider) item() h.Node {
	name, cost := turnLink(o.ID), ""
	if c := o.Candidate; c != nil {
		cost = c.Reasons() + "; " + count(c.Cost, "token", "tokens")
		switch c.Kind {
		case "fact":
			name = h.Group{h.Text("fact "), shortID(o.ID)}
		case "belief":
			name = itemLink(o.ID)
		}
	}
	why := link("?"+query("explain", o.ID)+"#h-out", h.Aria("label", "Why is "+short(o.ID)+" not in it?"), h.Text("why?"))
	if o.Why != "" {
		why = h.Group{h.Br(), span("why", bdi(o.Why))}
	}
	return h.Li(name, space, h.If(o.Text != "", h.Bdi(h.Text(o.Text))), h.If(cost != "", dim(cost)), space, why)
}

// header shows the policy and the header of the bundle.
func (d *evidenceData) header() h.Node {
	b := &d.Bundle
	return section("h-policy", "Policy and header",
		h.Details(h.Summary(h.Text(string(b.Provenance.PolicyID)+", "+count(len(d.Policy), "parameter", "parameters"))), terms("facts", h.Map(d.Policy, func(p parameter) h.Node { return term(p.Name, bdi(p.Value)) }))),
		terms("facts", term("Form", h.Text(b.Provenance.SchemaVersion)), term("Hash of the policy", code(b.Provenance.PolicyParamsHash)), term("Hash of the snapshot", code(b.Provenance.GraphSnapshotHash)), term("Token", code(b.Token), h.Text(", key "+b.KeyID))),
		h.Form(h.Class("inline"), h.Action("/compare"), h.P(hidden("a", d.ID), h.Text("Compare it "), compareWith())))
}
