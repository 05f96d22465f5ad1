package view

import (
	"context"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
)

func beliefRules(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.RulesQuery) (api.BeliefBase, error) {
	b, err := k.Beliefs().Rules(ctx, tenant, in.Space, in.AsOf)
	if err != nil {
		return api.BeliefBase{}, err
	}
	return api.BeliefBase{AsOf: b.AsOf, Space: in.Space, Policy: policy.ID(b.Policy), Statements: held(b)}, nil
}
