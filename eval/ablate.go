package main

import (
	"context"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
)

// ablations are the search, the search without one part of its policy each, and with what its policy leaves out.
func ablations() []Strategy {
	all := []Strategy{{Name: "search", Choose: searching(retrieval.PolicyID)}}
	for _, a := range []struct {
		name   string
		change func(*retrieval.Policy)
	}{
		{"stems and stop words", func(p *retrieval.Policy) { p.Analyzer = analysis.None.String() }},
		{"k1 .9, b .4 but 1.2, .75", func(p *retrieval.Policy) { p.Words.K1, p.Words.B = 1_200_000, 750_000 }},
		{"neighbours", func(p *retrieval.Policy) { p.Reach = 0 }},
		{"author", func(p *retrieval.Policy) { p.Author = 0 }},
		{"dates", func(p *retrieval.Policy) { p.Dates.Weight = 0 }},
		{"when", func(p *retrieval.Policy) { p.When = 0 }},
		{"conversation", func(p *retrieval.Policy) { p.Conversation.Weight = 0 }},
	} {
		p := retrieval.DefaultPolicy()
		a.change(&p)
		all = append(all, Strategy{Name: "without " + a.name, Choose: searchingUnder(p)})
	}
	for _, a := range []struct {
		name   string
		change func(*retrieval.Policy)
	}{
		{"vectors", func(p *retrieval.Policy) {}},
		{"vectors, rrf", func(p *retrieval.Policy) { p.Fusion.Method, p.Dense.Weight = retrieval.FusionRRF, dag.One }},
		{"vectors, combmnz", func(p *retrieval.Policy) { p.Fusion.Method, p.Dense.Weight = retrieval.FusionCombMNZ, dag.One }},
		{"vectors, interleaved", func(p *retrieval.Policy) { p.Fusion.Method = retrieval.FusionInterleave }},
		{"vectors, mmr", func(p *retrieval.Policy) {
			p.Rerank.Method, p.Rerank.Weight, p.MaxHits = retrieval.RerankMMR, 300_000, 100
		}},
	} {
		p := retrieval.DensePolicy()
		a.change(&p)
		all = append(all, Strategy{Name: "with " + a.name, Choose: searchingUnder(p)})
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
