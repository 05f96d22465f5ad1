package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/graphkernel/graphkernel/store"
)

// Options of a store. The zero value is what a program should use.
type Options struct {
	// Connections bounds the connections of the pool. 0 means what the URL says
	// (pool_max_conns), or 16.
	Connections int

	// Timeout bounds one attempt of a call, however long the caller's context would
	// wait: a server that does not answer must not hold a caller for ever. 0 means
	// ten seconds. Scans and copies are bounded for each page and batch. An attempt to read
	// may last up to an eighth longer.
	Timeout time.Duration

	// Patience is for how long a call that lost its connection, or finds no server that
	// takes writes, tries again. 0 means ten seconds, long enough for a standby to be
	// promoted; a negative one means not at all.
	Patience time.Duration

	// ReadOnly does not bring the schema to the newest one; an older one is an error.
	ReadOnly bool

	// Step is for tests that let a write fail or a process die at any point. It is
	// called before each step of a write, with the step's name, and after the
	// commit, with "committed". An error before the commit keeps nothing; after it
	// everything is kept and the write's outcome counts as unknown. Nil means none.
	Step func(step string) error

	// Trace is given to the driver: what opens spans. Nil means none.
	Trace pgx.QueryTracer
}

// A Store is a store.Store in a PostgreSQL database.
type Store struct {
	pool     *pgxpool.Pool
	step     func(string) error
	timeout  time.Duration
	bound    bound // of timeout
	patience time.Duration
	epochs   epochs
	lines    lines

	// gate is held for reading by every method while it uses the database, and for
	// writing by Close. It guards closed.
	gate   sync.RWMutex
	closed bool
}

var (
	_ store.Store      = (*Store)(nil)
	_ store.HeadWhiler = (*Store)(nil)
)

// settings are given to each connection unless the URL has its own. Times are in
// milliseconds. A statement, or a wait for a lock, that takes too long ends before the
// attempt does: so the caller hears that the server is busy, and not that it is lost.
func settings(timeout time.Duration) map[string]string {
	share := func(numerator, denominator int64) string {
		return strconv.FormatInt(max(timeout.Milliseconds()*numerator/denominator, 1), 10)
	}
	return map[string]string{
		"application_name":                    "graphkernel",
		"default_transaction_isolation":       "read committed", // what the writes are made for, see the package documentation
		"statement_timeout":                   share(4, 5),
		"lock_timeout":                        share(1, 2),
		"idle_in_transaction_session_timeout": share(1, 2),          // a process that vanished holds its tenant's lock no longer
		"plan_cache_mode":                     "force_generic_plan", // a look-up costs less than planning it; partitions are chosen when it runs
		"enable_seqscan":                      "off",                // a plan made while a table was small stays when it has grown, until the next ANALYZE
		"jit":                                 "off",                // look-ups are over before they would be compiled
	}
}

// Open opens the store in the database that a URL or a list of keywords and values
// names; what it leaves out comes from libpq's variables (PGHOST, PGUSER, PGPASSWORD,
// PGSERVICE and so on), its defaults and its password file. Several hosts with
// target_session_attrs=read-write follow a failover. The database is brought to the newest
// schema; one of a newer version wraps store.ErrSchema and is left as it is.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	s, err := connect(ctx, url, o)
	if err != nil {
		return nil, fmt.Errorf("postgres: opening a store: %w", err)
	}
	var m store.Migration
	err = s.attempt(ctx, func(ctx context.Context, c *pgxpool.Conn) (err error) {
		m, err = migrate(ctx, c, schemaFiles, true)
		return err
	})
	if err == nil && m.From != m.To && o.ReadOnly {
		err = fmt.Errorf("the database has schema %d, this program reads %d; graphkernel migrate changes it", m.From, m.To)
	} else if err == nil && m.From != m.To { // which may take longer
		_, err = migrate(ctx, s.pool, schemaFiles, false)
	}
	if err != nil {
		s.pool.Close()
		return nil, fmt.Errorf("postgres: opening a store: %w", lost(err))
	}
	return s, nil
}

// Migrate brings a database to the newest schema and says what it found. With dry it
// changes nothing.
func Migrate(ctx context.Context, url string, dry bool) (store.Migration, error) {
	s, err := connect(ctx, url, Options{Connections: 1})
	if err != nil {
		return store.Migration{}, fmt.Errorf("postgres: migrating: %w", err)
	}
	defer s.pool.Close()
	m, err := migrate(ctx, s.pool, schemaFiles, dry)
	if err != nil {
		return m, fmt.Errorf("postgres: migrating: %w", lost(err))
	}
	return m, nil
}

func connect(ctx context.Context, url string, o Options) (*Store, error) {
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	if err := checkMode(c.ConnConfig.DefaultQueryExecMode); err != nil {
		return nil, err
	}
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Second
	}
	if o.Patience == 0 {
		o.Patience = 10 * time.Second
	}
	if o.Step == nil {
		o.Step = func(string) error { return nil }
	}
	plain, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	switch {
	case o.Connections > 0:
		c.MaxConns = int32(o.Connections)
	case plain.RuntimeParams["pool_max_conns"] == "": // pgx's default is the number of processors, and a connection mostly waits
		c.MaxConns = 16
	}
	params := c.ConnConfig.RuntimeParams
	for name, value := range settings(o.Timeout) {
		if _, given := params[name]; !given && !strings.Contains(params["options"], name) {
			params[name] = value
		}
	}
	if c.ConnConfig.ConnectTimeout == 0 { // one that hangs keeps its place in the pool
		c.ConnConfig.ConnectTimeout = min(5*time.Second, o.Timeout)
	}
	c.ConnConfig.Tracer = o.Trace
	c.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false } // see acquire
	s := &Store{step: o.Step, timeout: o.Timeout, bound: bound{lasts: o.Timeout}, patience: o.Patience}
	c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		ctx, cancel := context.WithTimeout(ctx, c.ConnConfig.ConnectTimeout)
		defer cancel()
		if err := checkPooler(ctx, conn); err != nil {
			return err
		}
		if err := durable(ctx, conn); err != nil {
			return err
		}
		return s.epochs.meet(ctx, conn)
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, c); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	if err := s.pool.Ping(ctx); err != nil {
		s.pool.Close()
		return nil, lost(explainConnect(err))
	}
	return s, nil
}

// durable makes sure that an answered commit is on the disk, whatever the server's
// configuration says. Where it says more (a standby's disk, too) that stays.
func durable(ctx context.Context, c *pgx.Conn) error {
	_, err := c.Exec(ctx, `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`)
	return err
}

// Checksums reports whether the server keeps checksums of its pages (data_checksums). Without them a damaged page of an index makes
// an answer too short, and nobody notices.
func (s *Store) Checksums(ctx context.Context) (on bool, err error) {
	err = s.read(ctx, "checksums", func(ctx context.Context, db *pgxpool.Conn) error {
		return db.QueryRow(ctx, `SELECT current_setting('data_checksums') = 'on'`).Scan(&on)
	})
	return on, err
}

// Close waits for methods that are under way and closes the connections. Closing
// twice is harmless.
func (s *Store) Close() error {
	s.gate.Lock()
	defer s.gate.Unlock()
	if !s.closed {
		s.closed = true
		s.pool.Close()
		s.bound.close()
	}
	return nil
}

// enter says whether the store can be used. If so the caller must call
// s.gate.RUnlock when it is done with the database.
func (s *Store) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.gate.RLock()
	if s.closed {
		s.gate.RUnlock()
		return store.ErrClosed
	}
	return nil
}
