// Package pgstore provides empty PostgreSQL stores for tests. They are databases of one server, which starts with the first of
// them; each has the schema, and is emptied and reused. A test that kills a server starts its own with package pgtest.
package pgstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/graphkernel/graphkernel/internal/pgtest"
	"github.com/graphkernel/graphkernel/store/postgres"
)

var pool struct {
	mu     sync.Mutex // guards everything below
	server *pgtest.Server
	made   int
	clean  []string // names of empty databases
}

// emptied deletes everything from a database except its tables. Deleting few rows is faster than truncating fifty tables.
const emptied = `DELETE FROM tenants; DELETE FROM runs; DELETE FROM turns; DELETE FROM guards; DELETE FROM ids; DELETE FROM links;
	DELETE FROM conversations;
	DELETE FROM logs; DELETE FROM records; DELETE FROM log_hashes; DELETE FROM cells; DELETE FROM entries; DELETE FROM terms; DELETE FROM snapshots`

// Empty deletes everything from the database at a URL except its tables. Tests can share one database that way, one after the
// other: creating a database costs as much as emptying several.
func Empty(t testing.TB, url string) {
	t.Helper()
	c, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Exec(context.Background(), emptied)
	if err := errors.Join(err, c.Close(context.Background())); err != nil {
		t.Fatal(err)
	}
}

// URL returns the URL of a database that is the test's own until its end, and empty at first. It skips the test if no server
// can be started, see pgtest.Need.
func URL(t testing.TB) string {
	t.Helper()
	pgtest.Need(t)
	server, name, err := take(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Exec(context.Background(), name, emptied); err != nil {
			t.Error(err)
			return
		}
		pool.mu.Lock()
		defer pool.mu.Unlock()
		pool.clean = append(pool.clean, name)
	})
	return server.SocketURL(name)
}

// Open opens a store with few connections on an empty database, and closes it at the end of the test.
func Open(t testing.TB) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(context.Background(), URL(t), postgres.Options{Connections: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func take(ctx context.Context) (*pgtest.Server, string, error) {
	pool.mu.Lock()
	defer pool.mu.Unlock()
	if pool.server == nil {
		if err := start(ctx); err != nil {
			return nil, "", err
		}
	}
	if n := len(pool.clean); n > 0 {
		name := pool.clean[n-1]
		pool.clean = pool.clean[:n-1]
		return pool.server, name, nil
	}
	pool.made++
	name := fmt.Sprintf("store%d", pool.made)
	return pool.server, name, pool.server.CreateDatabase(ctx, name, "first")
}

// start starts the server, and creates the database from which the others are copied.
func start(ctx context.Context) error {
	server, err := pgtest.Start(ctx, pgtest.Options{Settings: map[string]string{"max_connections": "400", "max_locks_per_transaction": "256"}})
	if err != nil {
		return err
	}
	pool.server = server
	if err := server.CreateDatabase(ctx, "first", ""); err != nil {
		return err
	}
	_, err = postgres.Migrate(ctx, server.SocketURL("first"), false)
	return err
}

// Stop stops the server if it was started; TestMain may call it. The server ends with the process anyway.
func Stop() error {
	pool.mu.Lock()
	defer pool.mu.Unlock()
	if pool.server == nil {
		return nil
	}
	return pool.server.Stop()
}
