package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
)

const (
	queryOrigins      = `SELECT origin FROM witnessed WHERE tenant = $1 ORDER BY origin`
	queryWitnessed    = `SELECT size, root FROM witnessed WHERE tenant = $1 AND origin = $2`
	queryPutWitnessed = `INSERT INTO witnessed (tenant, origin, size, root) VALUES ($1, $2, $3, $4)
		ON CONFLICT (tenant, origin) DO UPDATE SET size = excluded.size, root = excluded.root`
)

// Origins gives the origins of the logs that were cosigned.
func (s *Store) Origins(ctx context.Context, tenant dag.Tenant) (origins []string, err error) {
	err = s.read(ctx, "origins", func(ctx context.Context, db *pgxpool.Conn) error {
		rows, err := db.Query(ctx, queryOrigins, string(tenant))
		if err != nil {
			return err
		}
		origins, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err != nil {
		return nil, err
	}
	return origins, nil
}

// Witnessed gives what was cosigned last of the log of an origin.
func (s *Store) Witnessed(ctx context.Context, tenant dag.Tenant, origin string) (root ledger.Root, err error) {
	if err := store.CheckOrigin(origin); err != nil {
		return ledger.Root{}, fmt.Errorf("postgres: witnessed: %w", err)
	}
	err = s.read(ctx, "witnessed", func(ctx context.Context, db *pgxpool.Conn) error {
		root, err = readWitnessed(db.QueryRow(ctx, queryWitnessed, string(tenant), origin))
		return err
	})
	if err != nil {
		return ledger.Root{}, err
	}
	return root, nil
}

// PutWitnessed replaces what was cosigned last, behind the tenant's row.
func (s *Store) PutWitnessed(ctx context.Context, tenant dag.Tenant, origin string, old, next ledger.Root) error {
	old, next, err := store.CheckWitnessed(origin, old, next)
	if err != nil {
		return fmt.Errorf("postgres: put witnessed: %w", err)
	}
	if err := s.enter(ctx); err != nil {
		return fmt.Errorf("postgres: put witnessed: %w", err)
	}
	defer s.gate.RUnlock()
	if err := s.write(ctx, tenant, func(t *tx) error { return t.putWitnessed(origin, old, next) }); err != nil {
		return fmt.Errorf("postgres: put witnessed: %w", err)
	}
	return nil
}

func (t *tx) putWitnessed(origin string, old, next ledger.Root) error {
	stands, err := readWitnessed(t.QueryRow(t.ctx, queryWitnessed, string(t.name), origin))
	switch {
	case err != nil:
		return err
	case stands == old && old == next:
		return nil
	case stands == old:
		return t.exec("witnessed", queryPutWitnessed, string(t.name), origin, int64(next.Size), next.Hash[:])
	case t.unsure && stands == next: // by an earlier attempt, of which only the answer was lost
		return nil
	}
	err = fmt.Errorf("%w: of %q the root %s of %d leaves stands, not %s of %d", store.ErrMoved, origin, stands.Hash, stands.Size, old.Hash, old.Size)
	if t.unsure { // perhaps an earlier attempt replaced it, and somebody else that
		err = fmt.Errorf("%w: %w", store.ErrUncertain, err)
	}
	return err
}

// readWitnessed reads the row of queryWitnessed. What was never cosigned is an empty log.
func readWitnessed(row pgx.Row) (ledger.Root, error) {
	var size int64
	var column []byte
	err := row.Scan(&size, &column)
	if errors.Is(err, pgx.ErrNoRows) {
		return ledger.Root{Hash: ledger.EmptyRoot()}, nil
	}
	if err != nil {
		return ledger.Root{}, err
	}
	root := ledger.Root{Size: uint64(size)}
	if err := packed.Fill(root.Hash[:], column, "a cosigned root"); err != nil {
		return ledger.Root{}, err
	}
	return store.CheckRoot(root)
}
