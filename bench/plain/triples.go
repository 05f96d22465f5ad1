package plain

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"net/url"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A Triple is what a user would keep of a fact.
type Triple struct {
	Subject, Predicate, Object string
	Confidence                 int64
}

// Triples is one table with an index for each direction.
type Triples interface {
	Load(ctx context.Context, list []Triple) error
	// Hop returns up to limit triples at either end of which one of the names is, the
	// surest first.
	Hop(ctx context.Context, names []string, limit int) ([]Triple, error)
	Close() error
}

// Reach walks hops as a user would: one query for each, with all names that are new, until
// there are enough.
func Reach(ctx context.Context, t Triples, start string, hops, results int) (int, error) {
	seen := map[string]bool{start: true}
	level := []string{start}
	for range hops {
		list, err := t.Hop(ctx, level, 4*results)
		if err != nil {
			return 0, err
		}
		level = nil
		for _, x := range list {
			for _, name := range [...]string{x.Subject, x.Object} {
				if !seen[name] && len(seen) <= results {
					seen[name] = true
					level = append(level, name)
				}
			}
		}
		if len(level) == 0 || len(seen) > results {
			break
		}
	}
	return len(seen) - 1, nil
}

const (
	tripleColumns = `subject, predicate, object, confidence`

	sqliteTriples = `
CREATE TABLE triples (subject TEXT NOT NULL, predicate TEXT NOT NULL, object TEXT NOT NULL, confidence INTEGER NOT NULL);
CREATE INDEX triples_out ON triples (subject, confidence);
CREATE INDEX triples_in ON triples (object, confidence)`

	sqliteHop = `SELECT * FROM (SELECT t.subject, t.predicate, t.object, t.confidence FROM json_each(?1) j CROSS JOIN triples t ON t.subject = j.value LIMIT ?2)
		UNION ALL SELECT * FROM (SELECT t.subject, t.predicate, t.object, t.confidence FROM json_each(?1) j CROSS JOIN triples t ON t.object = j.value LIMIT ?2)
		ORDER BY 4 DESC LIMIT ?2`

	postgresTriples = `
CREATE TABLE triples (subject text COLLATE "C" NOT NULL, predicate text NOT NULL, object text COLLATE "C" NOT NULL, confidence bigint NOT NULL);
CREATE INDEX triples_out ON triples (subject, confidence);
CREATE INDEX triples_in ON triples (object, confidence)`

	postgresHop = `SELECT * FROM ((SELECT ` + tripleColumns + ` FROM triples WHERE subject = ANY($1) LIMIT $2)
		UNION ALL (SELECT ` + tripleColumns + ` FROM triples WHERE object = ANY($1) LIMIT $2)) t ORDER BY confidence DESC LIMIT $2`
)

type sqliteTripleFile struct {
	db  *sql.DB
	hop *sql.Stmt
}

// SQLiteTriples makes a file for triples, as durable as the kernel's store.
func SQLiteTriples(ctx context.Context, path string) (Triples, error) {
	q := url.Values{"_pragma": {"journal_mode(wal)", "synchronous(full)", "cache_size(-65536)", "wal_autocheckpoint(16384)"}}
	db, err := sql.Open("sqlite", "file:"+path+"?"+q.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, sqliteTriples); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	hop, err := db.PrepareContext(ctx, sqliteHop)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &sqliteTripleFile{db, hop}, nil
}

func (f *sqliteTripleFile) Load(ctx context.Context, list []Triple) error {
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after the commit it does nothing
	insert, err := tx.PrepareContext(ctx, `INSERT INTO triples VALUES (?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	for i := range list {
		t := &list[i]
		if _, err := insert.ExecContext(ctx, t.Subject, t.Predicate, t.Object, t.Confidence); err != nil {
			return err
		}
	}
	return errors.Join(insert.Close(), tx.Commit())
}

func (f *sqliteTripleFile) Hop(ctx context.Context, names []string, limit int) (list []Triple, err error) {
	text, err := json.Marshal(names)
	if err != nil {
		return nil, err
	}
	rows, err := f.hop.QueryContext(ctx, string(text), limit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var t Triple
		if err := rows.Scan(&t.Subject, &t.Predicate, &t.Object, &t.Confidence); err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, rows.Err()
}

func (f *sqliteTripleFile) Close() error { return errors.Join(f.hop.Close(), f.db.Close()) }

type postgresTripleTable struct{ pool *pgxpool.Pool }

// PostgresTriples makes a table for triples in a database.
func PostgresTriples(ctx context.Context, dsn string) (Triples, error) {
	pool, err := pgxpool.New(ctx, dsn)
	if err != nil {
		return nil, err
	}
	if _, err := pool.Exec(ctx, postgresTriples); err != nil {
		pool.Close()
		return nil, err
	}
	return postgresTripleTable{pool}, nil
}

func (p postgresTripleTable) Load(ctx context.Context, list []Triple) error {
	_, err := p.pool.CopyFrom(ctx, pgx.Identifier{"triples"}, []string{"subject", "predicate", "object", "confidence"},
		pgx.CopyFromSlice(len(list), func(i int) ([]any, error) {
			t := &list[i]
			return []any{t.Subject, t.Predicate, t.Object, t.Confidence}, nil
		}))
	return err
}

func (p postgresTripleTable) Hop(ctx context.Context, names []string, limit int) ([]Triple, error) {
	rows, err := p.pool.Query(ctx, postgresHop, names, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Triple])
}

func (p postgresTripleTable) Close() error {
	p.pool.Close()
	return nil
}
