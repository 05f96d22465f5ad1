package postgres_test

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/graphkernel/graphkernel/internal/pgstore"
	"github.com/graphkernel/graphkernel/internal/pgtest"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/postgres"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// with adds a parameter to a URL.
func with(address, name, value string) string {
	return address + "&" + name + "=" + url.PathEscape(value)
}

// A spy notes what a connection is set to when a store's statement begins.
type spy map[string]string

func (s spy) TraceQueryStart(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if data.SQL != "SELECT head FROM tenants WHERE tenant = $1" {
		return ctx
	}
	for _, name := range []string{"synchronous_commit", "statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout",
		"default_transaction_isolation", "plan_cache_mode", "enable_seqscan", "jit", "application_name"} {
		results, err := conn.PgConn().Exec(context.Background(), "SHOW "+name).ReadAll()
		if err != nil {
			s[name] = err.Error()
			continue
		}
		s[name] = string(results[0].Rows[0][0])
	}
	return ctx
}

func (s spy) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TestSettings makes sure of the settings that no test without a power cut or a slow
// server can miss.
func TestSettings(t *testing.T) {
	t.Parallel()
	server := pgtest.Run(t, pgtest.Options{Settings: map[string]string{"synchronous_commit": "off", "jit": "on", "lock_timeout": "77s"}})
	base := server.URL("postgres")
	ours := map[string]string{
		"synchronous_commit": "on", "statement_timeout": "8s", "lock_timeout": "5s", "idle_in_transaction_session_timeout": "5s",
		"default_transaction_isolation": "read committed", "plan_cache_mode": "force_generic_plan", "enable_seqscan": "off", "jit": "off", "application_name": "graphkernel",
	}
	for _, c := range []struct {
		name, url string
		options   postgres.Options
		others    map[string]string
	}{
		{"ours", base, postgres.Options{}, nil},
		{"by the timeout", base, postgres.Options{Timeout: time.Second}, map[string]string{"statement_timeout": "800ms", "lock_timeout": "500ms", "idle_in_transaction_session_timeout": "500ms"}},
		{"the URL's", with(with(base, "lock_timeout", "3s"), "application_name", "other"), postgres.Options{}, map[string]string{"lock_timeout": "3s", "application_name": "other"}},
		{"the URL's options", base + "&options=-c%20lock_timeout%3D3s%20-c%20statement_timeout%3D4s", postgres.Options{}, map[string]string{"lock_timeout": "3s", "statement_timeout": "4s"}},
		{"more than on", with(base, "synchronous_commit", "remote_apply"), postgres.Options{}, map[string]string{"synchronous_commit": "remote_apply"}},
		{"not less than on", with(base, "synchronous_commit", "off"), postgres.Options{}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := spy{}
			c.options.Trace = got
			s, err := postgres.Open(t.Context(), c.url, c.options)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, err := s.Head(t.Context(), storetest.Tenant); err != nil {
				t.Fatal(err)
			}
			for name, want := range ours {
				if other, some := c.others[name]; some {
					want = other
				}
				if got[name] != want {
					t.Errorf("%s is %q, want %q", name, got[name], want)
				}
			}
		})
	}
	for _, c := range []struct {
		url  string
		o    postgres.Options
		want int
	}{
		{base, postgres.Options{}, 16},
		{with(base, "pool_max_conns", "3"), postgres.Options{}, 3},
		{with(base, "pool_max_conns", "3"), postgres.Options{Connections: 5}, 5},
	} {
		s, err := postgres.Open(t.Context(), c.url, c.o)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.MaxConnections(); got != c.want {
			t.Errorf("%s, %+v: up to %d connections, want %d", c.url, c.o, got, c.want)
		}
		_ = s.Close()
	}
}

// TestTenantsDoNotWait locks one tenant's row, as a writer that hangs would. Others
// write meanwhile; the tenant's own writers are told that it is busy, and go on later.
func TestTenantsDoNotWait(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	address := pgstore.URL(t)
	for _, c := range []struct {
		name, url string
		o         postgres.Options
		waits     time.Duration
	}{
		{"lock_timeout", with(address, "lock_timeout", "300"), postgres.Options{}, 300 * time.Millisecond},
		{"options", address + "&options=-c%20lock_timeout%3D300", postgres.Options{}, 300 * time.Millisecond},
		{"ours", address, postgres.Options{Timeout: 2 * time.Second}, time.Second},
	} {
		s, err := postgres.Open(ctx, c.url, c.o)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		one := []store.Batch{storetest.Chain(1, 2, 0)}
		if _, err := s.Append(ctx, "locked", one); err != nil {
			t.Fatal(err)
		}
		conn, err := pgx.Connect(ctx, address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(ctx, "BEGIN; SELECT FROM tenants WHERE tenant = 'locked' FOR UPDATE"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Append(ctx, "free", one); err != nil {
			t.Errorf("%s: another tenant: %v", c.name, err)
		}
		began := time.Now()
		_, err = s.Append(ctx, "locked", []store.Batch{storetest.Chain(10, 2, 0)})
		if took := time.Since(began); !errors.Is(err, store.ErrBusy) || took < c.waits || took > c.waits+900*time.Millisecond {
			t.Errorf("%s: the locked tenant: %v after %v, want %v after %v", c.name, err, took, store.ErrBusy, c.waits)
		}
		if head, err := s.Head(ctx, "locked"); err != nil || head != 2 {
			t.Errorf("%s: a reader of the locked tenant: %d, %v", c.name, head, err)
		}
		if err := conn.Close(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Append(ctx, "locked", one); err != nil {
			t.Errorf("%s: afterwards: %v", c.name, err)
		}
	}
}
