package console

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"

	"fmt"
	"github.com/graphkernel/graphkernel/api"
	h "github.com/graphkernel/graphkernel/internal/markup"
)

// An erasedGroup is a run of consecutive erasures with the same reason and requester, such as the erasures by one command of a person's
// texts.
type erasedGroup struct {
	Events []api.Event
}

// First returns the first erasure.
func (e *erasedGroup) First() api.Event { return e.Events[0] }

// Query returns the query for this group alone.
func (e *erasedGroup) Query() string {
	return query("from", fmt.Sprint(e.Events[0].Seq), "to", fmt.Sprint(e.Events[len(e.Events)-1].Seq))
}

func (e *erasedGroup) section(whole bool) h.Node {
	n, requested, touched := len(e.Events), dim("not recorded"), "What the texts touched"
	if e.First().By != "" {
		requested = code(e.First().By)
	}
	if n == 1 {
		touched = "What the text touched"
	}
	return h.Section(h.H2(h.Text(count(n, "text", "texts")+", "), moment(e.First().At.String())),
		terms("facts", term("Reason", bdi(e.First().Reason)), term("At the request of", requested)),
		h.P(h.Either(whole, h.Group{h.Text("The turns:"), h.Map(e.Events, func(one api.Event) h.Node { return h.Group{space, turnLink(one.Turn)} })}, link("/erasures?"+e.Query(), h.Text(touched)))))
}

type erasedData struct {
	Groups           []erasedGroup
	Next             string
	From, To         uint64 // only this range of numbers; 0: all
	Contexts, Slices []api.Issued
	Older            uint64 // records that were not searched
	NoHeld           *missing
}

func (d *erasedData) body(string) h.Node {
	part := d.From > 0 || d.To > 0
	none := "No text was erased."
	if part || d.Next != "" {
		none = "No text on this page was erased."
	}
	return h.Group{
		h.H1(h.Text("Erased texts")), h.If(len(d.Groups) == 0, h.P(h.Text(none))),
		h.Map(d.Groups, func(e erasedGroup) h.Node { return e.section(part) }),
		d.holders(),
		h.If(d.Next != "", next("/erasures?"+query("after", d.Next), "Later ones")),
	}
}

// holders shows who received the texts.
func (d *erasedData) holders() h.Node {
	if len(d.Groups) == 0 || d.From == 0 && d.To == 0 {
		return nil
	}
	heading := "Who was handed them"
	if len(d.Groups[0].Events) == 1 {
		heading = "Who was handed it"
	}
	var list h.Group
	if d.NoHeld != nil {
		list = append(list, d.NoHeld.line())
	} else {
		summary := "Their bundles hold the texts still, wherever they were kept."
		if len(d.Contexts)+len(d.Slices) == 0 {
			summary = "Nobody, as far as is known."
		}
		list = append(list, h.If(len(d.Contexts) > 0, h.H3(h.Text("Contexts")), issuedTable("Contexts that held an erased text", d.Contexts)), h.If(len(d.Slices) > 0, h.H3(h.Text("Slices")), issuedTable("Slices that held an erased text", d.Slices)),
			h.P(h.Text(summary)), h.If(d.Older > 0, para("dim", h.Text(thousands(d.Older)+" older slices were not looked at."))))
	}
	return section("h-held", heading, list, para("dim", h.Text("Facts that were learned from a turn were erased with its text.")))
}

// mostErased is the number of erasures on a page. The contexts and slices of that many turns are searched, one turn after the other.
const mostErased = 200

// erased lists the erasures, and for a range of them the evidence that held the texts.
func erased(v *visit) (*page, error) {
	q := v.r.URL.Query()
	var d erasedData
	for name, into := range map[string]*uint64{"from": &d.From, "to": &d.To} {
		n, err := number(q.Get(name))
		if err != nil {
			return nil, refused(http.StatusBadRequest, "%v", err)
		}
		*into = uint64(n)
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
		if d.To > 0 && uint64(e.Seq) > d.To {
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
	return &page{title: "Erased texts", content: &d}, nil
}

// touched searches for the issued evidence that held the texts.
func (d *erasedData) touched(v *visit) error {
	for _, g := range d.Groups {
		for _, e := range g.Events {
			id := e.Turn
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

// once sorts records by number, the newest first, and removes duplicates.
func once(list []api.Issued) []api.Issued {
	slices.SortFunc(list, func(a, b api.Issued) int { return cmp.Compare(b.Number, a.Number) })
	return slices.CompactFunc(list, func(a, b api.Issued) bool { return a.Number == b.Number })
}
