package fsck

import (
	"context"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/factslice"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/store"
)

// recutFacts cuts an issued slice of facts again.
func (c *checker) recutFacts(where string, i *store.Issued, registry policy.Registry) error {
	q, err := factslice.ParseQuestion(i.Question)
	if err != nil {
		c.find(where, "question", "%v", err)
		return nil
	}
	p, err := registry.Get(i.Provenance.PolicyID)
	if err != nil {
		c.find(where, "policy", "%s is not registered", i.Provenance.PolicyID)
		return nil
	}
	b, err := c.cutFacts(q, p, i.AsOf)
	if err != nil {
		return c.cannot(where, "slice", err)
	}
	c.counts.Recut++
	c.compare(where, &i.Provenance, &b.Provenance)
	return nil
}

func (c *checker) cutFacts(q factslice.Question, p policy.Registered, asOf dag.Seq) (*factslice.Bundle, error) {
	params, err := p.Facts()
	if err != nil {
		return nil, err
	}
	acts, err := c.s.Aliases(c.ctx, c.tenant, 0)
	if err != nil {
		return nil, err
	}
	aliases, err := knowledge.AliasesOf(nil, acts, asOf)
	if err != nil {
		return nil, err
	}
	answer, err := knowledge.Traverse(c.ctx, edgesOf{c}, aliases, q.Query(&params, asOf))
	if err != nil {
		return nil, err
	}
	known, err := store.KnownTo(c.ctx, c.s, c.tenant, aliases, &answer)
	if err != nil {
		return nil, err
	}
	return factslice.Cut(q, p, asOf, &answer, known)
}

// edgesOf is what the store has of edges, as a knowledge.Graph.
type edgesOf struct{ c *checker }

func (e edgesOf) Edges(ctx context.Context, asks []knowledge.Ask) ([][]knowledge.Edge, error) {
	return e.c.s.Edges(ctx, e.c.tenant, asks)
}
