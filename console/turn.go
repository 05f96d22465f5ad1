package console

import (
	"slices"
	"strconv"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
)

type turnData struct {
	turnRow
	Children   []child
	More       bool // there may be children that were not looked for
	Held       *api.Holding
	NoHeld     *missing
	Before     []api.Issued // handed out for a turn that this one follows: what the agent was shown
	Facts      []api.Fact
	FactsTotal int
	All        bool
	Blame      *api.Blame
	NoBlame    *missing
	Whole      int // bytes of the text
}

// A child is a turn that continues from another.
type child struct {
	turnRow
	Kind string
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
		}
	}
	return &page{"Turn " + short(id.String()), "turn", &d, ""}, nil
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

// shownFor looks for what was handed out around the turn that this one follows, before there was this one. A context's record does not name the turn that it
// was for, but it held that turn, and its number is between the two.
func (d *turnData) shownFor(v *visit, parent dag.TurnID) error {
	stored, err := ask(v, api.GetTurn, api.TurnByID{ID: parent})
	if m, err := optional(err); m != nil || err != nil {
		return err
	}
	of, err := ask(v, api.TurnHolding, api.TurnByID{ID: parent})
	if m, err := optional(err); m != nil || err != nil {
		return err
	}
	for _, i := range slices.Concat(of.Contexts, of.Slices) {
		if i.Anchor == parent.String() || kindOf(i.SchemaVersion) == "context" && i.AsOf >= stored.Seq && i.AsOf < d.Stored.Seq {
			d.Before = append(d.Before, i)
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
		for _, p := range d.Parents {
			parent, err := dag.ParseTurnID(p.ID)
			if err != nil || p.Kind != "reply" {
				continue
			}
			if err := d.shownFor(v, parent); err != nil {
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
