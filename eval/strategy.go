package main

import (
	"context"
	"errors"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/find"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// A Question is what a strategy is asked.
type Question struct {
	Text   string     // the words that turns are wanted for
	Anchor dag.TurnID // the turn after which the question is asked; the zero id: it is asked from nowhere
	AsOf   dag.Seq    // the number of the last turn of the view
	Budget int        // tokens; 0 unless the strategy is Sized
}

// A Strategy chooses turns of a corpus. Each is a column of the table.
type Strategy struct {
	Name string

	// Choose returns the turns that the strategy would show, the most wanted first, each once. Those
	// that do not fit into the budget are skipped, so a set that fits may come in any order.
	Choose func(ctx context.Context, c *Corpus, q Question) ([]dag.TurnID, error)

	Policy   policy.ID // of a context or a search of the kernel; "" if it is neither
	Simple   bool      // it is a simple rule
	Sized    bool      // what it chooses depends on the budget, so it is asked again for each
	Anchored bool      // it needs an anchor; a question without one has no figure for it
	Facts    bool      // it needs facts; a corpus without them has no figure for it
}

// strategies are the columns of the table.
var strategies = []Strategy{
	{Name: "last turns", Choose: recency, Simple: true},
	{Name: "BM25", Choose: plainBM25, Simple: true},
	{Name: "prompts + last", Choose: ordered(promptsAndLast), Simple: true},
	{Name: "prompts + own calls + rest", Choose: ordered(promptsAndCalls), Simple: true},
	{Name: "files of the task", Choose: ordered(filesOfTask), Simple: true},
	{Name: "slice default@1", Choose: slicing("default@1"), Anchored: true},
	{Name: "slice default@2", Choose: slicing("default@2"), Anchored: true},
	{Name: "slice default@3", Choose: slicing("default@3"), Anchored: true},
	searched("search", retrieval.PolicyID),
	searched("search + vectors", retrieval.DensePolicyID),
	searched("search "+string(retrieval.FindV1ID), retrieval.FindV1ID),
	searched("search "+string(retrieval.FindPolicyID), retrieval.FindPolicyID),
	assembled(contexts.DefaultV1ID, contexts.DefaultV1()),
	assembled(contexts.DefaultID, contexts.Default()),
	{Name: "facts", Choose: walk, Facts: true},
	{Name: "search + facts", Choose: both, Facts: true},
}

// recency prefers the last turns.
func recency(_ context.Context, c *Corpus, q Question) ([]dag.TurnID, error) {
	var ids []dag.TurnID
	for _, t := range slices.Backward(c.until(q.AsOf)) {
		ids = append(ids, t.ID)
	}
	return ids, nil
}

// slicing returns the slice around the anchor under a policy, in the order in which the policy chose.
func slicing(id policy.ID) func(context.Context, *Corpus, Question) ([]dag.TurnID, error) {
	return func(ctx context.Context, c *Corpus, q Question) ([]dag.TurnID, error) {
		s, err := c.kernel.Slices().Preview(ctx, c.tenant, kernel.Request{Anchor: q.Anchor, Policy: id, AsOf: q.AsOf})
		if err != nil {
			return nil, err
		}
		ids := make([]dag.TurnID, len(s.Picked))
		for i, at := range s.Picked {
			ids[i] = s.Turns[at].ID
		}
		return ids, nil
	}
}

// searched returns the strategy of the kernel's search under a policy.
func searched(name string, id policy.ID) Strategy {
	return Strategy{Name: name, Choose: searching(id), Policy: id}
}

// assembled returns the strategy of contexts under the parameters of a policy.
func assembled(id policy.ID, p contexts.Policy) Strategy {
	return Strategy{Name: string(id), Choose: assembling(p), Policy: id, Sized: true}
}

// searching asks the kernel's search under a policy.
func searching(id policy.ID) func(context.Context, *Corpus, Question) ([]dag.TurnID, error) {
	return func(ctx context.Context, c *Corpus, q Question) ([]dag.TurnID, error) {
		return search(ctx, c, q, id)
	}
}

func search(ctx context.Context, c *Corpus, q Question, id policy.ID) ([]dag.TurnID, error) {
	found, err := c.kernel.Turns().Search(ctx, c.tenant, find.Request{Policy: id, Query: retrieval.Query{Text: q.Text, AsOf: q.AsOf, Limit: retrieval.LimitHits}})
	if errors.Is(err, find.ErrNoWords) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ids := make([]dag.TurnID, len(found.Hits))
	for i := range found.Hits {
		ids[i] = found.Hits[i].Turn.ID
	}
	return ids, nil
}

// assembling returns the turns of a context under a policy with room for any budget, in the order in which they were chosen.
func assembling(p contexts.Policy) func(context.Context, *Corpus, Question) ([]dag.TurnID, error) {
	p.Budget = contexts.LimitBudget
	id := policy.ID("eval-" + p.Hash().String()[:8] + "@1")
	return func(ctx context.Context, c *Corpus, q Question) ([]dag.TurnID, error) {
		registered, err := policy.Bind(id, p)
		if err != nil {
			return nil, err
		}
		if err := c.kernel.Policies().Register(ctx, c.tenant, registered); err != nil {
			return nil, err
		}
		request := api.ContextRequest{Task: q.Text, Policy: id, AsOf: q.AsOf, Budget: q.Budget}
		if q.Anchor != (dag.TurnID{}) {
			request.Anchor = q.Anchor.String()
		}
		b, err := c.kernel.Contexts().Preview(ctx, c.tenant, request)
		if err != nil {
			return nil, err
		}
		var ids []dag.TurnID
		for _, i := range b.Order() {
			if b.Candidates[i].Kind != contexts.KindTurn {
				continue
			}
			turn, err := dag.ParseTurnID(b.Candidates[i].ID)
			if err != nil {
				return nil, err
			}
			ids = append(ids, turn)
		}
		return ids, nil
	}
}

// both takes the turns of search and those of facts by turns.
func both(ctx context.Context, c *Corpus, q Question) ([]dag.TurnID, error) {
	byWords, err := search(ctx, c, q, retrieval.PolicyID)
	if err != nil {
		return nil, err
	}
	byFacts, err := walk(ctx, c, q)
	if err != nil {
		return nil, err
	}
	return byTurns(byWords, byFacts), nil
}

// byTurns returns the elements of two lists, the first of each, then the second of each, without repetitions.
func byTurns(a, b []dag.TurnID) []dag.TurnID {
	var ids []dag.TurnID
	for i := range max(len(a), len(b)) {
		for _, list := range [...][]dag.TurnID{a, b} {
			if i < len(list) {
				ids = append(ids, list[i])
			}
		}
	}
	return distinct(ids)
}

// distinct drops repetitions, and keeps the order.
func distinct(ids []dag.TurnID) []dag.TurnID {
	seen := make(map[dag.TurnID]bool, len(ids))
	return slices.DeleteFunc(ids, func(id dag.TurnID) bool {
		again := seen[id]
		seen[id] = true
		return again
	})
}

// pack returns the turns that fit into a prompt of a budget of tokens, in the order of preference; one that does not fit is skipped. The prompt is that of a context in
// markdown, headings and markup included, whatever chose the turns.
func (c *Corpus) pack(ids []dag.TurnID, budget int) map[dag.TurnID]bool {
	l := layout()
	budget -= l.Frame()
	packed := map[dag.TurnID]bool{}
	for _, id := range ids {
		t := c.turn(id)
		if contexts.Tokens(t.Content) > budget { // as in a context
			continue
		}
		p := t.piece()
		if cost := l.Block(p); cost <= budget && !packed[id] {
			packed[id] = true
			l.Add(p)
			budget -= cost
		}
	}
	return packed
}
