package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/dag"
)

// A checkpoint says which session led to a commit, and which files the commit touched. The commit's trailer names it.
type checkpoint struct {
	ID        string    `json:"checkpoint_id"`
	Session   string    `json:"session_id"`
	CreatedAt time.Time `json:"created_at"`
	Files     []string  `json:"files_touched"`
}

// A commit of the repository.
type commit struct {
	ID          string
	Time        time.Time
	Text        string
	Checkpoints []string
}

// A change is a commit that a session led to: the last turn before it is the anchor.
type change struct {
	checkpoint
	commit commit
	before time.Time // the commit
	gold   map[string]map[dag.TurnID]bool
	stale  map[dag.TurnID]bool // turns that no longer hold, of whatever file
	q      Question
}

// sessions measures which of the turns that led to a commit are chosen before it.
func sessions(ctx context.Context, e *Evaluation) error {
	kept, err := e.keptBudgets()
	if err != nil {
		return err
	}
	all := sessionScores{}
	err = e.changes(ctx, e.mine, func(c *Corpus, ch *change) error {
		budget, ok := kept[ch.ID]
		if !ok {
			return fmt.Errorf("checkpoint %s has no budget; -budgets makes them", ch.ID)
		}
		return all.ask(ctx, e, c, ch, budget)
	})
	if err != nil {
		return err
	}
	all.rows(e)
	return nil
}

// changes calls do for the changes of the sessions whose places in the order of their ids are wanted.
func (e *Evaluation) changes(ctx context.Context, want func(place int) bool, do func(*Corpus, *change) error) error {
	folder := filepath.Join(e.data, "entire")
	checkpoints, err := readLines[checkpoint](filepath.Join(folder, "checkpoints.jsonl"))
	if err != nil {
		return err
	}
	commits, err := readLines[commit](filepath.Join(folder, "commits-main.jsonl"))
	if err != nil {
		return err
	}
	first := map[string]commit{} // by checkpoint: several commits may name one
	for _, c := range commits {
		for _, id := range c.Checkpoints {
			if known, ok := first[id]; !ok || c.Time.Before(known.Time) {
				first[id] = c
			}
		}
	}
	bySession := map[string][]checkpoint{}
	for _, c := range checkpoints {
		bySession[c.Session] = append(bySession[c.Session], c)
	}
	for place, session := range sorted(bySession) {
		if !want(place) {
			continue
		}
		if err := e.session(ctx, filepath.Join(folder, "claude-"+session+".jsonl"), bySession[session], first, do); err != nil {
			return err
		}
	}
	return nil
}

// session calls do for each commit of one session.
func (e *Evaluation) session(ctx context.Context, path string, list []checkpoint, first map[string]commit, do func(*Corpus, *change) error) error {
	events, err := readTranscript(path)
	if err != nil {
		return err
	}
	c, err := e.instance.imported(ctx, dag.Tenant("session-"+list[0].Session), path)
	if err != nil {
		return err
	}
	for i := range list {
		of, ok := first[list[i].ID]
		if !ok {
			continue // it is in no commit of the main branch, so it has no message to ask with
		}
		ch := change{checkpoint: list[i], commit: of, before: list[i].CreatedAt}
		if of.Time.Before(ch.before) { // a commit that was squashed is younger than its work
			ch.before = of.Time
		}
		if err := ch.find(c, events); err != nil {
			return fmt.Errorf("%s: commit %.10s: %w", path, of.ID, err)
		}
		if err := do(c, &ch); err != nil {
			return err
		}
	}
	return nil
}

// keptBudgets returns the first budget of each checkpoint. It is a number of the project, so that a change of slices
// moves no budget.
func (e *Evaluation) keptBudgets() (budgets map[string]int, err error) {
	return budgets, readJSON(filepath.Join(e.own, budgetsFile), &budgets)
}

// budgetsFile has the tokens that the slice under default@1 took before each commit, by checkpoint.
const budgetsFile = "budgets.json"

// keepBudgets writes the first budget of each checkpoint, of both halves.
func (e *Evaluation) keepBudgets(ctx context.Context) error {
	budgets := map[string]int{}
	err := e.changes(ctx, func(int) bool { return true }, func(c *Corpus, ch *change) error {
		ids, err := slicing("default@1")(ctx, c, ch.q)
		budgets[ch.ID] = c.cost(ids)
		return err
	})
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(budgets, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(e.own, budgetsFile), append(text, '\n'), 0o666)
}

// find finds the anchor and the gold.
func (ch *change) find(c *Corpus, events []event) error {
	at, err := dag.TimeOf(ch.before)
	if err != nil {
		return err
	}
	var anchor *Turn
	for i := range c.Turns {
		if t := &c.Turns[i]; t.CreatedAt <= at && (anchor == nil || t.CreatedAt >= anchor.CreatedAt) {
			anchor = t
		}
	}
	if anchor == nil {
		return fmt.Errorf("no turn is before %s", ch.before)
	}
	ch.q = Question{Text: message(ch.commit.Text), Anchor: anchor.ID, AsOf: anchor.Seq}
	ch.gold = map[string]map[dag.TurnID]bool{prompted: {}, edited: {}, readFile: {}, result: {}, holding: {}}
	if err := ch.outdate(events); err != nil {
		return err
	}
	var asking []*event // the prompt that is worked for, and what was said since
	for i := range events {
		e := &events[i]
		if e.at.After(ch.before) {
			continue
		}
		if e.kind == prompted {
			if !e.aside {
				asking = nil
			}
			asking = append(asking, e)
			continue
		}
		if e.kind == refused || e.kind == confirms || !touches(ch.Files, e) {
			continue
		}
		gold := []*event{e}
		if e.kind == edited {
			gold = append(gold, asking...)
		}
		for _, g := range gold {
			if err := ch.add(c, g); err != nil {
				return err
			}
		}
	}
	return nil
}

