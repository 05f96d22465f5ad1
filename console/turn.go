package console

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
)

type turnData struct {
	turnRow
	whoAsked
	Fault      string       // what of it does not fit its digests
	Seen       []api.Issued // those of Before that were handed out before its time
	Prior      []child      // what it follows
	Children   []child
	More       bool // there may be children that were not looked for
	Held       *api.Holding
	NoHeld     *missing
	Late       int          // those of Before that were handed out after the time of this turn, as where a session is imported
	Before     []api.Issued // handed out for a turn that this one follows: what the agent was shown
	Facts      []api.Fact
	FactsTotal int
	All        bool
	Blame      *api.Blame
	Pivots     []pivot // those of Blame that hang most, with what they say
	NoBlame    *missing
	Whole      int // bytes of the text
	Erasure    *api.Event
}

// A child is a turn that an edge leads to.
type child struct {
	turnRow
	Kind string
}

func (d *turnData) body(string) g.Node {
	heading := bdi(line(d.Content, 100))
	if d.Stored.Redacted || strings.TrimSpace(d.Content) == "" {
		heading = g.Text("Turn " + short(d.ID))
	}
	return g.Group{
		h.H1(heading), para("dim", g.Text("Turn "), code(short(d.ID))),
		h.P(who(d.Role, d.Author), space, moment(d.CreatedAt), g.Text(" in "), link(turnInConversation(d.Conversation, d.ID, d.Stored.Seq), g.Text("conversation "+short(d.Conversation)))),
		d.heads(), d.words(), d.priorSection(), d.blameSection(), d.childrenSection(), d.heldSection(), d.factsSection(), d.origin(),
	}
}

// heads are the three lines at the top: who asked, what the agent had seen, whether it is genuine.
func (d *turnData) heads() g.Node {
	asked := g.Text("nobody: no person said any of the turns " + d.nearest() + "before it")
	switch {
	case d.Said:
		asked = g.Group{g.Text("a person said it: "), author(d.Author), g.Text(", "), moment(d.CreatedAt)}
	case d.Asked != nil:
		asked = d.Asked.asked()
	}
	seen := g.Text("nothing that was handed out before it is on record")
	switch {
	case d.NoHeld != nil:
		seen = bdi(d.NoHeld.Why)
	case len(d.Seen) > 0:
		const shown = 3
		seen = g.Group{joined("; ", d.Seen[:min(len(d.Seen), shown)], func(i api.Issued) g.Node {
			return g.Group{g.Text(kindOf(i.SchemaVersion) + " "), issuedTo(&i), g.Text(", "), g.If(i.Holds > 0, g.Text(count(i.Holds, "turn", "turns")+", ")), g.Text("handed out "), moment(i.IssuedAt)}
		}), only(len(d.Seen) > shown, g.Text("; and "), link("#h-agent", g.Text("others")))}
	}
	fits := fmt.Sprintf(": text and place fit what was admitted as number %d", d.Stored.Seq)
	if d.Stored.Redacted {
		fits = ": its place fits its leaf, and its text is not there"
	}
	return terms("facts heads", term("Asked by", asked), term("The agent had seen", seen), term("Genuine", either(d.Fault != "",
		g.Group{h.Strong(h.Class("verdict fail"), g.Text("tampered")), g.Text(": "), bdi(d.Fault)}, g.Group{h.Strong(h.Class("verdict ok"), g.Text("verified")), g.Text(fits)})))
}

// words is what the turn says, or when and why it was erased.
func (d *turnData) words() g.Node {
	e := d.Erasure
	switch {
	case !d.Stored.Redacted:
		return g.Group{said(d.Content), only(d.Cut, h.P(link("?all=1", g.Text("All of it: "+count(d.Whole, "byte", "bytes")))))}
	case e == nil:
		return para("gone", g.Text("The turn came without its text."))
	}
	n := fmt.Sprint(e.Seq)
	return g.Group{
		para("gone", g.Text("The text was erased on "), moment(e.At), by(" at the request of ", e.By), g.Text(": "), bdi(e.Reason)),
		h.P(link("/erasures?"+query("from", n, "to", n), g.Text("What it touched")), g.Text(", "), link("/erasures", g.Text("all erased texts"))),
	}
}

