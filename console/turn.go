package console

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	h "github.com/graphkernel/graphkernel/internal/markup"
)

type turnData struct {
	turnRow
	whoAsked
	Fault      string       // the part of it that does not match its digests
	Seen       []api.Issued // the records in Before that were issued before the turn's time
	Prior      []child      // the turns that it follows
	Children   []child
	Call       *turnRow // the call that it answers
	More       bool     // there may be children that were not searched
	Held       *api.Holding
	NoHeld     *missing
	Late       int          // number of records in Before that were issued after the turn's time, for example for an imported session
	Before     []api.Issued // evidence issued for a turn that this one follows: what the agent was shown
	Facts      []api.Fact
	FactsTotal int
	All        bool
	Blame      *api.Blame
	Pivots     []pivot // the turns in Blame that the selection depends on most, with their text
	NoBlame    *missing
	Whole      int // bytes of the text
	Erasure    *api.Event
}

// A child is a turn that an edge leads to.
type child struct {
	turnRow
	Kind string
}

func (d *turnData) body(string) h.Node {
	heading := bdi(line(d.summary(), 100))
	if d.Stored.Redacted || strings.TrimSpace(d.Content) == "" {
		heading = h.Text("Turn " + short(d.ID))
	}
	return h.Group{
		h.H1(heading), para("dim", h.Text("Turn "), code(short(d.ID))),
		h.P(who(d.Role, d.Author), counts(d.Standing), space, moment(d.CreatedAt), h.Text(" in "), link(turnInConversation(d.Conversation, d.ID, uint64(d.Stored.Seq)), h.Text("conversation "+short(d.Conversation)))),
		d.heads(), d.call(), d.words(), h.If(len(d.Results) > 0, section("h-results", "What came of it", turnList(d.Results, "turns"))), d.priorSection(), d.blameSection(), d.childrenSection(), d.heldSection(), d.factsSection(), d.origin(),
	}
}

// heads shows the three lines at the top: who asked, what the agent had seen, whether it is genuine.
func (d *turnData) heads() h.Node {
	asked := h.Text("nobody: no person said any of the turns " + d.nearest() + "before it")
	switch {
	case d.Said:
		asked = h.Group{h.Text("a person said it: "), author(d.Author), h.Text(", "), moment(d.CreatedAt)}
	case d.Asked != nil:
		asked = d.Asked.asked()
	}
	seen := h.Text("nothing that was handed out before it is on record")
	switch {
	case d.NoHeld != nil:
		seen = bdi(d.NoHeld.Why)
	case len(d.Seen) > 0:
		const shown = 3
		seen = h.Group{h.Join("; ", d.Seen[:min(len(d.Seen), shown)], func(i api.Issued) h.Node {
			return h.Group{h.Text(kindOf(i.SchemaVersion) + " "), issuedTo(&i), h.Text(", "), h.If(i.Holds > 0, h.Text(count(i.Holds, "turn", "turns")+", ")), h.Text("handed out "), moment(i.IssuedAt)}
		}), h.If(len(d.Seen) > shown, h.Text("; and "), link("#h-agent", h.Text("others")))}
	}
	fits := fmt.Sprintf(": text and place fit what was admitted as number %d", d.Stored.Seq)
	if d.Stored.Redacted {
		fits = ": its place fits its leaf, and its text is not there"
	}
	return terms("facts heads", term("Asked by", asked), term("The agent had seen", seen), term("Genuine", h.Either(d.Fault != "",
		h.Group{h.Strong(h.Class("verdict fail"), h.Text("tampered")), h.Text(": "), bdi(d.Fault)}, h.Group{h.Strong(h.Class("verdict ok"), h.Text("verified")), h.Text(fits)})))
}

// words shows the text of the turn, or when and why it was erased.
func (d *turnData) words() h.Node {
	e := d.Erasure
	switch {
	case d.Parts != nil:
		return h.Group{changes(d.Parts, wholeText), h.Details(h.Summary(h.Text("The call as it was recorded")), d.recorded())}
	case !d.Stored.Redacted:
		return d.recorded()
	case e == nil:
		return para("gone", h.Text("The turn came without its text."))
	}
	n := fmt.Sprint(e.Seq)
	return h.Group{
		para("gone", h.Text("The text was erased on "), moment(e.At), by(" at the request of ", e.By), h.Text(": "), bdi(e.Reason)),
		h.P(link("/erasures?"+query("from", n, "to", n), h.Text("What it touched")), h.Text(", "), link("/erasures", h.Text("all erased texts"))),
	}
}

// recorded shows the text of the turn exactly as it was recorded.
func (d *turnData) recorded() h.Node {
	return h.Group{said(d.Content), h.If(d.Cut, h.P(link("?all=1", h.Text("All of it: "+count(d.Whole, "byte", "bytes")))))}
}

