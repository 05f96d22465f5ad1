package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/ready"
	"github.com/graphkernel/graphkernel/store"
)

// Look-ups within a write.
const (
	queryTenant   = `SELECT tenant, head FROM tenants WHERE name = ?`
	queryLastTurn = `SELECT coalesce(max(turn), 0) FROM turns`

	queryFind = `SELECT t.turn, t.seq, t.body IS NOT NULL, coalesce(t.body IS NULL AND t.salt = x'00', 0) FROM ids i CROSS JOIN turns t ON t.turn = i.turn
		WHERE i.tenant = ? AND i.id = ?`

	// Only a run that is short enough to be absorbed is read.
	queryTailRun = `SELECT last, turns, iif(turns <= ?, run, NULL) FROM runs
		WHERE tenant = ? AND conversation = ? AND last < ? ORDER BY last DESC LIMIT 1`
)

// logPages and logSize let the log grow to 64 MiB before it is copied into the file, and cut it back to that after a
// larger write: 100 000 facts may take 300 MiB. The index on ids grows everywhere, and a page of it that changes ten
// times within one log is copied once. With 16 MiB, and pages of 8 KiB, an import into a million turns is a third slower.
const (
	logPages = "wal_autocheckpoint(16384)"
	logSize  = "journal_size_limit(67108864)"
)

// writerCache bounds the writer's pages in memory to 24 MiB, so that an import of any
// size runs within 128 MiB. With 64 MiB an import of 180 MB takes as long.
const writerCache = "cache_size(-24576)"

// A writer is the only connection that writes. The goroutine with the token of Store.writing may use it.
type writer struct {
	db       *sql.DB
	conn     *sql.Conn
	prepared []*sql.Stmt // all the statements below

	stored, parents                *sql.Stmt // look-ups within the transaction
	tenant, newTenant, head        *sql.Stmt
	lastTurn                       *sql.Stmt
	ids, turns, links, runs        inserts
	conversation, tailRun, dropRun *sql.Stmt
	find, erase                    *sql.Stmt
	edge, putEdge                  *sql.Stmt
	records, logHashes             inserts
	cell, putCell, dropCell        *sql.Stmt
	snapshot                       *sql.Stmt
	putSnapshot, dropSnapshot      *sql.Stmt
	newest, termsIn, termsLast     *sql.Stmt
	entriesAt, recordsAt           *sql.Stmt
	endTerm, takeTerm              *sql.Stmt
	forget, forgetRecord           *sql.Stmt
	entries, terms                 inserts
}

func openWriter(ctx context.Context, path string, busy time.Duration, state fileState) (w *writer, err error) {
	name, err := dataSource(path, busy, "synchronous(full)", "secure_delete(1)", writerCache, logPages, logSize)
	if err != nil {
		return nil, err
	}
	w = &writer{}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
			w = nil
		}
	}()
	if w.db, err = sql.Open("sqlite", name); err != nil {
		return w, err
	}
	w.db.SetMaxOpenConns(1)
	if w.conn, err = w.db.Conn(ctx); err != nil {
		return w, err
	}
	if err := prepareFile(ctx, w.conn, state); err != nil {
		return w, err
	}
	return w, w.prepare(ctx)
}

