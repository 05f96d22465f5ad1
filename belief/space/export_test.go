package space

import (
	"context"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
)

// A BeliefImpact is an impact with the records that it is read from.
type BeliefImpact = impact

// ImpactOf is Impact with the records that it is read from.
func (k Catalog) ImpactOf(ctx context.Context, tenant dag.Tenant, a belief.Address, depth int) (*BeliefImpact, error) {
	return k.impact(ctx, tenant, a, depth)
}

// ItemsNow is Items with the revisions.
func (k Catalog) ItemsNow(ctx context.Context, tenant dag.Tenant, space belief.Space, after string, limit int, asOf dag.Seq) ([]journal.ItemNow, error) {
	return k.items(ctx, tenant, space, after, limit, asOf)
}

// KeepLinks sets how many bytes the room keeps of the links between beliefs.
func KeepLinks(k Beliefs, most int) {
	_ = k.View.kernel.Reading(func(e Epoch) error {
		kept := e.Kept()
		kept.links = newWebs(kept.store, most)
		return nil
	})
}
