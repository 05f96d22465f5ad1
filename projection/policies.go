package projection

import (
	"context"
	"errors"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/policy/standard"
)

// Policies caches the policies of tenants. A policy never changes, so the cache
// can only lack policies that another process has registered; then the store is asked.
type Policies struct {
	store Store
	mu    sync.Mutex
	kept  map[dag.Tenant]policy.Registry

	written map[writtenPolicy]bool // policies of package standard that are known to be in the store
}

type writtenPolicy struct {
	tenant dag.Tenant
	id     policy.ID
}

// keptRegistries is the maximum number of tenants whose policies are cached, and of entries in written.
const keptRegistries = 10_000

// NewPolicies returns an empty cache.
func NewPolicies(s Store) *Policies {
	return &Policies{store: s, kept: map[dag.Tenant]policy.Registry{}, written: map[writtenPolicy]bool{}}
}

// Get returns a policy, from the store if it is not cached. The error wraps policy.ErrUnknown if there is no such policy.
func (r *Policies) Get(ctx context.Context, tenant dag.Tenant, id policy.ID) (policy.Registered, error) {
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
	fresh, err := r.All(ctx, tenant)
	if err != nil {
		return policy.Registered{}, err
	}
	return fresh.Get(id)
}

// All reads the tenant's policies from the store and adds the policies of package standard. The latter are
// stored only before the first act that names them, see [Policies.Write], so that a question about a tenant does not
// create the tenant.
func (r *Policies) All(ctx context.Context, tenant dag.Tenant) (policy.Registry, error) {
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
			continue // the store has it
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

// Write makes sure that a policy is stored. It is called before an act names the policy.
func (r *Policies) Write(ctx context.Context, tenant dag.Tenant, p policy.Registered) error {
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