// call shows the call that the turn answers.
func (d *turnData) call() h.Node {
	if d.Call == nil {
		return nil
	}
	return section("h-call", "The call that it answers", turnList([]turnRow{*d.Call}, "turns"))
}

func (d *turnData) priorSection() h.Node {
	prior := para("dim", h.Text("It begins its conversation."))
	switch {
	case len(d.Prior) > 0:
		prior = h.Ul(h.Map(d.Prior, child.item))
	case len(d.Parents) > 0:
		prior = h.Ul(h.Map(d.Parents, func(p api.Parent) h.Node { return h.Li(turnLink(p.ID), space, dim(p.Kind)) }))
	}
	var asked h.Node
	switch a := d.Asked; {
	case d.Said:
	case a == nil:
		asked = h.Group{h.H3(h.Text("Who asked for it")), para("dim", h.Text("No person said any of the turns "+d.nearest()+"before it."))}
	default:
		asked = h.Group{h.H3(h.Text("Who asked for it")), h.P(turnLink(a.ID), space, who(a.Role, a.Author), space, moment(a.CreatedAt)), a.text(), para("dim", h.Text("This is the nearest turn before it that a person said."))}
	}
	shown := para("dim", h.Text("Nothing was handed out for the turn that this one follows, nor for the person's turn that it works for."))
	switch {
	case d.NoHeld != nil:
		shown = d.NoHeld.line()
	case len(d.Before) > 0:
		shown = h.Group{issuedTable("Handed out for what this turn follows", d.Before),
			h.If(d.Late > 0, para("dim", h.Textf("Handed out after the time of this turn, as for a session that was imported, so that its agent cannot have seen it: %d of %d.", d.Late, len(d.Before))))}
	}
	return section("h-shown", "What came before it", prior, asked, h.H3(h.ID("h-agent"), h.Text("What the agent was shown")), shown)
}

func (c child) item() h.Node { return h.Li(c.brief(c.Kind)) }

func (d *turnData) blameSection() h.Node {
	const id, heading, shown = "h-blame", "What may have led to it", 20
	b := d.Blame
	switch {
	case d.NoBlame != nil:
		return section(id, heading, d.NoBlame.line())
	case b == nil:
		return section(id, heading, h.P(link("?blame=1#h-blame", h.Text("Choose again without each turn before it"))))
	}
	result := h.Group{h.Text("Without any of them, the others would have been selected as they were.")}
	switch {
	case len(b.Pivots) > 0:
		result = h.Group{h.Text("Without one of these, others would have been selected otherwise:")}
	case len(b.Minimal) > 0:
		result = h.Group{h.Text("Without all of these together, others would have been selected otherwise: "), turnLinks(b.Minimal)}
	}
	return section(id, heading,
		h.If(len(b.For) > 0, h.P(h.Text(count(len(b.InAll), "turn was", "turns were")+" in all of what was handed out for it"), h.If(len(b.InAll) > 0, h.Text(": "), turnLinks(b.InAll[:min(len(b.InAll), shown)]), h.If(len(b.InAll) > shown, h.Text("…"))))),
		h.P(h.Textf("Around the turn that it follows, %s selects %s. ", b.Policy, count(b.Selected, "turn", "turns")), result),
		h.If(len(b.Pivots) > 0, table("Turns on which the choice of others hangs", "Without turn|#Others lost|#Others that come|What it says", h.Map(d.Pivots, func(p pivot) h.Node {
			words := bdi(line(p.Said.Content, 140))
			if p.Said.Stored.Redacted {
				words = span("gone", h.Text("erased"))
			}
			return row(turnLink(p.Turn), digits(fmt.Sprint(p.Dropped)), digits(fmt.Sprint(p.Added)), h.Td(who(p.Said.Role, p.Said.Author), space, words))
		})), h.If(len(d.Pivots) < len(b.Pivots), para("dim", h.Text(thousands(len(b.Pivots))+" in all, those on which most hangs first")))))
}

func (d *turnData) childrenSection() h.Node {
	none := "No turn continues from it."
	if d.More {
		none = "No turn of the next 200 in the conversation continues from it."
	}
	return section("h-after", "What follows it", h.Either(len(d.Children) > 0, h.Ul(h.Map(d.Children, child.item)), para("dim", h.Text(none))))
}

