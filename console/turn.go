package console

import (
	"errors"
	"slices"
	"strconv"

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
	return &page{"Turn " + short(id.String()), "turn", &d, ""}, nil
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
