package postgres

import (
	"context"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
)

const (
	issuedColumns = `number, slice, anchor, policy, policy_hash, snapshot, version, as_of, key, token, bundle, at`

	queryIssuedBySlice = `SELECT ` + issuedColumns + ` FROM issued WHERE tenant = $1 AND slice = $2 ORDER BY number`

	queryIssuedBundle = `SELECT ` + issuedColumns + ` FROM issued WHERE tenant = $1 AND bundle = $2`

	queryIssuedAfter = `SELECT ` + issuedColumns + ` FROM issued WHERE tenant = $1 AND number > $2 ORDER BY number LIMIT $3`

	queryCountIssued = `UPDATE tenants SET issued = issued + 1 WHERE tenant = $1 RETURNING issued`

	queryAddIssued = `INSERT INTO issued (tenant, ` + issuedColumns + `) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`
)

// PutIssued records that a bundle was handed out, under the tenant's next number.
func (s *Store) PutIssued(ctx context.Context, tenant dag.Tenant, i store.Issued) (store.Issued, error) {
	if err := s.enter(ctx); err != nil {
		return store.Issued{}, fmt.Errorf("postgres: put issued: %w", err)
	}
	defer s.gate.RUnlock()
	var stands store.Issued
	err := s.write(ctx, tenant, func(t *tx) (err error) {
		stands, err = t.putIssued(i)
		return err
	})
	if err != nil {
		return store.Issued{}, fmt.Errorf("postgres: put issued: %w", err)
	}
	return stands, nil
}

func (t *tx) putIssued(i store.Issued) (store.Issued, error) {
	if err := store.CheckIssued(&i); err != nil {
		return store.Issued{}, err
	}
	recorded, err := readIssued(t.Query(t.ctx, queryIssuedBundle, string(t.name), i.Bundle[:]))
	if err != nil {
		return store.Issued{}, err
	}
	if len(recorded) > 0 {
		return recorded[0], nil
	}
	if err := t.begin("number"); err != nil {
		return store.Issued{}, err
	}
	var number int64
	if err := t.QueryRow(t.ctx, queryCountIssued, string(t.name)).Scan(&number); err != nil {
		return store.Issued{}, err
	}
	i.Number = uint64(number)
	p := &i.Provenance
	return i, t.exec("issued", queryAddIssued, string(t.name), int64(i.Number), string(p.SliceID), uuid(p.Anchor), string(p.PolicyID),
		p.PolicyParamsHash[:], p.GraphSnapshotHash[:], p.SchemaVersion, int64(i.AsOf), i.KeyID, i.Token, i.Bundle[:], int64(i.At))
}

// IssuedByID gives the records of a slice id.
func (s *Store) IssuedByID(ctx context.Context, tenant dag.Tenant, id slice.SliceID) (list []store.Issued, err error) {
	err = s.read(ctx, "issued", func(ctx context.Context, db *pgxpool.Conn) (err error) {
		list, err = readIssued(db.Query(ctx, queryIssuedBySlice, string(tenant), string(id)))
		return err
	})
	return list, err
}

// IssuedAfter lists records by ascending number.
func (s *Store) IssuedAfter(ctx context.Context, tenant dag.Tenant, after uint64, limit int) (list []store.Issued, err error) {
	err = s.read(ctx, "issued", func(ctx context.Context, db *pgxpool.Conn) (err error) {
		list, err = readIssued(db.Query(ctx, queryIssuedAfter, string(tenant), int64(min(after, math.MaxInt64)), max(limit, 0)))
		return err
	})
	return list, err
}

func readIssued(rows pgx.Rows, err error) (list []store.Issued, _ error) {
	if err != nil {
		return nil, err
	}
	var number, asOf, at int64
	var i store.Issued
	p := &i.Provenance
	var hash, snapshot, bundle pgtype.DriverBytes
	_, err = pgx.ForEachRow(rows, []any{
		&number, (*string)(&p.SliceID), (*[16]byte)(&p.Anchor), (*string)(&p.PolicyID), &hash, &snapshot, &p.SchemaVersion,
		&asOf, &i.KeyID, &i.Token, &bundle, &at,
	}, func() error {
		for _, c := range []struct {
			into, from []byte
			what       string
		}{
			{p.PolicyParamsHash[:], hash, "a policy's hash"},
			{p.GraphSnapshotHash[:], snapshot, "a snapshot's hash"},
			{i.Bundle[:], bundle, "a bundle's digest"},
		} {
			if err := packed.Fill(c.into, c.from, c.what); err != nil {
				return err
			}
		}
		i.Number, i.AsOf, i.At = uint64(number), dag.Seq(asOf), dag.Time(at)
		list = append(list, i)
		return nil
	})
	return list, err
}
