package postgres_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/graphkernel/graphkernel/internal/pgtest"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/postgres"
	"github.com/graphkernel/graphkernel/store/storetest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := shared.stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// databases hands out databases of one server, with the schema in place and nothing in
// it. Tests that kill a server start their own.
type databases struct {
	mu     sync.Mutex // guards everything below
	server *pgtest.Server
	made   int
	clean  []string // URLs of databases to be emptied and used again
}

var shared databases

// take gives the URL of an empty database until the end of the test.
func (d *databases) take(t *testing.T) string {
	t.Helper()
	pgtest.Need(t)
	d.mu.Lock()
	defer d.mu.Unlock()
	ctx := context.Background()
	if d.server == nil {
		server, err := pgtest.Start(ctx, pgtest.Options{Settings: map[string]string{"max_connections": "400", "max_locks_per_transaction": "256"}})
		if err != nil {
			t.Fatal(err)
		}
		d.server = server
		if err := server.CreateDatabase(ctx, "first", ""); err != nil {
			t.Fatal(err)
		}
		if _, err := postgres.Migrate(ctx, server.SocketURL("first"), false); err != nil {
			t.Fatal(err)
		}
	}
	var name string
	if n := len(d.clean); n > 0 {
		name, d.clean = d.clean[n-1], d.clean[:n-1]
	} else {
		d.made++
		name = fmt.Sprintf("d%d", d.made)
		if err := d.server.CreateDatabase(ctx, name, "first"); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := d.server.Exec(ctx, name, deleteAll); err != nil {
			t.Error(err)
			return
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.clean = append(d.clean, name)
	})
	return d.server.SocketURL(name)
}

const deleteAll = `DELETE FROM tenants; DELETE FROM runs; DELETE FROM turns; DELETE FROM ids; DELETE FROM links;
	DELETE FROM conversations; DELETE FROM events; DELETE FROM policies; DELETE FROM issued; DELETE FROM api_keys`

func (d *databases) stop() error {
	if d.server == nil {
		return nil
	}
	return d.server.Stop()
}

// harness opens stores of few connections on a database.
func harness(url string) storetest.Harness {
	return storetest.Harness{Heals: true, Open: func(step func(string) error) (store.Store, error) {
		s, err := postgres.Open(context.Background(), url, postgres.Options{Connections: 8, Step: step})
		if err != nil {
			return nil, err
		}
		return s, nil
	}}
}

func TestContract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Harness { return harness(shared.take(t)) })
}
