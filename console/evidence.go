package console

import (
	"fmt"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/graphkernel/graphkernel/api"
)

func (d *evidenceData) body(string) g.Node {
	name := map[string]string{"context": "Context ", "facts": "Slice of facts "}[d.Kind()]
	if name == "" {
		name = "Slice "
	}
	head := g.Group{h.H1(g.Text(name), code(d.ID)), d.heads(), only(d.Newest.Asked != "", para("task", g.Text("For: "), bdi(d.Newest.Asked))), d.record()}
	if d.Gone != "" {
		return append(head, para("gone", bdi(d.Gone)),
			para("dim", g.Text("What is above stays on record, and so does its leaf in the ledger. A bundle that somebody kept can still be "), link(checkPath, g.Text("checked")), g.Text(".")), d.replayed())
	}
	return append(head, d.verification(), d.prompt(), d.inside(), d.notInside(), d.header())
}

// heads are the three lines at the top: who asked, what the agent had seen, whether it is genuine.
func (d *evidenceData) heads() g.Node {
	asked := g.Text("not known: no turn is on record that it goes on from")
	switch {
	case d.Asked != nil:
		asked = d.Asked.asked()
	case d.Anchored:
		asked = g.Text("nobody: no person said its anchor or any of the turns " + d.nearest() + "before it")
	}
	held := "what it held, whose bytes are gone"
	if d.Gone == "" {
		held = count(len(d.Bundle.Turns), "turn", "turns")
		if n := len(d.Bundle.Facts); n > 0 {
			held += ", " + count(n, "fact", "facts")
		}
		if n := len(d.Bundle.Beliefs); n > 0 {
			held += ", " + count(n, "belief", "beliefs")
		}
	}
	seen := g.Group{g.Text(held + ", handed out "), moment(d.Newest.IssuedAt)}
	if d.Newest.NotGiven != 0 {
		seen = g.Group{g.Text("nothing of it: it did not reach the agent")}
	}
	genuine := g.Group{g.Text("not checked")}
	switch v := d.Verdict; {
	case d.Gone != "":
		genuine = g.Group{g.Text("only a bundle that somebody kept can be "), link(checkPath, g.Text("checked"))}
	case v != nil:
		genuine = g.Group{h.Strong(h.Class("verdict "+passed(v.Admissible)), g.Text(outcome(v))), g.Text(", "), link("#verification", g.Text("by "+count(len(v.Checks), "check", "checks")))}
	}
	return terms("facts heads", term("Asked by", asked), term("The agent had seen", seen), term("Genuine", genuine))
}

// record is what is on record of it.
func (d *evidenceData) record() g.Node {
	n, b := &d.Newest, &d.Bundle
	to := by(" to ", n.By)
	if r := n.Recipient; r != nil {
		to = g.Group{g.Text(" to "), code(r.Agent), g.Text(", session "), code(r.Session), g.Text(", at " + r.Event)}
	}
	list := g.Group{
		term("Handed out", moment(n.IssuedAt), to, only(n.NotGiven != 0, g.Text(", "), h.Strong(g.Text("and did not reach it")), g.Textf(": number %d says so", n.NotGiven)), g.If(len(d.Records) > 1, g.Textf(", the last of %d times", len(d.Records)))),
		term("Under policy", policyLink(n.PolicyID)), term("As of", g.Textf("number %d", n.AsOf)), only(d.Kind() == "slice", term("Anchor", turnLink(n.Anchor))),
	}
	if r := b.Request; r != nil {
		list = append(list, only(r.Anchor != "", term("Anchor", turnLink(r.Anchor))), term("Budget", g.Text(count(r.Budget, "token", "tokens")+" of text")))
	}
	if p := b.Prompt; p != nil {
		list = append(list, term("Prompt", g.Text(count(p.Cost, "token", "tokens")+" with headings and markup ("+p.Counter+")")))
	}
	return terms("facts", list, only(len(b.Candidates) > 0, term("Chosen", g.Textf("%s, %s and %s of %s", count(len(b.Turns), "turn", "turns"), count(len(b.Facts), "fact", "facts"), count(len(b.Beliefs), "belief", "beliefs"), count(len(b.Candidates), "candidate", "candidates")))),
		term("Digest", code(n.BundleSHA256)), term("Leaf of the ledger", link("/ledger?"+query("leaf", fmt.Sprint(n.Leaf)), g.Textf("%d", n.Leaf))))
}

