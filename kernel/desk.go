package kernel

import (
	"cmp"
	"context"
	"errors"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/standing/census"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// A desk implements [space.Kernel] with an engine. The adapters for other packages embed it for the methods that every operation needs.
type desk struct{ *engine }

// Now implements [space.Kernel].
func (k desk) Now() (dag.Time, error) { return k.now() }

// Draw implements [space.Kernel].
func (k desk) Draw(b []byte) error { return k.random.draw(b) }

// Screen implements [space.Kernel]. It calls Config.ScreenTexts with texts and returns its error.
func (k desk) Screen(ctx context.Context, tenant dag.Tenant, texts func() []dag.Text) error {
	if k.config.ScreenTexts == nil {
		return nil
	}
	return k.config.ScreenTexts(ctx, tenant, texts())
}

// Observe implements [space.Kernel].
func (k desk) Observe(ctx context.Context, operation string) (context.Context, func(error)) {
	return k.observe(ctx, operation)
}

// Counts implements [space.Kernel].
func (k desk) Counts(ctx context.Context, tenant dag.Tenant) (standing.Standing, error) {
	of, err := census.New(register{k}).OfRequest(ctx, tenant)
	return of.Standing, err
}

// Changed implements [space.Kernel].
func (k desk) Changed(tenant dag.Tenant) { k.changes.tell(tenant) }

// Journal implements [space.Kernel].
func (k desk) Journal() journal.Base {
	return journal.Of(k.store, k.kept.Load().beliefs)
}

// Reading implements [space.Kernel].
func (k desk) Reading(fn func(space.Epoch) error) error {
	return k.reading(func(c *cache) error {
		err := fn(deskEpoch{c})
		return cmp.Or(c.store.Still(), err)
	})
}

// AsOf implements [space.Kernel].
func (k desk) AsOf(ctx context.Context, tenant dag.Tenant, asOf dag.Seq) (dag.Seq, error) {
	return k.turns().AsOf(ctx, tenant, asOf)
}

// Policy implements [space.Kernel].
func (k desk) Policy(ctx context.Context, tenant dag.Tenant, id policy.ID) (policy.Registered, error) {
	return Policies(k).Get(ctx, tenant, id)
}

// Course implements [space.Kernel].
func (k desk) Course(ctx context.Context, tenant dag.Tenant, asOf dag.Seq) (standing.Course, error) {
	course, err := surveyed(k).Course(ctx, tenant, asOf)
	return course.Until(asOf), err
}

// OfAgent implements [space.Kernel]. A caller is an agent if it asks over stdio or with a key of the role access.Agent.
func (k desk) OfAgent(ctx context.Context, tenant dag.Tenant, by string) (bool, error) {
	if by == access.Stdio || access.CheckID(by) != nil {
		return by == access.Stdio, nil
	}
	key, err := k.apiKeys().Get(ctx, tenant, by)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return key.Role == access.Agent, err
}

// Aliases implements [space.Kernel].
func (k desk) Aliases(ctx context.Context, tenant dag.Tenant, asOf dag.Seq) (*normalize.Table, error) {
	return k.facts().Aliases(ctx, tenant, asOf)
}

// Turns implements [space.Kernel].
func (k desk) Turns(ctx context.Context, tenant dag.Tenant, ids []dag.TurnID) ([]store.Record, error) {
	return k.store.Turns(ctx, tenant, store.IDs(ids))
}

// Issued implements [space.Kernel].
func (k desk) Issued(ctx context.Context, tenant dag.Tenant, id slice.SliceID) error {
	_, err := k.slices().Issued(ctx, tenant, id)
	return err
}

// Boundary implements [find.Kernel] and [query.Kernel].
func (k desk) Boundary(tenant dag.Tenant, bundle []byte) (*token.Boundary, error) {
	return k.slices().Boundary(tenant, bundle)
}

// Signer implements [space.Kernel].
func (k desk) Signer(ctx context.Context, tenant dag.Tenant) (string, attest.Signer, error) {
	return k.notary.Signer(ctx, tenant)
}

// Identity implements [space.Kernel].
func (k desk) Identity() identity.Identity { return k.notary.Identity() }
