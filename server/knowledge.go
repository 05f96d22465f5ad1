package server

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/knowledge"
)

// sourceAPI is the source of a fact that names no source.
const sourceAPI = "api"

// learn records acts. An error names the place of the act at fault; place returns the place for an index.
func learn(c *call, acts []knowledge.Act, place func(i int) string) ([]knowledge.Outcome, error) {
	outcomes, err := c.server.config.Kernel.Facts().Learn(c.ctx, c.tenant(), acts)
	if err == nil {
		return outcomes, nil
	}
	which := (*knowledge.ActError)(nil)
	if !errors.As(err, &which) {
		return nil, err
	}
	p := *problemOf(which.Err)
	if p.place == "" {
		p.place = place(which.Index)
	}
	return nil, &p
}

func learnFact(c *call, in api.NewFact) (w api.KnowledgeOutcome, err error) {
	act, err := assertion(c, &in)
	if err != nil {
		return w, err
	}
	outcomes, err := learn(c, []knowledge.Act{act}, func(int) string {
		if len(act.Supersedes) > 0 {
			return "supersedes"
		}
		return ""
	})
	if err != nil {
		return w, err
	}
	return outcomes[0], nil
}

func learnFacts(c *call) error {
	if c.media == typeLines {
		return learnLines(c)
	}
	in, err := readIn[api.Knowledge](c)
	if err != nil {
		return err
	}
	n, retractions := len(in.Retractions)+len(in.Facts), len(in.Retractions)
	switch {
	case n == 0:
		return &problem{code: api.CodeInvalid, place: "facts", detail: "the batch holds no fact and no retraction"}
	case n > knowledge.MaxActs:
		return &problem{code: api.CodeTooLarge, place: "facts", detail: fmt.Sprintf("more than %d facts and retractions at once", knowledge.MaxActs)}
	}
	place := func(i int) string {
		if i < retractions {
			return fmt.Sprintf("retractions[%d]", i)
		}
		return fmt.Sprintf("facts[%d]", i-retractions)
	}
	acts := make([]knowledge.Act, n)
	for i := range acts {
		if i < retractions {
			acts[i], err = in.Retractions[i].Act()
		} else {
			acts[i], err = assertion(c, &in.Facts[i-retractions])
		}
		if err != nil {
			return within(place(i), err)
		}
	}
	outcomes, err := learn(c, acts, place)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, api.KnowledgeOutcomes{
		Retractions: outcomes[:retractions], Facts: outcomes[retractions:],
	})
}

// within prefixes the place of an error with the place of an item.
func within(place string, err error) error {
	var fault *canon.FieldError
	if errors.As(err, &fault) {
		return misread(canon.FaultAt(place, fault))
	}
	p := *problemOf(err)
	p.place, p.detail = join(place, p.place), place+": "+p.detail
	return &p
}

// learnLines is learnFacts for lines, in order. The whole body is read first, because the lines are recorded all or
// none.
func learnLines(c *call) error {
	var acts []knowledge.Act
	var places []string
	n := 0
	for line := range bytes.Lines(c.body) {
		n++
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			continue
		}
		place := "line " + strconv.Itoa(n)
		if len(acts) == knowledge.MaxActs {
			return &problem{code: api.CodeTooLarge, place: place, detail: fmt.Sprintf("%s: more than %d facts and retractions at once", place, knowledge.MaxActs)}
		}
		act, err := readLine(c, line, place)
		if err != nil {
			return err
		}
		acts, places = append(acts, act), append(places, place)
	}
	if len(acts) == 0 {
		return &problem{code: api.CodeInvalid, place: "body", detail: "the batch holds no fact and no retraction"}
	}
	outcomes, err := learn(c, acts, func(i int) string { return places[i] })
	if err != nil {
		return err
	}
	w := api.KnowledgeOutcomes{Retractions: []api.KnowledgeOutcome{}, Facts: []api.KnowledgeOutcome{}}
	for i := range outcomes {
		if o := outcomes[i]; acts[i].Kind == knowledge.Retract {
			w.Retractions = append(w.Retractions, o)
		} else {
			w.Facts = append(w.Facts, o)
		}
	}
	return c.json(http.StatusOK, w)
}

// readLine parses a fact or, if the line names a statement, a retraction.
func readLine(c *call, line []byte, place string) (knowledge.Act, error) {
	v, err := readStrictly(line, place, lineValues)
	if err != nil {
		return knowledge.Act{}, err
	}
	at, act := canon.Open(v), knowledge.Act{}
	if v.Get("statement") == nil {
		f := api.Read[api.NewFact](at)
		if err = at.Err(); err == nil {
			act, err = assertion(c, &f)
		}
	} else {
		r := api.Read[api.Retraction](at)
		if err = at.Err(); err == nil {
			act, err = r.Act()
		}
	}
	if err != nil {
		return act, within(place, err)
	}
	return act, nil
}

// assertion returns the act that records a fact.
func assertion(c *call, f *api.NewFact) (knowledge.Act, error) {
	return c.server.config.Kernel.Facts().Assertion(c.ctx, c.tenant(), f, sourceAPI)
}
