package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
)

// withLedger is the schema from which on acts have leaves in a ledger.
const withLedger = 3

// backlogPage is how many acts are read and logged at once.
const backlogPage = 1000

// logOld appends the leaves of all acts that a file of an earlier schema holds, in the
// transaction that brings it to the newest one: tenants by name, of each the policies by
// id, the API keys by age, events by number and issued slices by number. Back ends have
// one order, so that those of one content get one ledger. A row that cannot be read ends
// the migration; a leaf of it would be there for ever.
func logOld(ctx context.Context, conn *sql.Conn) (err error) {
	w := &writer{conn: conn}
	defer func() {
		for _, s := range w.prepared {
			if s != nil {
				err = errors.Join(err, s.Close())
			}
		}
	}()
	if err := w.prepare(ctx); err != nil {
		return err
	}
	for after := ""; ; {
		t := &tx{writer: w, ctx: ctx, ended: ctx.Err, step: func(string) error { return nil }}
		err := conn.QueryRowContext(ctx, `SELECT tenant, name FROM tenants WHERE name > ? ORDER BY name LIMIT 1`, after).Scan(&t.tenant, &t.name)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, backlog := range []func(*sql.Conn) error{t.logPolicies, t.logKeys, t.logEvents, t.logIssued} {
			if err := backlog(conn); err != nil {
				return fmt.Errorf("the ledger of tenant %s: %w", t.name, err)
			}
		}
		after = string(t.name)
	}
}

func (t *tx) logPolicies(conn *sql.Conn) error {
	rows, err := conn.QueryContext(t.ctx, queryPolicies, t.tenant)
	if err != nil {
		return err
	}
	var leaves [][]byte
	var id string
	var hash, canonical sql.RawBytes
	err = each(rows, func() error {
		p, err := policy.Restore(policy.ID(id), hash, canonical)
		leaves = append(leaves, store.PolicyLeaf(t.name, p))
		return err
	}, &id, &hash, &canonical)
	if err != nil {
		return err
	}
	return t.log(leaves...)
}

func (t *tx) logKeys(conn *sql.Conn) error {
	rows, err := conn.QueryContext(t.ctx, queryKeys, t.tenant)
	keys, err := readKeys(t.name, rows, err)
	if err != nil {
		return err
	}
	var leaves [][]byte
	for i := range keys {
		leaves = append(leaves, store.KeyLeaves(&keys[i])...)
	}
	return t.log(leaves...)
}

func (t *tx) logEvents(conn *sql.Conn) error {
	for after, more := dag.Seq(0), true; more; {
		rows, err := conn.QueryContext(t.ctx, queryEvents, t.tenant, int64(after), backlogPage)
		if err != nil {
			return err
		}
		var leaves [][]byte
		err = eachEvent(rows, func(e store.Event) {
			after = e.Seq
			leaves = append(leaves, store.EventLeaf(t.name, &e))
		})
		if err != nil {
			return err
		}
		if err := t.log(leaves...); err != nil {
			return err
		}
		more = len(leaves) == backlogPage
	}
	return nil
}

// logIssued writes into the records, too, where their leaves stand.
func (t *tx) logIssued(conn *sql.Conn) (err error) {
	set, err := conn.PrepareContext(t.ctx, `UPDATE issued SET leaf = ? WHERE tenant = ? AND number = ?`)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, set.Close()) }()
	for after, more := uint64(0), true; more; {
		list, err := readIssued(conn.QueryContext(t.ctx, queryIssuedAfter, t.tenant, int64(after), backlogPage))
		if err != nil {
			return err
		}
		leaves := make([][]byte, len(list))
		for n := range list {
			after = list[n].Number
			leaves[n] = store.IssuedLeaf(t.name, &list[n])
		}
		at, err := t.appendLeaves(leaves, nil, func(i int) bool { return !packed.Leads(&list[i]) })
		if err != nil {
			return err
		}
		for n := range list {
			if _, err := set.ExecContext(t.ctx, int64(at[n]), t.tenant, int64(list[n].Number)); err != nil {
				return err
			}
		}
		more = len(list) == backlogPage
	}
	return nil
}
