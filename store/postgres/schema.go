package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
)

//go:embed schema/*.sql
var schemaFiles embed.FS

// migrationLock is the lock under which processes migrate a database: "GKP1" in ASCII.
const migrationLock = 0x474b5031

// schemaVersion reads the number of the schema, 0 if there is none.
func schemaVersion(ctx context.Context, tx pgx.Tx) (version int, err error) {
	// It looks into the catalogue: to_regclass, like any name in a statement, may use
	// what this connection knew before it waited for another process's migration.
	var there bool
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_class WHERE relname = 'graphkernel_schema' AND pg_table_is_visible(oid))`).Scan(&there)
	if err != nil || !there {
		return 0, err
	}
	err = tx.QueryRow(ctx, `SELECT version FROM graphkernel_schema`).Scan(&version)
	return version, err
}

// knownVersion is like schemaVersion, but returns an error for a schema that cannot be read.
func knownVersion(ctx context.Context, tx pgx.Tx, newest int) (int, error) {
	version, err := schemaVersion(ctx, tx)
	if err == nil {
		err = packed.CheckSchema(version, newest)
	}
	return version, err
}

// unhurried lets a migration take the time that it needs, or wait for another process's migration.
const unhurried = `SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0`

// migrate migrates the database to the newest schema of files, in one transaction and
// under a lock that other processes wait for. With dry it only returns what it would do.
func migrate(ctx context.Context, db interface {
	Begin(context.Context) (pgx.Tx, error)
}, files fs.FS, dry bool) (m store.Migration, err error) {
	texts, err := packed.Schema(files)
	if err != nil {
		return m, err
	}
	tx, err := db.Begin(ctx)
	if err != nil {
		return m, err
	}
	defer func() {
		if rolledBack := tx.Rollback(context.WithoutCancel(ctx)); rolledBack != nil && !errors.Is(rolledBack, pgx.ErrTxClosed) {
			err = errors.Join(err, rolledBack)
		}
	}()
	m.To = len(texts)
	if m.From, err = knownVersion(ctx, tx, m.To); err != nil {
		return m, err
	}
	if dry || m.From == m.To {
		return m, nil // usual at a start: it needs no lock, and no right to change tables
	}
	if _, err := tx.Exec(ctx, unhurried); err != nil {
		return m, err
	}
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, migrationLock); err != nil {
		return m, err
	}
	// Another process may have been faster, even one of a newer version.
	if m.From, err = knownVersion(ctx, tx, m.To); err != nil || m.From == m.To {
		return m, err
	}
	for n := m.From; n < m.To; n++ {
		if _, err := tx.Exec(ctx, texts[n]); err != nil {
			return m, explainMigration(n+1, err)
		}
	}
	if m.From == 0 {
		_, err = tx.Exec(ctx, `CREATE TABLE graphkernel_schema (version integer NOT NULL)`)
		if err == nil {
			_, err = tx.Exec(ctx, `INSERT INTO graphkernel_schema VALUES ($1)`, m.To)
		}
	} else {
		_, err = tx.Exec(ctx, `UPDATE graphkernel_schema SET version = $1`, m.To)
	}
	if err != nil {
		return m, err
	}
	return m, tx.Commit(ctx)
}

// explainMigration adds the remedy to an error.
func explainMigration(number int, err error) error {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		switch e.Code {
		case "42501": // insufficient_privilege
			return fmt.Errorf("schema %d: %w; run graphkernel migrate as a user who may create tables", number, err)
		case "42P07": // duplicate_table
			return fmt.Errorf("schema %d: %w: the database has tables of another program; give Graph Kernel its own database, or its own schema by search_path", number, err)
		}
	}
	return fmt.Errorf("schema %d: %w", number, err)
}
