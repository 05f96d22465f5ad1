package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

const (
	querySnapshots = `SELECT name, value FROM snapshots WHERE tenant = ? AND name > ? AND name >= ? AND name < ? ORDER BY name LIMIT ? + 0`

	querySnapshotNames = `SELECT name, x'' FROM snapshots WHERE tenant = ? AND name > ? AND name >= ? AND name < ? ORDER BY name LIMIT ? + 0`

	querySnapshot = `SELECT value FROM snapshots WHERE tenant = ? AND name = ?`

	queryDropSnapshot = `UPDATE snapshots SET name = NULL, value = x'' WHERE tenant = ? AND name = ?`

	queryPutSnapshot = `INSERT INTO snapshots (tenant, name, value) VALUES (?, ?, ?)`
)

// Snapshots returns the snapshots of a page.
func (rd *reader) Snapshots(ctx context.Context, tenant dag.Tenant, p history.SnapshotPage) (list []history.Snapshot, err error) {
	err = rd.read(ctx, "snapshots", tenant, func(n int64) error {
		query := rd.queries.snapshots
		if p.Names {
			query = rd.queries.snapshotNames
		}
		rows, err := query.QueryContext(ctx, n, p.After, p.Prefix, p.Upper(), max(p.Limit, 0))
		if err != nil {
			return err
		}
		var name string
		var value sql.RawBytes
		return each(rows, func() error {
			list = append(list, history.Snapshot{Name: name, Value: valueOf(value)})
			return nil
		}, &name, &value)
	})
	return intact(list, err)
}

// valueOf returns a copy of a value, nil if only the name was read.
func valueOf(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return bytes.Clone(b)
}

// snapshots reads snapshots for a change.
func (t *tx) snapshots(names []string, k *history.State) error {
	for _, name := range names {
		var value []byte
		switch err := t.snapshot.QueryRowContext(t.ctx, t.tenant, name).Scan(&value); {
		case err == nil:
			k.Snapshots[name] = value
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
	}
	return nil
}

// snap is a write step that replaces snapshots. It never makes a row larger, since SQLite would move the row.
func (t *tx) snap(list []history.Snapshot) error {
	if len(list) == 0 {
		return nil
	}
	if err := t.begin("snapshots"); err != nil {
		return err
	}
	for i := range list {
		if _, err := t.dropSnapshot.ExecContext(t.ctx, t.tenant, list[i].Name); err != nil {
			return err
		}
		if len(list[i].Value) > 0 {
			if _, err := t.putSnapshot.ExecContext(t.ctx, t.tenant, list[i].Name, list[i].Value); err != nil {
				return err
			}
		}
		if err := t.ended(); err != nil {
			return err
		}
	}
	return nil
}
