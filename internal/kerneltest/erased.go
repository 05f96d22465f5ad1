package kerneltest

import (
	"bytes"
	"context"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/graphkernel/graphkernel/history/heldback"
	"github.com/graphkernel/graphkernel/internal/pgstore"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/postgres"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/token"
)

// A Readable store lets a test read everything that its files hold.
type Readable struct {
	store.Store
	Read  func() [][]byte
	Again func() store.Store // opens it once more, as another process does
}

// ReadableStores opens the two databases. Of SQLite all files are read, of PostgreSQL all tables, after
// a vacuum.
var ReadableStores = map[string]func(t *testing.T) Readable{
	"sqlite": func(t *testing.T) Readable {
		folder := t.TempDir()
		s := must(sqlite.Create(t.Context(), filepath.Join(folder, "test.db"), sqlite.Options{}))
		t.Cleanup(func() { _ = s.Close() })
		again := func() store.Store {
			s := must(sqlite.Open(t.Context(), filepath.Join(folder, "test.db"), sqlite.Options{}))
			t.Cleanup(func() { _ = s.Close() })
			return s
		}
		return Readable{s, func() (files [][]byte) {
			for _, f := range must(os.ReadDir(folder)) {
				files = append(files, must(os.ReadFile(filepath.Join(folder, f.Name()))))
			}
			return files
		}, again}
	},
	"postgres": func(t *testing.T) Readable {
		url := pgstore.URL(t)
		s := must(postgres.Open(t.Context(), url, postgres.Options{Connections: 8}))
		t.Cleanup(func() { _ = s.Close() })
		again := func() store.Store {
			s := must(postgres.Open(t.Context(), url, postgres.Options{Connections: 8}))
			t.Cleanup(func() { _ = s.Close() })
			return s
		}
		return Readable{s, func() (rows [][]byte) {
			ctx := context.WithoutCancel(t.Context())
			conn := must(pgx.Connect(ctx, url))
			defer func() { _ = conn.Close(ctx) }()
			must(conn.Exec(ctx, "VACUUM"))
			tables := must(pgx.CollectRows(must(conn.Query(ctx, `SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`)), pgx.RowTo[string]))
			if len(tables) < 5 {
				t.Fatalf("tables: %q", tables)
			}
			for _, table := range tables {
				for _, row := range must(pgx.CollectRows(must(conn.Query(ctx, `SELECT t::text FROM `+table+` t`)), pgx.RowTo[string])) {
					rows = append(rows, []byte(row))
				}
			}
			return rows
		}, again}
	},
}

// Holds reports whether any of the texts contains a word, as text or in hex, without regard to case.
func Holds(read [][]byte, word string) bool {
	for _, data := range read {
		data = bytes.ToLower(data)
		if bytes.Contains(data, []byte(word)) || bytes.Contains(data, []byte(hex.EncodeToString([]byte(word)))) {
			return true
		}
	}
	return false
}

// A Secret is a secret in memory, made when it is first asked for.
type Secret struct{ secret []byte }

// Get is a kernel's Config.ErasureSecret.
func (s *Secret) Get(create bool) ([]byte, error) {
	if s.secret == nil && create {
		s.secret = bytes.Repeat([]byte{7}, heldback.MinSecret)
	}
	return s.secret, nil
}

// Guarded opens a kernel that recognises erased texts.
func Guarded(t testing.TB, s store.Store, secret *Secret) *kernel.Kernel {
	t.Helper()
	return must(kernel.Open(kernel.Config{Store: s, Authority: token.NewAuthority(Ring(t, "k1")), Rand: Noise(1), Clock: Standing, ErasureSecret: secret.Get}))
}
