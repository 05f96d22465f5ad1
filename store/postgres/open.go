package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/graphkernel/graphkernel/store"
)

// Options are options of a store. A program should use the zero value.
type Options struct {
	// Connections bounds the connections of the pool. 0 means the URL's pool_max_conns, or 16.
	Connections int

	// Timeout bounds one attempt of a call, however long the caller's context would wait: a server that does not answer must not block a caller
	// for ever. 0 means ten seconds. Scans and copies are bounded for each page and batch. An attempt to read may last up to an eighth longer.
	Timeout time.Duration

	// Patience is the time for which a call is repeated that lost its connection, or that finds no server that accepts
	// writes. 0 means ten seconds, long enough for a standby to be promoted; a negative value means that no call is repeated.
	Patience time.Duration

	// ReadOnly does not migrate the schema to the newest one; an older schema is an error.
	ReadOnly bool

	// Step lets tests make a write fail, or a process die, at any point. It is called before each step of a
	// write, with the step's name, and after the commit, with "committed". An error before the commit discards
	// the write; an error after it keeps the whole write, and its outcome counts as unknown. Nil means no faults.
	Step func(step string) error

	// Trace is passed to the driver, to open spans. Nil means none.
	Trace pgx.QueryTracer
}

// A Store is a store.Store in a PostgreSQL database.
type Store struct {
	reader
	step   func(string) error
	epochs epochs
	lines  lines
}

var (
	_ store.Store      = (*Store)(nil)
	_ store.HeadWhiler = (*Store)(nil)
)

// settings returns the settings that a connection gets unless the URL sets them. Times are in milliseconds. A statement, or a wait for
// a lock, that takes too long ends before the attempt does, so that the caller gets the error for a busy server and not for a lost one.
func settings(timeout time.Duration) map[string]string {
	share := func(numerator, denominator int64) string {
		return strconv.FormatInt(max(timeout.Milliseconds()*numerator/denominator, 1), 10)
	}
	return map[string]string{
		"application_name":                    "graphkernel",
		"default_transaction_isolation":       "read committed", // writes rely on it, see the package documentation
		"statement_timeout":                   share(4, 5),
		"lock_timeout":                        share(1, 2),
		"idle_in_transaction_session_timeout": share(1, 2),          // a process that vanished must not keep its tenant's lock for longer
		"plan_cache_mode":                     "force_generic_plan", // a look-up costs less than planning it; partitions are chosen when it runs
		"enable_seqscan":                      "off",                // a plan made while a table was small stays when it has grown, until the next ANALYZE
		"jit":                                 "off",                // look-ups are over before they would be compiled
	}
}

// Open opens the store in the database that a URL or a list of keywords and values names. Missing settings come from libpq's variables (PGHOST,
// PGUSER, PGPASSWORD, PGSERVICE and so on), its defaults and its password file. Several hosts with target_session_attrs=read-write follow a failover.
// Open migrates the database to the newest schema; the schema of a newer version is an error that wraps store.ErrSchema, and is not changed.
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
		err = fmt.Errorf("the database has schema %d, this program reads %d; run: graphkernel migrate", m.From, m.To)
	} else if err == nil && m.From != m.To { // which may take longer
		_, err = migrate(ctx, s.pool, schemaFiles, false)
	}
	if err != nil {
		s.pool.Close()
		return nil, fmt.Errorf("postgres: opening a store: %w", lost(err))
	}
	return s, nil
}

// Migrate migrates a database to the newest schema and returns what it found. With dry it changes nothing.
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
	if c.ConnConfig.ConnectTimeout == 0 { // a connection that hangs keeps its place in the pool
		c.ConnConfig.ConnectTimeout = min(5*time.Second, o.Timeout)
	}
	c.ConnConfig.Tracer = o.Trace
	c.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false } // see acquire
	s := &Store{reader: reader{connections: connections{timeout: o.Timeout, patience: o.Patience}, bound: bound{lasts: o.Timeout}}, step: o.Step}
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

// durable makes sure that an answered commit is on the disk, whatever the
// server's configuration says. A stronger setting (a standby's disk, too) stays.
func durable(ctx context.Context, c *pgx.Conn) error {
	_, err := c.Exec(ctx, `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`)
	return err
}

// Checksums reports whether the server keeps checksums of its pages (data_checksums).
// Without them a damaged page of an index makes an answer too short, and no error shows it.
func (rd *reader) Checksums(ctx context.Context) (on bool, err error) {
	err = rd.read(ctx, "checksums", func(ctx context.Context, db *pgxpool.Conn) error {
		return db.QueryRow(ctx, `SELECT current_setting('data_checksums') = 'on'`).Scan(&on)
	})
	return on, err
}

// Close waits for running methods and closes the connections. Closing twice is harmless.
func (s *Store) Close() error {
	s.use.Lock()
	defer s.use.Unlock()
	if !s.closed {
		s.closed = true
		s.pool.Close()
		s.bound.close()
	}
	return nil
}
