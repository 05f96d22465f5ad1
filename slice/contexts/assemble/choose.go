package assemble

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/contexts/overlap"
	"github.com/graphkernel/graphkernel/store"
)

// gathered are the candidates in the order of bundles: beliefs, facts, turns.
type gathered struct {
	all   []contexts.Candidate
	turns []*gatheredTurn
}

// sorted returns the candidates of all sources, sorted.
func (g *gatherer) sorted() (in gathered) {
	in.all = make([]contexts.Candidate, 0, len(g.beliefs.found)+len(g.facts.found)+len(g.turns.found))
	for _, address := range slices.Sorted(maps.Keys(g.beliefs.found)) {
		in.all = append(in.all, *g.beliefs.found[address])
	}
	for _, id := range slices.SortedFunc(maps.Keys(g.facts.found), func(a, b knowledge.ID) int { return cmp.Compare(a.String(), b.String()) }) {
		in.all = append(in.all, *g.facts.found[id])
	}
	for _, t := range g.turns.found {
		if t.From != [contexts.Sources]bool{} {
			in.turns = append(in.turns, t)
		}
	}
	slices.SortFunc(in.turns, func(a, b *gatheredTurn) int { return a.id.Compare(b.id) })
	for _, t := range in.turns {
		in.all = append(in.all, t.Candidate)
	}
	return in
}

// turn returns the turn with the index of a candidate; nil if the candidate is not a turn.
func (in *gathered) turn(i int) *gatheredTurn {
	if i -= len(in.all) - len(in.turns); i >= 0 {
		return in.turns[i]
	}
	return nil
}

// overlaps compares the turns among the candidates with one another.
func (in *gathered) overlaps() []contexts.Overlap {
	terms := make([][]int32, len(in.all))
	for i := range terms {
		if t := in.turn(i); t != nil {
			terms[i] = t.terms
		}
	}
	return overlap.Compare(terms)
}

// choose selects from the candidates, and reads the texts of the selected turns.
func (g *gatherer) choose(ctx context.Context) (c contexts.Choice, err error) {
	if g.asked.Counted() {
		if err := g.distinct(ctx); err != nil {
			return c, err
		}
	}
	in := g.sorted()
	c.Candidates, c.Statistics = in.all, g.turns.took
	if g.compares() {
		c.Overlaps = in.overlaps()
	}
	if g.asked.Counted() {
		return c, g.look(ctx, &in, &c)
	}
	if err := owed(c.Candidates, g.asked.Budget); err != nil {
		return c, err
	}
	var turns []*gatheredTurn
	for _, i := range contexts.Select(g.policy, g.asked.Budget, c.Candidates, c.Overlaps) {
		if t := in.turn(i); t != nil {
			turns = append(turns, t)
		} else if err := g.take(&c, &c.Candidates[i]); err != nil {
			return c, err
		}
	}
	chosen, err := g.texts(ctx, turns)
	for _, t := range chosen {
		c.Turns = append(c.Turns, *t)
	}
	return c, err
}

// distinct removes repeated turns: of an author's turns of role assistant with equal texts in a conversation, such as repeated tool calls, only the newest is kept.
// Turns of different conversations are not compared, so an erasure affects only its own conversation.
func (g *gatherer) distinct(ctx context.Context) error {
	type alike struct {
		conversation dag.ConversationID
		print        uint64
	}
	groups := map[alike][]*gatheredTurn{}
	for _, t := range g.turns.found {
		if t.byAgent && t.From != [contexts.Sources]bool{} {
			key := alike{t.conversation, t.print}
			groups[key] = append(groups[key], t)
		}
	}
	var of []*gatheredTurn
	for _, group := range groups {
		if len(group) > 1 {
			of = append(of, group...)
		}
	}
	if len(of) == 0 {
		return nil
	}
	slices.SortFunc(of, func(a, b *gatheredTurn) int { return cmp.Or(cmp.Compare(b.Seq, a.Seq), a.id.Compare(b.id)) }) // the newest first
	texts, err := g.texts(ctx, of)
	if err != nil {
		return err
	}
	type said struct {
		conversation dag.ConversationID
		author, text string
	}
	seen := map[said]bool{}
	for i, t := range of {
		key := said{t.conversation, texts[i].Body.Author, texts[i].Body.Content}
		if seen[key] {
			delete(g.turns.found, t.id)
		}
		seen[key] = true
	}
	return nil
}

// take adds a fact or a belief to a choice.
func (g *gatherer) take(c *contexts.Choice, chosen *contexts.Candidate) error {
	if chosen.Kind == contexts.KindBelief {
		c.Beliefs = append(c.Beliefs, *g.beliefs.of[chosen.ID])
		return nil
	}
	id, err := dag.ParseDigest(chosen.ID)
	if err == nil {
		c.Facts = append(c.Facts, g.facts.acts[id].Act)
	}
	return err
}

// texts reads the texts of turns.
func (g *gatherer) texts(ctx context.Context, of []*gatheredTurn) ([]*contexts.ChosenTurn, error) {
	turns, places := make([]dag.TurnID, len(of)), make(store.Places, len(of))
	for i, t := range of {
		turns[i], places[i] = t.id, store.Place{Conversation: t.conversation, Seq: t.Seq}
	}
	return g.epoch.Texts(ctx, g.tenant, g.head, turns, places)
}

// owed refuses a budget that is too small for the mandatory candidates, since these are never left out.
func owed(candidates []contexts.Candidate, budget int) error {
	need := contexts.Owed(candidates)
	if need <= budget {
		return nil
	}
	return fmt.Errorf("%w: the constraints, which every context includes, take %d tokens, and the budget is %d%s; raise the budget, or name only the spaces that you need",
		contexts.ErrRequest, need, budget, mandatory(candidates))
}

// mandatory lists the candidates that are never left out, with their costs in tokens.
func mandatory(candidates []contexts.Candidate) string {
	const most = 8
	var names []string
	for i := range candidates {
		if c := &candidates[i]; c.Mandatory() {
			names = append(names, fmt.Sprintf("%s (%d)", c.ID, max(c.Cost, c.Block)))
		}
	}
	rest := ""
	if len(names) > most {
		names, rest = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	if len(names) == 0 {
		return ""
	}
	return ": " + strings.Join(names, ", ") + rest
}
