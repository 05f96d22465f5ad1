package main

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
)

// A recollection is what a person looks for who remembers that it was said, in two wordings.
type recollection struct {
	Turn  string   // the record that answers
	Also  []string // further records that answer as well
	Typed string   // with words of the text
	Words string   // in other words
}

// fillers is the number of messages of a channel in the corpus, beside the sessions.
const fillers = 50_000

// recollect measures whether something is found again among all sessions and a channel of people, from nowhere in particular.
func recollect(ctx context.Context, e *Evaluation) error {
	names := []string{"r1.jsonl", "r2.jsonl"}
	if e.dev {
		names = []string{"dev.jsonl"}
	}
	var all []recollection
	for _, name := range names {
		some, err := readLines[recollection](filepath.Join(e.own, "recall", name))
		if err != nil {
			return err
		}
		all = append(all, some...)
	}
	c, err := e.everything(ctx)
	if err != nil {
		return err
	}
	wordings := [...]struct {
		name string
		text func(*recollection) string
		*scores
	}{
		{"as typed", func(r *recollection) string { return r.Typed }, &scores{}},
		{"in other words and three of the text", c.remembered, &scores{}},
		{"in other words", func(r *recollection) string { return r.Words }, &scores{}},
	}
	for _, r := range all {
		answers := map[dag.TurnID]bool{}
		for _, name := range append([]string{r.Turn}, r.Also...) {
			id, err := dag.ParseTurnID(name)
			if err != nil {
				return err
			}
			if _, ok := c.places[id]; !ok {
				return fmt.Errorf("%q: record %s is no turn", r.Typed, name)
			}
			answers[id] = true
		}
		for _, w := range wordings {
			q := c.last(w.text(&r))
			q.Anchor = dag.TurnID{}
			a := e.ask(ctx, c, q)
			if err := w.add(a, a.answered(10, []map[dag.TurnID]bool{answers})); err != nil {
				return err
			}
		}
	}
	for _, w := range wordings {
		e.row("recall", w.name+", answer among the first 10", ofSearch, w.scores)
	}
	return nil
}

// remembered returns the question in other words, followed by three words of the typed question: the commonest among those that at most
// one turn in 50 contains.
func (c *Corpus) remembered(r *recollection) string {
	x := c.indexed()
	words := slices.DeleteFunc(sorted(countWords(r.Typed)), func(w string) bool { return len(x.postings[w]) > len(c.Turns)/50 })
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(len(x.postings[b]), len(x.postings[a])) })
	return strings.Join(append([]string{r.Words}, words[:min(3, len(words))]...), " ")
}

// everything returns a corpus of messages of a channel and, after them, all sessions and runs of agents.
func (e *Evaluation) everything(ctx context.Context) (*Corpus, error) {
	const tenant = dag.Tenant("everything")
	filler, err := readChannel(filepath.Join(e.data, "irc", "irc-ubuntu-gold.jsonl"))
	if err != nil {
		return nil, err
	}
	if _, err := e.instance.kernel.Turns().AdmitInOrder(ctx, tenant, "", filler); err != nil {
		return nil, err
	}
	var paths []string
	for _, pattern := range []string{"entire/claude-*.jsonl", "claude-code/*.jsonl", "tau-bench/*.json"} {
		found, err := filepath.Glob(filepath.Join(e.data, pattern))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: %w", pattern, fs.ErrNotExist)
		}
		paths = append(paths, found...)
	}
	if _, err := e.instance.kernel.Turns().ImportAll(ctx, tenant, paths, ingest.Options{}); err != nil {
		return nil, err
	}
	return e.instance.read(ctx, tenant)
}

// A post is a message of a channel.
type post struct {
	ID, Doc, Author, Kind, Text string
	Parents                     []string
	Line                        int
}

// readChannel reads the first messages of a channel whose replies people have annotated; parents come before children. A log
// of a day is a conversation.
func readChannel(path string) ([]dag.Draft, error) {
	posts, err := readLines[post](path)
	if err != nil {
		return nil, err
	}
	posts = posts[:min(fillers, len(posts))]
	drafts := make([]dag.Draft, len(posts))
	for i, m := range posts {
		day, err := time.Parse(time.DateOnly, m.Doc[:min(len(m.Doc), len(time.DateOnly))])
		if err != nil { // logs without a date are of another channel
			day = time.Date(2004, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		d := dag.Draft{
			ID: dag.ExternalTurnID("irc", m.ID), Conversation: dag.ExternalConversationID("irc", m.Doc),
			Role: dag.RoleUser, CreatedAt: dag.Time(day.Add(time.Duration(m.Line) * time.Second).UnixMicro()),
			Author: m.Author, Content: strings.ToValidUTF8(m.Text, "?"),
		}
		if m.Kind == "system" {
			d.Role = dag.RoleSystem
		}
		for _, p := range m.Parents {
			d.Parents = append(d.Parents, dag.Parent{ID: dag.ExternalTurnID("irc", p), Kind: dag.Reply})
		}
		if err := ingest.Assign(&d); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
		drafts[i] = d
	}
	return drafts, nil
}