func (d *turnData) priorSection() g.Node {
	prior := para("dim", g.Text("It begins its conversation."))
	switch {
	case len(d.Prior) > 0:
		prior = h.Ul(g.Map(d.Prior, child.item))
	case len(d.Parents) > 0:
		prior = h.Ul(g.Map(d.Parents, func(p api.Parent) g.Node { return h.Li(turnLink(p.ID), space, dim(p.Kind)) }))
	}
	var asked g.Node
	switch a := d.Asked; {
	case d.Said:
	case a == nil:
		asked = g.Group{h.H3(g.Text("Who asked for it")), para("dim", g.Text("No person said any of the turns "+d.nearest()+"before it."))}
	default:
		asked = g.Group{h.H3(g.Text("Who asked for it")), h.P(turnLink(a.ID), space, who(a.Role, a.Author), space, moment(a.CreatedAt)), a.text(), para("dim", g.Text("This is the nearest turn before it that a person said."))}
	}
	shown := para("dim", g.Text("Nothing was handed out for the turn that this one follows, nor for the person's turn that it works for."))
	switch {
	case d.NoHeld != nil:
		shown = d.NoHeld.line()
	case len(d.Before) > 0:
		shown = g.Group{issuedTable("Handed out for what this turn follows", d.Before),
			only(d.Late > 0, para("dim", g.Textf("Handed out after the time of this turn, as for a session that was imported, so that its agent cannot have seen it: %d of %d.", d.Late, len(d.Before))))}
	}
	return section("h-shown", "What came before it", prior, asked, h.H3(h.ID("h-agent"), g.Text("What the agent was shown")), shown)
}

func (c child) item() g.Node { return h.Li(c.brief(c.Kind)) }

func (d *turnData) blameSection() g.Node {
	const id, heading, shown = "h-blame", "What may have led to it", 20
	b := d.Blame
	switch {
	case d.NoBlame != nil:
		return section(id, heading, d.NoBlame.line())
	case b == nil:
		return section(id, heading, h.P(link("?blame=1#h-blame", g.Text("Choose again without each turn before it"))))
	}
	result := g.Group{g.Text("Without any of them, the others would have been selected as they were.")}
	switch {
	case len(b.Pivots) > 0:
		result = g.Group{g.Text("Without one of these, others would have been selected otherwise:")}
	case len(b.Minimal) > 0:
		result = g.Group{g.Text("Without all of these together, others would have been selected otherwise: "), turnLinks(b.Minimal)}
	}
	return section(id, heading,
		only(len(b.For) > 0, h.P(g.Text(count(len(b.InAll), "turn was", "turns were")+" in all of what was handed out for it"), only(len(b.InAll) > 0, g.Text(": "), turnLinks(b.InAll[:min(len(b.InAll), shown)]), g.If(len(b.InAll) > shown, g.Text("…"))))),
		h.P(g.Textf("Around the turn that it follows, %s selects %s. ", b.Policy, count(b.Selected, "turn", "turns")), result),
		only(len(b.Pivots) > 0, table("Turns on which the choice of others hangs", "Without turn|#Others lost|#Others that come|What it says", g.Map(d.Pivots, func(p pivot) g.Node {
			words := bdi(line(p.Said.Content, 140))
			if p.Said.Stored.Redacted {
				words = span("gone", g.Text("erased"))
			}
			return row(turnLink(p.Turn), digits(fmt.Sprint(p.Dropped)), digits(fmt.Sprint(p.Added)), h.Td(who(p.Said.Role, p.Said.Author), space, words))
		})), only(len(d.Pivots) < len(b.Pivots), para("dim", g.Text(thousands(len(b.Pivots))+" in all, those on which most hangs first")))))
}

func (d *turnData) childrenSection() g.Node {
	none := "No turn continues from it."
	if d.More {
		none = "No turn of the next 200 in the conversation continues from it."
	}
	return section("h-after", "What follows it", either(len(d.Children) > 0, h.Ul(g.Map(d.Children, child.item)), para("dim", g.Text(none))))
}

