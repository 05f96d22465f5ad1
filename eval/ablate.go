package main

import (
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// A part is something that a policy has, and that a policy without it lacks.
type part[P any] struct {
	name string
	drop func(*P)
}

// partsOfSearch are the parts of the search that people get.
var partsOfSearch = []part[retrieval.Policy]{
	{"stems and stop words", func(p *retrieval.Policy) { p.Analyzer = analysis.None.String() }},
	{"k1 .8, b .45 but 1.2, .75", func(p *retrieval.Policy) { p.Words.K1, p.Words.B = 1_200_000, 750_000 }},
	{"neighbours", func(p *retrieval.Policy) { p.Reach = 0 }},
	{"reach 5 but 3", func(p *retrieval.Policy) { p.Reach = 3 }},
	{"people: neighbours of all", func(p *retrieval.Policy) { p.People = false }},
	{"names by use", func(p *retrieval.Policy) { p.NamesByUse = false }},
	{"near terms", func(p *retrieval.Policy) { p.NearTerms = false }},
	{"floor", func(p *retrieval.Policy) { p.Floor = 0 }},
	{"author", func(p *retrieval.Policy) { p.Author = 0 }},
	{"dates", func(p *retrieval.Policy) { p.Dates.Weight = 0 }},
	{"when", func(p *retrieval.Policy) { p.When = 0 }},
	{"conversation", func(p *retrieval.Policy) { p.Conversation.Weight = 0 }},
	{"vectors", func(p *retrieval.Policy) {
		p.Dense = retrieval.Dense{Embedder: retrieval.NoEmbedder}
	}},
}

// partsOfContext are the parts of the default policy for contexts.
var partsOfContext = []part[contexts.Policy]{
	{"calls and results", func(p *contexts.Policy) { p.Quotas[contexts.FromCalls] = 0 }},
	{"calls", func(p *contexts.Policy) { p.Weights[contexts.FeatureCall] = 0 }},
	{"results", func(p *contexts.Policy) { p.Weights[contexts.FeatureResult] = 0 }},
	{"prompts", func(p *contexts.Policy) { p.Quotas[contexts.FromPrompts] = 0 }},
	{"recent", func(p *contexts.Policy) { p.Quotas[contexts.FromRecent] = 0 }},
	{"search", func(p *contexts.Policy) { p.Quotas[contexts.FromSearch] = 0 }},
	{"find@2 but recall@1", func(p *contexts.Policy) { p.Search = retrieval.PolicyID }},
	{"superseded", func(p *contexts.Policy) { p.Weights[contexts.FeatureSuperseded] = 0 }},
	{"length", func(p *contexts.Policy) { p.Weights[contexts.FeatureLength] = 0 }},
	{"cost", func(p *contexts.Policy) { p.Cost = 0 }},
	{"cost 1.75 but 3", func(p *contexts.Policy) { p.Cost = 3 * dag.One }},
	{"slice, with it", func(p *contexts.Policy) {
		p.Quotas[contexts.FromSlice], p.Weights[contexts.FeatureSlice] = contexts.LimitQuota, dag.One
	}},
}

// ablations returns strategies that ask for the search or the context of the default policy, whole and without one part of the policy each.
func ablations(of string) ([]Strategy, error) {
	switch of {
	case "search":
		return without("search", retrieval.FindPolicy(), partsOfSearch, func(p retrieval.Policy) Strategy { return Strategy{Choose: searchingUnder(p)} }), nil
	case "context":
		return without("context", contexts.Default(), partsOfContext, func(p contexts.Policy) Strategy { return Strategy{Choose: assembling(p), Sized: true} }), nil
	}
	return nil, fmt.Errorf("-ablate %q: want search or context", of)
}

// without returns a strategy, and the strategy without each part of its policy.
func without[P any](name string, whole P, parts []part[P], strategy func(P) Strategy) []Strategy {
	first := strategy(whole)
	first.Name = name
	all := []Strategy{first}
	for i := range parts {
		p := whole
		parts[i].drop(&p)
		s := strategy(p)
		s.Name = "without " + parts[i].name
		all = append(all, s)
	}
	return all
}

// searchingUnder asks the kernel's search under parameters that it registers first.
func searchingUnder(p retrieval.Policy) func(context.Context, *Corpus, Question) ([]dag.TurnID, error) {
	digest := p.Hash()
	id := policy.ID("ablated-" + digest.String()[:16] + "@1")
	return func(ctx context.Context, c *Corpus, q Question) ([]dag.TurnID, error) {
		registered, err := policy.Bind(id, p)
		if err != nil {
			return nil, err
		}
		if err := c.kernel.Policies().Register(ctx, c.tenant, registered); err != nil {
			return nil, err
		}
		return search(ctx, c, q, id)
	}
}
