package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
)

// applicationID marks a database file as a store: "GKP1" in ASCII.
const applicationID = 0x474b5031

// ErrForeign is wrapped when a file is not a database of this package. The file has not been changed.
var ErrForeign = errors.New("not a Graph Kernel database")

//go:embed schema/*.sql
var embedded embed.FS

// schemaFiles are the files of all schemas. Tests add to them.
var schemaFiles fs.FS = embedded

// identity describes a file: its application_id, its user_version and the number of its tables.
type identity struct {
	application, version int
	tables               int
}

func readIdentity(ctx context.Context, conn *sql.Conn) (id identity, err error) {
	err = conn.QueryRowContext(ctx, `SELECT a.application_id, v.user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id a, pragma_user_version v`).Scan(&id.application, &id.version, &id.tables)
	return id, err
}

// noDatabase wraps ErrForeign around SQLite's error for a file that is not a
// database. Every statement of a connection can return that error, even a PRAGMA.
func noDatabase(err error) error {
	var e *driver.Error
	if errors.As(err, &e) && e.Code() == sqlite3.SQLITE_NOTADB {
		return fmt.Errorf("%w: %w", ErrForeign, err)
	}
	return err
}

// busy wraps store.ErrBusy around SQLite's error for a file that another process writes.
func busy(err error) error {
	if resultCode(err)&0xff == sqlite3.SQLITE_BUSY { // extended codes have more bits above these
		return fmt.Errorf("%w: %w", store.ErrBusy, err)
	}
	return err
}

// check returns an error unless the file is a store with a schema that this version reads.
func (id identity) check(newest int) error {
	if id == (identity{}) {
		return fmt.Errorf("%w: it is an empty database; if it is the copy of a store, copy the -wal file of the store as well", ErrForeign)
	}
	if id.application != applicationID {
		return fmt.Errorf("%w: its application_id is %#x", ErrForeign, uint32(id.application))
	}
	return packed.CheckSchema(id.version, newest)
}

// Migrate migrates a database file to the newest schema and returns what it found. With dry it changes nothing. The errors are those of Open.
func Migrate(ctx context.Context, path string, dry bool) (m store.Migration, err error) {
	if _, err := os.Stat(path); err != nil {
		return m, fmt.Errorf("sqlite: migrating: %w", err)
	}
	if m, err = planMigration(ctx, path); err != nil {
		return m, fmt.Errorf("sqlite: migrating %s: %w", path, noDatabase(err))
	}
	if dry || m.From == m.To {
		return m, nil
	}
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return m, err
	}
	return m, s.Close()
}

func planMigration(ctx context.Context, path string) (m store.Migration, err error) {
	texts, err := packed.Schema(schemaFiles)
	if err != nil {
		return m, err
	}
	name, err := dataSource(path, time.Second, "query_only(1)")
	if err != nil {
		return m, err
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	id, err := readIdentity(ctx, conn)
	if err != nil {
		return m, err
	}
	m = store.Migration{From: id.version, To: len(texts)}
	return m, id.check(m.To)
}

// A fileState is the state in which a file was found when it was opened.
type fileState int

const (
	opened  fileState = iota
	created           // the file is new and empty
)

// prepareFile migrates the file to the newest schema, a new file from nothing. It reads the
// file's identity again under the write lock, since another process may be doing the same.
func prepareFile(ctx context.Context, conn *sql.Conn, state fileState) error {
	texts, err := packed.Schema(schemaFiles)
	if err != nil {
		return err
	}
	id, err := readIdentity(ctx, conn)
	if err != nil {
		return err
	}
	if state != created {
		if err := id.check(len(texts)); err != nil {
			return err
		}
	}
	var mode string
	if err := conn.QueryRowContext(ctx, `PRAGMA journal_mode = WAL`).Scan(&mode); err != nil {
		return fmt.Errorf("journal_mode: %w", err)
	}
	if mode != "wal" {
		return fmt.Errorf("the file cannot have a write-ahead log (journal_mode %q)", mode)
	}
	if id.version == len(texts) {
		return nil
	}
	return migrate(ctx, conn, texts, state == created)
}

func migrate(ctx context.Context, conn *sql.Conn, texts []string, isNew bool) (err error) {
	if _, err := conn.ExecContext(ctx, `BEGIN IMMEDIATE`); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, rollback := conn.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`)
			err = errors.Join(err, rollback)
		}
	}()
	id, err := readIdentity(ctx, conn)
	if err != nil {
		return err
	}
	if !isNew {
		if err := id.check(len(texts)); err != nil {
			return err
		}
	}
	for n := id.version; n < len(texts); n++ {
		if _, err := conn.ExecContext(ctx, texts[n]); err != nil {
			return fmt.Errorf("schema %d: %w", n+1, err)
		}
	}
	for _, pragma := range []string{
		fmt.Sprintf(`PRAGMA application_id = %d`, applicationID),
		fmt.Sprintf(`PRAGMA user_version = %d`, len(texts)),
		`COMMIT`,
	} {
		if _, err := conn.ExecContext(ctx, pragma); err != nil {
			return err
		}
	}
	return nil
}
