package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/retrieval/segments"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/postgres"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/token"
)

// Stores opens the stores, and connects to the services, that the settings name.
type Stores struct {
	files
	signing *Signing
	clock   func() time.Time
	texts   int // the most texts that a request reads for the search index; 0: all
}

// files opens the stores, and reads or makes the keys, that the settings name on this machine. Keys that sign are found by Signing.
type files struct {
	io       *Streams
	settings *Settings
	rand     io.Reader
	busy     time.Duration // how long a write waits for another process; 0: the store's default
}

// Waiting returns the same stores for a caller who waits at most this long for writes of other processes.
func (st *Stores) Waiting(busy time.Duration) *Stores {
	other := *st
	other.busy = busy
	return &other
}

// By returns the same stores with another clock for their kernels.
func (st *Stores) By(clock func() time.Time) *Stores {
	other := *st
	other.clock = clock
	return &other
}

// For returns the stores that other settings name, with the keys and the identity of those settings.
func (st *Stores) For(settings *Settings) *Stores {
	other := *st
	other.settings = settings
	other.signing = &Signing{io: st.io, settings: settings, clock: st.clock}
	return &other
}

// ForRequests returns the same stores, but their kernels read no more texts for the search index than a request may, see kernel.Config.IndexTexts.
func (st *Stores) ForRequests() *Stores {
	other := *st
	other.texts = segments.TextsOfRequest
	return &other
}

// WithKernel calls fn with a session of the existing store, or of the service, that the flags and the environment name, and returns fn's error.
func (st *Stores) WithKernel(ctx context.Context, ring token.Keyring, fn func(*Session) error) error {
	return st.with(ctx, ring, ToWrite, fn)
}

// WithReadKernel is like WithKernel for commands that only read: the store may be read-only, and is not migrated.
func (st *Stores) WithReadKernel(ctx context.Context, ring token.Keyring, fn func(*Session) error) error {
	return st.with(ctx, ring, ToRead, fn)
}

// WithIdleKernel is like WithReadKernel for commands that change nothing at all: it leaves captured sessions waiting.
func (st *Stores) WithIdleKernel(ctx context.Context, ring token.Keyring, fn func(*Session) error) error {
	return st.open(ctx, ring, ToRead, fn)
}

// WithNewKernel is like WithKernel, but makes the store if there is none.
func (st *Stores) WithNewKernel(ctx context.Context, ring token.Keyring, fn func(*Session) error) error {
	return st.with(ctx, ring, ToMake, fn)
}

