package postgres

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/graphkernel/graphkernel/store"
)

// connections are the connections of a store, until it is closed.
type connections struct {
	pool     *pgxpool.Pool
	timeout  time.Duration // of an attempt
	patience time.Duration // for all attempts of one call

	use    sync.RWMutex // held for reading while a method uses the database, and for writing by Close; it guards closed
	closed bool
}

// while runs fn while the store can be used, and adds the name of the operation to its error.
func (cs *connections) while(ctx context.Context, what string, fn func() error) error {
	err := ctx.Err()
	if err == nil {
		cs.use.RLock()
		defer cs.use.RUnlock()
		if err = store.ErrClosed; !cs.closed {
			err = fn()
		}
	}
	if err != nil {
		return fmt.Errorf("postgres: %s: %w", what, err)
	}
	return nil
}

// attempt calls fn with a connection, and bounds its time.
func (cs *connections) attempt(ctx context.Context, fn func(context.Context, *pgxpool.Conn) error) error {
	bounded, cancel := context.WithTimeout(ctx, cs.timeout)
	defer cancel()
	return cs.connected(ctx, bounded, fn)
}

func (cs *connections) connected(ctx, bounded context.Context, fn func(context.Context, *pgxpool.Conn) error) error {
	c, err := cs.acquire(ctx, bounded)
	if err != nil {
		return err
	}
	defer cs.release(ctx, c)
	return fn(bounded, c)
}

// lastUse is the key of the time of a connection's release in its custom data.
const lastUse = "graphkernel last use"

// acquire takes a connection from the pool. A connection that was not used for a second is
// tried first: it may be broken by now, and must not use up the time of the whole attempt.
func (cs *connections) acquire(ctx, bounded context.Context) (*pgxpool.Conn, error) {
	for {
		c, err := cs.pool.Acquire(bounded)
		if err != nil {
			return nil, err
		}
		used, known := c.Conn().PgConn().CustomData()[lastUse].(time.Time)
		if !known || time.Since(used) < time.Second {
			return c, nil
		}
		ping, cancel := context.WithTimeout(bounded, cs.timeout/4)
		err = c.Ping(ping)
		cancel()
		if err == nil {
			return c, nil
		}
		cs.release(ctx, c)
		if bounded.Err() != nil {
			return nil, err
		}
	}
}

// release returns a connection to the pool. A broken connection leaves the pool: otherwise it would keep
// its place for 15 seconds, while the driver tries to say goodbye to a server that does not answer. Idle
// connections are likely broken, too, and are closed, unless the caller's context has ended.
func (cs *connections) release(ctx context.Context, c *pgxpool.Conn) {
	if c.Conn().IsClosed() {
		c.Hijack()
		if ctx.Err() == nil {
			cs.pool.Reset()
		}
		return
	}
	c.Conn().PgConn().CustomData()[lastUse] = time.Now()
	c.Release() // closes a connection that is in a transaction
}
