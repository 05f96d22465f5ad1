package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/postgres"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/token"
)

// A Session is an open store with a kernel over it.
type Session struct {
	*kernel.Kernel
	Tenant dag.Tenant
	Store  store.Store
}

// HoldsTurns refuses a tenant that nothing was ever admitted for: a mistyped name
// must not look like an empty graph. The default tenant may be empty.
func (s *Session) HoldsTurns(ctx context.Context) error {
	head, err := s.Turns().Head(ctx, s.Tenant)
	if err == nil && head == 0 && s.Tenant != dag.DefaultTenant {
		return fmt.Errorf("tenant %s: %w: nothing was ever admitted for it in this store", s.Tenant, store.ErrNotFound)
	}
	return err
}

// WithKernel opens the store, which must be there, calls fn, and closes it.
func (a *App) WithKernel(ctx context.Context, ring token.Keyring, fn func(*Session) error) error {
	return a.withStore(ctx, ring, ToWrite, fn)
}

// WithReadKernel is WithKernel for what only reads: the store may be one that cannot be
// written to, and is not migrated.
func (a *App) WithReadKernel(ctx context.Context, ring token.Keyring, fn func(*Session) error) error {
	return a.withStore(ctx, ring, ToRead, fn)
}

// WithNewKernel is WithKernel, but makes the store if there is none.
func (a *App) WithNewKernel(ctx context.Context, ring token.Keyring, fn func(*Session) error) error {
	return a.withStore(ctx, ring, ToMake, fn)
}

func (a *App) withStore(ctx context.Context, ring token.Keyring, why purpose, fn func(*Session) error) (err error) {
	tenant, err := a.Tenant()
	if err != nil {
		return err
	}
	s, err := a.OpenStore(ctx, why)
	if err != nil {
		return err
	}
	defer func() {
		if closed := s.Close(); err == nil {
			err = closed
		}
	}()
	id, err := a.Identity()
	if err != nil {
		return err
	}
	k, err := kernel.Open(kernel.Config{Store: s, Authority: token.NewAuthority(ring), Clock: a.Clock, Identity: id, History: a.History(id), Fleeting: a.Dev})
	if err != nil {
		return err
	}
	return fn(&Session{Kernel: k, Tenant: tenant, Store: s})
}

// ErrNoStore is wrapped when nothing was ever stored.
var ErrNoStore = errors.New("there is no store")

// A purpose is what a store is opened for.
type purpose int

const (
	ToRead  purpose = iota // nothing is changed, and the disk may be read-only or full
	ToWrite                // the store must be there
	ToMake                 // the store is made where there is none
)

// OpenStore opens the store that the flags and the environment name. The folder of the
// default one is made with it.
func (a *App) OpenStore(ctx context.Context, why purpose) (store.Store, error) {
	name := a.StoreName()
	if path := a.defaultStore(); why == ToMake && path != "" && name == "sqlite:"+path {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
	}
	return a.OpenNamed(ctx, name, why)
}

// IsPostgres reports whether a store's name is for PostgreSQL: a URL, or "postgres:"
// alone, which leaves everything to libpq's variables.
func IsPostgres(name string) bool {
	return name == "postgres:" || strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// OpenNamed opens the store that a name stands for, and to make one says so where there
// was none. A PostgreSQL database must be there; its tables are made. Folders are not.
func (a *App) OpenNamed(ctx context.Context, name string, why purpose) (store.Store, error) {
	if IsPostgres(name) {
		s, err := postgres.Open(ctx, PostgresURL(name), postgres.Options{ReadOnly: why == ToRead})
		if err != nil {
			return nil, WithoutName(name, err)
		}
		return s, nil
	}
	path, err := SqlitePath(name)
	if err != nil {
		return nil, err
	}
	s, err := sqlite.Open(ctx, path, sqlite.Options{ReadOnly: why == ToRead})
	switch {
	case err == nil:
		return s, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case why != ToMake:
		return nil, fmt.Errorf("%w at %s; graphkernel init makes one, and so does import", ErrNoStore, ShownPath(name))
	}
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no folder %s to make the store in", filepath.Dir(ShownPath(name)))
	}
	s, err = sqlite.Create(ctx, path, sqlite.Options{})
	if errors.Is(err, fs.ErrExist) { // another process was faster
		s, err = sqlite.Open(ctx, path, sqlite.Options{})
	} else if err == nil {
		a.Note("graphkernel: made a new store at %s", ShownPath(name))
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// StoreName returns the name of the store that the flags and the environment name, or of the
// default one.
func (a *App) StoreName() string {
	for _, name := range []string{a.StoreFlag, a.Getenv("GRAPHKERNEL_STORE")} {
		if name != "" {
			return name
		}
	}
	if path := a.defaultStore(); path != "" {
		return "sqlite:" + path
	}
	return ""
}

// CloseStore closes a store at the end of a command, and reports what went wrong if
// nothing else did.
func CloseStore(s store.Store, err *error) {
	if closed := s.Close(); *err == nil {
		*err = closed
	}
}

// PostgresURL returns what the driver takes: nothing, where libpq's variables say it all.
func PostgresURL(name string) string {
	if name == "postgres:" {
		return ""
	}
	return name
}

// SqlitePath returns the path of the file in the name of a SQLite store.
func SqlitePath(name string) (string, error) {
	scheme, path, _ := strings.Cut(name, ":")
	if scheme != "sqlite" || path == "" {
		return "", Usagef("store %q: want sqlite:PATH, postgres://HOST/DATABASE, or postgres: with libpq's variables; give --store or GRAPHKERNEL_STORE", WithoutPassword(name))
	}
	return path, nil
}