// WouldMake reports whether WithNewKernel would make a file for a store.
func (f *files) WouldMake() bool {
	if url, err := f.settings.Server(); err != nil || url != "" || IsPostgres(f.settings.StoreName()) {
		return false
	}
	path, err := SqlitePath(f.settings.StoreName())
	if err != nil {
		return false
	}
	_, err = os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// WithReadyKernel is like WithKernel for commands that must be quick: it leaves captured sessions waiting.
func (st *Stores) WithReadyKernel(ctx context.Context, ring token.Keyring, fn func(*Session) error) error {
	return st.open(ctx, ring, ToWrite, fn)
}

// WithoutTakingIn is like WithReadKernel for commands that must be quick: it leaves captured sessions waiting.
func (st *Stores) WithoutTakingIn(ctx context.Context, fn func(*Session) error) error {
	return st.open(ctx, token.Keyring{}, ToRead, fn)
}

func (st *Stores) with(ctx context.Context, ring token.Keyring, why purpose, fn func(*Session) error) error {
	st.takeIn(ctx)
	return st.open(ctx, ring, why, fn)
}

func (st *Stores) open(ctx context.Context, ring token.Keyring, why purpose, fn func(*Session) error) error {
	url, err := st.settings.Server()
	if err != nil {
		return err
	}
	if url != "" {
		return st.withService(ctx, url, fn)
	}
	return st.WithStore(ctx, ring, why, fn)
}

// WithStore opens a store on this machine, even if a service is named, calls fn, and closes the store.
func (st *Stores) WithStore(ctx context.Context, ring token.Keyring, why purpose, fn func(*Session) error) (err error) {
	tenant, err := st.settings.Tenant()
	if err != nil {
		return err
	}
	s, err := st.OpenStore(ctx, why)
	if err != nil {
		return err
	}
	defer CloseStore(s, &err)
	id, err := st.signing.Identity()
	if err != nil {
		return err
	}
	models, err := st.settings.Models(st.settings.Getenv(EmbeddersVariable), st.settings.Getenv(RerankersVariable))
	if err != nil {
		return Usage(err)
	}
	admitted, err := st.settings.AdmittedSecrets()
	if err != nil {
		return err
	}
	config := kernel.Config{
		Store: s, Authority: token.NewAuthority(ring), Clock: st.clock, Rand: st.rand, Identity: id, History: st.signing.History(id), Fleeting: st.settings.Dev,
		Embedders: models.Embedders, Rerankers: models.Rerankers, ErasureSecret: st.ErasureSecret, IndexTexts: st.texts,
	}
	NewAdmitted(admitted, func(_ context.Context, in Kept) {
		st.io.Warn("graphkernel: secrets are kept in %s (%s), the first in %s; --secrets and GRAPHKERNEL_SECRETS do not apply to texts that callers send (%s=refuse refuses such texts)", in.What, in.Counts(), in.First, AdmittedVariable)
	}).Apply(&config)
	k, err := kernel.Open(config)
	if err != nil {
		return err
	}
	return fn(SessionOf(k, tenant, st.clock).ReadyOver(s))
}

// ErrNoStore is wrapped if there is no store.
var ErrNoStore = errors.New("there is no store")

// A purpose is the purpose for which a store is opened.
type purpose int

const (
	ToRead  purpose = iota // nothing is changed, and the disk may be read-only or full
	ToWrite                // the store must exist
	ToMake                 // the store is made if there is none
)

// OpenStore opens the store that the flags and the environment name. For the default store it also makes the folder.
func (f *files) OpenStore(ctx context.Context, why purpose) (store.Store, error) {
	name := f.settings.StoreName()
	if path := f.settings.defaultStore(); why == ToMake && path != "" && name == "sqlite:"+path {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
	}
	return f.OpenNamed(ctx, name, why)
}

// HasRoom returns an error that wraps store.ErrUnwritable if the store is a file whose disk has no room for a write.
func (f *files) HasRoom() error {
	path, err := SqlitePath(f.settings.StoreName())
	if err != nil {
		return nil // it is a database, which looks after its own disk
	}
	return sqlite.HasRoom(path)
}

// IsPostgres reports whether a store's name is one of PostgreSQL: a URL, or "postgres:" alone, which leaves everything to libpq's variables.
func IsPostgres(name string) bool {
	return name == "postgres:" || strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// OpenNamed opens the store with a name. With ToMake it makes a missing store and says so. A PostgreSQL database must exist; its tables are made. Folders are
// not made.
func (f *files) OpenNamed(ctx context.Context, name string, why purpose) (store.Store, error) {
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
	s, err := sqlite.Open(ctx, path, sqlite.Options{ReadOnly: why == ToRead, Busy: f.busy})
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
		f.io.Note("graphkernel: made a new store at %s", ShownPath(name))
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// CloseStore closes a store at the end of a command, and reports a failure if there was no earlier error.
func CloseStore(s store.Store, err *error) {
	if closed := s.Close(); *err == nil {
		*err = closed
	}
}

// PostgresURL returns the URL for the driver: empty if libpq's variables say everything.
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
		if scheme == name && name != "" && !strings.ContainsAny(name, "= ;'") { // a connection string may hold a password
			return "", Usagef("store %q names no kind of store; if it is the path of a file, give sqlite: before it", WithoutPassword(name))
		}
		return "", Usagef("store %q: want sqlite:PATH, postgres://HOST/DATABASE, or postgres: with libpq's variables; give --store or GRAPHKERNEL_STORE", WithoutPassword(name))
	}
	return path, nil
}

// withService calls fn with a service.
func (st *Stores) withService(ctx context.Context, url string, fn func(*Session) error) error {
	key := st.settings.Getenv("GRAPHKERNEL_KEY")
	if key == "" {
		return Usagef("a service asks for an API key; give it in GRAPHKERNEL_KEY (graphkernel apikey create makes one)")
	}
	c, err := client.New(url, key, client.Options{})
	if err != nil {
		return Usagef("--server: %w", err)
	}
	var named dag.Tenant
	if st.settings.NamesTenant() {
		if named, err = st.settings.Tenant(); err != nil {
			return err
		}
	}
	s, err := remoteSession(ctx, c, named)
	if err != nil {
		return err
	}
	return fn(s)
}
