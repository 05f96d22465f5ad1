package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
)

// A nature classifies the error that ended an attempt.
type nature int

const (
	final   nature = iota // retrying does not help
	broken                // the connection is gone or leads to a server that cannot serve now
	undone                // the server undid the transaction in favour of another
	blocked               // others are busy for too long, or there are too many of them
)

// natureOf classifies an error by SQLSTATE (appendix A of PostgreSQL's manual) if the server answered, else by the state of the connection.
func natureOf(err error) nature {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		switch e.Code {
		case "40001", "40P01": // serialization_failure, deadlock_detected
			return undone
		case "55P03", "57014", "53300", "53400": // lock_not_available, query_canceled, too_many_connections, configuration_limit_exceeded
			return blocked
		case "57P01", "57P02", "57P03", "57P05", // shutdowns, starting up, idle session
			"25006", // read_only_sql_transaction: a standby, or a primary that was demoted
			"25P03", // idle_in_transaction_session_timeout
			"HV00N": // fdw_unable_to_establish_connection: another server of the same store
			return broken
		}
		if strings.HasPrefix(e.Code, "08") { // connection exceptions
			return broken
		}
		return final
	}
	var connecting *pgconn.ConnectError
	var network net.Error
	if errors.As(err, &connecting) || errors.As(err, &network) || pgconn.SafeToRetry(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, context.DeadlineExceeded) { // the attempt's deadline: the caller's was checked before
		return broken
	}
	return final
}

// lost wraps an error in the error of package store that callers branch on.
func lost(err error) error {
	if unwritable(err) {
		return fmt.Errorf("%w: %w", store.ErrUnwritable, err)
	}
	var e *pgconn.PgError
	if errors.As(err, &e) && strings.HasPrefix(e.Code, "XX") && e.Code != "XX000" { // data_corrupted, index_corrupted
		return fmt.Errorf("%w: %w", store.ErrUnreadable, err)
	}
	switch natureOf(err) {
	case broken:
		return fmt.Errorf("%w: %w", store.ErrLost, err)
	case undone, blocked:
		return fmt.Errorf("%w: %w", store.ErrBusy, err)
	case final:
	}
	return unput(err)
}

// unwritable reports whether the server refused because it has no room or accepts no writes.
// The latter is retried first (see natureOf), since another host may accept writes soon.
func unwritable(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && (e.Code == "53100" || e.Code == "25006") // disk_full, read_only_sql_transaction
}

// A retry paces the attempts of one call.
type retry struct {
	until time.Time
	pause time.Duration
}

func (cs *connections) retry() retry {
	return retry{until: time.Now().Add(cs.patience), pause: 10 * time.Millisecond}
}

// wait waits before the next attempt, twice as long each time. It reports false if there is no next attempt.
func (r *retry) wait(ctx context.Context) bool {
	if time.Now().Add(r.pause).After(r.until) {
		return false
	}
	timer := time.NewTimer(r.pause)
	defer timer.Stop()
	if r.pause < 500*time.Millisecond {
		r.pause *= 2
	}
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// read runs fn, which sends one query, and runs it again from the beginning if the connection broke: reading changes nothing.
func (rd *reader) read(ctx context.Context, what string, fn func(ctx context.Context, db *pgxpool.Conn) error) error {
	return rd.while(ctx, what, func() error {
		r := rd.retry()
		for {
			err := rd.look(ctx, fn)
			if err == nil || unstorable(err) {
				return nil
			}
			if ctx.Err() != nil {
				return fmt.Errorf("%w: %w", ctx.Err(), err)
			}
			if n := natureOf(err); n != broken && n != undone || !r.wait(ctx) {
				return lost(err)
			}
		}
	})
}

// unstorable reports whether the server refused a name that no column can contain, such as one with U+0000 in it. Nothing stored has that name.
func unstorable(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "22021" // character_not_in_repertoire
}

// look is like attempt, for short reads: their time may be an eighth longer.
func (rd *reader) look(ctx context.Context, fn func(context.Context, *pgxpool.Conn) error) (err error) {
	bounded, leave := rd.bound.of(ctx)
	defer func() { err = leave(err) }()
	return rd.connected(ctx, bounded, fn)
}

// A tx is one attempt at a write of one tenant. It has the tenant's row locked, so
// writes of a tenant run one after the other and numbers become visible in order.
type tx struct {
	steps
	name   dag.Tenant
	writer [16]byte // identifies the write; the same in each attempt
	mine   bool     // an earlier attempt was committed: it was the last one to move the head
	unsure bool     // an earlier attempt sent a commit, and got no answer
	head   dag.Seq
	spread bool // some partitions are on other servers
	fresh  bool // the tenant had no row before
}

// steps are the steps of a write.
type steps struct {
	*pgx.Conn
	ctx   context.Context
	step  func(string) error
	wrote bool
}

// begin announces the next write step. Every write step begins with it.
func (t *steps) begin(step string) error {
	if err := t.ctx.Err(); err != nil {
		return err
	}
	if err := t.step(step); err != nil {
		return fmt.Errorf("at step %q: %w", step, err)
	}
	t.wrote = true
	return nil
}

// exec is a write step of one statement.
func (t *steps) exec(step, sql string, args ...any) error {
	if err := t.begin(step); err != nil {
		return err
	}
	_, err := t.Exec(t.ctx, sql, args...)
	return err
}

const (
	queryLock   = `SELECT head, writer FROM tenants WHERE tenant = $1 FOR UPDATE`
	queryTenant = `INSERT INTO tenants (tenant, head, writer) VALUES ($1, 0, '00000000-0000-0000-0000-000000000000') ON CONFLICT DO NOTHING`

	// Each write asks this after the lock, since a partition may be moved while a
	// store is open. Without foreign tables it costs a look into an empty table.
	querySpread = `SELECT EXISTS (SELECT FROM pg_foreign_table f JOIN pg_inherits i ON i.inhrelid = f.ftrelid
		WHERE i.inhparent IN ('turns'::regclass, 'runs'::regclass))`
)

// write changes the data of a tenant by fn, see commit.
func (s *Store) write(ctx context.Context, what string, tenant dag.Tenant, fn func(*tx) error) error {
	return s.while(ctx, what, func() error { return s.commit(ctx, tenant, fn) })
}

// commit runs fn in a transaction and commits it. Errors of fn are returned as they are, for callers to branch on. If the
// connection breaks, fn runs again in a new transaction: it must decide anew by what it finds there. That is safe at any
// point, since every write is idempotent; tx.mine tells fn that an earlier attempt was committed and only its answer was lost.
func (s *Store) commit(ctx context.Context, tenant dag.Tenant, fn func(*tx) error) error {
	if _, err := dag.ParseTenant(string(tenant)); err != nil {
		return err
	}
	var writer [16]byte
	if _, err := rand.Read(writer[:]); err != nil {
		return err
	}
	leave, err := s.lines.enter(ctx, tenant, s.timeout/2)
	if err != nil {
		return err
	}
	defer leave()
	r := s.retry()
	uncertain := false
	for {
		sent := false
		err := s.attempt(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
			t := &tx{steps: steps{Conn: c.Conn(), ctx: ctx, step: s.step}, name: tenant, writer: writer, unsure: uncertain}
			return s.try(t, &sent, fn)
		})
		if err == nil {
			return nil
		}
		n := natureOf(err)
		uncertain = uncertain || sent && n == broken
		again := (n == broken || n == undone) && ctx.Err() == nil && r.wait(ctx)
		switch {
		case again:
		case sent && n == final, uncertain && (n != final || ctx.Err() != nil || ofServer(err)):
			return fmt.Errorf("%w: %w", store.ErrUncertain, err)
		case ctx.Err() != nil:
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		default:
			return lost(err)
		}
	}
}

