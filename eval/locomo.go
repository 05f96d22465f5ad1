package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/dag"
)

// budgets are in tokens.
var budgets = []int{500, 1_000, 2_000, 4_000, 8_000}

// floorsLoCoMo is by strategy the recall among the first 10 below which the searches of this build are broken. The constants of recall@1
// were fitted on LoCoMo, so this checks the build, and is no test of the method.
var floorsLoCoMo = map[string]float64{"search": 0.78, "search + vectors": 0.79}

// A dialogue is one long conversation of LoCoMo: sessions of two people, and questions about them.
type dialogue struct {
	Conversation map[string]json.RawMessage
	QA           []struct {
		Question string
		Evidence []string
		Category int
	}
}

// adversarial is the category of questions that have no answer.
const adversarial = 5

// locomo measures which of the turns that a question's answer rests on are chosen.
func locomo(ctx context.Context, e *Evaluation) error {
	data, err := os.ReadFile(filepath.Join(e.data, "locomo", "locomo10.json"))
	if err != nil {
		return err
	}
	var all []dialogue
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	ten, markup, evidence := &scores{}, &scores{}, map[int]*scores{}
	for _, budget := range budgets {
		evidence[budget] = &scores{}
	}
	for n := range all {
		drafts, named, err := all[n].drafts(n)
		if err != nil {
			return err
		}
		c, err := e.instance.corpus(ctx, dag.Tenant(fmt.Sprintf("locomo-%d", n)), drafts)
		if err != nil {
			return err
		}
		for _, qa := range all[n].QA {
			gold := map[dag.TurnID]bool{}
			for _, name := range qa.Evidence {
				for name := range strings.FieldsFuncSeq(name, func(r rune) bool { return strings.ContainsRune("; ,", r) }) {
					if id, ok := named[name]; ok {
						gold[id] = true
					}
				}
			}
			if len(gold) == 0 || qa.Category == adversarial {
				continue
			}
			a := e.ask(ctx, c, c.last(qa.Question))
			if err := ten.add(a, a.among(10, gold)); err != nil {
				return err
			}
			if err := markup.add(a, a.markup(4_000)); err != nil {
				return err
			}
			for _, budget := range budgets {
				if err := evidence[budget].add(a, whole(a.within(budget, gold))); err != nil {
					return err
				}
			}
		}
	}
	e.row("LoCoMo", "evidence among the first 10", ofSearch, ten)
	for _, budget := range budgets {
		e.row("LoCoMo", fmt.Sprintf("all evidence within %d tokens", budget), ofContext, evidence[budget])
	}
	e.row("LoCoMo", "markup in a prompt of 4000 tokens", "", markup)
	return e.checkFloors(ten)
}

// checkFloors refuses a build whose searches find less than they have to.
func (e *Evaluation) checkFloors(s *scores) error {
	for n := range e.strategies {
		name := e.strategies[n].Name
		if got, _ := s.mean(n); got < floorsLoCoMo[name] {
			return fmt.Errorf("%s finds %.3f of the evidence among the first 10, want at least %.2f", name, got, floorsLoCoMo[name])
		}
	}
	return nil
}

// drafts returns the turns of a dialogue and their ids by the names that evidence gives them. A session is a
// conversation; its first turn continues from the last one of the session before, since the two people go on.
func (d *dialogue) drafts(number int) (drafts []dag.Draft, named map[string]dag.TurnID, err error) {
	named = map[string]dag.TurnID{}
	for s := 1; ; s++ {
		raw, ok := d.Conversation[fmt.Sprintf("session_%d", s)]
		if !ok {
			return drafts, named, nil
		}
		var turns []struct {
			Speaker, Text string
			Name          string `json:"dia_id"`
			Picture       string `json:"blip_caption"` // what it shows; "" if none was shared
		}
		if err := json.Unmarshal(raw, &turns); err != nil {
			return nil, nil, fmt.Errorf("dialogue %d, session %d: %w", number, s, err)
		}
		var when string
		if err := json.Unmarshal(d.Conversation[fmt.Sprintf("session_%d_date_time", s)], &when); err != nil {
			return nil, nil, fmt.Errorf("dialogue %d, session %d: %w", number, s, err)
		}
		at, err := time.Parse("3:04 pm on 2 January, 2006", when)
		if err != nil {
			return nil, nil, err
		}
		for _, t := range turns {
			draft := dag.Draft{
				ID: dag.ExternalTurnID("locomo", fmt.Sprintf("%d/%s", number, t.Name)), Conversation: dag.ExternalConversationID("locomo", fmt.Sprintf("%d/%d", number, s)),
				Role: dag.RoleUser, Author: "human:" + t.Speaker, CreatedAt: dag.Time(at.UnixMicro()), Content: t.Text,
			}
			if t.Picture != "" { // as the authors' own evaluation has it
				draft.Content += " [shares " + t.Picture + "]"
			}
			named[t.Name] = draft.ID
			drafts = append(drafts, after(drafts, draft))
		}
	}
}

// after returns a draft that continues from the last one of others.
func after(drafts []dag.Draft, d dag.Draft) dag.Draft {
	if n := len(drafts); n > 0 {
		d.Parents = []dag.Parent{{ID: drafts[n-1].ID, Kind: dag.Reply}}
	}
	return d
}
