package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
)

// Options are options of a store. A program should use the zero value.
type Options struct {
	// Readers is the number of connections that read at once, each with up to
	// 8 MiB of the file in memory. 0 means 4.
	Readers int

	// Busy is how long a write waits for a write of another process before it
	// fails. 0 means ten seconds. Writes of this process wait for each other
	// for as long as their contexts allow.
	Busy time.Duration

	// ReadOnly opens the file only for reading, even if it cannot be written to, as on a read-only or full
	// disk. The file is not migrated, and every write returns an error that wraps store.ErrUnwritable.
	ReadOnly bool

	// Step lets tests make a write fail, or a process die, at any point. It is called before each step of a write, with the step's name, and after
	// the commit, with "committed". An error ends the write there: before the commit nothing is kept; from "committed" on everything is kept, and
	// the store counts as broken. A write that erases has one more step, "checkpoint", whose failure leaves the store usable. Nil means no faults.
	Step func(step string) error
}

// A Store is a store.Store in one SQLite file.
type Store struct {
	reader
	step func(string) error
	busy time.Duration // how long a write waits for another process

	// writing contains a token while the writer is in use. It is a channel, so that waiting for it ends with the context.
	writing chan struct{}
	writer  *writer
	files   fileIdentity
	refuses atomic.Bool // the disk refused the last write
}

var _ store.Store = (*Store)(nil)

// Create makes a new database file, which only its owner may read, and opens it. If the file exists the
// error wraps fs.ErrExist. The file gets its name when it is complete, so an empty file is never a store.
func Create(ctx context.Context, path string, o Options) (*Store, error) {
	if err := create(ctx, path); err != nil {
		return nil, failed("creating a store", err)
	}
	return Open(ctx, path, o)
}

func create(ctx context.Context, path string) error {
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	for _, suffix := range []string{"-wal", "-journal"} { // SQLite would apply it to the new file
		if log, err := os.Stat(path + suffix); err == nil && log.Size() > 0 {
			return fmt.Errorf("%s%s is left over from a store that is gone; remove it", path, suffix)
		}
	}
	temporary := Temporary(filepath.Dir(path))
	f, err := os.OpenFile(temporary, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer removeAll(temporary)
	if err := f.Close(); err != nil {
		return err
	}
	if err := createFile(temporary); err != nil {
		return err
	}
	s, err := open(ctx, temporary, Options{}, true)
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	err = os.Link(temporary, path)
	if err != nil && !errors.Is(err, fs.ErrExist) { // a file system without hard links
		if _, there := os.Lstat(path); there != nil {
			err = os.Rename(temporary, path)
		}
	}
	syncFolder(filepath.Dir(path))
	return err
}

// syncFolder makes the new file's name durable. Where folders cannot be synced (Windows) the file system does so itself, so errors are ignored.
func syncFolder(path string) {
	if d, err := os.Open(path); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// Open opens a database file that Create made, and migrates it to the newest schema. If there is no file the error wraps
// fs.ErrNotExist. For a file of another program, or an empty file, the error wraps ErrForeign, and the file is not changed;
// for the file of a newer version it wraps store.ErrSchema, and for a file that cannot be written to store.ErrUnwritable.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("sqlite: opening a store: %w", err)
	}
	if info.Mode().IsRegular() && info.Size() == 0 {
		return nil, fmt.Errorf("sqlite: opening %s: %w: the file is empty", path, ErrForeign)
	}
	s, err := open(ctx, path, o, false)
	if err != nil {
		return nil, failed("opening "+path, err)
	}
	return s, nil
}

func open(ctx context.Context, path string, o Options, isNew bool) (s *Store, err error) {
	// SQLite keeps the write-ahead log beside the file that a link leads to.
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if o.Readers <= 0 {
		o.Readers = 4
	}
	if o.Busy <= 0 {
		o.Busy = 10 * time.Second
	}
	if o.Step == nil {
		o.Step = func(string) error { return nil }
	}
	s = &Store{reader: reader{path: path}, step: o.Step, busy: o.Busy, writing: make(chan struct{}, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(noDatabase(err), s.release())
			s = nil
		}
	}()
	if o.ReadOnly {
		return s, s.openReadOnly(ctx, o)
	}
	state := opened
	if isNew {
		state = created
	}
	if s.writer, err = openWriter(ctx, path, o.Busy, state); err != nil {
		if refusal := writable(path); refusal != nil {
			return s, fmt.Errorf("%w: read-only: %w (%w)", store.ErrUnwritable, refusal, err)
		}
		return s, unwritable(err)
	}
	if err := s.checkpointOld(ctx); err != nil {
		return s, err
	}
	if err := s.openReaders(ctx, o, "rw"); err != nil {
		return s, err
	}
	s.files, err = filesAt(path) // the log exists once anything was read
	return s, err
}

