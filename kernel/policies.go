package kernel

import (
	"cmp"
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/guard"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/standing/census"
	"github.com/graphkernel/graphkernel/standing/settings"
	"github.com/graphkernel/graphkernel/store"
)

// All returns every policy of a tenant, including the policies that every tenant begins with.
func (k Policies) All(ctx context.Context, tenant dag.Tenant) (policy.Registry, error) {
	return steady(k.engine, func(c *cache) (policy.Registry, error) { return c.policies.All(ctx, tenant) })
}

// Get returns one policy of a tenant; "" is policy.DefaultID.
func (k Policies) Get(ctx context.Context, tenant dag.Tenant, id policy.ID) (policy.Registered, error) {
	return steady(k.engine, func(c *cache) (policy.Registered, error) { return c.policy(ctx, tenant, id) })
}

func (c *cache) policy(ctx context.Context, tenant dag.Tenant, id policy.ID) (policy.Registered, error) {
	return c.policies.Get(ctx, tenant, cmp.Or(id, policy.DefaultID))
}

// Register binds an id to parameters permanently. Registering the same parameters again
// changes nothing; other parameters wrap policy.ErrConflict. The error for a policy of standings or of a guard by a caller who may not govern is access.ErrMayNot.
func (k Policies) Register(ctx context.Context, tenant dag.Tenant, p policy.Registered) error {
	if params := p.Params(); params != nil && (params.Type() == standing.PolicyType || params.Type() == guard.RulesType) && !access.Asking(ctx).Governs() {
		return fmt.Errorf("%w: only a person who may govern registers a policy of type %s, and no model for them", access.ErrMayNot, params.Type())
	}
	return k.reading(func(c *cache) error { return c.register(ctx, tenant, p) })
}

func (c *cache) register(ctx context.Context, tenant dag.Tenant, p policy.Registered) error {
	known, err := c.policies.All(ctx, tenant) // includes the policies that every tenant begins with, whose ids are taken
	if err != nil {
		return err
	}
	if _, err := known.With(p); err != nil {
		return err
	}
	first, err := known.Get(policy.DefaultV1ID) // precedes the tenant's own policies in its ledger
	if err != nil {
		return err
	}
	if err := c.policies.Write(ctx, tenant, first); err != nil {
		return err
	}
	return registry.Base{History: c.store}.Put(ctx, tenant, p)
}

// Operations lists the operations that the facet answers.
func (k Policies) Operations() []api.Answer {
	return []api.Answer{api.ListPolicies.By(k.listPolicies), api.GetPolicy.By(k.getPolicy)}
}

func (k Policies) listPolicies(ctx context.Context, tenant dag.Tenant, _ api.None) (api.Policies, error) {
	registry, err := k.All(ctx, tenant)
	return api.PoliciesOf(registry), err
}

func (k Policies) getPolicy(ctx context.Context, tenant dag.Tenant, in api.PolicyByID) (w api.RegisteredPolicy, err error) {
	p, err := k.Get(ctx, tenant, in.PolicyID)
	if err != nil {
		return w, err
	}
	return api.PolicyOf(p), nil
}

// Standings returns the facet that says whose words count.
func (k *Kernel) Standings() census.Standings { return census.New(register{desk{k.engine}}) }

// A register makes an engine a [census.Kernel].
type register struct{ desk }

// Settings implements [census.Kernel].
func (k register) Settings() settings.Base { return settings.Base{History: k.store} }

// Names implements [census.Kernel].
func (k register) Names(ctx context.Context, tenant dag.Tenant) (standing.Namer, error) {
	return steady(k.engine, func(c *cache) (standing.Namer, error) { return c.admissions.StoredKey(ctx, tenant) })
}

// Scan implements [census.Kernel].
func (k register) Scan(ctx context.Context, tenant dag.Tenant, after dag.Seq, conversation *dag.ConversationID, fn func(*store.Record) error) error {
	return k.store.Scan(ctx, tenant, after, conversation, fn)
}
