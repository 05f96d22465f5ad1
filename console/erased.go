package console

import (
	"cmp"
	"html/template"
	"net/http"
	"slices"
	"strconv"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
)

// An erasedGroup is texts that were erased one after the other for the same reason, at the request of the same one: as one command erases those of a person.
type erasedGroup struct {
	Events []api.Event
}

// First is the first of them.
func (g *erasedGroup) First() api.Event { return g.Events[0] }

// Query leads to the group alone.
func (g *erasedGroup) Query() template.URL {
	return query("from", strconv.FormatUint(g.Events[0].Seq, 10), "to", strconv.FormatUint(g.Events[len(g.Events)-1].Seq, 10))
}

type erasedData struct {
	Groups           []erasedGroup
	Next             string
	From, To         uint64 // only these numbers; 0: all
	Contexts, Slices []api.Issued
	Older            uint64 // records that were not looked at
	NoHeld           *missing
}

// mostErased is how many erasures a page has. The contexts and slices of that many turns are looked for, one turn after the other.
const mostErased = 200

// erased lists whose text was erased, and of a part of the list what held the text.
func erased(v *visit) (*page, error) {
	q := v.r.URL.Query()
	var d erasedData
	for name, into := range map[string]*uint64{"from": &d.From, "to": &d.To} {
		n, err := number(q.Get(name))
		if err != nil {
			return nil, refused(http.StatusBadRequest, "%v", err)
		}
		*into = n
	}
	after := q.Get("after")
	if after == "" && d.From > 0 {
		after = strconv.FormatUint(d.From-1, 10)
	}
	got, err := ask(v, api.ListErasures, api.ErasureQuery{Paging: api.Paging{Limit: mostErased, After: after}})
	if err != nil {
		return nil, err
	}
	d.Next = got.Next
	for _, e := range got.Erasures {
		if d.To > 0 && e.Seq > d.To {
			d.Next = ""
			break
		}
		if n := len(d.Groups); n > 0 && d.Groups[n-1].First().Reason == e.Reason && d.Groups[n-1].First().By == e.By {
			d.Groups[n-1].Events = append(d.Groups[n-1].Events, e)
			continue
		}
		d.Groups = append(d.Groups, erasedGroup{[]api.Event{e}})
	}
	if d.From > 0 || d.To > 0 {
		if err := d.touched(v); err != nil {
			return nil, err
		}
	}
	return &page{"Erased texts", "erased", &d, ""}, nil
}

// touched looks for what was handed out with the texts.
func (d *erasedData) touched(v *visit) error {
	for _, g := range d.Groups {
		for _, e := range g.Events {
			id, err := dag.ParseTurnID(e.Turn)
			if err != nil {
				return err
			}
			held, err := ask(v, api.TurnHolding, api.TurnByID{ID: id})
			if d.NoHeld, err = optional(err); err != nil || d.NoHeld != nil {
				return err
			}
			d.Contexts, d.Slices, d.Older = append(d.Contexts, held.Contexts...), append(d.Slices, held.Slices...), max(d.Older, held.Older)
		}
	}
	d.Contexts, d.Slices = once(d.Contexts), once(d.Slices)
	return nil
}

// once sorts records by their number, the newest first, and leaves out repetitions.
func once(list []api.Issued) []api.Issued {
	slices.SortFunc(list, func(a, b api.Issued) int { return cmp.Compare(b.Number, a.Number) })
	return slices.CompactFunc(list, func(a, b api.Issued) bool { return a.Number == b.Number })
}