func (d *evidenceData) verification() g.Node {
	var list g.Group
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
	file := func(name, label string) g.Node { return link(path+"/"+name, h.Download(""), g.Text(label)) }
	list = append(list,
		h.Div(h.Class("here"), h.Data("verify", path), g.If(d.Digest != "", h.Data("bundle", d.Digest)), h.NoScript(h.P(g.Text("With JavaScript, this browser checks it again with another implementation.")))),
		h.P(g.Text("To check it elsewhere, put "), link(path+"/bundle.json"+of, h.Download("bundle.json"), g.Text("bundle.json")), g.Text(", "), file("attestation.json", "attestation.json"), g.Text(" and "), file("slice.tlog-proof", "slice.tlog-proof"),
			g.Text(" into a folder, get a trust file from whoever runs this service (or "), file("trust", "from the service itself"), g.Text("), and run "), code("graphkernel verify --trust trust FOLDER"),
			g.Text(". In other forms: "), file("prov.json", "W3C PROV"), g.Text(", "), file("openlineage.json", "OpenLineage"), g.Text(".")))
	switch {
	case d.Replay != nil:
		list = append(list, d.replayed())
	case d.NoReplay != nil:
		list = append(list, d.NoReplay.line())
	default:
		list = append(list, inline(hidden("replay", "1"), button("Replay: choose again and compare byte for byte")))
	}
	return h.Section(h.ID("verification"), h.Aria("labelledby", "h-verify"), h.H2(h.ID("h-verify"), g.Text("Is it genuine?")), list)
}

// replayed says what came of choosing again.
func (d *evidenceData) replayed() g.Node {
	r := d.Replay
	if r == nil {
		return nil
	}
	list := g.Group{h.P(h.Class("verdict "+passed(r.Outcome == "identical" || r.Outcome == "erased")), h.Role("status"), g.Textf("Chosen again as of %d: ", r.AsOf), h.Strong(g.Text(r.Outcome)), only(r.Reason != "", g.Text(": "), bdi(r.Reason)))}
	if f := r.Difference; f != nil {
		list = append(list, h.P(g.Textf("First difference at byte %d (%s): ", f.Offset, f.Path), code(f.Expected), g.Text(" and "), code(f.Found), g.Text(".")))
	}
	return append(list, only(len(r.Erased) > 0, h.P(g.Text("Erased since ("), link("/erasures", g.Text("when and why")), g.Text("):")), h.Ul(g.Map(r.Erased, func(id string) g.Node { return h.Li(g.Text("turn "), turnLink(id)) }))))
}

func (d *evidenceData) prompt() g.Node {
	if d.Prompt == "" {
		return nil
	}
	return section("h-prompt", "The prompt as the agent saw it", h.Details(h.Summary(g.Text(d.Bundle.Request.Format+", "+count(len(d.Prompt), "byte", "bytes"))), said(d.Prompt)))
}

// inside is what it holds, with the reasons.
func (d *evidenceData) inside() g.Node {
	b := &d.Bundle
	list := g.Group{d.Drawing.figure()}
	if len(b.Beliefs) > 0 {
		list = append(list, h.Ul(g.Map(b.Beliefs, func(belief bundleBelief) g.Node {
			return h.Li(itemLink(belief.Ref()), only(belief.Private.Title != "" && !belief.Public.Withheld, space, bdi(belief.Private.Title)),
				g.Map(belief.Private.Statements, func(s api.WrittenStatement) g.Node { return g.Group{h.Br(), statement(s)} }), space, d.CandidateOf(belief.Ref()).why())
		})))
	}
	if len(b.Facts) > 0 {
		list = append(list, h.Ul(g.Map(b.Facts, bundleFact.item)))
	}
	return section("h-in", "What is in it, and why", list, h.Ol(h.Class("turns"), g.Map(d.Turns, func(t shownTurn) g.Node { return t.item(b.Anchor) })),
		only(len(d.Turns)+len(b.Facts)+len(b.Beliefs) == 0, h.P(g.Text("It holds nothing."))))
}

func (f bundleFact) item() g.Node {
	words, source := code(f.Statement), ""
	if f.Subject != "" {
		words = g.Group{entityLink(f.Subject, 0), space, bdi(f.Predicate), space, entityLink(f.Object, 0)}
	}
	if f.Confidence != "" {
		source = ", confidence " + f.Confidence.String()
	}
	return h.Li(words, space, span("dim", only(f.Source != "", g.Text("by "), bdi(f.Source)), g.Text(source)), only(f.Turn != "", g.Text(" from turn "), turnLink(f.Turn)))
}

