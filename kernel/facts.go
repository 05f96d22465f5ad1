package kernel

import (
	"context"

	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/knowledge/query"
	"github.com/graphkernel/graphkernel/projection"
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
	_, err := steady(k.engine, func(c *cache) (struct{}, error) { return struct{}{}, fn(askerEpoch{c}) })
	return err
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
