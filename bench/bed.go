package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/graphkernel/graphkernel/bench/plain"
	"github.com/graphkernel/graphkernel/internal/pgtest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/postgres"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/token"
)

// The kinds of databases.
const (
	inSQLite   = "SQLite"
	inPostgres = "PostgreSQL"
)

// A bed is a store and beside it, on a database of the same kind, the tables that a
// user would make instead.
type bed struct {
	kind   string
	turns  int
	store  store.Store
	plain  plain.Database
	open   func(ctx context.Context) (store.Store, error) // once more
	settle func(ctx context.Context) error
}

func (b *bed) close() error { return errors.Join(b.store.Close(), b.plain.Close()) }

// A yard makes beds, on one server and in one folder.
type yard struct {
	folder string
	server *pgtest.Server // nil: SQLite alone
	made   int

	issuers []*issuer // open, while they are compared
}

// serverSettings are those of a small server that holds its database in memory. As it is
// set up when it is durable, an acknowledged commit is on the disk.
var serverSettings = map[string]string{"shared_buffers": "1GB", "max_wal_size": "4GB", "max_connections": "200"}

// newYard starts a server if there are programs for one.
func newYard(ctx context.Context, folder string, r *report, durable bool) (*yard, error) {
	y := &yard{folder: folder}
	if err := pgtest.Available(); err != nil {
		r.note("Without PostgreSQL: %v", err)
		return y, nil
	}
	server, err := pgtest.Start(ctx, pgtest.Options{Durable: durable, Settings: serverSettings})
	if err != nil {
		return nil, err
	}
	y.server = server
	return y, nil
}

func (y *yard) close() error {
	if y.server == nil {
		return nil
	}
	return y.server.Stop()
}

// beds makes one of each kind, empty.
func (y *yard) beds(ctx context.Context, turns int) ([]*bed, error) {
	y.made++
	b, err := y.sqlite(ctx, turns)
	if err != nil {
		return nil, err
	}
	all := []*bed{b}
	if y.server == nil {
		return all, nil
	}
	if b, err = y.postgres(ctx, turns); err != nil {
		return nil, errors.Join(err, all[0].close())
	}
	return append(all, b), nil
}

// storeOf makes an empty store of a kind.
func (y *yard) storeOf(ctx context.Context, kind string) (store.Store, error) {
	if kind == inSQLite {
		return sqlite.Create(ctx, filepath.Join(y.folder, fmt.Sprintf("kernel%d.db", y.made)), sqlite.Options{})
	}
	name := fmt.Sprintf("kernel%d", y.made)
	if err := y.server.CreateDatabase(ctx, name, ""); err != nil {
		return nil, err
	}
	return postgres.Open(ctx, y.server.SocketURL(name), postgres.Options{})
}

func (y *yard) sqlite(ctx context.Context, turns int) (*bed, error) {
	path := filepath.Join(y.folder, fmt.Sprintf("kernel%d.db", y.made))
	s, err := sqlite.Create(ctx, path, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	p, err := plain.SQLite(ctx, filepath.Join(y.folder, fmt.Sprintf("plain%d.db", y.made)), "")
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &bed{
		kind: inSQLite, turns: turns, store: s, plain: p,
		open:   func(ctx context.Context) (store.Store, error) { return sqlite.Open(ctx, path, sqlite.Options{}) },
		settle: p.Settle,
	}, nil
}

func (y *yard) postgres(ctx context.Context, turns int) (*bed, error) {
	of, beside := fmt.Sprintf("kernel%d", y.made), fmt.Sprintf("plain%d", y.made)
	for _, name := range []string{of, beside} {
		if err := y.server.CreateDatabase(ctx, name, ""); err != nil {
			return nil, err
		}
	}
	open := func(ctx context.Context) (store.Store, error) {
		return postgres.Open(ctx, y.server.SocketURL(of), postgres.Options{})
	}
	s, err := open(ctx)
	if err != nil {
		return nil, err
	}
	p, err := plain.Postgres(ctx, y.server.SocketURL(beside), "")
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &bed{
		kind: inPostgres, turns: turns, store: s, plain: p, open: open,
		// A server does this by itself, some minutes later.
		settle: func(ctx context.Context) error {
			return errors.Join(y.server.Exec(ctx, of, "VACUUM ANALYZE"), p.Settle(ctx), y.server.Exec(ctx, of, "CHECKPOINT"))
		},
	}, nil
}

// newAuthority makes a signing key that nobody keeps.
func newAuthority() (*token.Authority, error) {
	secret, err := token.DrawSecret(nil)
	if err != nil {
		return nil, err
	}
	ring, err := token.Keyring{}.Import("bench", secret, 0)
	if err != nil {
		return nil, err
	}
	return token.NewAuthority(ring), nil
}

// newKernel opens a kernel that keeps so many bytes of text; 0 is the default, 1 is none.
// keyed makes an empty SQLite store, and an authority that signs for it.
func (y *yard) keyed(ctx context.Context) (store.Store, *token.Authority, error) {
	y.made++
	s, err := y.storeOf(ctx, inSQLite)
	if err != nil {
		return nil, nil, err
	}
	a, err := newAuthority()
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return s, a, nil
}

func newKernel(s store.Store, a *token.Authority, textBytes int) (*kernel.Kernel, error) {
	return kernel.Open(kernel.Config{Store: s, Authority: a, Clock: time.Now, TextBytes: textBytes})
}
