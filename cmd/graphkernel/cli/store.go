package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/postgres"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/token"
)

// WithKernel asks the store, which must be there, or the service that the flags and the environment
// name, and ends with what fn returns.
func (a *App) WithKernel(ctx context.Context, ring token.Keyring, fn func(*Session) error) error {
	return a.with(ctx, ring, ToWrite, fn)
}

// WithReadKernel is WithKernel for what only reads: the store may be one that cannot be
// written to, and is not migrated.
func (a *App) WithReadKernel(ctx context.Context, ring token.Keyring, fn func(*Session) error) error {
	return a.with(ctx, ring, ToRead, fn)
}

// WithNewKernel is WithKernel, but makes the store if there is none.
func (a *App) WithNewKernel(ctx context.Context, ring token.Keyring, fn func(*Session) error) error {
	return a.with(ctx, ring, ToMake, fn)
}

func (a *App) with(ctx context.Context, ring token.Keyring, why purpose, fn func(*Session) error) error {
	url, err := a.server()
	if err != nil {
		return err
	}
	if url != "" {
		return a.withService(ctx, url, fn)
	}
	return a.WithStore(ctx, ring, why, fn)
}

// WithStore opens a store of this machine, whatever service is named, calls fn, and closes it.
func (a *App) WithStore(ctx context.Context, ring token.Keyring, why purpose, fn func(*Session) error) (err error) {
	tenant, err := a.Tenant()
	if err != nil {
		return err
	}
	s, err := a.OpenStore(ctx, why)
	if err != nil {
		return err
	}
	defer CloseStore(s, &err)
	id, err := a.Identity()
	if err != nil {
		return err
	}
	k, err := kernel.Open(kernel.Config{Store: s, Authority: token.NewAuthority(ring), Clock: a.Clock, Rand: a.Rand, Identity: id, History: a.History(id), Fleeting: a.Dev})
	if err != nil {
		return err
	}
	return fn(SessionOf(k, tenant))
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
