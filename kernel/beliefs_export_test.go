package kernel

import (
	"context"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
)

// An Operation is a request with its operator.
type Operation struct {
	Operator journal.Operator
	api.BeliefRequest
}

// Operate does an operation, and answers as the journal does.
func (k Beliefs) Operate(ctx context.Context, tenant dag.Tenant, in Operation) (*journal.Outcome, error) {
	return k.operate(ctx, tenant, in.Operator, &in.BeliefRequest)
}

// Act does an act on an item, and answers as the journal does.
func (k Beliefs) Act(ctx context.Context, tenant dag.Tenant, a journal.Act) (*journal.Acted, error) {
	return k.act(ctx, tenant, a)
}

// A BeliefImpact is an impact with the records that it is read from.
type BeliefImpact = impact

// ImpactOf is Impact with the records that it is read from.
func (k Beliefs) ImpactOf(ctx context.Context, tenant dag.Tenant, a belief.Address, depth int) (*BeliefImpact, error) {
	return k.impact(ctx, tenant, a, depth)
}

// ItemsNow is Items with the revisions.
func (k Beliefs) ItemsNow(ctx context.Context, tenant dag.Tenant, space belief.Space, after string, limit int, asOf dag.Seq) ([]journal.ItemNow, error) {
	return k.items(ctx, tenant, space, after, limit, asOf)
}