func (d *turnData) heldSection() g.Node {
	if d.NoHeld != nil {
		return section("h-held", "Who was handed it", d.NoHeld.line())
	}
	held, looked := d.Held, "All records of what was handed out were searched."
	if held.Older > 0 {
		looked = fmt.Sprintf("The newest %s records of what was handed out were searched for slices; %s older records were not.", thousands(held.Looked), thousands(held.Older))
	}
	return section("h-held", "Who was handed it",
		only(len(held.Contexts) > 0, h.H3(g.Text("Contexts")), issuedTable("Contexts that held this turn", held.Contexts)),
		only(len(held.Slices) > 0, h.H3(g.Text("Slices")), issuedTable("Slices that held this turn", held.Slices), h.P(g.Text("What would be missing without this turn: "), g.Map(held.Slices, func(i api.Issued) g.Node {
			return g.Group{link("/slices/"+i.SliceID+"?"+query("explain", d.ID)+"#h-out", g.Text("from slice "), code(i.SliceID)), space}
		}))),
		only(len(held.Contexts)+len(held.Slices) == 0, h.P(g.Text("Nobody, as far as is known."))), para("dim", g.Text(looked)))
}

func (d *turnData) factsSection() g.Node {
	if len(d.Facts) == 0 {
		return section("h-facts", "What was learned from it", para("dim", g.Text("No fact rests on it.")))
	}
	return section("h-facts", "What was learned from it", factsTable(d.Facts), only(len(d.Facts) < d.FactsTotal, para("dim", g.Text(thousands(d.FactsTotal)+" in all"))))
}

// origin says where a turn comes from.
func (d *turnData) origin() g.Node {
	s, key := &d.Stored, dim("not recorded")
	if s.Key != "" {
		key = code(s.Key)
	}
	return section("h-from", "Where it comes from", terms("facts", term("Id", code(d.ID)), term("Number", g.Text(fmt.Sprint(s.Seq))), term("Brought by", key), term("Digest of the body", code(s.BodyDigest)), term("Leaf", code(s.Leaf)),
		term("Phase", g.Text(d.Phase)), term("Salience", g.Text(d.Salience.String())), g.Map(slices.Sorted(maps.Keys(d.Attrs)), func(name string) g.Node { return g.Group{h.Dt(bdi(name)), h.Dd(bdi(d.Attrs[name]))} })))
}

func turn(v *visit) (*page, error) {
	id, err := dag.ParseTurnID(v.r.PathValue("id"))
	if err != nil {
		named, err := ask(v, api.ResolveTurn, api.TurnNamed{Name: v.r.PathValue("id")}) // the beginning of an id, as commands take it
		if err != nil {
			return nil, err
		}
		return &page{to: "/turns/" + named.ID}, nil
	}
	stored, err := ask(v, api.GetTurn, api.TurnByID{ID: id})
	if err != nil {
		return nil, err
	}
	d := turnData{All: v.r.URL.Query().Get("all") != ""}
	most := wholeText
	if d.All {
		most = 0
	}
	if d.turnRow, err = readTurn(&stored, most); err != nil {
		return nil, err
	}
	whole, err := readTurn(&stored, 0)
	if err != nil {
		return nil, err
	}
	d.Whole = len(whole.Content)
	if stored.Redacted {
		got, err := ask(v, api.ListErasures, api.ErasureQuery{Turn: &id})
		if m, err := optional(err); m == nil && err != nil {
			return nil, err
		}
		if len(got.Erasures) > 0 {
			d.Erasure = &got.Erasures[0]
		}
	}
	d.Fault = faultOf(&stored)
	if err := d.ask(v, &d.turnRow, func(c child) { d.Prior = append(d.Prior, c) }); err != nil {
		return nil, err
	}
	if err := d.around(v); err != nil {
		return nil, err
	}
	if err := d.use(v, id); err != nil {
		return nil, err
	}
	if v.r.URL.Query().Get("blame") != "" {
		b, err := ask(v, api.BlameTurn, api.BlameQuery{ID: id})
		if d.NoBlame, err = optional(err); err != nil {
			return nil, err
		}
		if d.NoBlame == nil {
			d.Blame = &b
			if err := d.pivots(v); err != nil {
				return nil, err
			}
		}
	}
	return &page{title: "Turn " + short(id.String()), content: &d}, nil
}

// A pivot is a turn on which the choice of others hangs.
type pivot struct {
	api.Pivot
	Said turnRow // without an id: it is not there
}

