package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// An Evaluation asks strategies and gathers the rows of the table.
type Evaluation struct {
	instance   *Instance
	strategies []Strategy
	data       string // the folder of the data
	own        string // the folder of what the project itself keeps: budgets and questions
	dev        bool   // the half that may be tuned on, in place of the half that is reported
	rows       []row
}

// A row of the table. One without scores was not measured, since its data are absent.
type row struct {
	task, measure string
	of            policy.ID // what the row asks for: ofContext, ofSearch, or "" for neither
	scores        *scores
}

// A task is a part of the evaluation.
type task struct {
	name string
	run  func(ctx context.Context, e *Evaluation) error
}

// tasks are the parts, in the order of the table.
var tasks = []task{
	{"sessions", sessions},
	{"LoCoMo", locomo},
	{"QMSum", qmsum},
	{"chat", chats},
	{"recall", recollect},
	{"questions", questions},
}

// ErrAbsent is wrapped when data are absent.
var ErrAbsent = errors.New("absent")

// run does a task. If its data are absent its row says so, and the error too.
func (e *Evaluation) run(ctx context.Context, t task) error {
	err := t.run(ctx, e)
	if errors.Is(err, fs.ErrNotExist) {
		e.row(t.name, "", "", nil)
		return fmt.Errorf("%w: the data of %s; $GRAPHKERNEL_DATA or -data names their folder: %w", ErrAbsent, t.name, err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	return nil
}

func (e *Evaluation) row(task, measure string, of policy.ID, s *scores) {
	e.rows = append(e.rows, row{task, measure, of, s})
}

// answers are what the strategies choose for one question.
type answers struct {
	ctx   context.Context
	e     *Evaluation
	c     *Corpus
	q     Question
	lists map[int][]dag.TurnID // by strategy; those that are not Sized
}

func (e *Evaluation) ask(ctx context.Context, c *Corpus, q Question) *answers {
	return &answers{ctx, e, c, q, map[int][]dag.TurnID{}}
}

// chosen returns what a strategy chooses for a budget; 0 is none.
func (a *answers) chosen(n, budget int) ([]dag.TurnID, error) {
	s := &a.e.strategies[n]
	if list, ok := a.lists[n]; ok {
		return list, nil
	}
	q := a.q
	if s.Sized {
		q.Budget = budget
	}
	list, err := s.Choose(a.ctx, a.c, q)
	if err != nil {
		return nil, fmt.Errorf("%s: %.60q: %w", s.Name, q.Text, err)
	}
	if !s.Sized {
		a.lists[n] = list
	}
	return list, nil
}

// within returns the share of gold turns that a strategy chooses within a budget.
func (a *answers) within(budget int, gold map[dag.TurnID]bool) measure {
	return func(n int) (float64, error) {
		list, err := a.chosen(n, budget)
		if err != nil {
			return 0, err
		}
		return recall(a.c.firsts(a.c.pack(list, budget)), a.c.firsts(gold)), nil
	}
}

// share returns the share of the texts of a prompt, in tokens, that is in some turns; 0 if a strategy chooses nothing.
func (a *answers) share(budget int, of map[dag.TurnID]bool) measure {
	return func(n int) (float64, error) {
		list, err := a.chosen(n, budget)
		if err != nil {
			return 0, err
		}
		all, in := 0, 0
		for id := range a.c.pack(list, budget) {
			t := contexts.Tokens(a.c.turn(id).Content)
			all += t
			if of[id] {
				in += t
			}
		}
		if all == 0 {
			return 0, nil
		}
		return float64(in) / float64(all), nil
	}
}

// markup returns the share of the tokens of a prompt, of what a strategy chooses within a budget, that are not those of the turns' texts; 0 if it chooses nothing.
func (a *answers) markup(budget int) measure {
	return func(n int) (float64, error) {
		list, err := a.chosen(n, budget)
		if err != nil {
			return 0, err
		}
		packed := a.c.pack(list, budget)
		if len(packed) == 0 {
			return 0, nil
		}
		ids, texts := []dag.TurnID{}, 0
		for _, id := range list {
			if packed[id] {
				ids = append(ids, id)
				texts += contexts.Tokens(a.c.turn(id).Content)
				delete(packed, id)
			}
		}
		return 1 - float64(texts)/float64(a.c.cost(ids)), nil
	}
}

// among returns the share of gold turns among the first ones that a strategy chooses.
func (a *answers) among(first int, gold map[dag.TurnID]bool) measure {
	return func(n int) (float64, error) {
		list, err := a.chosen(n, 0)
		if err != nil {
			return 0, err
		}
		return recall(setOf(list[:min(first, len(list))]), gold), nil
	}
}

// A measure returns what a strategy reaches for one question, from 0 to 1.
type measure func(strategy int) (float64, error)

// whole is 1 where a measure is, and else 0.
func whole(m measure) measure {
	return func(n int) (float64, error) {
		got, err := m(n)
		if got < 1 {
			got = 0
		}
		return got, err
	}
}

func setOf(ids []dag.TurnID) map[dag.TurnID]bool {
	set := make(map[dag.TurnID]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// recall returns the share of gold turns that are in a set.
func recall(set, gold map[dag.TurnID]bool) float64 {
	found := 0
	for id := range gold {
		if set[id] {
			found++
		}
	}
	return float64(found) / float64(len(gold))
}

// scores are what the strategies reached for some questions.
type scores struct {
	questions int
	sums      map[int]float64 // by strategy; those that were asked
}

// add asks all strategies that can answer the question.
func (s *scores) add(a *answers, m measure) error {
	if s.sums == nil {
		s.sums = map[int]float64{}
	}
	s.questions++
	for n := range a.e.strategies {
		if by := &a.e.strategies[n]; by.Facts && a.c.facts == nil || by.Anchored && a.q.Anchor == (dag.TurnID{}) {
			continue
		}
		got, err := m(n)
		if err != nil {
			return err
		}
		s.sums[n] += got
	}
	return nil
}

// mean returns what a strategy reached on average, and whether it was asked.
func (s *scores) mean(n int) (float64, bool) {
	sum, ok := s.sums[n]
	return sum / float64(s.questions), ok
}

// table writes the rows as Markdown.
func (e *Evaluation) table(to io.Writer) error {
	var b strings.Builder
	b.WriteString("| task | measure | questions |")
	for i := range e.strategies {
		b.WriteString(" " + e.strategies[i].Name + " |")
	}
	b.WriteString("\n|" + strings.Repeat(" --- |", 3+len(e.strategies)) + "\n")
	for _, r := range e.rows {
		fmt.Fprintf(&b, "| %s | %s |", r.task, r.measure)
		if r.scores == nil {
			b.WriteString(strings.Repeat(" absent |", 1+len(e.strategies)) + "\n")
			continue
		}
		fmt.Fprintf(&b, " %d |", r.scores.questions)
		for n := range e.strategies {
			if mean, ok := r.scores.mean(n); ok {
				fmt.Fprintf(&b, " %.3f |", mean)
			} else {
				b.WriteString(" – |")
			}
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(to, b.String())
	return err
}

// sorted returns the keys of a map, ascending.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
