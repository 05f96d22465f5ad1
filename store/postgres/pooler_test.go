package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/pgstore"
	"github.com/graphkernel/graphkernel/internal/pgtest"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/postgres"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// A bouncer is PgBouncer in front of a server, set up as docs/scaling.md says.
type bouncer struct {
	server *pgtest.Server
	port   int
}

func (b *bouncer) url(database, parameters string) string {
	return fmt.Sprintf("postgres://kernel@127.0.0.1:%d/%s?sslmode=disable&%s", b.port, database, parameters)
}

// recipe returns the blocks of the document's section on PgBouncer: shell, ini and SQL.
func recipe(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "scaling.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n### PgBouncer\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := map[string]string{}
	for _, found := range regexp.MustCompile("(?s)```([a-z]+)\n(.*?)```").FindAllStringSubmatch(section, -1) {
		blocks[found[1]] = found[2]
	}
	if len(blocks) != 3 {
		t.Fatalf("docs/scaling.md has %d blocks on PgBouncer, want 3", len(blocks))
	}
	return blocks
}

func newBouncer(t *testing.T, ini string) *bouncer {
	t.Helper()
	pgtest.Need(t)
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer"
	}
	if _, err := os.Stat(program); err != nil {
		if os.Getenv("GKTEST_POSTGRES") == "required" {
			t.Fatal("there is no pgbouncer; .ci/postgres installs it")
		}
		t.Skip("there is no pgbouncer")
	}
	b := &bouncer{server: pgtest.Run(t, pgtest.Options{})}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b.port = free.Addr().(*net.TCPAddr).Port
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("[databases]\n* = host=127.0.0.1 port=%d user=kernel\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\n"+
		"unix_socket_dir =\nauth_type = any\ndefault_pool_size = 4\n%s", b.server.Port(), b.port, ini)
	if os.Getuid() == 0 { // it refuses to run as root
		config += "user = nobody\n"
	}
	file := filepath.Join(t.TempDir(), "pgbouncer.ini")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	command := exec.Command(program, file)
	command.Stdout, command.Stderr = &said, &said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGKILL)
		_ = command.Wait() // it was killed
		if t.Failed() {
			t.Logf("PgBouncer said:\n%.20000s", said.String())
		}
	})
	if err := b.server.Exec(t.Context(), "postgres", "CREATE ROLE kernel LOGIN"); err != nil {
		t.Fatal(err)
	}
	for range 1000 { // it listens within milliseconds
		c, err := pgx.Connect(t.Context(), b.url("postgres", ""))
		if err == nil {
			_ = c.Close(context.Background())
			return b
		}
		<-time.After(10 * time.Millisecond)
	}
	t.Fatal("PgBouncer does not let anybody in")
	return nil
}

// database makes an empty one, which the role owns.
func (b *bouncer) database(t *testing.T, name string) {
	t.Helper()
	if err := b.server.Exec(t.Context(), "postgres", "CREATE DATABASE "+name+" OWNER kernel"); err != nil {
		t.Fatal(err)
	}
}