func (w *writer) prepare(ctx context.Context) (err error) {
	prepare := func(text string) *sql.Stmt {
		var s *sql.Stmt
		if err == nil {
			if s, err = w.conn.PrepareContext(ctx, text); err == nil {
				w.prepared = append(w.prepared, s)
			}
		}
		return s
	}
	insert := func(into string, columns int) (in inserts) {
		in.columns = columns
		row := "(?" + strings.Repeat(",?", columns-1) + ")"
		for i, n := range rowsPerInsert {
			in.stmts[i] = prepare("INSERT OR FAIL INTO " + into + " VALUES " + row + strings.Repeat(","+row, n-1))
		}
		return in
	}
	w.stored = prepare(queryStored)
	w.parents = prepare(queryParents)
	w.tenant = prepare(queryTenant)
	w.newTenant = prepare(`INSERT INTO tenants (name, head) VALUES (?, 0) RETURNING tenant`)
	w.head = prepare(`UPDATE tenants SET head = ? WHERE tenant = ?`)
	w.lastTurn = prepare(queryLastTurn)
	w.runs = insert(`runs (tenant, conversation, last, turns, run)`, 5)
	w.tailRun = prepare(queryTailRun)
	w.dropRun = prepare(`DELETE FROM runs WHERE tenant = ? AND conversation = ? AND last = ?`)
	w.ids = insert(`ids (tenant, id, turn)`, 3)
	w.turns = insert(`turns (turn, tenant, seq, kept, name, salt, external, body, key)`, 9)
	w.links = insert(`links (tenant, parent_conversation, seq, link)`, 4)
	w.conversation = prepare(`INSERT INTO conversations (tenant, conversation, turns, first, last, first_at, last_at)
		VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (tenant, conversation) DO UPDATE SET turns = turns + excluded.turns, last = excluded.last,
			first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at)
		RETURNING turns`)
	w.find = prepare(queryFind)
	w.erase = prepare(`UPDATE turns SET name = NULL, salt = NULL, external = NULL, body = NULL WHERE turn = ?`)
	w.edge = prepare(queryLog)
	w.records = insert(`records (tenant, n, kind, leaf, detail, private)`, 6)
	w.logHashes = insert(`log_hashes (tenant, level, n, hash)`, 4)
	w.putEdge = prepare(`INSERT INTO logs (tenant, size, edge) VALUES (?, ?, ?)
		ON CONFLICT (tenant) DO UPDATE SET size = excluded.size, edge = excluded.edge`)
	w.cell = prepare(queryCell)
	w.newest = prepare(queryNewest)
	w.termsIn = prepare(queryTerms)
	w.termsLast = prepare(queryTermsLast)
	w.entriesAt = prepare(queryEntriesAt)
	w.recordsAt = prepare(queryRecordsAt)
	w.endTerm = prepare(queryEndTerm)
	w.takeTerm = prepare(queryTakeTerm)
	w.forget = prepare(queryForget)
	w.forgetRecord = prepare(queryForgetRecord)
	w.entries = insert(`entries (tenant, seq, kind, at, leaf, public, detail, private, part, parts)`, 10)
	w.terms = insert(`terms (tenant, indx, key, since, until, value)`, 6)
	w.putCell = prepare(`INSERT INTO cells (tenant, name, value) VALUES (?, ?, ?) ON CONFLICT (tenant, name) DO UPDATE SET value = excluded.value`)
	w.dropCell = prepare(`DELETE FROM cells WHERE tenant = ? AND name = ?`)
	w.snapshot = prepare(querySnapshot)
	w.putSnapshot = prepare(queryPutSnapshot)
	w.dropSnapshot = prepare(queryDropSnapshot)
	return err
}

// close closes everything. A connection's own statements are not closed with it, and
// until they are, SQLite keeps the file open and locked.
func (w *writer) close() error {
	errs := []error{closeAll(w.prepared)}
	if w.conn != nil {
		errs = append(errs, w.conn.Close())
	}
	if w.db != nil {
		errs = append(errs, w.db.Close())
	}
	return errors.Join(errs...)
}

// checkpoint copies the log into the file and empties it. It reports false if a reader prevented that.
func (w *writer) checkpoint(ctx context.Context) (done bool, err error) {
	var busy, log, copied int
	err = w.conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &log, &copied)
	return busy == 0, err
}

// A tx is one write transaction of one tenant.
type tx struct {
	*writer
	steps
	name   dag.Tenant
	ready  ready.Folder
	tenant int64 // 0: the tenant has no row yet
	head   dag.Seq
}

// steps are the steps of a write.
type steps struct {
	// ctx does not end with the caller's: a statement that is interrupted in mid-write is harder to handle
	// than one that is waited for. Between statements, ended returns the error of the caller's context.
	ctx   context.Context
	ended func() error

	step  func(string) error
	wrote bool
}

// begin announces the next write step. Every write step begins with it.
func (t *steps) begin(step string) error {
	if err := t.ended(); err != nil {
		return err
	}
	if err := t.step(step); err != nil {
		return fmt.Errorf("at step %q: %w", step, err)
	}
	t.wrote = true
	return nil
}