func (d *turnData) heldSection() h.Node {
	if d.NoHeld != nil {
		return section("h-held", "Who was handed it", d.NoHeld.line())
	}
	held, looked := d.Held, "All records of what was handed out were searched."
	if held.Older > 0 {
		looked = fmt.Sprintf("The newest %s records of what was handed out were searched for slices; %s older records were not.", thousands(held.Looked), thousands(held.Older))
	}
	return section("h-held", "Who was handed it",
		h.If(len(held.Contexts) > 0, h.H3(h.Text("Contexts")), issuedTable("Contexts that held this turn", held.Contexts)),
		h.If(len(held.Slices) > 0, h.H3(h.Text("Slices")), issuedTable("Slices that held this turn", held.Slices), h.P(h.Text("What would be missing without this turn: "), h.Map(held.Slices, func(i api.Issued) h.Node {
			return h.Group{link("/slices/"+string(i.SliceID)+"?"+query("explain", d.ID)+"#h-out", h.Text("from slice "), code(i.SliceID)), space}
		}))),
		h.If(len(held.Contexts)+len(held.Slices) == 0, h.P(h.Text("Nobody, as far as is known."))), para("dim", h.Text(looked)))
}

func (d *turnData) factsSection() h.Node {
	if len(d.Facts) == 0 {
		return section("h-facts", "What was learned from it", para("dim", h.Text("No fact rests on it.")))
	}
	return section("h-facts", "What was learned from it", factsTable(d.Facts), h.If(len(d.Facts) < d.FactsTotal, para("dim", h.Text(thousands(d.FactsTotal)+" in all"))))
}

// origin shows where a turn comes from.
func (d *turnData) origin() h.Node {
	s, key := &d.Stored, dim("not recorded")
	if s.Key != "" {
		key = code(s.Key)
	}
	return section("h-from", "Where it comes from", terms("facts", term("Id", code(d.ID)), term("Number", h.Text(fmt.Sprint(s.Seq))), term("Brought by", key), term("Digest of the body", code(s.BodyDigest)), term("Leaf", code(s.Leaf)),
		term("Phase", h.Text(d.Phase)), term("Salience", h.Text(d.Salience.String())), h.Map(slices.Sorted(maps.Keys(d.Attrs)), func(name string) h.Node { return h.Group{h.Dt(bdi(name)), h.Dd(bdi(d.Attrs[name]))} })))
}

func turn(v *visit) (*page, error) {
	id, err := dag.ParseTurnID(v.r.PathValue("id"))
	if err != nil {
		named, err := ask(v, api.ResolveTurn, api.TurnNamed{Name: v.r.PathValue("id")}) // a prefix of an id, which commands accept
		if err != nil {
			return nil, err
		}
		return &page{to: "/turns/" + named.ID.String()}, nil
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
	one := []turnRow{d.turnRow}
	if err := v.count(one, api.StandingsQuery{Turn: &id}, ""); err != nil {
		return nil, err
	}
	d.Standing = one[0].Standing
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
	for i := range d.Prior {
		if prior := &d.Prior[i].turnRow; d.answers(prior) {
			call, err := readTurn(&prior.Stored, shownText)
			if err != nil {
				return nil, err
			}
			d.Call = &call
		}
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

// A pivot is a turn that the selection of other turns depends on.
type pivot struct {
	api.Pivot
	Said turnRow // without an id: the turn does not exist
}

// mostPivots is the maximum number of pivots on a page.
const mostPivots = 50

// pivots reads the text of the turns that the selection depends on most.
func (d *turnData) pivots(v *visit) error {
	list := d.Blame.Pivots[:min(len(d.Blame.Pivots), mostPivots)]
	ids := make([]dag.TurnID, len(list))
	for i := range list {
		var err error
		if ids[i], err = dag.ParseTurnID(list[i].Turn.String()); err != nil {
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
		d.Pivots = append(d.Pivots, pivot{p, said[p.Turn.String()]})
	}
	return nil
}

// around searches for the turns that follow this one, among those admitted after it in its conversation.
func (d *turnData) around(v *visit) error {
	conversation, err := dag.ParseConversationID(d.Conversation)
	if err != nil {
		return err
	}
	const looked = 200
	after, err := ask(v, api.GetConversation, api.ConversationByID{ID: conversation, Paging: api.Paging{Limit: looked, After: strconv.FormatUint(uint64(d.Stored.Seq), 10)}})
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
				if row.answers(&d.turnRow) {
					result, err := readTurn(&after.Turns[i], shownText)
					if err != nil {
						return err
					}
					d.Results = append(d.Results, result)
				}
			}
		}
	}
	return nil
}

// shownFor searches for the evidence that was issued around a turn that this one follows or works for, before this turn existed. The record
// of a context does not name the turn it was for, but the context held the earlier turn, and its sequence number is between the two turns.
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
		isFor := i.AsOf < d.Stored.Seq && (i.Anchor.String() == before.ID || kindOf(i.SchemaVersion) == "context" && i.AsOf >= before.Stored.Seq)
		if isFor && !slices.ContainsFunc(d.Before, func(o api.Issued) bool { return o.Number == i.Number }) {
			d.Before = append(d.Before, i)
			at, err := readTime(i.IssuedAt.String())
			said, otherErr := readTime(d.CreatedAt.String())
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

// use searches for the evidence that held this turn, the evidence its agent was shown, and the facts learned from it.
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
