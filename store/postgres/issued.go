package postgres

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
)

const (
	issuedColumns = `number, slice, anchor, policy, policy_hash, snapshot, version, as_of, key, token, bundle, at, leaf, question`

	queryIssuedBySlice = `SELECT ` + issuedColumns + ` FROM issued WHERE tenant = $1 AND slice = $2 ORDER BY number`

	queryIssuedBundles = `SELECT ` + issuedColumns + ` FROM issued WHERE tenant = $1 AND bundle = ANY($2)`

	queryIssuedAfter = `SELECT ` + issuedColumns + ` FROM issued WHERE tenant = $1 AND number > $2 ORDER BY number LIMIT $3`

	queryCountIssued = `UPDATE tenants SET issued = issued + $2 WHERE tenant = $1`

	queryAddIssued = `INSERT INTO issued (tenant, ` + issuedColumns + `) SELECT $1, * FROM unnest($2::bigint[], $3::text[], $4::uuid[], $5::text[],
		$6::bytea[], $7::bytea[], $8::text[], $9::bigint[], $10::text[], $11::text[], $12::bytea[], $13::bigint[], $14::bigint[], $15::text[])`
)

// PutIssued records that bundles were handed out, under the tenant's next numbers. It takes
// four round trips, however many there are.
func (s *Store) PutIssued(ctx context.Context, tenant dag.Tenant, issued []store.Issued) ([]store.Issued, error) {
	for i := range issued {
		if err := store.CheckIssued(&issued[i]); err != nil {
			return nil, fmt.Errorf("postgres: put issued: record %d of %d: %w", i+1, len(issued), err)
		}
	}
	if err := s.enter(ctx); err != nil {
		return nil, fmt.Errorf("postgres: put issued: %w", err)
	}
	defer s.gate.RUnlock()
	distinct := distinctBundles(issued)
	leaves := make([][]byte, len(distinct))
	for i := range distinct {
		leaves[i] = store.IssuedLeaf(tenant, &distinct[i])
	}
	hashes := hashesOf(leaves)
	var stands map[dag.Digest]store.Issued
	err := s.write(ctx, tenant, func(t *tx) (err error) {
		stands, err = t.putIssued(distinct, leaves, hashes)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("postgres: put issued: %w", err)
	}
	list := make([]store.Issued, len(issued))
	for i := range issued {
		list[i] = stands[issued[i].Bundle]
	}
	return list, nil
}

// distinctBundles returns the first record of each bundle.
func distinctBundles(issued []store.Issued) []store.Issued {
	seen := make(map[dag.Digest]bool, len(issued))
	distinct := make([]store.Issued, 0, len(issued))
	for _, i := range issued {
		if !seen[i.Bundle] {
			seen[i.Bundle] = true
			distinct = append(distinct, i)
		}
	}
	return distinct
}

// putIssued records those of distinct bundles that are new, with their leaves, and returns
// the valid records.
func (t *tx) putIssued(distinct []store.Issued, leaves [][]byte, hashes []ledger.Hash) (map[dag.Digest]store.Issued, error) {
	stands := make(map[dag.Digest]store.Issued, len(distinct))
	if len(distinct) == 0 {
		return stands, nil
	}
	b := &pgx.Batch{}
	for chunk := range slices.Chunk(distinct, lookupIDs) {
		bundles := make([]dag.Digest, len(chunk))
		for i := range chunk {
			bundles[i] = chunk[i].Bundle
		}
		b.Queue(queryIssuedBundles, string(t.name), digests(bundles)).Query(func(rows pgx.Rows) error {
			recorded, err := readIssued(rows, nil)
			for _, i := range recorded {
				stands[i.Bundle] = i
			}
			return err
		})
	}
	l := t.readLog(b, hashes, nil) // a bundle that has a record is not new
	if err := t.SendBatch(t.ctx, b).Close(); err != nil {
		return nil, err
	}
	var fresh []store.Issued
	var freshLeaves [][]byte
	var freshHashes []ledger.Hash
	for i := range distinct {
		if _, recorded := stands[distinct[i].Bundle]; !recorded {
			fresh = append(fresh, distinct[i])
			fresh[len(fresh)-1].Number = t.issued + uint64(len(fresh))
			freshLeaves, freshHashes = append(freshLeaves, leaves[i]), append(freshHashes, hashes[i])
		}
	}
	if len(fresh) == 0 {
		return stands, nil
	}
	b = &pgx.Batch{}
	if err := t.begin("number"); err != nil {
		return nil, err
	}
	b.Queue(queryCountIssued, string(t.name), len(fresh))
	at, err := t.growLog(b, l, freshLeaves, freshHashes, func(i int) bool { return !packed.Leads(&fresh[i]) })
	if err != nil {
		return nil, err
	}
	for i := range fresh {
		fresh[i].Leaf = at[i]
		stands[fresh[i].Bundle] = fresh[i]
	}
	if err := t.begin("issued"); err != nil {
		return nil, err
	}
	b.Queue(queryAddIssued, issuedArrays(t.name, fresh)...)
	return stands, t.SendBatch(t.ctx, b).Close()
}

// issuedArrays returns records as queryAddIssued takes them, an array for each column.
func issuedArrays(tenant dag.Tenant, list []store.Issued) []any {
	n := len(list)
	numbers, asOf, at, leaves := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	ids, policies, versions, keys, tokens := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	anchors, hashes, snapshots, bundles := make([][16]byte, n), make([][]byte, n), make([][]byte, n), make([][]byte, n)
	questions := make([]*string, n)
	for k := range list {
		i := &list[k]
		p := &i.Provenance
		if i.Question != "" {
			questions[k] = &i.Question
		}
		numbers[k], asOf[k], at[k], leaves[k] = int64(i.Number), int64(i.AsOf), int64(i.At), int64(i.Leaf)
		ids[k], policies[k], versions[k], keys[k], tokens[k] = string(p.SliceID), string(p.PolicyID), p.SchemaVersion, i.KeyID, i.Token
		anchors[k], hashes[k], snapshots[k], bundles[k] = uuid(p.Anchor), p.PolicyParamsHash[:], p.GraphSnapshotHash[:], i.Bundle[:]
	}
	return []any{string(tenant), numbers, ids, anchors, policies, hashes, snapshots, versions, asOf, keys, tokens, bundles, at, leaves, questions}
}

// IssuedByID returns the records of a slice id.
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
	var number, asOf, at, leaf int64
	var i store.Issued
	p := &i.Provenance
	var hash, snapshot, bundle pgtype.DriverBytes
	var question pgtype.Text
	_, err = pgx.ForEachRow(rows, []any{
		&number, (*string)(&p.SliceID), (*[16]byte)(&p.Anchor), (*string)(&p.PolicyID), &hash, &snapshot, &p.SchemaVersion,
		&asOf, &i.KeyID, &i.Token, &bundle, &at, &leaf, &question,
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
		i.Question = question.String
		i.Number, i.Leaf, i.AsOf, i.At = uint64(number), uint64(leaf), dag.Seq(asOf), dag.Time(at)
		list = append(list, i)
		return nil
	})
	return list, err
}
