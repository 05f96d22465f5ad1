package plain

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/graphkernel/graphkernel/dag"
)

const postgresTables = `
CREATE TABLE IF NOT EXISTS turns (
	tenant text COLLATE "C" NOT NULL, id uuid NOT NULL, conversation uuid NOT NULL,
	role smallint NOT NULL, phase smallint NOT NULL, salience integer NOT NULL, created_at bigint NOT NULL,
	author text NOT NULL, content text NOT NULL,
	PRIMARY KEY (tenant, id)
);
CREATE TABLE IF NOT EXISTS edges (
	tenant text COLLATE "C" NOT NULL, parent uuid NOT NULL, child uuid NOT NULL, kind smallint NOT NULL,
	PRIMARY KEY (tenant, parent, child)
);
CREATE INDEX IF NOT EXISTS edges_by_child ON edges (tenant, child, parent)`

const (
	postgresTurn     = `SELECT id, phase, salience FROM turns WHERE tenant = $1 AND id = $2`
	postgresParents  = `SELECT t.id, t.phase, t.salience FROM edges e JOIN turns t ON t.tenant = e.tenant AND t.id = e.parent WHERE e.tenant = $1 AND e.child = $2`
	postgresChildren = `SELECT t.id, t.phase, t.salience FROM edges e JOIN turns t ON t.tenant = e.tenant AND t.id = e.child WHERE e.tenant = $1 AND e.parent = $2`
	postgresSiblings = `SELECT DISTINCT t.id, t.phase, t.salience FROM edges up
		JOIN edges down ON down.tenant = up.tenant AND down.parent = up.parent
		JOIN turns t ON t.tenant = down.tenant AND t.id = down.child
		WHERE up.tenant = $1 AND up.child = $2 AND down.child <> $2`

	// PostgreSQL computes a recursive query only as far as its rows are asked for.
	postgresNear = `WITH RECURSIVE near (id) AS (
			SELECT $2::uuid
			UNION
			SELECT n.id FROM near CROSS JOIN LATERAL (
				SELECT parent AS id FROM edges WHERE tenant = $1 AND child = near.id
				UNION ALL
				SELECT child FROM edges WHERE tenant = $1 AND parent = near.id
			) n
		), around AS MATERIALIZED (SELECT id FROM near LIMIT $3)
		SELECT t.id, NULL::uuid, t.phase, t.salience FROM around JOIN turns t ON t.tenant = $1 AND t.id = around.id
		UNION ALL
		SELECT e.parent, e.child, 0::smallint, 0 FROM around JOIN edges e ON e.tenant = $1 AND e.child = around.id
		UNION ALL
		SELECT e.parent, e.child, 0::smallint, 0 FROM around JOIN edges e ON e.tenant = $1 AND e.parent = around.id
			WHERE NOT EXISTS (SELECT FROM around s WHERE s.id = e.child)`

	postgresTexts = `SELECT id, content FROM turns WHERE tenant = $1 AND id = ANY($2)`
)

type postgres struct {
	pool   *pgxpool.Pool
	tenant dag.Tenant
}

// Postgres opens a database, and makes the tables if they are not there. The driver prepares
// each statement once for a connection.
func Postgres(ctx context.Context, url string, tenant dag.Tenant) (Database, error) {
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	c.MaxConns = 16
	c.ConnConfig.RuntimeParams["jit"] = "off"
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, err
	}
	if _, err := pool.Exec(ctx, postgresTables, pgx.QueryExecModeSimpleProtocol); err != nil {
		pool.Close()
		return nil, err
	}
	return &postgres{pool, tenant}, nil
}

func (p *postgres) Tenant(name dag.Tenant) Database { return &postgres{p.pool, name} }

func (p *postgres) Close() error {
	p.pool.Close()
	return nil
}

