package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/graphkernel/graphkernel/internal/pgstore"
	"github.com/graphkernel/graphkernel/internal/pgtest"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
	"github.com/graphkernel/graphkernel/store/postgres"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// tables returns the names of a database's tables, and what it has the version of.
func tables(t *testing.T, server *pgtest.Server, database string) string {
	t.Helper()
	names, err := server.Value(t.Context(), database, `SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace`)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(names, "graphkernel_schema") {
		return names
	}
	version, err := server.Value(t.Context(), database, `SELECT string_agg(version::text, ',') FROM graphkernel_schema`)
	if err != nil {
		t.Fatal(err)
	}
	return names + " " + version
}

// TestSchemaFiles makes sure that both back ends number their schemas alike.
func TestSchemaFiles(t *testing.T) {
	list := func(folder string) string {
		names, err := filepath.Glob(filepath.Join(folder, "*.sql"))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d files, %v", folder, len(names), err)
		}
		for i, name := range names {
			names[i] = filepath.Base(name)
		}
		return strings.Join(names, " ")
	}
	if ours, theirs := list("schema"), list(filepath.Join("..", "sqlite", "schema")); ours != theirs {
		t.Errorf("PostgreSQL has the schemas %s, and SQLite %s", ours, theirs)
	}
}

// A test of migrations has a server of its own, since roles are of the server.
func TestMigrate(t *testing.T) {
	t.Parallel()
	server := pgtest.Run(t, pgtest.Options{})
	ctx := t.Context()
	empty := func(t *testing.T, name string) string {
		t.Helper()
		if err := server.CreateDatabase(ctx, name, ""); err != nil {
			t.Fatal(err)
		}
		return server.URL(name)
	}
	files, err := filepath.Glob("schema/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	newest := packed.Oldest - 1 + len(files)

	t.Run("at once", func(t *testing.T) {
		address := empty(t, "together")
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				s, err := postgres.Open(ctx, address, postgres.Options{Connections: 2, Timeout: time.Second})
				if err != nil {
					t.Errorf("opener %d: %v", i, err)
					return
				}
				defer s.Close()
				if _, err := s.Append(ctx, storetest.Tenant, []store.Batch{storetest.Chain(1, 3, 0)}); err != nil {
					t.Errorf("opener %d: %v", i, err)
				}
			})
		}
		all.Wait()
		if got := tables(t, server, "together"); !strings.HasSuffix(got, " "+strconv.Itoa(newest)) {
			t.Errorf("got the tables and the version %s", got)
		}
	})

	t.Run("dry", func(t *testing.T) {
		address := empty(t, "dry")
		for _, c := range []struct {
			dry      bool
			from, to int
		}{{true, 0, newest}, {false, 0, newest}, {true, newest, newest}, {false, newest, newest}} {
			before := tables(t, server, "dry")
			m, err := postgres.Migrate(ctx, address, c.dry)
			if err != nil || m.From != c.from || m.To != c.to {
				t.Errorf("%+v: %+v, %v", c, m, err)
			}
			if after := tables(t, server, "dry"); (after == before) != (c.dry || c.from == c.to) {
				t.Errorf("%+v: %q became %q", c, before, after)
			}
		}
	})

	t.Run("unreleased", func(t *testing.T) {
		address := empty(t, "unreleased")
		if err := server.Exec(ctx, "unreleased", "CREATE TABLE tenants (tenant text); CREATE TABLE graphkernel_schema AS SELECT 8 AS version"); err != nil {
			t.Fatal(err)
		}
		before := tables(t, server, "unreleased")
		_, opened := postgres.Open(ctx, address, postgres.Options{})
		_, migrated := postgres.Migrate(ctx, address, false)
		_, dry := postgres.Migrate(ctx, address, true)
		for _, err := range []error{opened, migrated, dry} {
			if !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), "export") {
				t.Errorf("got %v, want an error that says to export", err)
			}
		}
		if after := tables(t, server, "unreleased"); after != before {
			t.Errorf("%q became %q", before, after)
		}
	})

	t.Run("later", func(t *testing.T) {
		address := empty(t, "later")
		s, err := postgres.Open(ctx, address, postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Append(ctx, storetest.Tenant, []store.Batch{storetest.Chain(1, 3, 0)})
		if err := errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		before := tables(t, server, "later")
		if _, err := postgres.MigrateWith(ctx, address, "CREATE TABLE extra (tenant text)", "CREATE TABLE tenants (tenant text)"); err == nil || !strings.Contains(err.Error(), "schema ") {
			t.Errorf("a schema that cannot be: %v, want an error that names it", err)
		}
		if after := tables(t, server, "later"); after != before {
			t.Errorf("a migration that failed made %q of %q", after, before)
		}
		if m, err := postgres.MigrateWith(ctx, address, "CREATE TABLE extra (tenant text)"); err != nil || m.From != newest || m.To != newest+1 {
			t.Errorf("%+v, %v", m, err)
		}
		if got := tables(t, server, "later"); !strings.Contains(got, "extra") || !strings.HasSuffix(got, " "+strconv.Itoa(newest+1)) {
			t.Errorf("got the tables and the version %s", got)
		}
		if _, err := postgres.Open(ctx, address, postgres.Options{}); !errors.Is(err, store.ErrSchema) {
			t.Errorf("a newer schema: %v", err)
		}
	})

	t.Run("newer", func(t *testing.T) {
		address := empty(t, "newer")
		if _, err := postgres.Migrate(ctx, address, false); err != nil {
			t.Fatal(err)
		}
		if err := server.Exec(ctx, "newer", "UPDATE graphkernel_schema SET version = 99"); err != nil {
			t.Fatal(err)
		}
		before := tables(t, server, "newer")
		_, opened := postgres.Open(ctx, address, postgres.Options{})
		_, migrated := postgres.Migrate(ctx, address, false)
		_, dry := postgres.Migrate(ctx, address, true)
		for _, err := range []error{opened, migrated, dry} {
			if !errors.Is(err, store.ErrSchema) {
				t.Errorf("got %v, want %v", err, store.ErrSchema)
			}
		}
		if after := tables(t, server, "newer"); after != before {
			t.Errorf("%q became %q", before, after)
		}
	})

	// A newer program migrates while this one waits for it.
	t.Run("newer meanwhile", func(t *testing.T) {
		address := empty(t, "meanwhile")
		conn, err := pgx.Connect(ctx, address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		if _, err := conn.Exec(ctx, "BEGIN; SELECT pg_advisory_xact_lock(x'474b5031'::int); CREATE TABLE graphkernel_schema AS SELECT 99 AS version"); err != nil {
			t.Fatal(err)
		}
		opened := make(chan error)
		go func() {
			_, err := postgres.Open(ctx, address, postgres.Options{Timeout: time.Second})
			opened <- err
		}()
		for waits := "0"; waits != "1"; {
			if waits, err = server.Value(ctx, "meanwhile", "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(1500 * time.Millisecond) // longer than a statement may take otherwise
		if _, err := conn.Exec(ctx, "COMMIT"); err != nil {
			t.Fatal(err)
		}
		if err := <-opened; !errors.Is(err, store.ErrSchema) {
			t.Errorf("got %v, want %v", err, store.ErrSchema)
		}
		if got := tables(t, server, "meanwhile"); got != "graphkernel_schema 99" {
			t.Errorf("got the tables and the version %s", got)
		}
	})

	t.Run("unprivileged", func(t *testing.T) {
		address := empty(t, "guarded")
		if err := server.Exec(ctx, "guarded", "CREATE ROLE humble LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC"); err != nil {
			t.Fatal(err)
		}
		humble := as("humble", address)
		_, err := postgres.Open(ctx, humble, postgres.Options{})
		if err == nil || !strings.Contains(err.Error(), "graphkernel migrate") {
			t.Errorf("got %v, want advice", err)
		}
		if got := tables(t, server, "guarded"); got != "" {
			t.Errorf("got the tables %s", got)
		}
		if _, err := postgres.Migrate(ctx, address, false); err != nil {
			t.Fatal(err)
		}
		if _, err := postgres.Open(ctx, humble, postgres.Options{}); err == nil || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("without grants: %v", err)
		}
		if err := server.Exec(ctx, "guarded", "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO humble"); err != nil {
			t.Fatal(err)
		}
		h := harness(humble)
		for _, w := range storetest.Writes() {
			pgstore.Empty(t, address)
			s, err := h.Open(nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(w.Before(ctx, s), w.Do(ctx, s), s.Close()); err != nil {
				t.Errorf("%s: %v", w.Name, err)
			}
		}
	})
}

// TestVariables opens a store that only libpq's variables name.
func TestVariables(t *testing.T) {
	server := pgtest.Run(t, pgtest.Options{})
	if err := server.CreateDatabase(t.Context(), "named", ""); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"PGHOST": "127.0.0.1", "PGPORT": strconv.Itoa(server.Port()), "PGUSER": "postgres",
		"PGDATABASE": "named", "PGSSLMODE": "disable", "PGOPTIONS": "-c lock_timeout=4s"} {
		t.Setenv(name, value)
	}
	got := spy{}
	s, err := postgres.Open(t.Context(), "", postgres.Options{Trace: got})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Append(t.Context(), storetest.Tenant, []store.Batch{storetest.Chain(1, 1, 0)}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Head(t.Context(), storetest.Tenant); err != nil || got["lock_timeout"] != "4s" {
		t.Errorf("lock_timeout is %q, %v", got["lock_timeout"], err)
	}
	if n, err := server.Value(t.Context(), "named", "SELECT count(*) FROM ids"); err != nil || n != "1" {
		t.Errorf("%s turns are there, %v", n, err)
	}
}

// TestNoPasswordInErrors makes sure that what cannot be opened is named, and the
// password is not.
func TestNoPasswordInErrors(t *testing.T) {
	t.Parallel()
	server := pgtest.Run(t, pgtest.Options{})
	const secret = "s3cr3t-w0rd"
	if err := server.Exec(t.Context(), "postgres", "CREATE ROLE known LOGIN PASSWORD 'other'"); err != nil {
		t.Fatal(err)
	}
	hba := filepath.Join(server.Folder(), "pg_hba.conf")
	rules, err := os.ReadFile(hba)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hba, append([]byte("host all known 127.0.0.1/32 scram-sha-256\n"), rules...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := server.Exec(t.Context(), "postgres", "SELECT pg_reload_conf()"); err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(server.Port())
	address := func(user, host, database string) string {
		return (&url.URL{Scheme: "postgres", User: url.UserPassword(user, secret), Host: host, Path: "/" + database, RawQuery: "sslmode=disable"}).String()
	}
	for _, c := range []struct {
		name, url string
		want      []string
		lost      bool
	}{
		{"password", address("known", "127.0.0.1:"+port, "postgres"), []string{"127.0.0.1", "postgres", "known", "password authentication failed"}, false},
		{"database", address("postgres", "127.0.0.1:"+port, "nowhere"), []string{"127.0.0.1", "nowhere"}, false},
		{"port", address("postgres", "127.0.0.1:1", "kernel"), []string{"127.0.0.1:1", "kernel"}, true},
		{"host", address("postgres", "host.invalid:"+port, "kernel"), []string{"host.invalid", "kernel"}, true},
		{"form", address("postgres", "127.0.0.1:"+port, "kernel") + "&sslmode=nonsense&pool_max_conns=x", nil, false},
		{"port's form", strings.Replace(address("postgres", "127.0.0.1:"+port, "kernel"), ":"+port, ":nonsense", 1), nil, false},
		{"words", fmt.Sprintf("host=127.0.0.1 port=%s user=known password=%s dbname=postgres sslmode=disable", port, secret), []string{"127.0.0.1", "postgres"}, false},
	} {
		_, opened := postgres.Open(t.Context(), c.url, postgres.Options{})
		_, migrated := postgres.Migrate(t.Context(), c.url, true)
		for _, err := range []error{opened, migrated} {
			if err == nil {
				t.Errorf("%s: no error", c.name)
				continue
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the error has the password: %v", c.name, err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s: the error has no %q: %v", c.name, want, err)
				}
			}
			if errors.Is(err, store.ErrLost) != c.lost {
				t.Errorf("%s: %v; that it is lost should be %v", c.name, err, c.lost)
			}
		}
	}
}
