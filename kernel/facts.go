package kernel

import (
	"context"

	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/knowledge/query"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/token"
)

// Facts is the facet of facts, and of signed slices of facts.
type Facts struct {
	query.Facts
	*engine
}

// Facts returns the facet of facts.
func (k *Kernel) Facts() Facts { return k.facts() }

func (k *engine) facts() Facts { return Facts{query.New(asker{desk{k}}), k} }

// An asker implements [query.Kernel] with an engine.
type asker struct{ desk }

// Knowledge implements [query.Kernel].
func (k asker) Knowledge() knowledge.Base { return knowledge.Base{History: k.store} }

// Named implements [query.Kernel].
func (k asker) Named(ctx context.Context, tenant dag.Tenant, name string) (dag.TurnID, error) {
	return k.turns().Named(ctx, tenant, name)
}

// Reading implements [query.Kernel].
func (k asker) Reading(fn func(query.Epoch) error) error {
	return k.reading(func(c *cache) error { return fn(askerEpoch{c}) })
}

// An askerEpoch implements [query.Epoch].
type askerEpoch struct{ *cache }

// Facts implements [query.Epoch].
func (c askerEpoch) Facts(tenant dag.Tenant) *projection.TenantFacts {
	return c.tenants.Of(tenant).Facts
}

// Knowledge implements [query.Epoch].
func (c askerEpoch) Knowledge() knowledge.Base { return c.store.Knowledge() }

// Shows implements [query.Epoch].
func (c askerEpoch) Shows(ctx context.Context) func(source string) bool {
	s := space.ScopeOf(ctx)
	if s.Whole() {
		return nil
	}
	return s.Shows
}

// Still implements [query.Epoch].
func (c askerEpoch) Still() error { return c.store.Still() }

// Verify runs every check on the bytes of a bundle of facts. See
// [token.Verifier.VerifyFacts].
func (k Facts) Verify(bundle []byte) (token.AdmissibleFacts, token.Verdict) {
	return k.verifier.VerifyFacts(bundle)
}

// VerifyFor is Verify for one tenant, like [Slices.VerifyFor].
func (k Facts) VerifyFor(tenant dag.Tenant, bundle []byte) (token.AdmissibleFacts, token.Verdict) {
	return k.verifier.VerifyFactsFor(tenant, bundle)
}
