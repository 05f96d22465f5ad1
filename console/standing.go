package console

import (
	"strconv"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	h "github.com/graphkernel/graphkernel/internal/markup"
)

// counts shows a standing, after a space; nothing if it is unknown. Words that only inform have a dashed frame, so that no colour is needed to see it.
func counts(standing string) h.Node {
	s, err := dag.ParseStanding(standing)
	if err != nil {
		return nil
	}
	class := "standing"
	switch {
	case s.Data():
		class += " data"
	case s.Orders():
		class += " orders"
	}
	return h.Group{space, span(class, h.Text(standing))}
}

// count sets the present standings of the turns of a page, which q selects, with one request; for the pages after the first it asks for the present number, too. A
// reader who may not list standings sees none.
func (v *visit) count(rows []turnRow, q api.StandingsQuery, after string) error {
	if len(rows) == 0 {
		return nil
	}
	q.Limit = len(rows)
	if after != "" {
		now, err := ask(v, api.GetStanding, api.StandingQuery{})
		if m, err := optional(err); m != nil || err != nil {
			return err
		}
		n, err := strconv.ParseUint(after, 10, 64)
		if err != nil {
			return err
		}
		q.After = api.NextInView(dag.Seq(n), now.AsOf)
	}
	got, err := ask(v, api.ListStandings, q)
	if m, err := optional(err); m != nil || err != nil {
		return err
	}
	of := map[string]string{}
	for i := range got.Turns {
		of[got.Turns[i].Turn.String()] = got.Turns[i].Standing
	}
	for i := range rows {
		rows[i].Standing = of[rows[i].ID]
	}
	return nil
}
