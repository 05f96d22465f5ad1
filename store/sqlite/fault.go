package sqlite

import (
	"context"
	"errors"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/graphkernel/graphkernel/store"
)

// resultCode returns SQLite's extended result code of an error, 0 for any other error.
func resultCode(err error) int {
	var e interface{ Code() int } // an error of the driver, or of a bare connection
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// damaged wraps store.ErrUnreadable around SQLite's errors for a file whose bytes are not those that
// were written, and returns any other error as it is.
func damaged(err error) error {
	switch code := resultCode(err); {
	case code == sqlite3.SQLITE_IOERR_DATA:
		return fmt.Errorf("%w: the checksum of a page does not match: %w", store.ErrUnreadable, err)
	case code&0xff == sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("%w: %w", store.ErrUnreadable, err)
	}
	return err
}

// unwritable wraps store.ErrUnwritable around SQLite's errors for a disk that is full,
// read-only or failing, and returns any other error as it is.
func unwritable(err error) error {
	code := resultCode(err)
	if code == sqlite3.SQLITE_IOERR_DATA {
		return err // the disk accepts writes
	}
	switch code & 0xff { // extended codes have more bits above these
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR:
		return fmt.Errorf("%w: %w", store.ErrUnwritable, err)
	case sqlite3.SQLITE_READONLY:
		return fmt.Errorf("%w: the disk or the file is read-only: %w", store.ErrUnwritable, err)
	}
	return err
}

// failed adds the method's name to an error, and wraps store.ErrUnreadable around it if the file is damaged.
func failed(method string, err error) error {
	return fmt.Errorf("sqlite: %s: %w", method, damaged(err))
}

// afterCommit returns the error for a failed COMMIT that was rolled back, depending on what it left. SQLite writes the log,
// then syncs it, then notes in the log's index where it ends. If the write failed, the log has no complete commit, and
// nothing was kept. If the index could not grow, the log has a commit that no reader sees: the next write overwrites it, but
// a crash before that brings it back. After a failed sync the content of the disk is unknown, and the store must not go on.
func (s *Store) afterCommit(err error) error {
	switch code := resultCode(err); {
	case code == sqlite3.SQLITE_IOERR_SHMSIZE, code == sqlite3.SQLITE_IOERR_SHMMAP, code == sqlite3.SQLITE_IOERR_SHMOPEN:
		return fmt.Errorf("%w: %w", store.ErrUncertain, unwritable(err))
	case code&0xff == sqlite3.SQLITE_FULL, code&0xff == sqlite3.SQLITE_READONLY, code == sqlite3.SQLITE_IOERR_WRITE:
		return unwritable(err)
	}
	return s.fail(err)
}

// rollback ends a failed transaction. After most faults of the disk, SQLite has ended it
// already; then ROLLBACK fails, and if a new transaction can begin, the old one is gone.
func (w *writer) rollback(ctx context.Context) error {
	_, err := w.conn.ExecContext(ctx, `ROLLBACK`)
	if err == nil {
		return nil
	}
	if _, open := w.conn.ExecContext(ctx, `BEGIN`); open != nil {
		return fmt.Errorf("rollback: %w", err)
	}
	if _, err := w.conn.ExecContext(ctx, `ROLLBACK`); err != nil {
		return fmt.Errorf("rollback: %w", err)
	}
	return nil
}

// Writable reports whether the store accepts writes: whether its files are the ones that it has open, and whether the last
// write succeeded. If the last write was refused, it checks whether the disk has room again, see HasRoom, and writes one page
// of the file again, unchanged. The error wraps store.ErrUnwritable or store.ErrBroken, or store.ErrBusy if another process is writing.
func (s *Store) Writable(ctx context.Context) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	if s.writer == nil {
		return fmt.Errorf("%w: the store was opened read-only", store.ErrUnwritable)
	}
	if err := s.files.unmoved(s.path); err != nil {
		return s.fail(err)
	}
	if !s.refuses.Load() {
		return nil
	}
	if err := HasRoom(s.path); err != nil {
		return err
	}
	select {
	case s.writing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.writing }()
	if err := s.usable(); err != nil {
		return err
	}
	w, ctx := s.writer, context.WithoutCancel(ctx)
	var version int
	err := w.conn.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version)
	if err == nil {
		_, err = w.conn.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, version))
	}
	if err != nil {
		return busy(unwritable(err))
	}
	s.refuses.Store(false)
	return nil
}