// why says what speaks for a candidate.
func (c *candidate) why() g.Node {
	if c == nil {
		return nil
	}
	return span("why", g.Text(c.Reasons()+"; found by "+strings.Join(c.From, ", ")+"; "+count(c.Cost, "token", "tokens")))
}

func (t *shownTurn) item(anchor string) g.Node {
	class := "turn by-" + t.Role
	if t.ID == anchor {
		class += " anchor"
	}
	return h.Li(h.ID("t-"+t.ID), h.Class(class), para("head", who(t.Role, t.Author), space, moment(t.CreatedAt), space, turnLink(t.ID), space, t.Admission.why(), space, t.Candidate.why()), t.text())
}

// why says how a turn came into a slice.
func (a *admission) why() g.Node {
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
	return span("why", g.Text(text))
}

// notInside is what it does not hold, with the reasons of some, and the form that asks for others.
func (d *evidenceData) notInside() g.Node {
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
	list := g.Group{h.Form(h.Class("inline"), action("#h-out"), h.P(field("explain", question+"?", "explain", h.Value(d.Explain), h.Required(), h.MaxLength("2048"), h.AutoComplete("off")), space, button("Ask")))}
	if d.Explain != "" {
		list = append(list, h.P(h.Class("reason"), h.Role("status"), bdi(d.Reason)), g.Iff(d.Without, d.without))
	}
	if len(d.Outside) == 0 {
		return section("h-out", "What is not in it, and why", append(list, para("dim", g.Text(none))))
	}
	return section("h-out", "What is not in it, and why", list, h.Ul(h.Class("out"), g.Map(d.Outside, outsider.item)), only(d.MoreOut > 0, para("dim", g.Text("And "+thousands(d.MoreOut)+" more."))))
}

// without says what would be missing without the turn that is explained.
func (d *evidenceData) without() g.Node {
	missing := "no other turn would be missing."
	if n := len(d.Lost); n > 0 {
		missing = count(n, "other turn", "other turns") + " would be missing:"
	}
	return g.Group{
		h.P(g.Text("Without it, " + missing)), only(len(d.Lost) > 0, h.Ul(g.Map(d.Lost, func(t shownTurn) g.Node { return h.Li(t.brief("")) }))),
		only(len(d.Instead) > 0, h.P(g.Text(count(len(d.Instead), "turn", "turns")+" would be in it instead: "), turnLinks(d.Instead))),
	}
}

func turnLinks(ids []string) g.Node {
	return g.Map(ids, func(id string) g.Node { return g.Group{turnLink(id), space} })
}

func (o outsider) item() g.Node {
	name, cost := turnLink(o.ID), ""
	if c := o.Candidate; c != nil {
		cost = c.Reasons() + "; " + count(c.Cost, "token", "tokens")
		switch c.Kind {
		case "fact":
			name = g.Group{g.Text("fact "), shortID(o.ID)}
		case "belief":
			name = itemLink(o.ID)
		}
	}
	why := link("?"+query("explain", o.ID)+"#h-out", h.Aria("label", "Why is "+short(o.ID)+" not in it?"), g.Text("why?"))
	if o.Why != "" {
		why = g.Group{h.Br(), span("why", bdi(o.Why))}
	}
	return h.Li(name, space, only(o.Text != "", g.El("bdi", g.Text(o.Text))), only(cost != "", dim(cost)), space, why)
}

// header is the policy and what the head of the bundle says.
func (d *evidenceData) header() g.Node {
	b := &d.Bundle
	return section("h-policy", "Policy and header",
		h.Details(h.Summary(g.Text(b.Provenance.PolicyID+", "+count(len(d.Policy), "parameter", "parameters"))), terms("facts", g.Map(d.Policy, func(p parameter) g.Node { return term(p.Name, bdi(p.Value)) }))),
		terms("facts", term("Form", g.Text(b.Provenance.SchemaVersion)), term("Hash of the policy", code(b.Provenance.PolicyParamsHash)), term("Hash of the snapshot", code(b.Provenance.GraphSnapshotHash)), term("Token", code(b.Token), g.Text(", key "+b.KeyID))),
		h.Form(h.Class("inline"), action("/compare"), h.P(hidden("a", d.ID), g.Text("Compare it "), compareWith())))
}
