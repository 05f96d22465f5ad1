package kernel

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/policy/standard"
	"github.com/graphkernel/graphkernel/projection"
)

// registries keeps the policies of tenants. A policy never changes, so what is
// kept can only lack what another process has registered; then the store is asked.
type registries struct {
	store projection.Store
	mu    sync.Mutex
	kept  map[dag.Tenant]policy.Registry

	written map[writtenPolicy]bool // of those that are there from the start, which are known to be stored
}

type writtenPolicy struct {
	tenant dag.Tenant
	id     policy.ID
}

// keptRegistries bounds the tenants whose policies are kept.
const keptRegistries = 10_000

// get returns a policy, from the store if it is not kept.
func (r *registries) get(ctx context.Context, tenant dag.Tenant, id policy.ID) (policy.Registered, error) {
	r.mu.Lock()
	kept := r.kept[tenant]
	r.mu.Unlock()
	if p, err := kept.Get(id); err == nil {
		return p, nil
	}
	// Policies of package standard are the same in every store.
	first, err := standard.Registry()
	if err != nil {
		return policy.Registered{}, err
	}
	if p, err := first.Get(id); err == nil {
		return p, nil
	}
	fresh, err := r.load(ctx, tenant)
	if err != nil {
		return policy.Registered{}, err
	}
	return fresh.Get(id)
}

// load reads the tenant's policies. Those of package standard are always among them; each is
// written down with the first act that rests on it, so that asking for a tenant does not
// make one.
func (r *registries) load(ctx context.Context, tenant dag.Tenant) (policy.Registry, error) {
	fresh, err := registry.Base{History: r.store}.All(ctx, tenant)
	if err != nil {
		return policy.Registry{}, err
	}
	first, err := standard.Registry()
	if err != nil {
		return policy.Registry{}, err
	}
	for _, p := range first.All() {
		if _, err := fresh.Get(p.ID()); !errors.Is(err, policy.ErrUnknown) {
			continue // it was written down
		}
		if fresh, err = fresh.With(p); err != nil {
			return policy.Registry{}, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.kept) >= keptRegistries {
		clear(r.kept)
	}
	r.kept[tenant] = fresh
	return fresh, nil
}

// write makes sure that a policy is stored before anything names it.
func (r *registries) write(ctx context.Context, tenant dag.Tenant, p policy.Registered) error {
	if !standard.Has(p.ID()) {
		return nil // it came from the store
	}
	key := writtenPolicy{tenant, p.ID()}
	r.mu.Lock()
	written := r.written[key]
	r.mu.Unlock()
	if written {
		return nil
	}
	if err := (registry.Base{History: r.store}).Put(ctx, tenant, p); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.written) >= keptRegistries {
		clear(r.written)
	}
	r.written[key] = true
	return nil
}

// All returns every policy of a tenant. Those that every tenant begins with are always among them.
func (k Policies) All(ctx context.Context, tenant dag.Tenant) (policy.Registry, error) {
	return steady(k.engine, func(c *cache) (policy.Registry, error) { return c.policies.load(ctx, tenant) })
}

// Get returns one policy of a tenant; "" is policy.DefaultID.
func (k Policies) Get(ctx context.Context, tenant dag.Tenant, id policy.ID) (policy.Registered, error) {
	return steady(k.engine, func(c *cache) (policy.Registered, error) { return c.policy(ctx, tenant, id) })
}

func (c *cache) policy(ctx context.Context, tenant dag.Tenant, id policy.ID) (policy.Registered, error) {
	return c.policies.get(ctx, tenant, cmp.Or(id, policy.DefaultID))
}

// Register binds an id to parameters for ever. The same again changes
// nothing; other parameters wrap policy.ErrConflict.
func (k Policies) Register(ctx context.Context, tenant dag.Tenant, p policy.Registered) error {
	_, err := steady(k.engine, func(c *cache) (struct{}, error) { return struct{}{}, c.register(ctx, tenant, p) })
	return err
}

func (c *cache) register(ctx context.Context, tenant dag.Tenant, p policy.Registered) error {
	known, err := c.policies.load(ctx, tenant) // so that the names of those that every tenant begins with are taken
	if err != nil {
		return err
	}
	if _, err := known.With(p); err != nil {
		return err
	}
	first, err := known.Get(policy.DefaultV1ID) // in a tenant's ledger it precedes the policies that the tenant registers
	if err != nil {
		return err
	}
	if err := c.policies.write(ctx, tenant, first); err != nil {
		return err
	}
	return registry.Base{History: c.store}.Put(ctx, tenant, p)
}

// Operations lists what the facet answers.
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
