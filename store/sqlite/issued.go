package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"math"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
)

const (
	issuedColumns = `number, slice, anchor, policy, policy_hash, snapshot, version, as_of, key, token, bundle, at`

	// Without statistics the planner takes the primary key and walks the tenant.
	queryIssuedBySlice = `SELECT ` + issuedColumns + ` FROM issued INDEXED BY issued_by_slice WHERE tenant = ? AND slice = ? ORDER BY number`

	queryIssuedBundle = `SELECT ` + issuedColumns + ` FROM issued WHERE tenant = ? AND bundle = ?`

	queryIssuedAfter = `SELECT ` + issuedColumns + ` FROM issued WHERE tenant = ? AND number > ? ORDER BY number LIMIT ?`
)

// PutIssued records that a bundle was handed out, under the tenant's next number.
func (s *Store) PutIssued(ctx context.Context, tenant dag.Tenant, i store.Issued) (store.Issued, error) {
	if err := s.enter(ctx); err != nil {
		return store.Issued{}, fmt.Errorf("sqlite: put issued: %w", err)
	}
	defer s.gate.RUnlock()
	var stands store.Issued
	err := s.write(ctx, tenant, func(t *tx) (err error) {
		stands, err = t.putIssued(i)
		return err
	})
	if err != nil {
		return store.Issued{}, fmt.Errorf("sqlite: put issued: %w", err)
	}
	return stands, nil
}

func (t *tx) putIssued(i store.Issued) (store.Issued, error) {
	if err := store.CheckIssued(&i); err != nil {
		return store.Issued{}, err
	}
	recorded, err := readIssued(t.issued.QueryContext(t.ctx, t.tenant, i.Bundle[:]))
	if err != nil {
		return store.Issued{}, err
	}
	if len(recorded) > 0 {
		return recorded[0], nil
	}
	if err := t.own(); err != nil {
		return store.Issued{}, err
	}
	if err := t.begin("number"); err != nil {
		return store.Issued{}, err
	}
	if err := t.issuedCount.QueryRowContext(t.ctx, t.tenant).Scan(&i.Number); err != nil {
		return store.Issued{}, err
	}
	p := &i.Provenance
	return i, t.exec("issued", t.addIssued, t.tenant, int64(i.Number), string(p.SliceID), p.Anchor[:], string(p.PolicyID),
		p.PolicyParamsHash[:], p.GraphSnapshotHash[:], p.SchemaVersion, int64(i.AsOf), i.KeyID, i.Token, i.Bundle[:], int64(i.At))
}

// IssuedByID gives the records of a slice id.
func (s *Store) IssuedByID(ctx context.Context, tenant dag.Tenant, id slice.SliceID) (list []store.Issued, err error) {
	err = s.read(ctx, "issued", tenant, func(n int64) (err error) {
		list, err = readIssued(s.queries.issuedBySlice.QueryContext(ctx, n, string(id)))
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// IssuedAfter lists records by ascending number.
func (s *Store) IssuedAfter(ctx context.Context, tenant dag.Tenant, after uint64, limit int) (list []store.Issued, err error) {
	err = s.read(ctx, "issued", tenant, func(n int64) (err error) {
		if limit <= 0 {
			return nil
		}
		list, err = readIssued(s.queries.issuedAfter.QueryContext(ctx, n, int64(min(after, math.MaxInt64)), limit))
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

func readIssued(rows *sql.Rows, err error) (list []store.Issued, _ error) {
	if err != nil {
		return nil, err
	}
	var i store.Issued
	p := &i.Provenance
	var anchor, hash, snapshot, bundle sql.RawBytes
	err = each(rows, func() error {
		for _, c := range []struct {
			into []byte
			from sql.RawBytes
			what string
		}{
			{p.Anchor[:], anchor, "an anchor"},
			{p.PolicyParamsHash[:], hash, "a policy's hash"},
			{p.GraphSnapshotHash[:], snapshot, "a snapshot's hash"},
			{i.Bundle[:], bundle, "a bundle's digest"},
		} {
			if err := packed.Fill(c.into, c.from, c.what); err != nil {
				return err
			}
		}
		list = append(list, i)
		return nil
	}, &i.Number, &p.SliceID, &anchor, &p.PolicyID, &hash, &snapshot, &p.SchemaVersion, &i.AsOf, &i.KeyID, &i.Token, &bundle, &i.At)
	return list, err
}