func (p *postgres) Turn(ctx context.Context, id dag.TurnID) (t Turn, err error) {
	err = p.pool.QueryRow(ctx, postgresTurn, string(p.tenant), [16]byte(id)).Scan((*[16]byte)(&t.ID), (*uint8)(&t.Phase), (*uint32)(&t.Salience))
	if errors.Is(err, pgx.ErrNoRows) {
		err = fmt.Errorf("turn %s: %w", id, ErrUnknown)
	}
	return t, err
}

func (p *postgres) Parents(ctx context.Context, of dag.TurnID) ([]Turn, error) {
	return p.turns(ctx, postgresParents, of)
}

func (p *postgres) Children(ctx context.Context, of dag.TurnID) ([]Turn, error) {
	return p.turns(ctx, postgresChildren, of)
}

func (p *postgres) Siblings(ctx context.Context, of dag.TurnID) ([]Turn, error) {
	return p.turns(ctx, postgresSiblings, of)
}

func (p *postgres) turns(ctx context.Context, query string, of dag.TurnID) ([]Turn, error) {
	rows, err := p.pool.Query(ctx, query, string(p.tenant), [16]byte(of))
	if err != nil {
		return nil, err
	}
	var turns []Turn
	var t Turn
	_, err = pgx.ForEachRow(rows, []any{(*[16]byte)(&t.ID), (*uint8)(&t.Phase), (*uint32)(&t.Salience)}, func() error {
		turns = append(turns, t)
		return nil
	})
	return turns, err
}

func (p *postgres) Near(ctx context.Context, anchor dag.TurnID, bound int) ([]Turn, []Edge, error) {
	rows, err := p.pool.Query(ctx, postgresNear, string(p.tenant), [16]byte(anchor), bound)
	if err != nil {
		return nil, nil, err
	}
	var turns []Turn
	var edges []Edge
	var t Turn
	var child *[16]byte
	_, err = pgx.ForEachRow(rows, []any{(*[16]byte)(&t.ID), &child, (*uint8)(&t.Phase), (*uint32)(&t.Salience)}, func() error {
		if child == nil {
			turns = append(turns, t)
		} else {
			edges = append(edges, Edge{t.ID, *child})
		}
		return nil
	})
	return turns, edges, err
}

func (p *postgres) Texts(ctx context.Context, ids []dag.TurnID) (map[dag.TurnID]string, error) {
	list := make([][16]byte, len(ids))
	for i, id := range ids {
		list[i] = id
	}
	rows, err := p.pool.Query(ctx, postgresTexts, string(p.tenant), list)
	if err != nil {
		return nil, err
	}
	texts := make(map[dag.TurnID]string, len(ids))
	var id [16]byte
	var content string
	_, err = pgx.ForEachRow(rows, []any{&id, &content}, func() error {
		texts[id] = content
		return nil
	})
	return texts, err
}

func (p *postgres) Load(ctx context.Context, drafts []dag.Draft) error {
	return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"turns"},
			[]string{"tenant", "id", "conversation", "role", "phase", "salience", "created_at", "author", "content"},
			pgx.CopyFromSlice(len(drafts), func(i int) ([]any, error) {
				d := &drafts[i]
				return []any{string(p.tenant), [16]byte(d.ID), [16]byte(d.Conversation), int16(d.Role), int16(d.Phase), int32(d.Salience), int64(d.CreatedAt), d.Author, d.Content}, nil
			}))
		if err != nil {
			return err
		}
		var edges [][]any
		for i := range drafts {
			for _, parent := range drafts[i].Parents {
				edges = append(edges, []any{string(p.tenant), [16]byte(parent.ID), [16]byte(drafts[i].ID), int16(parent.Kind)})
			}
		}
		_, err = tx.CopyFrom(ctx, pgx.Identifier{"edges"}, []string{"tenant", "parent", "child", "kind"}, pgx.CopyFromRows(edges))
		return err
	})
}

func (p *postgres) Settle(ctx context.Context) error {
	_, err := p.pool.Exec(ctx, `VACUUM ANALYZE`)
	return err
}
