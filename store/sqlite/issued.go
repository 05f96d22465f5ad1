package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
)

const (
	issuedColumns = `number, slice, anchor, policy, policy_hash, snapshot, version, as_of, key, token, bundle, at, leaf, question`

	// Without statistics the planner takes the primary key and walks the tenant.
	queryIssuedBySlice = `SELECT ` + issuedColumns + ` FROM issued INDEXED BY issued_by_slice
		WHERE tenant = ?1 AND substr(slice, 1, 8) = substr(?2, 1, 8) AND slice = ?2`

	// recordIsAsked joins issued i with a list that recordList wrote, j.
	recordIsAsked = `substr(i.slice, 1, 8) = substr(j.value ->> 0, 1, 8) AND i.as_of = j.value ->> 1 AND i.bundle = unhex(j.value ->> 2)`

	queryIssuedBundles = `SELECT i.number, i.slice, i.anchor, i.policy, i.policy_hash, i.snapshot, i.version, i.as_of, i.key, i.token, i.bundle, i.at, i.leaf, i.question
		FROM json_each(?) j CROSS JOIN issued i INDEXED BY issued_by_slice ON i.tenant = ? AND ` + recordIsAsked

	queryIssuedAfter = `SELECT ` + issuedColumns + ` FROM issued WHERE tenant = ? AND number > ? ORDER BY number LIMIT ?`
)

// PutIssued records that bundles were handed out, under the tenant's next numbers.
func (s *Store) PutIssued(ctx context.Context, tenant dag.Tenant, issued []store.Issued) (stand []store.Issued, err error) {
	if err := s.enter(ctx); err != nil {
		return nil, fmt.Errorf("sqlite: put issued: %w", err)
	}
	defer s.gate.RUnlock()
	err = s.write(ctx, tenant, func(t *tx) (err error) {
		stand, err = t.putIssued(issued)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("sqlite: put issued: %w", err)
	}
	return stand, nil
}

func (t *tx) putIssued(issued []store.Issued) ([]store.Issued, error) {
	for i := range issued {
		if err := store.CheckIssued(&issued[i]); err != nil {
			return nil, err
		}
	}
	stands, err := t.recorded(issued)
	if err != nil {
		return nil, err
	}
	var fresh []store.Issued
	for _, i := range issued {
		if _, ok := stands[i.Bundle]; !ok {
			stands[i.Bundle] = store.Issued{} // its number is drawn below
			fresh = append(fresh, i)
		}
	}
	if err := t.addIssued(fresh); err != nil {
		return nil, err
	}
	for _, i := range fresh {
		stands[i.Bundle] = i
	}
	stand := make([]store.Issued, len(issued))
	for n := range issued {
		stand[n] = stands[issued[n].Bundle]
	}
	return stand, nil
}

// recorded returns the records of those of the bundles that have one.
func (t *tx) recorded(issued []store.Issued) (map[dag.Digest]store.Issued, error) {
	stands := make(map[dag.Digest]store.Issued, len(issued))
	if t.tenant == 0 {
		return stands, nil
	}
	records := make([]record, len(issued))
	for n := range issued {
		i := &issued[n]
		records[n] = record{i.Provenance.SliceID, i.AsOf, i.Bundle}
	}
	for some := range slices.Chunk(records, lookupIDs) {
		list, err := readIssued(t.issued.QueryContext(t.ctx, recordList(some), t.tenant))
		if err != nil {
			return nil, err
		}
		for _, i := range list {
			stands[i.Bundle] = i
		}
		if err := t.ended(); err != nil {
			return nil, err
		}
	}
	return stands, nil
}

// A record is looked up by what the index is of, and by its bundle. The first two follow from
// the bundle.
type record struct {
	slice  slice.SliceID
	asOf   dag.Seq
	bundle dag.Digest
}

func recordsOf(leaves []*ledger.SliceLeaf) []record {
	records := make([]record, len(leaves))
	for i, l := range leaves {
		records[i] = record{l.Provenance.SliceID, l.AsOf, l.Bundle}
	}
	return records
}

// recordList writes records as a statement takes them: a JSON array of arrays.
func recordList(records []record) string {
	b := make([]byte, 0, 2+100*len(records))
	b = append(b, '[')
	for i := range records {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `["`...)
		b = append(b, records[i].slice...)
		b = append(b, `",`...)
		b = strconv.AppendUint(b, uint64(records[i].asOf), 10)
		b = append(b, `,"`...)
		b = hex.AppendEncode(b, records[i].bundle[:])
		b = append(b, `"]`...)
	}
	return string(append(b, ']'))
}

// addIssued appends the leaves of new records and inserts them, and sets their numbers and
// places. No record has their bundles, so none leads to a leaf of theirs.
func (t *tx) addIssued(fresh []store.Issued) error {
	if len(fresh) == 0 {
		return nil
	}
	if err := t.own(); err != nil {
		return err
	}
	if err := t.begin("number"); err != nil {
		return err
	}
	var last uint64
	if err := t.issuedCount.QueryRowContext(t.ctx, len(fresh), t.tenant).Scan(&last); err != nil {
		return err
	}
	leaves := make([][]byte, len(fresh))
	for n := range fresh {
		fresh[n].Number = last - uint64(len(fresh)-1-n)
		leaves[n] = store.IssuedLeaf(t.name, &fresh[n])
	}
	at, err := t.appendLeaves(leaves, nil, func(i int) bool { return !packed.Leads(&fresh[i]) })
	if err != nil {
		return err
	}
	for n := range fresh {
		fresh[n].Leaf = at[n]
	}
	return t.insert("issued", &t.issuedRows, len(fresh), func(args []any, n int) []any {
		i := &fresh[n]
		p := &i.Provenance
		question := sql.NullString{String: i.Question, Valid: i.Question != ""}
		return append(args, t.tenant, int64(i.Number), string(p.SliceID), p.Anchor[:], string(p.PolicyID),
			p.PolicyParamsHash[:], p.GraphSnapshotHash[:], p.SchemaVersion, int64(i.AsOf), i.KeyID, i.Token, i.Bundle[:], int64(i.At), int64(i.Leaf), question)
	})
}

// IssuedByID returns the records of a slice id.
func (s *Store) IssuedByID(ctx context.Context, tenant dag.Tenant, id slice.SliceID) (list []store.Issued, err error) {
	err = s.read(ctx, "issued", tenant, func(n int64) (err error) {
		list, err = readIssued(s.queries.issuedBySlice.QueryContext(ctx, n, string(id)))
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b store.Issued) int { return cmp.Compare(a.Number, b.Number) })
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
	var question sql.NullString
	var leaf int64 // -1 until the ledger of an older store is complete
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
		i.Leaf, i.Question = uint64(leaf), question.String
		list = append(list, i)
		return nil
	}, &i.Number, &p.SliceID, &anchor, &p.PolicyID, &hash, &snapshot, &p.SchemaVersion, &i.AsOf, &i.KeyID, &i.Token, &bundle, &i.At, &leaf, &question)
	return list, err
}