// exec is a write step of one statement.
func (t *steps) exec(step string, s *sql.Stmt, args ...any) error {
	if err := t.begin(step); err != nil {
		return err
	}
	_, err := s.ExecContext(t.ctx, args...)
	return err
}

// own inserts the tenant's row, if there is none.
func (t *tx) own() error {
	if t.tenant != 0 {
		return nil
	}
	if err := t.begin("tenant"); err != nil {
		return err
	}
	return t.newTenant.QueryRowContext(t.ctx, string(t.name)).Scan(&t.tenant)
}

// write runs fn in a transaction and commits what it wrote, or nothing. Errors of fn are returned as they are, for callers to branch on.
func (s *Store) write(ctx context.Context, tenant dag.Tenant, fn func(*tx) error) error {
	if _, err := dag.ParseTenant(string(tenant)); err != nil {
		return err
	}
	if s.writer == nil {
		return fmt.Errorf("%w: the store was opened read-only", store.ErrUnwritable)
	}
	select {
	case s.writing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.writing }()
	if err := s.usable(); err != nil { // broken by the write before this one
		return err
	}
	t := &tx{
		writer: s.writer, steps: steps{ctx: context.WithoutCancel(ctx), ended: ctx.Err, step: s.step},
		name: tenant, ready: s.ready(tenant),
	}
	if _, err := t.conn.ExecContext(t.ctx, `BEGIN IMMEDIATE`); err != nil {
		return s.refused(busy(unwritable(err)))
	}
	returned := false
	defer func() {
		if !returned { // fn panicked: leave no transaction open after it
			_, _ = t.conn.ExecContext(t.ctx, `ROLLBACK`)
		}
	}()
	err := t.run(fn)
	returned = true
	if err != nil || !t.wrote {
		if undo := t.rollback(t.ctx); undo != nil {
			return s.fail(errors.Join(err, undo))
		}
		return s.refused(unwritable(err))
	}
	if _, err := t.conn.ExecContext(t.ctx, `COMMIT`); err != nil {
		if undo := t.rollback(t.ctx); undo != nil {
			return s.fail(errors.Join(err, undo))
		}
		return s.refused(s.afterCommit(fmt.Errorf("commit: %w", err)))
	}
	if err := s.files.unmoved(s.path); err != nil {
		return s.fail(err)
	}
	if err := s.step("committed"); err != nil {
		return s.fail(fmt.Errorf("commit: %w", err))
	}
	s.refuses.Store(false)
	s.tenants.Store(tenant, t.tenant)
	return nil
}

// refused notes that the disk refused a write, for Writable.
func (s *Store) refused(err error) error {
	if errors.Is(err, store.ErrUnwritable) {
		s.refuses.Store(true)
	}
	return err
}

func (t *tx) run(fn func(*tx) error) error {
	err := t.writer.tenant.QueryRowContext(t.ctx, string(t.name)).Scan(&t.tenant, &t.head)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if err := fn(t); err != nil || !t.wrote {
		return err
	}
	return t.begin("commit")
}

// rowsPerInsert are the numbers of rows of a table's prepared INSERT statements. One statement of many rows
// saves two thirds of the cost of a row; with these powers of 8, any number of rows takes few statements.
var rowsPerInsert = [...]int{64, 8, 1}

// inserts are the statements that insert into one table.
type inserts struct {
	columns int
	stmts   [len(rowsPerInsert)]*sql.Stmt
}

// insert is a write step that inserts n rows; row appends the arguments of one row.
func (t *steps) insert(step string, in *inserts, n int, row func(args []any, i int) []any) error {
	if n == 0 {
		return nil
	}
	if err := t.begin(step); err != nil {
		return err
	}
	args := make([]any, 0, min(n, rowsPerInsert[0])*in.columns)
	for i := 0; i < n; {
		for size, rows := range rowsPerInsert {
			if rows > n-i {
				continue
			}
			args = args[:0]
			for range rows {
				args = row(args, i)
				i++
			}
			if _, err := in.stmts[size].ExecContext(t.ctx, args...); err != nil {
				return err
			}
			break
		}
		if err := t.ended(); err != nil {
			return err
		}
	}
	return nil
}
