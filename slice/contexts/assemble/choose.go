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
	in := g.sorted()
	c.Candidates, c.Statistics = in.all, g.turns.took
	if g.compares() {
		c.Overlaps = in.overlaps()
	}
	if err := owed(c.Candidates, g.asked.Budget); err != nil {
		return c, err
	}
	var turns []dag.TurnID
	var places store.Places
	for _, i := range contexts.Select(g.policy, g.asked.Budget, c.Candidates, c.Overlaps) {
		switch chosen := &c.Candidates[i]; chosen.Kind {
		case contexts.KindTurn:
			t := in.turn(i)
			turns, places = append(turns, t.id), append(places, store.Place{Conversation: t.conversation, Seq: t.Seq})
		case contexts.KindFact:
			id, err := dag.ParseDigest(chosen.ID)
			if err != nil {
				return c, err
			}
			c.Facts = append(c.Facts, g.facts.acts[id].Act)
		case contexts.KindBelief:
			c.Beliefs = append(c.Beliefs, *g.beliefs.of[chosen.ID])
		}
	}
	chosen, err := g.epoch.Texts(ctx, g.tenant, g.head, turns, places)
	for _, t := range chosen {
		c.Turns = append(c.Turns, *t)
	}
	return c, err
}

// owed refuses a budget that is too small for the mandatory candidates, since these are never left out.
func owed(candidates []contexts.Candidate, budget int) error {
	need := contexts.Owed(candidates)
	if need <= budget {
		return nil
	}
	const most = 8
	var names []string
	for i := range candidates {
		if candidates[i].Mandatory() {
			names = append(names, fmt.Sprintf("%s (%d)", candidates[i].ID, candidates[i].Cost))
		}
	}
	rest := ""
	if len(names) > most {
		names, rest = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	return fmt.Errorf("%w: the constraints, which every context includes, take %d tokens, and the budget is %d: %s%s; raise the budget, or name only the spaces that you need",
		contexts.ErrRequest, need, budget, strings.Join(names, ", "), rest)
}
