package kernel

import (
	"context"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/find"
	"github.com/graphkernel/graphkernel/store"
)

// A finder implements [find.Kernel] with an engine.
type finder struct{ desk }

// Rerankers implements [find.Kernel].
func (k finder) Rerankers() []find.Reranker { return k.config.Rerankers }

// Reading implements [find.Kernel].
func (k finder) Reading(fn func(find.Epoch) error) error {
	return k.reading(func(c *cache) error { return fn(finderEpoch{askerEpoch{c}}) })
}

// A finderEpoch implements [find.Epoch].
type finderEpoch struct{ askerEpoch }

// Head implements [find.Epoch].
func (c finderEpoch) Head(ctx context.Context, tenant dag.Tenant) (dag.Seq, error) {
	return c.store.Head(ctx, tenant)
}

// Words implements [find.Epoch].
func (c finderEpoch) Words(tenant dag.Tenant) *projection.TenantWords {
	return c.tenants.Of(tenant).Words
}

// Texts implements [find.Epoch].
func (c finderEpoch) Texts(tenant dag.Tenant) *projection.TenantTexts {
	return c.tenants.Of(tenant).Texts
}

// Standings implements [find.Epoch].
func (c finderEpoch) Standings(ctx context.Context, tenant dag.Tenant, asOf dag.Seq, places []store.Place) ([]dag.Standing, error) {
	return c.tenants.Of(tenant).Standings.Of(ctx, asOf, places)
}

// Conversation implements [find.Epoch].
func (c finderEpoch) Conversation(ctx context.Context, tenant dag.Tenant, conversation dag.ConversationID, asOf dag.Seq, fn func(dag.View)) error {
	_, err := c.graphs.View(ctx, tenant, conversation, asOf, nil, func(v dag.View, _ dag.Seq) error {
		fn(v.Until(asOf))
		return nil
	})
	return err
}

// SearchAmong implements [find.Epoch].
func (c finderEpoch) SearchAmong(ctx context.Context, turns []retrieval.Turn, p *retrieval.Policy, q *retrieval.Query) ([]retrieval.Hit, error) {
	return c.embedders.SearchAmong(ctx, turns, p, q)
}

// RestsOn implements [find.Epoch].
func (c finderEpoch) RestsOn(ctx context.Context, tenant dag.Tenant, of belief.Space, asOf dag.Seq) (map[dag.TurnID]bool, error) {
	return space.RestsOn(ctx, c.beliefs.Journal(), tenant, of, asOf)
}

// MakeIndex makes and stores the missing segments of the index of a tenant's texts: the segments of words,
// and of the vectors of the table that ships. It reads the texts of one segment at a time, and no request waits for it. Stored segments stay if MakeIndex ends early:
// the next call continues. Several processes may call it at once.
func (k Turns) MakeIndex(ctx context.Context, tenant dag.Tenant, how projection.Indexing) (projection.Indexed, error) {
	ctx, observed := k.observe(ctx, "make index")
	out, err := steady(k.engine, func(c *cache) (projection.Indexed, error) { return c.tenants.Of(tenant).Words.Make(ctx, how) })
	observed(err)
	return out, err
}

// KeepIndex makes the segments of the index of texts in the background, on one processor, until ctx ends. It begins with the given tenants, and with check it first
// checks their stored segments. Then it continues with each tenant for which this kernel admits or erases turns, or whose index a search finds
// incomplete. failed is called with each error; KeepIndex tries the segments again when the tenant has grown. It must be called only once for a kernel.
func (k Turns) KeepIndex(ctx context.Context, tenants []dag.Tenant, check bool, failed func(dag.Tenant, error)) {
	k.indexing.Keep(ctx, tenants, check, func(tenant dag.Tenant, how projection.Indexing) (projection.Indexed, error) {
		return k.MakeIndex(ctx, tenant, how)
	}, failed)
}
