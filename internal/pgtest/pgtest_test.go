package pgtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"
)

// helper names the part that the test's program plays as a child of itself.
const helper = "PGTEST_HELPER"

func TestMain(m *testing.M) {
	if os.Getenv(helper) != "" {
		leave()
	}
	goleak.VerifyTestMain(m)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func value(t *testing.T, s *Server, sql, want string) {
	t.Helper()
	got, err := s.Value(t.Context(), "postgres", sql)
	must(t, err)
	if got != want {
		t.Errorf("%s gave %q, want %q", sql, got, want)
	}
}

// brief returns a context for what is expected not to answer.
func brief(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

func connect(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	must(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func TestStart(t *testing.T) {
	s := Run(t, Options{Settings: map[string]string{"work_mem": "7MB", "application_name": `a'b\c`}})
	value(t, s, "SHOW work_mem", "7MB")
	value(t, s, "SHOW application_name", `a'b\c`)
	value(t, s, "SHOW fsync", "off")
	value(t, s, "SHOW full_page_writes", "off")
	value(t, s, "SHOW server_encoding", "UTF8")
	value(t, s, "SHOW port", strconv.Itoa(s.Port()))
	value(t, s, "SHOW data_directory", s.Folder())
	value(t, s, "SELECT current_user", "postgres")
	value(t, s, "SELECT NULL", "")
	value(t, s, "SELECT 1; SELECT 2", "2")

	must(t, s.CreateDatabase(t.Context(), `odd "name"`, ""))
	must(t, s.Exec(t.Context(), `odd "name"`, "CREATE TABLE a (n int); INSERT INTO a VALUES (5)"))
	must(t, s.CreateDatabase(t.Context(), "copy", `odd "name"`))
	for _, address := range []string{s.URL("copy"), s.SocketURL("copy")} {
		var n int
		must(t, connect(t, address).QueryRow(t.Context(), "SELECT n FROM a").Scan(&n))
		if n != 5 {
			t.Errorf("%s: got %d, want 5", address, n)
		}
	}
	if err := s.Exec(t.Context(), "copy", "SELECT 1/0"); err == nil || !strings.Contains(err.Error(), "division by zero") {
		t.Errorf("got %v, want a division by zero", err)
	}
	if !strings.Contains(s.Log(), "division by zero") {
		t.Error("the log does not say what happened")
	}
	must(t, s.Stop())
	if _, err := os.Stat(s.Folder()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of a stopped server: %v, want none", err)
	}
}

func TestDurable(t *testing.T) {
	s := Run(t, Options{Durable: true})
	value(t, s, "SHOW fsync", "on")
	value(t, s, "SHOW full_page_writes", "on")
	value(t, s, "SHOW synchronous_commit", "on")
}

func TestStartFails(t *testing.T) {
	_, err := Start(t.Context(), Options{Settings: map[string]string{"shared_buffers": "many"}})
	if err == nil || !strings.Contains(err.Error(), "shared_buffers") {
		t.Errorf("got %v, want the server's own words", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("not today")
	cancel(why)
	if _, err := Start(ctx, Options{}); !errors.Is(err, context.Canceled) && !errors.Is(err, why) {
		t.Errorf("got %v, want the end of the context", err)
	}
	servers, err := filepath.Glob(filepath.Join(opened.workshop.folder, "*", "data"))
	must(t, err)
	if len(servers) > 0 {
		t.Errorf("left behind: %v", servers)
	}
}

func TestKill(t *testing.T) {
	s := Run(t, Options{})
	must(t, s.Exec(t.Context(), "postgres", "CREATE TABLE a (n int)"))
	port, kept := s.Port(), 0
	for round := range 5 {
		conn := connect(t, s.URL("postgres"))
		all, err := family(t.Context(), s.run.pid)
		must(t, err)
		if len(all) < 3 {
			t.Fatalf("a server of %d processes", len(all))
		}
		var writing sync.WaitGroup
		writing.Go(func() {
			for {
				if _, err := conn.Exec(t.Context(), "INSERT INTO a VALUES (1)"); err != nil {
					return
				}
				kept++
			}
		})
		time.Sleep(time.Duration(round) * 10 * time.Millisecond) // any moment is as good
		must(t, s.Kill())
		writing.Wait()
		gone, err := processes(t.Context())
		must(t, err)
		for _, p := range gone {
			if slices.ContainsFunc(all, func(q process) bool { return p.pid == q.pid && p.began == q.began }) && !p.ended() {
				t.Errorf("process %d is still there: %c", p.pid, p.state)
			}
		}
		if err := s.Exec(t.Context(), "postgres", "SELECT 1"); err == nil {
			t.Fatal("a killed server answers")
		}
		if err := s.Kill(); !errors.Is(err, errNotUp) {
			t.Errorf("killed twice: %v", err)
		}
		must(t, s.Restart(t.Context()))
		if s.Port() != port {
			t.Errorf("the port is %d and was %d", s.Port(), port)
		}
		got, err := s.Value(t.Context(), "postgres", "SELECT count(*) FROM a")
		must(t, err)
		n, err := strconv.Atoi(got)
		must(t, err)
		if n != kept && n != kept+1 { // the last one was kept and not acknowledged
			t.Errorf("%d rows are there, %d were acknowledged", n, kept)
		}
		kept = n
	}
	if kept == 0 {
		t.Error("nothing was written")
	}
	if n := strings.Count(s.Log(), "automatic recovery in progress"); n != 5 {
		t.Errorf("%d recoveries, want 5", n)
	}
}

func TestShutdown(t *testing.T) {
	s := Run(t, Options{})
	must(t, s.Exec(t.Context(), "postgres", "CREATE TABLE a AS SELECT 3 AS n"))
	must(t, s.Shutdown(t.Context()))
	if err := s.Shutdown(t.Context()); !errors.Is(err, errNotUp) {
		t.Errorf("shut down twice: %v", err)
	}
	must(t, s.Restart(t.Context()))
	must(t, s.Restart(t.Context())) // one that runs
	value(t, s, "SELECT n FROM a", "3")
	if strings.Contains(s.Log(), "automatic recovery in progress") {
		t.Error("a server that was shut down had to recover")
	}
}

// TestPortTaken starts a server again while another program listens at its port.
func TestPortTaken(t *testing.T) {
	s := Run(t, Options{})
	must(t, s.Shutdown(t.Context()))
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port())))
	must(t, err)
	if err := s.Restart(brief(t)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the end of the context", err)
	}
	must(t, l.Close())
	must(t, s.Restart(t.Context()))
	value(t, s, "SELECT 1", "1")
}

// TestEmptyPidFile starts a server whose process was killed before it wrote down which one it is.
func TestEmptyPidFile(t *testing.T) {
	s := Run(t, Options{})
	must(t, s.Kill())
	must(t, os.WriteFile(s.pidFile(), nil, 0o600))
	must(t, s.Restart(t.Context()))
	value(t, s, "SELECT 1", "1")
}

// TestEndedByItself kills the server behind the package's back.
func TestEndedByItself(t *testing.T) {
	s := Run(t, Options{})
	must(t, send(s.run.pid, sigKill))
	<-s.run.done
	if err := s.Freeze(); !errors.Is(err, errNotUp) {
		t.Errorf("got %v, want %v", err, errNotUp)
	}
	if err := s.Stop(); err == nil || !strings.Contains(err.Error(), "ended by itself") {
		t.Errorf("got %v", err)
	}
	must(t, s.Stop())
}

func TestFreeze(t *testing.T) {
	s := Run(t, Options{})
	conn := connect(t, s.URL("postgres"))
	must(t, s.Freeze())
	if _, err := conn.Exec(brief(t), "SELECT 1"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a frozen server said %v", err)
	}
	if _, err := s.Value(brief(t), "postgres", "SELECT 1"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a frozen server said %v to a new connection", err)
	}
	must(t, s.Thaw())
	value(t, s, "SELECT 1", "1")

	must(t, s.Freeze())
	must(t, s.Kill())
	must(t, s.Restart(t.Context()))
	must(t, s.Freeze())
	must(t, s.Shutdown(t.Context()))
	must(t, s.Restart(t.Context()))
	must(t, s.Freeze())
	must(t, s.Stop())
}

func TestReplication(t *testing.T) {
	ctx := t.Context()
	primary := Run(t, Options{Settings: map[string]string{"work_mem": "7MB"}})
	must(t, primary.Exec(ctx, "postgres", "CREATE TABLE a (n int)"))
	first := primary.RunStandby(t, Options{})
	if first.Name() != "standby1" {
		t.Errorf("the standby is called %q", first.Name())
	}
	value(t, first, "SHOW work_mem", "7MB")
	value(t, first, "SELECT pg_is_in_recovery()", "t")
	must(t, primary.Synchronous(ctx, first.Name()))
	second := primary.RunStandby(t, Options{Settings: map[string]string{"work_mem": "8MB"}})
	value(t, second, "SHOW work_mem", "8MB")
	value(t, second, "SHOW synchronous_standby_names", "")
	must(t, primary.Synchronous(ctx, first.Name(), second.Name()))

	// A commit waits for both.
	must(t, second.Freeze())
	if err := primary.Exec(brief(t), "postgres", "INSERT INTO a VALUES (1)"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a commit did not wait for a frozen standby: %v", err)
	}
	must(t, second.Thaw())
	must(t, primary.Exec(ctx, "postgres", "INSERT INTO a VALUES (2)"))

	// It waits for one, and for none.
	must(t, second.Freeze())
	must(t, primary.Synchronous(ctx, first.Name()))
	must(t, primary.Exec(ctx, "postgres", "INSERT INTO a VALUES (3)"))
	must(t, first.Freeze())
	must(t, primary.Synchronous(ctx))
	must(t, primary.Exec(ctx, "postgres", "INSERT INTO a VALUES (4)"))
	must(t, first.Thaw())
	must(t, second.Thaw())

	// The primary comes back and is followed again; then it does not.
	must(t, primary.Synchronous(ctx, first.Name(), second.Name()))
	must(t, primary.Kill())
	must(t, primary.Restart(ctx))
	must(t, primary.Exec(ctx, "postgres", "INSERT INTO a VALUES (5)"))
	must(t, primary.Kill())
	must(t, first.Promote(ctx))
	must(t, first.Exec(ctx, "postgres", "INSERT INTO a VALUES (6)"))
	value(t, first, "SELECT string_agg(n::text, ',' ORDER BY n) FROM a WHERE n > 1", "2,3,4,5,6")
}

// TestSynchronousWaits holds the process whose word lets commits wait. Until it goes
// on they do not, and Synchronous must not say that they do.
func TestSynchronousWaits(t *testing.T) {
	primary := Run(t, Options{})
	standby := primary.RunStandby(t, Options{})
	must(t, primary.Exec(t.Context(), "postgres", "CREATE TABLE a (n int)"))
	text, err := primary.Value(t.Context(), "postgres", "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'")
	must(t, err)
	checkpointer, err := strconv.Atoi(text)
	must(t, err)

	must(t, send(checkpointer, sigStop))
	if err := primary.Synchronous(brief(t), standby.Name()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the end of the context", err)
	}
	must(t, standby.Freeze())
	must(t, primary.Exec(t.Context(), "postgres", "INSERT INTO a VALUES (1)")) // does not wait
	must(t, standby.Thaw())
	must(t, send(checkpointer, sigContinue))

	must(t, primary.Synchronous(t.Context(), standby.Name()))
	must(t, standby.Freeze())
	if err := primary.Exec(brief(t), "postgres", "INSERT INTO a VALUES (2)"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a commit did not wait for a frozen standby: %v", err)
	}
}

// TestManyAtOnce starts servers from many goroutines.
func TestManyAtOnce(t *testing.T) {
	Need(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			s, err := Start(t.Context(), Options{})
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Exec(t.Context(), "postgres", "SELECT 1"); err != nil {
				t.Error(err)
			}
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// leave starts two servers, freezes one, and waits to be killed.
func leave() {
	for range 2 {
		s, err := Start(context.Background(), Options{})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(s.run.pid, s.workshop.folder)
		if os.Getenv(helper) == "frozen" {
			if err := s.Freeze(); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
		}
	}
	fmt.Println("ready")
	select {}
}

// TestNothingOutlives kills a process that has servers.
func TestNothingOutlives(t *testing.T) {
	Need(t)
	for _, how := range []string{"running", "frozen"} {
		t.Run(how, func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), helper+"="+how)
			out, err := cmd.StdoutPipe()
			must(t, err)
			must(t, cmd.Start())
			var servers []process
			var folder string
			lines := bufio.NewScanner(out)
			for lines.Scan() && lines.Text() != "ready" {
				var pid int
				if _, err := fmt.Sscan(lines.Text(), &pid, &folder); err != nil {
					t.Fatal(lines.Text())
				}
				family, err := family(t.Context(), pid)
				must(t, err)
				servers = append(servers, family...)
			}
			must(t, cmd.Process.Kill())
			if err := cmd.Wait(); err == nil {
				t.Error("a killed process ended well")
			}
			if len(servers) < 6 {
				t.Fatalf("two servers of %d processes", len(servers))
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			must(t, buried(ctx, servers))
			must(t, until(ctx, func() (bool, error) {
				_, err := os.Stat(folder)
				return errors.Is(err, fs.ErrNotExist), nil
			}))
		})
	}
}

func TestPrograms(t *testing.T) {
	Need(t)
	folder, err := programs()
	must(t, err)

	empty := t.TempDir()
	t.Setenv(binVariable, empty)
	if err := Available(); err == nil || !strings.Contains(err.Error(), empty) {
		t.Errorf("got %v, want the name of the folder without programs", err)
	}
	t.Setenv(binVariable, folder)
	must(t, Available())

	t.Setenv(binVariable, "")
	links := t.TempDir()
	must(t, os.Symlink(filepath.Join(folder, "pg_ctl"), filepath.Join(links, "pg_ctl")))
	t.Setenv("PATH", links)
	got, err := programs()
	must(t, err)
	want, err := filepath.EvalSymlinks(filepath.Join(folder, "pg_ctl"))
	must(t, err)
	if got != filepath.Dir(want) {
		t.Errorf("got %s, want %s", got, filepath.Dir(want))
	}

	if byVersion("/usr/lib/postgresql/9.6/bin", "/usr/lib/postgresql/15/bin") >= 0 || byVersion("/a/15", "/a/15.1") >= 0 {
		t.Error("versions are in a wrong order")
	}
}

// TestProcesses compares what the two sources say of this process.
func TestProcesses(t *testing.T) {
	for name, list := range map[string]func(context.Context) ([]process, error){"system": processes, "ps": psProcesses} {
		all, err := list(t.Context())
		must(t, err)
		at := slices.IndexFunc(all, func(p process) bool { return p.pid == os.Getpid() })
		if at < 0 || all[at].parent != os.Getppid() {
			t.Errorf("%s does not list this process", name)
		}
	}
	p, err := parseStat("7 (odd) S (name) T 3 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 9 9\n")
	must(t, err)
	if want := (process{pid: 7, parent: 3, state: 'T', began: "4711"}); p != want {
		t.Errorf("got %+v, want %+v", p, want)
	}
	if _, err := parseStat("7 (short) S 1"); err == nil {
		t.Error("took half a line")
	}
}

// TestTimes says what a server costs.
func TestTimes(t *testing.T) {
	Need(t)
	at := time.Now()
	for range 3 {
		Run(t, Options{})
		t.Logf("started after %v", time.Since(at))
		at = time.Now()
	}
}
