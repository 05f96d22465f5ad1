package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// epochs counts epochs. An epoch lasts as long as connections lead to one database of one cluster
// on one timeline: a standby that is promoted begins a new timeline, and so does a restored backup.
type epochs struct {
	number atomic.Uint64
	mu     sync.Mutex
	last   string // guarded by mu: the origin of the newest connection
}

// The first eight digits of a log file's name are its timeline.
const queryOrigin = `SELECT (SELECT system_identifier FROM pg_control_system())
	|| '/' || CASE WHEN pg_is_in_recovery() THEN 'standby' ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END
	|| '/' || (SELECT oid FROM pg_database WHERE datname = current_database())`

// If the functions above are not allowed or do not exist, as with some hosts and
// engines, a restarted server counts as another one: that only costs the caches.
const queryStarted = `SELECT coalesce(host(inet_server_addr()), '') || '/' || pg_postmaster_start_time()
	|| '/' || (SELECT oid FROM pg_database WHERE datname = current_database())`

// meet checks where a new connection leads, before it is used for queries.
func (e *epochs) meet(ctx context.Context, c *pgx.Conn) error {
	var origin string
	err := c.QueryRow(ctx, queryOrigin).Scan(&origin)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && natureOf(err) == final {
		err = c.QueryRow(ctx, queryStarted).Scan(&origin)
	}
	if err != nil {
		return fmt.Errorf("asking which server the connection leads to: %w", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last != "" && e.last != origin {
		e.number.Add(1)
	}
	e.last = origin
	return nil
}

// Epoch returns how often a new connection led to another database than the last one; see store.Store.
func (s *Store) Epoch() uint64 { return s.epochs.number.Load() }
