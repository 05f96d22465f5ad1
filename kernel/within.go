package kernel

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/segments"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// held checks the boundary of a question, if there is one, and returns the as-of number of the question: asOf, or the number of the evidence if
// asOf is 0. A boundary of another tenant is ErrTenant; a boundary of evidence that was not verified is ErrNotAdmissible.
func held(tenant dag.Tenant, b *token.Boundary, asOf dag.Seq) (dag.Seq, error) {
	switch {
	case b == nil:
		return asOf, nil
	case !b.OK():
		return 0, ErrNotAdmissible
	case b.Tenant() != tenant:
		return 0, fmt.Errorf("the question is held within evidence of tenant %q, not %q: %w", b.Tenant(), tenant, ErrTenant)
	}
	return cmp.Or(asOf, b.AsOf()), nil
}

// ErrNotAdmissible is wrapped when a question is limited to evidence that was not verified. It wraps dag.ErrForm.
var ErrNotAdmissible = fmt.Errorf("%w: the question is to be held within evidence that is not admissible", dag.ErrForm)

// Boundary verifies a bundle of any kind, and returns the boundary that limits a question to the bundle. A bundle that is not admissible for
// the tenant is ErrNotAdmissible.
func (k Slices) Boundary(tenant dag.Tenant, bundle []byte) (*token.Boundary, error) {
	b, verdict := k.verifier.BoundaryFor(tenant, bundle)
	if !b.OK() {
		return nil, fmt.Errorf("%w: %s, %s", ErrNotAdmissible, verdict.Outcome, verdict.Reason)
	}
	return &b, nil
}

// hitsWithin searches only the turns of a boundary, as if there were no other turns.
func (c *cache) hitsWithin(ctx context.Context, b *token.Boundary, p *retrieval.Policy, q *retrieval.Query) ([]retrieval.Hit, error) {
	records, err := c.store.Turns(ctx, b.Tenant(), store.IDs(b.Turns()))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(records, func(x, y store.Record) int { return cmp.Compare(x.Seq, y.Seq) })
	turns := make([]retrieval.Turn, len(records))
	for i := range records {
		if turns[i], err = segments.TurnOf(&records[i]); err != nil {
			return nil, fmt.Errorf("%w: %w", store.ErrDamaged, err)
		}
	}
	return c.embedders.SearchAmong(ctx, turns, p, q)
}
