package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// A Hold on a file keeps all others from using it as a database: no connection has it
// open, in this process or another, and a connection that opens it waits until Release.
type Hold struct {
	path string
	db   *sql.DB
	conn *sql.Conn
}

// HoldFile returns a Hold on an existing file, database or not. If another connection still has it open after wait, the error
// wraps store.ErrBusy. A file that is not an SQLite database cannot be in use as one; the Hold then only covers its name.
//
// BEGIN EXCLUSIVE alone is not enough: with a write-ahead log it excludes writers, but not a process
// that has the file open and nothing to write yet. A connection that is set to lock exclusively before
// its first read takes the lock on the file itself, of which every other open connection has a share.
func HoldFile(ctx context.Context, path string, wait time.Duration) (*Hold, error) {
	path, err := filepath.EvalSymlinks(path) // SQLite keeps the log beside the file that a link leads to
	if err != nil {
		return nil, err
	}
	h := &Hold{path: path}
	database := begins(path) // asked before SQLite copies a log beside the file into it
	var e *driver.Error
	switch err := h.take(ctx, wait); {
	case err == nil:
		return h, nil
	case errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_NOTADB,
		// If the log beside it is that of another database, SQLite sees some pages, and misses the others.
		errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_CORRUPT && !database:
		return h, h.Release()
	default:
		return nil, errors.Join(fmt.Errorf("sqlite: holding %s: %w", path, busy(err)), h.Release())
	}
}

// begins reports whether a file begins like a database.
func begins(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, len(magic))
	n, _ := io.ReadFull(f, head)
	return string(head[:n]) == magic
}

func (h *Hold) take(ctx context.Context, wait time.Duration) error {
	name, err := dataSource(h.path, wait, "locking_mode(exclusive)", "synchronous(full)")
	if err != nil {
		return err
	}
	if h.db, err = sql.Open("sqlite", name); err != nil {
		return err
	}
	if h.conn, err = h.db.Conn(ctx); err != nil {
		return err
	}
	if _, err := h.conn.ExecContext(ctx, `BEGIN EXCLUSIVE`); err != nil { // for a file without a log
		return err
	}
	_, err = h.conn.ExecContext(ctx, `COMMIT`) // COMMIT keeps the lock
	return err
}

// Replace renames another file of the same folder to the name of the held file, which is gone then. The
// log of the held file is copied into it first, and its log and index are removed, since SQLite would use
// them for the new file. No connection can have the new file open under the name before it has the name.
func (h *Hold) Replace(ctx context.Context, with string) error {
	if err := h.replace(ctx, with); err != nil {
		return fmt.Errorf("sqlite: replacing %s: %w", h.path, err)
	}
	return nil
}

func (h *Hold) replace(ctx context.Context, with string) error {
	windows := runtime.GOOS == "windows"
	if h.conn != nil {
		if _, err := h.conn.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
			return err
		}
	}
	if windows { // where an open file can neither be replaced nor removed
		if err := h.Release(); err != nil {
			return err
		}
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if err := os.Remove(h.path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if windows {
		return os.Rename(with, h.path)
	}
	old, err := os.OpenFile(h.path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { _ = old.Close() }() // which ends the lock, as Release does
	if err := os.Rename(with, h.path); err != nil {
		return err
	}
	// A process that opened the old file a moment ago waits for the lock, and would then write into a file without a name, and beside
	// the new one. Without its first bytes the old file is not a database. If it has another name, it stays in use under that name.
	if info, err := old.Stat(); err == nil && names(info) == 0 {
		_, _ = old.WriteAt(make([]byte, 16), 0) // all is done; this only warns others
	}
	return nil
}

// Release ends the Hold. Releasing twice is harmless.
func (h *Hold) Release() error {
	var errs []error
	if h.conn != nil {
		errs = append(errs, h.conn.Close())
	}
	if h.db != nil {
		errs = append(errs, h.db.Close())
	}
	h.conn, h.db = nil, nil
	return errors.Join(errs...)
}