// outdate finds the turns that no longer hold before the commit: edits that failed or were refused, what edits returned, and what was read of a file that was edited later.
func (ch *change) outdate(events []event) error {
	ch.stale = map[dag.TurnID]bool{}
	last := map[string]int{} // by file: the place of the last edit
	for i := range events {
		if e := &events[i]; e.kind == edited && !e.at.After(ch.before) {
			last[e.file] = i
		}
	}
	for i := range events {
		e := &events[i]
		edit, later := last[e.file]
		outdated := e.kind == result && later && i < edit
		if e.at.After(ch.before) || e.kind != refused && e.kind != confirms && !outdated {
			continue
		}
		id, err := dag.ParseTurnID(e.uuid)
		if err != nil {
			return err
		}
		ch.stale[id] = true
	}
	return nil
}

// touches reports whether an event is of one of some files, which are named from the root of the repository. The session works in the root or below it.
func touches(files []string, e *event) bool {
	return slices.ContainsFunc(files, func(file string) bool {
		root, ok := strings.CutSuffix(e.file, "/"+file)
		return ok && (e.cwd == root || strings.HasPrefix(e.cwd, root+"/"))
	})
}

// add counts the turn of an event as gold.
func (ch *change) add(c *Corpus, e *event) error {
	if e.uuid == "" {
		for i := range c.Turns {
			if t := &c.Turns[i]; t.Content == e.text && t.Seq <= ch.q.AsOf {
				ch.gold[e.kind][t.ID] = true
				return nil
			}
		}
		return fmt.Errorf("the queued prompt %.40q is no turn", e.text)
	}
	id, err := dag.ParseTurnID(e.uuid)
	if err != nil {
		return err
	}
	at, ok := c.places[id]
	if !ok {
		return fmt.Errorf("record %s is no turn", e.uuid)
	}
	if c.Turns[at].Seq <= ch.q.AsOf {
		ch.gold[e.kind][id] = true
		if e.kind == result && !ch.stale[id] {
			ch.gold[holding][id] = true
		}
	}
	return nil
}

// message returns a commit's message without its trailers.
func message(text string) string {
	lines := strings.Split(text, "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool {
		return strings.HasPrefix(l, "Entire-Checkpoint:") || strings.HasPrefix(l, "Co-Authored-By:") || strings.HasPrefix(l, "Co-authored-by:")
	})
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// sessionRows are the rows of the table for each kind of gold. Budget 0 stands for the budget of the checkpoint. Gold is limited to turns that
// are more than past turns before the anchor.
var sessionRows = []struct {
	name         string
	budget, past int
}{
	{"within the slice's tokens", 0, 0},
	{"within 8000 tokens", 8_000, 0},
	{"within 32000 tokens", 32_000, 0},
	{"of more than 64 turns ago within 8000 tokens", 8_000, 64},
	{"of more than 256 turns ago within 8000 tokens", 8_000, 256},
}

// sessionKinds are the kinds of gold.
var sessionKinds = []struct{ kind, name string }{{prompted, "prompts"}, {edited, "edits"}, {readFile, "reads"}, {result, "what was read"}, {holding, "what was read and holds"}}

// The kinds that are found out per commit: results that still hold before it, and all turns that do not.
const holding, stale = "holding", "stale"

// staleBudgets are the budgets of the prompts in which the share of what no longer holds is measured.
var staleBudgets = []int{3_000, 8_000}

// sessionScores has the recall of each row, kind and strategy.
type sessionScores map[sessionKey]*scores

type sessionKey struct {
	row  int // in sessionRows; of the kind stale, in staleBudgets
	kind string
}

// ask asks all strategies before one commit.
func (s sessionScores) ask(ctx context.Context, e *Evaluation, c *Corpus, ch *change, budget int) error {
	asked := e.ask(ctx, c, ch.q)
	for n, tokens := range staleBudgets {
		if err := s.of(n, stale).add(asked, asked.share(tokens, ch.stale)); err != nil {
			return err
		}
	}
	for n, row := range sessionRows {
		for _, kind := range sessionKinds {
			gold := c.past(ch.gold[kind.kind], ch.q.Anchor, row.past)
			if len(gold) == 0 {
				continue
			}
			if err := s.of(n, kind.kind).add(asked, asked.within(cmp.Or(row.budget, budget), gold)); err != nil {
				return err
			}
		}
	}
	return nil
}

// of returns the scores of a row and a kind, which may be new.
func (s sessionScores) of(row int, kind string) *scores {
	key := sessionKey{row, kind}
	if s[key] == nil {
		s[key] = &scores{} // nothing to find, which is not absent
	}
	return s[key]
}

// past returns those of a set of turns that are more than some turns before an anchor.
func (c *Corpus) past(set map[dag.TurnID]bool, anchor dag.TurnID, turns int) map[dag.TurnID]bool {
	of := map[dag.TurnID]bool{}
	for id := range set {
		if turns == 0 || c.places[anchor]-c.places[id] > turns {
			of[id] = true
		}
	}
	return of
}

func (s sessionScores) rows(e *Evaluation) {
	for n, row := range sessionRows {
		for _, kind := range sessionKinds {
			e.row("sessions", kind.name+" "+row.name, ofContext, s.of(n, kind.kind))
		}
	}
	for n, tokens := range staleBudgets {
		e.row("sessions", fmt.Sprintf("share of a prompt of %d tokens that no longer holds", tokens), "", s.of(n, stale))
	}
}

// readLines reads a file of JSON lines.
func readLines[T any](path string) ([]T, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []T
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		var one T
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		all = append(all, one)
	}
	return all, lines.Err()
}
