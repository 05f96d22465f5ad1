package plain

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"

	_ "modernc.org/sqlite" // the driver

	"github.com/graphkernel/graphkernel/dag"
)

const sqliteTables = `
CREATE TABLE IF NOT EXISTS turns (
	tenant TEXT NOT NULL, id BLOB NOT NULL, conversation BLOB NOT NULL,
	role INTEGER NOT NULL, phase INTEGER NOT NULL, salience INTEGER NOT NULL, created_at INTEGER NOT NULL,
	author TEXT NOT NULL, content TEXT NOT NULL,
	PRIMARY KEY (tenant, id)
);
CREATE TABLE IF NOT EXISTS edges (
	tenant TEXT NOT NULL, parent BLOB NOT NULL, child BLOB NOT NULL, kind INTEGER NOT NULL,
	PRIMARY KEY (tenant, parent, child)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS edges_by_child ON edges (tenant, child, parent)`

// CROSS JOIN keeps the order of the tables: from an edge to the turn.
const (
	sqliteTurn     = `SELECT id, phase, salience FROM turns WHERE tenant = ? AND id = ?`
	sqliteParents  = `SELECT t.id, t.phase, t.salience FROM edges e CROSS JOIN turns t ON t.tenant = e.tenant AND t.id = e.parent WHERE e.tenant = ? AND e.child = ?`
	sqliteChildren = `SELECT t.id, t.phase, t.salience FROM edges e CROSS JOIN turns t ON t.tenant = e.tenant AND t.id = e.child WHERE e.tenant = ? AND e.parent = ?`
	sqliteSiblings = `SELECT DISTINCT t.id, t.phase, t.salience FROM edges up
		CROSS JOIN edges down ON down.tenant = up.tenant AND down.parent = up.parent
		CROSS JOIN turns t ON t.tenant = down.tenant AND t.id = down.child
		WHERE up.tenant = ?1 AND up.child = ?2 AND down.child <> ?2`

	sqliteNear = `WITH RECURSIVE near (id) AS (
			SELECT ?2
			UNION
			SELECT e.parent FROM near CROSS JOIN edges e ON e.tenant = ?1 AND e.child = near.id
			UNION
			SELECT e.child FROM near CROSS JOIN edges e ON e.tenant = ?1 AND e.parent = near.id
			LIMIT ?3
		), around AS MATERIALIZED (SELECT id FROM near)
		SELECT t.id, NULL, t.phase, t.salience FROM around CROSS JOIN turns t ON t.tenant = ?1 AND t.id = around.id
		UNION ALL
		SELECT e.parent, e.child, 0, 0 FROM around CROSS JOIN edges e ON e.tenant = ?1 AND e.child = around.id
		UNION ALL
		SELECT e.parent, e.child, 0, 0 FROM around CROSS JOIN edges e ON e.tenant = ?1 AND e.parent = around.id
			WHERE e.child NOT IN (SELECT id FROM around)`

	sqliteTexts = `SELECT t.id, t.content FROM json_each(?2) j CROSS JOIN turns t ON t.tenant = ?1 AND t.id = unhex(j.value)`

	sqliteAddTurn = `INSERT INTO turns VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqliteAddEdge = `INSERT INTO edges VALUES (?, ?, ?, ?)`
)

type sqlite struct {
	*sqliteFile
	tenant dag.Tenant
}

// A sqliteFile is the connections to a file and their statements: four connections
// that read, with as much of the file in memory as those of the kernel's store, and one
// that writes, as durable as that of the kernel's store.
type sqliteFile struct {
	readers, writer                                *sql.DB
	turn, parents, children, siblings, near, texts *sql.Stmt
	addTurn, addEdge                               *sql.Stmt
}

// SQLite opens a file, and makes it if it is not there.
func SQLite(ctx context.Context, path string, tenant dag.Tenant) (_ Database, err error) {
	f := &sqliteFile{}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	name := func(pragmas ...string) string {
		q := url.Values{"_pragma": append(pragmas, "busy_timeout(10000)", "temp_store(memory)")}
		return "file:" + path + "?" + q.Encode()
	}
	if f.writer, err = sql.Open("sqlite", name("journal_mode(wal)", "synchronous(full)", "cache_size(-65536)", "wal_autocheckpoint(16384)")); err != nil {
		return nil, err
	}
	f.writer.SetMaxOpenConns(1)
	if _, err := f.writer.ExecContext(ctx, sqliteTables); err != nil {
		return nil, err
	}
	if f.readers, err = sql.Open("sqlite", name("query_only(1)", "cache_size(-16384)")); err != nil {
		return nil, err
	}
	f.readers.SetMaxOpenConns(4)
	f.readers.SetMaxIdleConns(4)
	for _, s := range []struct {
		into **sql.Stmt
		db   *sql.DB
		text string
	}{
		{&f.turn, f.readers, sqliteTurn}, {&f.parents, f.readers, sqliteParents}, {&f.children, f.readers, sqliteChildren},
		{&f.siblings, f.readers, sqliteSiblings}, {&f.near, f.readers, sqliteNear}, {&f.texts, f.readers, sqliteTexts},
		{&f.addTurn, f.writer, sqliteAddTurn}, {&f.addEdge, f.writer, sqliteAddEdge},
	} {
		if *s.into, err = s.db.PrepareContext(ctx, s.text); err != nil {
			return nil, err
		}
	}
	return &sqlite{f, tenant}, nil
}

func (s *sqlite) Tenant(name dag.Tenant) Database { return &sqlite{s.sqliteFile, name} }

// Close closes the statements with the connections.
func (f *sqliteFile) Close() error {
	var errs []error
	for _, db := range []*sql.DB{f.readers, f.writer} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

func (s *sqlite) Turn(ctx context.Context, id dag.TurnID) (Turn, error) {
	turns, err := s.turns(ctx, s.turn, id)
	if err == nil && len(turns) == 0 {
		err = fmt.Errorf("turn %s: %w", id, ErrUnknown)
	}
	if err != nil {
		return Turn{}, err
	}
	return turns[0], nil
}

func (s *sqlite) Parents(ctx context.Context, of dag.TurnID) ([]Turn, error) {
	return s.turns(ctx, s.parents, of)
}

func (s *sqlite) Children(ctx context.Context, of dag.TurnID) ([]Turn, error) {
	return s.turns(ctx, s.children, of)
}

func (s *sqlite) Siblings(ctx context.Context, of dag.TurnID) ([]Turn, error) {
	return s.turns(ctx, s.siblings, of)
}

func (s *sqlite) turns(ctx context.Context, query *sql.Stmt, of dag.TurnID) (turns []Turn, err error) {
	rows, err := query.QueryContext(ctx, string(s.tenant), of[:])
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var id sql.RawBytes
	var t Turn
	for rows.Next() {
		if err := rows.Scan(&id, &t.Phase, &t.Salience); err != nil {
			return nil, err
		}
		copy(t.ID[:], id)
		turns = append(turns, t)
	}
	return turns, rows.Err()
}

func (s *sqlite) Near(ctx context.Context, anchor dag.TurnID, bound int) (turns []Turn, edges []Edge, err error) {
	rows, err := s.near.QueryContext(ctx, string(s.tenant), anchor[:], bound)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var id, child sql.RawBytes
	var t Turn
	for rows.Next() {
		if err := rows.Scan(&id, &child, &t.Phase, &t.Salience); err != nil {
			return nil, nil, err
		}
		copy(t.ID[:], id)
		if child == nil {
			turns = append(turns, t)
			continue
		}
		e := Edge{Parent: t.ID}
		copy(e.Child[:], child)
		edges = append(edges, e)
	}
	return turns, edges, rows.Err()
}

func (s *sqlite) Texts(ctx context.Context, ids []dag.TurnID) (_ map[dag.TurnID]string, err error) {
	list := []byte{'['}
	for i := range ids {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(hex.AppendEncode(append(list, '"'), ids[i][:]), '"')
	}
	rows, err := s.texts.QueryContext(ctx, string(s.tenant), string(append(list, ']')))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	texts := make(map[dag.TurnID]string, len(ids))
	var id sql.RawBytes
	var content string
	for rows.Next() {
		if err := rows.Scan(&id, &content); err != nil {
			return nil, err
		}
		texts[dag.TurnID(id)] = content
	}
	return texts, rows.Err()
}

func (s *sqlite) Load(ctx context.Context, drafts []dag.Draft) (err error) {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	addTurn, addEdge := tx.StmtContext(ctx, s.addTurn), tx.StmtContext(ctx, s.addEdge)
	for i := range drafts {
		d := &drafts[i]
		if _, err := addTurn.ExecContext(ctx, string(s.tenant), d.ID[:], d.Conversation[:], uint8(d.Role), uint8(d.Phase), uint32(d.Salience), int64(d.CreatedAt), d.Author, d.Content); err != nil {
			return err
		}
		for _, p := range d.Parents {
			if _, err := addEdge.ExecContext(ctx, string(s.tenant), p.ID[:], d.ID[:], uint8(p.Kind)); err != nil {
				return err
			}
		}
	}
	return tx.Commit()
}

// Settle does nothing: the statements say in which order to read, and a file is not
// cleaned up after its writers.
func (s *sqlite) Settle(context.Context) error { return nil }