// TestPgBouncer runs something of every kind through PgBouncer with the documented
// configuration: stores of several processes at once on few connections, and fsck, which
// finds nothing.
func TestPgBouncer(t *testing.T) {
	t.Parallel()
	blocks := recipe(t)
	b := newBouncer(t, blocks["ini"])
	parameters := regexp.MustCompile(`default_query_exec_mode=[a-z_]+`).FindString(blocks["sh"])
	if err := execute(t.Context(), b.server.URL("postgres"), strings.ReplaceAll(blocks["sql"], "KERNEL", "kernel")); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	b.database(t, "kernel")
	stores := make([]*postgres.Store, 3)
	for i := range stores {
		var err error
		if stores[i], err = postgres.Open(ctx, b.url("kernel", parameters), postgres.Options{Connections: 8}); err != nil {
			t.Fatal(err)
		}
		defer stores[i].Close()
	}
	var all sync.WaitGroup
	for i, s := range stores {
		for _, tenant := range []dag.Tenant{"a", "b"} {
			all.Go(func() {
				if err := storetest.Fill(ctx, s, dag.Tenant(fmt.Sprintf("%s%d", tenant, i))); err != nil {
					t.Errorf("%s%d: %v", tenant, i, err)
				}
			})
		}
		all.Go(func() { // all three one tenant, by COPY and by rows
			for n := range 10 {
				batch := storetest.Chain(1000*(10*i+n), 20+20*(n%3), 10*i+n)
				if _, err := s.Append(ctx, storetest.Tenant, []store.Batch{batch}); err != nil {
					t.Errorf("store %d: %v", i, err)
				}
			}
		})
	}
	all.Wait()
	report, err := fsck.Store(ctx, stores[0], fsck.Options{})
	if err != nil || !report.OK() || report.Counts.Tenants != 7 || report.Counts.Turns < 6*storetest.Filled+1000 || report.Counts.Entries == 0 || report.Counts.Recut == 0 {
		t.Errorf("fsck: %v, %v, %+v", err, report.Err(), report.Counts)
	}
	for name, want := range map[string]string{"statement_timeout": "8s", "lock_timeout": "5s", "plan_cache_mode": "force_generic_plan",
		"enable_seqscan": "off", "jit": "off", "synchronous_commit": "on", "idle_in_transaction_session_timeout": "5s", "default_transaction_isolation": "read committed"} {
		c, err := pgx.Connect(ctx, b.url("kernel", parameters))
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if err := c.QueryRow(ctx, "SELECT current_setting($1)", name).Scan(&got); err != nil || got != want {
			t.Errorf("behind PgBouncer %s is %q, %v, want %q", name, got, err, want)
		}
		_ = c.Close(ctx)
	}

	// The modes that lose statements are refused, and say what to set.
	for _, mode := range []string{"", "default_query_exec_mode=describe_exec", "default_query_exec_mode=cache_statement", "default_query_exec_mode=exec"} {
		s, err := postgres.Open(ctx, b.url("kernel", mode), postgres.Options{Patience: -1})
		if err == nil || s != nil || !strings.Contains(err.Error(), "default_query_exec_mode") || !strings.Contains(err.Error(), "cache_describe") {
			t.Errorf("%q gave %v", mode, err)
		}
		if _, err := postgres.Migrate(ctx, b.url("kernel", mode), true); err == nil {
			t.Errorf("%q migrates", mode)
		}
	}
}

// TestPgBouncerSettings connects through a PgBouncer that was told nothing: the error says what
// it is to be told.
func TestPgBouncerSettings(t *testing.T) {
	t.Parallel()
	b := newBouncer(t, "pool_mode = transaction\n")
	_, err := postgres.Open(t.Context(), b.url("postgres", "default_query_exec_mode=cache_describe"), postgres.Options{Patience: -1})
	if err == nil || !strings.Contains(err.Error(), "ignore_startup_parameters") {
		t.Errorf("got %v", err)
	}
}

// unasked is a store whose queries cannot be put.
type unasked struct {
	store.Store
	err error
}

func (u unasked) Turns(ctx context.Context, tenant dag.Tenant, of store.Selection) ([]store.Record, error) {
	if _, places := of.(store.Places); places {
		return nil, u.err
	}
	return u.Store.Turns(ctx, tenant, of)
}

// TestMisputIsNoFinding provokes what a driver and a server say of queries that cannot be put, and
// gives it to fsck in the midst of a check: it is an error of the check and no finding.
func TestMisputIsNoFinding(t *testing.T) {
	address := pgstore.URL(t)
	s, err := postgres.Open(t.Context(), address, postgres.Options{Connections: 8})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := storetest.Fill(t.Context(), s, storetest.Tenant); err != nil {
		t.Fatal(err)
	}
	c, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	for name, ask := range map[string]func() error{
		"encoding": func() error {
			_, err := c.Exec(t.Context(), "SELECT $1::uuid[]", pgx.QueryExecModeExec, [][16]byte{{1}})
			return err
		},
		"no statement": func() error {
			_, err := c.PgConn().ExecPrepared(t.Context(), "nothing", nil, nil, nil).Close()
			return err
		},
		"no column": func() error {
			_, err := c.Exec(t.Context(), "SELECT nothing FROM pg_class")
			return err
		},
	} {
		put := ask()
		err := postgres.Lost(put)
		if put == nil || !errors.Is(err, store.ErrQuery) || !errors.Is(err, put) {
			t.Errorf("%s: %v became %v", name, put, err)
		}
		report, checked := fsck.Tenant(t.Context(), unasked{s, err}, storetest.Tenant, fsck.Options{Uncut: true})
		if !errors.Is(checked, store.ErrQuery) || !report.OK() {
			t.Errorf("%s: the check gave %v with %v", name, checked, report.Err())
		}
	}
	if err := postgres.Lost(errors.New("turn 7 has 3 bytes; the store is damaged")); errors.Is(err, store.ErrQuery) {
		t.Errorf("damage became %v", err)
	}
}