// openReaders opens the connections for reading. mode is SQLite's mode, followed by further parameters of a file's name, if any.
func (rd *reader) openReaders(ctx context.Context, o Options, mode string) error {
	name, err := dataSource(rd.path, o.Busy, "query_only(1)", "cache_size(-8192)")
	if err != nil {
		return err
	}
	name = strings.Replace(name, "mode=rw", "mode="+mode, 1)
	if rd.db, err = sql.Open("sqlite", name); err != nil {
		return err
	}
	rd.db.SetMaxOpenConns(o.Readers)
	rd.db.SetMaxIdleConns(o.Readers)
	if o.ReadOnly {
		if err := checkCurrent(ctx, rd.db); err != nil {
			return err
		}
	}
	rd.queries, err = prepareQueries(ctx, rd.db)
	return err
}

// openReadOnly tries several modes, from the usual to the last resort: as for writing; without writing;
// with the log's index as it is, or in memory; and, if there is no log, as a file that does not change.
func (rd *reader) openReadOnly(ctx context.Context, o Options) error {
	modes := []string{"rw", "ro", "ro&readonly_shm=1"}
	if log, err := os.Stat(rd.path + "-wal"); err != nil || log.Size() == 0 {
		modes = append(modes, "ro&immutable=1")
	}
	var err error
	for _, mode := range modes {
		if err = rd.openReaders(ctx, o, mode); err == nil {
			return nil
		}
		if resultCode(err) == sqlite3.SQLITE_IOERR_DATA {
			return err
		}
		switch resultCode(err) & 0xff {
		case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM:
		default:
			return err
		}
		if rd.db != nil {
			err = errors.Join(err, rd.db.Close())
			rd.db = nil
		}
	}
	if refusal := writable(rd.path); refusal != nil {
		return fmt.Errorf("read-only: %w, and its write-ahead log cannot be read without writing; copy the file and its -wal to a folder where you may write: %w", refusal, err)
	}
	return unwritable(err)
}

// checkCurrent refuses a file that is not a store, or has another schema than this program's.
func checkCurrent(ctx context.Context, db *sql.DB) (err error) {
	texts, err := packed.Schema(schemaFiles)
	if err != nil {
		return err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	id, err := readIdentity(ctx, conn)
	if err != nil {
		return err
	}
	if err := id.check(len(texts)); err != nil {
		return err
	}
	if id.version < len(texts) {
		return fmt.Errorf("the file has schema %d, this program reads %d; run: graphkernel migrate", id.version, len(texts))
	}
	return nil
}

// dataSource returns the driver's name for the file. The path is escaped, since a file's name may contain "?" and "%".
func dataSource(path string, busy time.Duration, pragmas ...string) (string, error) {
	path, err := filepath.Abs(path)
	if err = errors.Join(err, RegisterVFS()); err != nil {
		return "", err
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive letter
	}
	q := url.Values{"mode": {"rw"}, "vfs": {VFS}}
	q.Add("_pragma", "busy_timeout("+strconv.FormatInt(busy.Milliseconds(), 10)+")")
	q.Add("_pragma", "temp_store(memory)")
	q.Add("_pragma", "trusted_schema(0)")
	q.Add("_pragma", "cell_size_check(1)") // a damaged inner page is an error, and not a short list
	for _, p := range pragmas {
		q.Add("_pragma", p)
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode(), nil
}

// checkpointOld empties the log that a crash left: it may contain an erased text. If another process
// has the file open, the log cannot be emptied, and that process must finish its own erasures.
func (s *Store) checkpointOld(ctx context.Context) error {
	if log, err := os.Stat(s.path + "-wal"); err != nil || log.Size() == 0 {
		return nil
	}
	_, err := s.writer.checkpoint(ctx)
	return unwritable(err)
}

// Epoch returns 0: no other server can replace the data.
func (s *Store) Epoch() uint64 { return 0 }

// Close waits for running methods and releases the file. Closing twice is harmless.
func (s *Store) Close() error {
	s.use.Lock()
	defer s.use.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	if err := s.release(); err != nil {
		return fmt.Errorf("sqlite: closing %s: %w", s.path, err)
	}
	return nil
}

func (s *Store) release() error {
	var errs []error
	if s.db != nil {
		errs = append(errs, s.queries.close(), s.db.Close())
	}
	if s.writer != nil {
		if s.broken.Load() == nil && s.writer.conn != nil {
			// A copy of the file is then complete. A reader in another process can prevent that; data in the log is equally durable.
			_, _ = s.writer.checkpoint(context.Background())
		}
		errs = append(errs, s.writer.close())
	}
	return errors.Join(errs...)
}
