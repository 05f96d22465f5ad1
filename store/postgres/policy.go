package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/store"
)

const (
	queryPolicies  = `SELECT policy, hash, canonical FROM policies WHERE tenant = $1 ORDER BY policy`
	queryPolicy    = `SELECT hash FROM policies WHERE tenant = $1 AND policy = $2`
	queryAddPolicy = `INSERT INTO policies (tenant, policy, hash, canonical) VALUES ($1, $2, $3, $4)`
)

// PutPolicy registers a policy for ever.
func (s *Store) PutPolicy(ctx context.Context, tenant dag.Tenant, p policy.Registered) error {
	if err := s.enter(ctx); err != nil {
		return fmt.Errorf("postgres: put policy: %w", err)
	}
	defer s.gate.RUnlock()
	if err := s.write(ctx, tenant, func(t *tx) error { return t.putPolicy(p) }); err != nil {
		return fmt.Errorf("postgres: put policy: %w", err)
	}
	return nil
}

func (t *tx) putPolicy(p policy.Registered) error {
	if _, err := policy.ParseID(string(p.ID())); err != nil {
		return err
	}
	hash := p.Hash()
	var stored []byte
	err := t.QueryRow(t.ctx, queryPolicy, string(t.name), string(p.ID())).Scan(&stored)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		params := p.Params()
		if err := t.exec("policies", queryAddPolicy, string(t.name), string(p.ID()), hash[:], params.Canonical()); err != nil {
			return err
		}
		return t.logActs(store.PolicyLeaf(t.name, p))
	case err != nil:
		return err
	case string(stored) != string(hash[:]):
		return fmt.Errorf("%w: %s has hash %x, not %s", policy.ErrConflict, p.ID(), stored, hash)
	}
	return nil
}

// Policies gives the tenant's registry. Each policy is parsed and hashed anew, and one
// that does not give its hash is an error: a registry that cannot be trusted must not
// decide.
func (s *Store) Policies(ctx context.Context, tenant dag.Tenant) (registry policy.Registry, err error) {
	err = s.read(ctx, "policies", func(ctx context.Context, db *pgxpool.Conn) error {
		registry = policy.Registry{}
		rows, err := db.Query(ctx, queryPolicies, string(tenant))
		if err != nil {
			return err
		}
		var id string
		var hash, canonical []byte
		_, err = pgx.ForEachRow(rows, []any{&id, &hash, &canonical}, func() error {
			p, err := policy.Restore(policy.ID(id), hash, canonical)
			if err != nil {
				return err
			}
			registry, err = registry.With(p)
			return err
		})
		return err
	})
	if err != nil {
		return policy.Registry{}, err
	}
	return registry, nil
}
