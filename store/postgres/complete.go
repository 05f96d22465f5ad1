package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
)

// ledgerSchema is the first schema with ledgers.
const ledgerSchema = 3

const (
	queryPolicyPage = `SELECT policy, hash, canonical FROM policies WHERE tenant = $1 AND policy > $2 ORDER BY policy LIMIT $3`

	// The bounds keep it to the page, whatever the planner knows of the array.
	queryPlaceIssued = `UPDATE issued SET leaf = a.leaf FROM unnest($2::bigint[], $3::bigint[]) a (number, leaf)
		WHERE issued.tenant = $1 AND issued.number = a.number AND issued.number BETWEEN $4 AND $5`
)

// completed is how much of a table is read, and how many leaves are appended, at once.
const completed = 1000

// completeLedgers appends to every ledger the leaves of the acts of before there were
// ledgers, while the schema's lock keeps writers away: of each tenant first its policies, by id, then its API keys, by age, with their
// revocations, then its events and then its issued slices, by number.
// Every back end does it in this order, so one history gives one ledger.
func completeLedgers(ctx context.Context, c *pgx.Conn) error {
	var last dag.Tenant
	for {
		rows, err := c.Query(ctx, queryTenants, string(last), completed)
		if err != nil {
			return err
		}
		tenants, err := pgx.CollectRows(rows, pgx.RowTo[dag.Tenant])
		if err != nil {
			return err
		}
		for _, tenant := range tenants {
			t := &tx{Conn: c, ctx: ctx, step: func(string) error { return nil }, name: tenant}
			if err := t.completeLedger(); err != nil {
				return fmt.Errorf("completing the ledger of tenant %s: %w", tenant, err)
			}
			last = tenant
		}
		if len(tenants) < completed {
			return nil
		}
	}
}

func (t *tx) completeLedger() error {
	for _, table := range []func() error{t.completePolicies, t.completeKeys, t.completeEvents, t.completeIssued} {
		if err := table(); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) completePolicies() error {
	var after string
	return pages(func() (int, error) {
		rows, err := t.Query(t.ctx, queryPolicyPage, string(t.name), after, completed)
		if err != nil {
			return 0, err
		}
		var leaves [][]byte
		var hash, canonical pgtype.DriverBytes
		_, err = pgx.ForEachRow(rows, []any{&after, &hash, &canonical}, func() error {
			p, err := policy.Restore(policy.ID(after), hash, canonical)
			if err != nil {
				return err
			}
			leaves = append(leaves, store.PolicyLeaf(t.name, p))
			return nil
		})
		if err != nil {
			return 0, err
		}
		return len(leaves), t.logActs(leaves...)
	})
}

// completeKeys reads all keys at once: there are at most store.MaxKeys.
func (t *tx) completeKeys() error {
	rows, err := t.Query(t.ctx, queryKeys, string(t.name))
	keys, err := readKeys(t.name, rows, err)
	if err != nil {
		return err
	}
	var leaves [][]byte
	for i := range keys {
		leaves = append(leaves, store.KeyLeaves(&keys[i])...)
	}
	return t.logActs(leaves...)
}

func (t *tx) completeEvents() error {
	var after dag.Seq
	return pages(func() (int, error) {
		rows, err := t.Query(t.ctx, queryEvents, string(t.name), int64(after), completed)
		if err != nil {
			return 0, err
		}
		events, err := collectEvents(rows)
		if err != nil {
			return 0, err
		}
		leaves := make([][]byte, len(events))
		for i := range events {
			leaves[i] = store.EventLeaf(t.name, &events[i])
			after = events[i].Seq
		}
		return len(leaves), t.logActs(leaves...)
	})
}

// completeIssued writes into the records, too, where their leaves stand.
func (t *tx) completeIssued() error {
	var after uint64
	return pages(func() (int, error) {
		issued, err := readIssued(t.Query(t.ctx, queryIssuedAfter, string(t.name), int64(after), completed))
		if err != nil || len(issued) == 0 {
			return 0, err
		}
		leaves, numbers, stand := make([][]byte, len(issued)), make([]int64, len(issued)), make([]int64, len(issued))
		for i := range issued {
			leaves[i] = store.IssuedLeaf(t.name, &issued[i])
			numbers[i] = int64(issued[i].Number)
			after = issued[i].Number
		}
		at, err := t.log(leaves, hashesOf(leaves), nil, func(i int) bool { return !packed.Leads(&issued[i]) })
		if err != nil {
			return 0, err
		}
		for i, n := range at {
			stand[i] = int64(n)
		}
		_, err = t.Exec(t.ctx, queryPlaceIssued, string(t.name), numbers, stand, numbers[0], numbers[len(numbers)-1])
		return len(leaves), err
	})
}

// pages calls fn until its page is not full.
func pages(fn func() (int, error)) error {
	for {
		if n, err := fn(); err != nil || n < completed {
			return err
		}
	}
}