// mostPivots is of how many turns a page says what others hang on them.
const mostPivots = 50

// pivots reads what the turns say on which the choice of others hangs most.
func (d *turnData) pivots(v *visit) error {
	list := d.Blame.Pivots[:min(len(d.Blame.Pivots), mostPivots)]
	ids := make([]dag.TurnID, len(list))
	for i := range list {
		var err error
		if ids[i], err = dag.ParseTurnID(list[i].Turn); err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		return nil
	}
	got, err := ask(v, api.LookUpTurns, api.TurnIDs{IDs: ids})
	if err != nil {
		return err
	}
	said := map[string]turnRow{}
	for i := range got.Turns {
		row, err := readTurn(&got.Turns[i], 400)
		if err != nil {
			return err
		}
		said[row.ID] = row
	}
	for _, p := range list {
		d.Pivots = append(d.Pivots, pivot{p, said[p.Turn]})
	}
	return nil
}

// around looks for the turns that follow this one, among those admitted after it in its conversation.
func (d *turnData) around(v *visit) error {
	conversation, err := dag.ParseConversationID(d.Conversation)
	if err != nil {
		return err
	}
	const looked = 200
	after, err := ask(v, api.GetConversation, api.ConversationByID{ID: conversation, Paging: api.Paging{Limit: looked, After: strconv.FormatUint(d.Stored.Seq, 10)}})
	if m, err := optional(err); m != nil || err != nil {
		return err
	}
	d.More = after.Next != ""
	for i := range after.Turns {
		row, err := readTurn(&after.Turns[i], 200)
		if err != nil {
			return err
		}
		for _, p := range row.Parents {
			if p.ID == d.ID {
				d.Children = append(d.Children, child{row, p.Kind})
			}
		}
	}
	return nil
}

// shownFor looks for what was handed out around a turn that this one follows or works for, before there was this one. A context's record does not name the turn that it
// was for, but it held that turn, and its number is between the two.
func (d *turnData) shownFor(v *visit, before *turnRow) error {
	parent, err := dag.ParseTurnID(before.ID)
	if err != nil {
		return err
	}
	of, err := ask(v, api.TurnHolding, api.TurnByID{ID: parent})
	if m, err := optional(err); m != nil || err != nil {
		return err
	}
	for _, i := range slices.Concat(of.Contexts, of.Slices) {
		isFor := i.AsOf < d.Stored.Seq && (i.Anchor == before.ID || kindOf(i.SchemaVersion) == "context" && i.AsOf >= before.Stored.Seq)
		if isFor && !slices.ContainsFunc(d.Before, func(o api.Issued) bool { return o.Number == i.Number }) {
			d.Before = append(d.Before, i)
			at, err := readTime(i.IssuedAt)
			said, otherErr := readTime(d.CreatedAt)
			if err := errors.Join(err, otherErr); err != nil {
				return err
			}
			if at > said {
				d.Late++
			} else if i.NotGiven == 0 {
				d.Seen = append(d.Seen, i)
			}
		}
	}
	return nil
}

// use looks for what held this turn, what its agent was shown, and what was learned from it.
func (d *turnData) use(v *visit, id dag.TurnID) error {
	held, err := ask(v, api.TurnHolding, api.TurnByID{ID: id})
	if d.NoHeld, err = optional(err); err != nil {
		return err
	}
	if d.NoHeld == nil {
		d.Held = &held
		var before []*turnRow
		for i := range d.Prior {
			if d.Prior[i].Kind == "reply" {
				before = append(before, &d.Prior[i].turnRow)
			}
		}
		if d.Asked != nil && !slices.ContainsFunc(before, func(r *turnRow) bool { return r.ID == d.Asked.ID }) {
			before = append(before, d.Asked)
		}
		for _, row := range before {
			if err := d.shownFor(v, row); err != nil {
				return err
			}
		}
	}
	facts, err := ask(v, api.ListFacts, api.FactQuery{FactFilter: api.FactFilter{Turn: d.ID}, Paging: api.Paging{Limit: 50}})
	if m, err := optional(err); m != nil || err != nil {
		return err
	}
	d.Facts, d.FactsTotal = facts.Facts, facts.Total
	return nil
}
