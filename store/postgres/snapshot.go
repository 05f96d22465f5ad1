package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

const (
	querySnapshots = `SELECT name, value FROM snapshots WHERE tenant = $1 AND name > $2 AND name >= $3 AND name < $4 ORDER BY name LIMIT $5`

	querySnapshotNames = `SELECT name, NULL::bytea FROM snapshots WHERE tenant = $1 AND name > $2 AND name >= $3 AND name < $4 ORDER BY name LIMIT $5`

	querySnapshotsOf = `SELECT name, value FROM snapshots WHERE tenant = $1 AND name = ANY($2)`

	queryDropSnapshot = `DELETE FROM snapshots WHERE tenant = $1 AND name = $2`

	queryPutSnapshot = `INSERT INTO snapshots (tenant, name, value) VALUES ($1, $2, $3) ON CONFLICT (tenant, name) DO UPDATE SET value = excluded.value`
)

// Snapshots returns the snapshots of a page.
func (rd *reader) Snapshots(ctx context.Context, tenant dag.Tenant, p history.SnapshotPage) (list []history.Snapshot, err error) {
	err = rd.read(ctx, "snapshots", func(ctx context.Context, db *pgxpool.Conn) error {
		query := querySnapshots
		if p.Names {
			query = querySnapshotNames
		}
		rows, err := db.Query(ctx, query, string(tenant), p.After, p.Prefix, p.Upper(), max(p.Limit, 0))
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[history.Snapshot])
		return err
	})
	return intact(list, err)
}

// queueSnapshots queues the statements that replace snapshots.
func (t *tx) queueSnapshots(b *pgx.Batch, list []history.Snapshot) error {
	if len(list) == 0 {
		return nil
	}
	if err := t.begin("snapshots"); err != nil {
		return err
	}
	for i := range list {
		if len(list[i].Value) == 0 {
			b.Queue(queryDropSnapshot, string(t.name), list[i].Name)
		} else {
			b.Queue(queryPutSnapshot, string(t.name), list[i].Name, list[i].Value)
		}
	}
	return nil
}