// ofServer reports whether an error came from the server. Such an error, unlike a method's own,
// was not derived from stored data, and does not show whether an earlier commit succeeded.
func ofServer(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e)
}

// grace is the time for which a write continues after its time is up, to learn how it ended.
const grace = 500 * time.Millisecond

// try makes one attempt. It sets sent when it is about to send a commit of changes.
func (s *Store) try(t *tx, sent *bool, fn func(*tx) error) error {
	ctx, done := t.ctx, false
	defer func() {
		if done || t.IsClosed() {
			return
		}
		undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		if _, rollback := t.Exec(undo, `ROLLBACK`); rollback != nil {
			_ = t.Close(undo) // the server ends the transaction with the connection
		}
	}()
	if err := t.lock(); err != nil {
		return err
	}
	if err := fn(t); err != nil {
		return err
	}
	if t.fresh && !t.wrote {
		return nil // leave no row for a tenant without data
	}
	if t.wrote {
		if err := t.begin("commit"); err != nil {
			return err
		}
	}
	// The transaction is committed even if it wrote nothing: the data that it found may
	// be from a commit that still waits for a standby, and this commit waits after it.
	*sent = t.wrote
	done = true
	end, _ := ctx.Deadline() // of the attempt
	commit, cancel := context.WithDeadline(context.WithoutCancel(ctx), end.Add(grace))
	defer cancel()
	tag, err := t.Exec(commit, `COMMIT`)
	if err != nil {
		return err
	}
	if tag.String() != "COMMIT" { // a statement failed, and its error was ignored
		*sent = false
		return errors.New("the server rolled the transaction back")
	}
	if t.wrote {
		if err := s.step("committed"); err != nil {
			return fmt.Errorf("commit: %w", err)
		}
	}
	return nil
}

// lock begins the transaction and locks the tenant's row, which it inserts if there is none.
func (t *tx) lock() error {
	b := &pgx.Batch{}
	b.Queue(`BEGIN`)
	b.Queue(queryLock, string(t.name)).QueryRow(func(row pgx.Row) error {
		err := t.readRow(row)
		t.fresh = errors.Is(err, pgx.ErrNoRows)
		if t.fresh {
			return nil
		}
		return err
	})
	b.Queue(querySpread).QueryRow(func(row pgx.Row) error { return row.Scan(&t.spread) })
	if err := t.SendBatch(t.ctx, b).Close(); err != nil || !t.fresh {
		return err
	}
	made, err := t.Exec(t.ctx, queryTenant, string(t.name))
	if err != nil {
		return err
	}
	t.fresh = made.RowsAffected() == 1 // else another writer was faster
	return t.readRow(t.QueryRow(t.ctx, queryLock, string(t.name)))
}

func (t *tx) readRow(row pgx.Row) error {
	var head int64
	var last [16]byte
	if err := row.Scan(&head, &last); err != nil {
		return err
	}
	t.head, t.mine = dag.Seq(head), last == t.writer
	return nil
}
