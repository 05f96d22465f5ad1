package view

import (
	"context"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
)

// Prove has evidence of a belief made.
func Prove(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.BeliefProofRequest) (*kernel.IssuedBelief, error) {
	return k.Beliefs().Prove(ctx, tenant, kernel.ProofRequest{
		Space: in.Space, Literal: in.BeliefStatement, ValidAt: in.ValidAt, AsOf: in.AsOf,
	})
}
