package kernel

import (
	"context"

	"github.com/graphkernel/graphkernel/api"
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
