package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/find"
)

// Bounds of what people and agents ask over HTTP, among 60 000 turns.
const (
	boundFoundP50, boundFoundP99     = 6 * time.Millisecond, 30 * time.Millisecond
	boundContextP50, boundContextP99 = 8 * time.Millisecond, 40 * time.Millisecond
	boundedTurns                     = 60_000
	openedTurns                      = 600_000 // in all that are opened, since each index stays in memory for a while
)

// answering measures searches and contexts over HTTP under the policies that people get, on a store of agents' sessions. While it measures, the last session goes on: each
// context is for the turn that was just admitted, so nothing about it is cached.
func answering(ctx context.Context, r *report, y *yard, turns, length, rounds int) (err error) {
	s, a, err := y.keyed(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	before := live()
	k, err := newKernel(s, a, 0)
	if err != nil {
		return err
	}
	rounds = min(rounds, length-2)
	l := newLibrary(turns+rounds+2, length)
	drafts := l.sessions()
	for from := 0; from < turns; from += 1_000 {
		if _, err := k.Turns().Admit(ctx, dag.DefaultTenant, drafts[from:min(from+1_000, turns)]); err != nil {
			return err
		}
	}
	began := time.Now()
	search := func(k *kernel.Kernel) error {
		_, err := k.Turns().Search(ctx, dag.DefaultTenant, find.Request{Query: retrieval.Query{Text: l.queries[0], Limit: searchHits}})
		return err
	}
	if err := search(k); err != nil {
		return err
	}
	first := time.Since(began)
	opened := &candidate{name: "the first search of a process", run: func(context.Context, int) error {
		fresh, err := newKernel(s, a, 0)
		if err != nil {
			return err
		}
		return search(fresh)
	}}
	if err := inTurn(ctx, max(1, min(rounds, 10, openedTurns/turns)), []*candidate{opened}); err != nil {
		return err
	}
	at, err := serve(ctx, k)
	if err != nil {
		return err
	}
	defer at.stop()
	next := turns
	grown := &candidate{name: "a turn is admitted", run: func(ctx context.Context, _ int) error {
		_, err := k.Turns().Admit(ctx, dag.DefaultTenant, drafts[next:next+1])
		next++
		return err
	}}
	found := &candidate{name: "a search", run: func(ctx context.Context, i int) error {
		return at.post(ctx, "/api/search", api.Search{Query: l.queries[i%len(l.queries)], Limit: searchHits})
	}}
	exchanged := &candidate{name: "a search with questions and answers", run: func(ctx context.Context, i int) error {
		return at.post(ctx, "/api/search", api.Search{Query: l.queries[(i+3)%len(l.queries)], Limit: searchHits, Exchanges: true})
	}}
	around := &candidate{name: "a context for a task, around the turn that was just admitted", run: func(ctx context.Context, i int) error {
		return at.post(ctx, "/api/context", api.ContextRequest{Task: l.queries[(i+1)%len(l.queries)], Anchor: drafts[next-1].ID.String()})
	}}
	free := &candidate{name: "a context for a task, without an anchor", run: func(ctx context.Context, i int) error {
		return at.post(ctx, "/api/context", api.ContextRequest{Task: l.queries[(i+2)%len(l.queries)]})
	}}
	all := []*candidate{grown, found, exchanged, around, free}
	for _, c := range all {
		if err := c.warm(ctx, 1); err != nil {
			return err
		}
	}
	if err := inTurn(ctx, rounds, all); err != nil {
		return err
	}
	rows := make([]row, len(all))
	for i, c := range all {
		rows[i] = rowOf(c, nil)
	}
	if turns <= boundedTurns {
		rows[1].bounds = []bound{atMost(found.sample.p50(), boundFoundP50), atMost(found.sample.p99(), boundFoundP99)}
		rows[3].bounds = []bound{atMost(around.sample.p50(), boundContextP50), atMost(around.sample.p99(), boundContextP99)}
	}
	rows = append(rows, rowOf(opened, nil), row{name: fmt.Sprintf("texts read and indexed in %v; %d MB of heap afterwards", first.Round(time.Millisecond), (live()-before)>>20)})
	r.table(fmt.Sprintf("Answers over HTTP among %d turns in SQLite", turns), rows)
	return nil
}

// sessions makes the turns of a library those of an agent: prompts, reads and edits of files, what they returned, and remarks.
func (l *library) sessions() []dag.Draft {
	drafts := make([]dag.Draft, len(l.turns))
	for i := range l.turns {
		t := &l.turns[i]
		d := dag.Draft{ID: t.ID, Conversation: t.Conversation, Author: "agent:a", CreatedAt: t.CreatedAt, Content: t.Content}
		if i > 0 && l.turns[i-1].Conversation == t.Conversation {
			d.Parents = []dag.Parent{{ID: l.turns[i-1].ID, Kind: dag.Reply}}
		}
		tool := []string{"Read", "Edit"}[i/8%2]
		switch i % 8 {
		case 0:
			d.Role, d.Author = dag.RoleUser, "human:lead"
		case 1, 3, 5:
			d.Role, d.Attrs = dag.RoleAssistant, map[string]string{"blocks": "tool_use", "tool": tool}
			d.Content = fmt.Sprintf("[tool_use %s]\n{\"file_path\":\"/src/f%d.go\",\"note\":%q}", tool, i*7%40, t.Content)
		case 2, 4, 6:
			d.Role, d.Author, d.Attrs = dag.RoleTool, "tool:"+tool, map[string]string{"blocks": "tool_result", "tool": tool}
			d.Content = "[tool_result]\n" + strings.Repeat(t.Content+"\n", 4)
		default:
			d.Role = dag.RoleAssistant
		}
		drafts[i] = d
	}
	return drafts
}

// post sends a body to a path and reads the answer.
func (s *site) post(ctx context.Context, path string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	q.Header.Set("Authorization", "Bearer "+s.key)
	q.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	got, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK || len(got) < 1_000 {
		return fmt.Errorf("%s: status %d: %.300s", path, answer.StatusCode, got)
	}
	return nil
}
