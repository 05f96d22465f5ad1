package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/store"
)

const queryPolicies = `SELECT policy, hash, canonical FROM policies WHERE tenant = ? ORDER BY policy`

// PutPolicy registers a policy for ever.
func (s *Store) PutPolicy(ctx context.Context, tenant dag.Tenant, p policy.Registered) error {
	if err := s.enter(ctx); err != nil {
		return fmt.Errorf("sqlite: put policy: %w", err)
	}
	defer s.gate.RUnlock()
	if err := s.write(ctx, tenant, func(t *tx) error { return t.putPolicy(p) }); err != nil {
		return fmt.Errorf("sqlite: put policy: %w", err)
	}
	return nil
}

func (t *tx) putPolicy(p policy.Registered) error {
	if _, err := policy.ParseID(string(p.ID())); err != nil {
		return err
	}
	hash := p.Hash()
	var stored []byte
	err := t.policy.QueryRowContext(t.ctx, t.tenant, string(p.ID())).Scan(&stored)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		params := p.Params()
		if err := t.own(); err != nil {
			return err
		}
		if err := t.exec("policies", t.addPolicy, t.tenant, string(p.ID()), hash[:], params.Canonical()); err != nil {
			return err
		}
		return t.log(store.PolicyLeaf(t.name, p))
	case err != nil:
		return err
	case string(stored) != string(hash[:]):
		return fmt.Errorf("%w: %s has hash %x, not %s", policy.ErrConflict, p.ID(), stored, hash)
	}
	return nil
}

// Policies gives the tenant's registry. Each policy is parsed and hashed anew,
// and one that does not give its hash is an error: a registry that cannot be
// trusted must not decide.
func (s *Store) Policies(ctx context.Context, tenant dag.Tenant) (registry policy.Registry, err error) {
	err = s.read(ctx, "policies", tenant, func(n int64) error {
		rows, err := s.queries.policies.QueryContext(ctx, n)
		if err != nil {
			return err
		}
		var id string
		var hash, canonical sql.RawBytes
		return each(rows, func() error {
			p, err := policy.Restore(policy.ID(id), hash, canonical)
			if err != nil {
				return err
			}
			registry, err = registry.With(p)
			return err
		}, &id, &hash, &canonical)
	})
	if err != nil {
		return policy.Registry{}, err
	}
	return registry, nil
}
