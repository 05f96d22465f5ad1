package kernel

import (
	"context"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/projection"
)

// Occupy takes all places of the turnstile that slices pass, and returns what leaves them.
func (k *Kernel) Occupy() func() {
	for range cap(k.turnstile) {
		k.turnstile <- struct{}{}
	}
	return func() {
		for range cap(k.turnstile) {
			<-k.turnstile
		}
	}
}

// Walk is Traverse with the edges themselves.
func (k Facts) Walk(ctx context.Context, tenant dag.Tenant, in api.TraverseRequest) (*projection.Answer, error) {
	return k.traverse(ctx, tenant, in)
}

// EvidenceOf is the evidence of a fact as a listing shows it.
func EvidenceOf(list []knowledge.Recorded) []api.FactEvidence { return evidenceOf(list) }
