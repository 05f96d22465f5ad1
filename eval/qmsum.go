package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/graphkernel/graphkernel/dag"
)

// A meeting of QMSum, and questions with the spans of turns that answer them.
type meeting struct {
	Turns []struct{ Speaker, Content string } `json:"meeting_transcripts"`
	Asked []struct {
		Query string
		Spans [][2]string `json:"relevant_text_span"` // the first and the last turn
	} `json:"specific_query_list"`
}

// qmsum measures which share of the turns that answer a question about a meeting is chosen.
func qmsum(ctx context.Context, e *Evaluation) error {
	meetings, err := readLines[meeting](filepath.Join(e.data, "qmsum", "val.jsonl"))
	if err != nil {
		return err
	}
	spans := map[int]*scores{}
	for _, budget := range budgets {
		spans[budget] = &scores{}
	}
	for n := range meetings {
		if !e.mine(n) {
			continue
		}
		c, err := e.instance.corpus(ctx, dag.Tenant(fmt.Sprintf("qmsum-%d", n)), meetings[n].drafts(n))
		if err != nil {
			return err
		}
		for _, asked := range meetings[n].Asked {
			gold, err := goldOf(c, asked.Spans)
			if err != nil {
				return fmt.Errorf("meeting %d, %.60q: %w", n, asked.Query, err)
			}
			a := e.ask(ctx, c, c.last(asked.Query))
			for _, budget := range budgets {
				if err := spans[budget].add(a, a.within(budget, gold)); err != nil {
					return err
				}
			}
		}
	}
	for _, budget := range budgets {
		e.row("QMSum", fmt.Sprintf("turns of the spans within %d tokens", budget), ofContext, spans[budget])
	}
	return nil
}

// mine reports whether a conversation, by its place in the data, is of the half that is evaluated: the odd ones may be
// tuned on, the even ones are what is reported.
func (e *Evaluation) mine(place int) bool { return place%2 == 1 == e.dev }

// drafts returns the turns of a meeting, each continuing from the one before. No times are known: they are a second apart.
func (m *meeting) drafts(number int) (drafts []dag.Draft) {
	for i, t := range m.Turns {
		at := time.Date(2020, 1, 1, 0, 0, i, 0, time.UTC)
		drafts = append(drafts, after(drafts, dag.Draft{
			ID: dag.ExternalTurnID("qmsum", fmt.Sprintf("%d/%d", number, i)), Conversation: dag.ExternalConversationID("qmsum", strconv.Itoa(number)),
			Role: dag.RoleUser, Author: "human:" + t.Speaker, CreatedAt: dag.Time(at.UnixMicro()), Content: t.Content,
		}))
	}
	return drafts
}

// goldOf returns the turns of spans.
func goldOf(c *Corpus, spans [][2]string) (map[dag.TurnID]bool, error) {
	gold := map[dag.TurnID]bool{}
	for _, span := range spans {
		from, err := strconv.Atoi(span[0])
		if err != nil {
			return nil, err
		}
		to, err := strconv.Atoi(span[1])
		if err != nil {
			return nil, err
		}
		if from > to || to >= len(c.Turns) {
			return nil, fmt.Errorf("the span from %d to %d is not among %d turns", from, to, len(c.Turns))
		}
		for i := from; i <= to; i++ {
			gold[c.Turns[i].ID] = true
		}
	}
	return gold, nil
}
