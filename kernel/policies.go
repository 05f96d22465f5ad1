package kernel

import (
	"cmp"
	"context"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/registry"
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
// changes nothing; other parameters wrap policy.ErrConflict.
func (k Policies) Register(ctx context.Context, tenant dag.Tenant, p policy.Registered) error {
	_, err := steady(k.engine, func(c *cache) (struct{}, error) { return struct{}{}, c.register(ctx, tenant, p) })
	return err
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
