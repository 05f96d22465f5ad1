package pgtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

const superuser = "postgres"

// patience bounds operations that should take seconds, if the caller's context does not.
const patience = 2 * time.Minute

var (
	errPatience  = fmt.Errorf("pgtest: not done after %v", patience)
	errPortTaken = errors.New("pgtest: another program listens at the port")
	errNotUp     = errors.New("pgtest: the server does not run")
)

// A Server is a PostgreSQL server on this machine. It accepts every connection from this machine, as any user; postgres is the
// superuser. Its methods may be called by many goroutines.
type Server struct {
	workshop *workshop
	folder   string
	port     int
	name     string // of a standby

	mu       sync.Mutex // held while the server is started, stopped or frozen
	run      *run       // nil after the server was stopped or killed
	standbys int
}

// A run is one run of the server's process, from its start to its end.
type run struct {
	pid  int
	done chan struct{} // closed when the process has ended and err is set
	err  error
}

// ended reports whether the process has ended; another process may then have its pid.
func (r *run) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// wait waits for the end of the process.
func (r *run) wait(ctx context.Context) error {
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// URL returns the address of a database over TCP.
func (s *Server) URL(database string) string {
	return (&url.URL{
		Scheme: "postgres", User: url.User(superuser), Path: "/" + database,
		Host:     net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)),
		RawQuery: "sslmode=disable",
	}).String()
}

// SocketURL returns the address of a database over the server's Unix socket.
func (s *Server) SocketURL(database string) string {
	return (&url.URL{
		Scheme: "postgres", User: url.User(superuser), Path: "/" + database,
		RawQuery: url.Values{"host": {s.folder}, "port": {strconv.Itoa(s.port)}, "sslmode": {"disable"}}.Encode(),
	}).String()
}

// Port returns the TCP port on 127.0.0.1. It stays the same after a restart.
func (s *Server) Port() int { return s.port }

// Folder returns the folder of the cluster, PostgreSQL's data directory.
func (s *Server) Folder() string { return filepath.Join(s.folder, "data") }

// Name returns the application_name under which a standby receives; "" if the server did not begin as a standby.
func (s *Server) Name() string { return s.name }

// Log returns everything that the server has logged since its first start.
func (s *Server) Log() string {
	text, err := os.ReadFile(s.logFile())
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (s *Server) logFile() string { return filepath.Join(s.folder, "log") }

// Exec runs statements, separated by semicolons, on a new connection.
func (s *Server) Exec(ctx context.Context, database, sql string) error {
	_, err := s.query(ctx, database, sql)
	return err
}

// Value runs a query on a new connection and returns the text of the first column of the first row, or "" if that is NULL or
// there is no row.
func (s *Server) Value(ctx context.Context, database, sql string) (string, error) {
	results, err := s.query(ctx, database, sql)
	if err != nil || len(results) == 0 {
		return "", err
	}
	rows := results[len(results)-1].Rows
	if len(rows) == 0 || len(rows[0]) == 0 {
		return "", nil
	}
	return string(rows[0][0]), nil
}

// CreateDatabase creates a database as a copy of template, or of template1 if template is "". The template must have no
// connections.
func (s *Server) CreateDatabase(ctx context.Context, name, template string) error {
	sql := "CREATE DATABASE " + pgx.Identifier{name}.Sanitize()
	if template != "" {
		sql += " TEMPLATE " + pgx.Identifier{template}.Sanitize()
	}
	return s.Exec(ctx, superuser, sql)
}

// begin writes the settings and starts the server for the first time, at a free port.
func (s *Server) begin(ctx context.Context, o Options) error {
	if err := s.configure(o); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return within(ctx, func(ctx context.Context) error {
		return until(ctx, func() (bool, error) {
			var err error
			if s.port, err = freePort(); err != nil {
				return false, err
			}
			err = s.launch(ctx)
			if errors.Is(err, errPortTaken) {
				return false, nil
			}
			return true, err
		})
	})
}

// configure appends to postgresql.conf, where the last line of a setting counts.
func (s *Server) configure(o Options) error {
	settings := map[string]string{
		"fsync":                       "off",
		"full_page_writes":            "off",
		"hot_standby":                 "on",
		"wal_keep_size":               "512MB", // for a standby that was frozen or stopped
		"wal_retrieve_retry_interval": "100ms", // a standby finds a restarted primary soon
		"log_line_prefix":             "%m [%p] %q%a ",
		"dynamic_shared_memory_type":  "mmap", // memory of a killed server stays in its folder, not in the system
	}
	if o.Durable {
		settings["fsync"], settings["full_page_writes"] = "on", "on"
	}
	maps.Copy(settings, o.Settings)
	var lines strings.Builder
	lines.WriteString("\n# pgtest\n")
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&lines, "%s = %s\n", name, quoted(settings[name]))
	}
	return appendTo(filepath.Join(s.Folder(), "postgresql.conf"), lines.String())
}

// quoted writes a value in the syntax of the configuration files.
func quoted(value string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`, "\n", `\n`).Replace(value) + "'"
}

// appendTo appends to an existing file and keeps the file's owner.
func appendTo(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// freePort returns a port on which nothing listens. The port is below the range that systems use for outgoing connections,
// since such a connection could take the port while the server is down.
func freePort() (int, error) {
	for range 1000 {
		port := 15000 + rand.IntN(15000)
		l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		return port, l.Close()
	}
	return 0, errors.New("pgtest: found no free port")
}

// launch starts the process and waits until it accepts connections. The caller holds mu, and ctx must have a deadline.
func (s *Server) launch(ctx context.Context) error {
	// A process that was killed before it wrote its pid has left an empty file, which prevents every start.
	if state, err := readFirst(s.pidFile()); err == nil && state == "" {
		_ = os.Remove(s.pidFile())
	}
	log, err := os.OpenFile(s.logFile(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	before, err := log.Stat()
	if err != nil {
		return err
	}
	// The process outlives ctx.
	cmd := s.workshop.command(context.WithoutCancel(ctx), filepath.Join(s.workshop.bin, "postgres"),
		"-D", s.Folder(), "-k", s.folder, "-p", strconv.Itoa(s.port), "-c", "listen_addresses=127.0.0.1")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	r := &run{pid: cmd.Process.Pid, done: make(chan struct{})}
	go s.reap(cmd, r)

	err = until(ctx, func() (bool, error) {
		if r.ended() {
			said := s.Log()[before.Size():]
			if strings.Contains(said, "Address already in use") {
				return false, errPortTaken
			}
			return false, fmt.Errorf("pgtest: the server did not start: %v\n%s", r.err, tail(said))
		}
		state, err := readFirst(s.pidFile())
		if err != nil {
			return false, err
		}
		lines := strings.Split(state, "\n")
		return len(lines) > 7 && lines[0] == strconv.Itoa(r.pid) && strings.TrimSpace(lines[7]) == "ready", nil
	})
	if err != nil {
		return errors.Join(err, s.kill(r))
	}
	s.run = r
	return nil
}

func (s *Server) pidFile() string { return filepath.Join(s.Folder(), "postmaster.pid") }

// reap waits for the end of the process. A killed process leaves files and a segment of shared memory that contain its pid. A
// reboot of the machine would remove them; here they could prevent a restart, since another process may have the pid.
func (s *Server) reap(cmd *exec.Cmd, r *run) {
	r.err = cmd.Wait()
	if state, err := readFirst(s.pidFile()); err == nil && state != "" {
		if lines := strings.Split(state, "\n"); len(lines) > 6 {
			if segment := strings.Fields(lines[6]); len(segment) == 2 {
				_ = exec.Command("ipcrm", "-m", segment[1]).Run() // otherwise 56 bytes stay
			}
		}
		socket := filepath.Join(s.folder, ".s.PGSQL."+strconv.Itoa(s.port))
		for _, file := range []string{s.pidFile(), socket, socket + ".lock"} {
			_ = os.Remove(file)
		}
	}
	close(r.done)
}

// Kill ends all processes of the server at once, as a power cut would, and returns when they are gone. It works on a frozen
// server too.
func (s *Server) Kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == nil {
		return errNotUp
	}
	r := s.run
	s.run = nil
	return s.kill(r)
}

func (s *Server) kill(r *run) error {
	return within(context.Background(), func(ctx context.Context) error {
		if r.ended() {
			return nil
		}
		all, err := halt(ctx, r.pid) // so that no new process starts meanwhile
		if err != nil {
			return err
		}
		for _, p := range all {
			err = errors.Join(err, send(p.pid, sigKill))
		}
		if err != nil {
			return err
		}
		if err := r.wait(ctx); err != nil {
			return err
		}
		return buried(ctx, all)
	})
}

// Shutdown ends the server as an operator does, with everything on disk. Its folder stays, and Restart starts it again.
// Shutdown waits for standbys to receive everything: with a frozen standby, until ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shutdown(ctx)
}

func (s *Server) shutdown(ctx context.Context) error {
	if s.run == nil {
		return errNotUp
	}
	r := s.run
	if err := s.end(ctx, r, sigFast); err != nil {
		return err
	}
	s.run = nil
	if r.err != nil {
		return fmt.Errorf("pgtest: the server ended with: %w\n%s", r.err, tail(s.Log()))
	}
	return nil
}

// end sends the signal, also to a frozen server, and waits until the server has ended.
func (s *Server) end(ctx context.Context, r *run, sig syscall.Signal) error {
	return within(ctx, func(ctx context.Context) error {
		if r.ended() {
			return nil
		}
		if err := errors.Join(send(r.pid, sig), resume(ctx, r.pid)); err != nil {
			return err
		}
		return r.wait(ctx)
	})
}

// Restart starts the server again, with the same folder and port, and returns when it has recovered and accepts connections. A
// running server is shut down first.
func (s *Server) Restart(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run != nil {
		if err := s.shutdown(ctx); err != nil {
			return err
		}
	}
	return within(ctx, func(ctx context.Context) error {
		return until(ctx, func() (bool, error) {
			err := s.launch(ctx)
			if errors.Is(err, errPortTaken) {
				return false, nil // the port is probably taken by a connection that will end
			}
			return true, err
		})
	})
}

// Stop ends the server and removes its folder. Unwritten data would be lost with the folder, so the server gets no time to
// write it. Stop returns an error if the server had ended by itself. Stopping again is not an error.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if r := s.run; r != nil {
		s.run = nil
		if r.ended() {
			err = fmt.Errorf("pgtest: the server had ended by itself: %v\n%s", r.err, tail(s.Log()))
		} else if err = s.end(context.Background(), r, sigAtOnce); err != nil {
			err = errors.Join(err, s.kill(r))
		}
	}
	return errors.Join(err, os.RemoveAll(s.folder))
}

// discard removes a server that did not start. It returns reason and any error of the removal.
func (s *Server) discard(reason error) error { return errors.Join(reason, s.Stop()) }

// Freeze stops all processes of the server at once, like a machine that hangs: connections stay open, the system accepts new
// ones, and nothing answers. Standbys notice nothing before their timeout.
func (s *Server) Freeze() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == nil || s.run.ended() {
		return errNotUp
	}
	return within(context.Background(), func(ctx context.Context) error {
		_, err := halt(ctx, s.run.pid)
		return err
	})
}

// Thaw makes a frozen server go on.
func (s *Server) Thaw() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == nil || s.run.ended() {
		return errNotUp
	}
	return within(context.Background(), func(ctx context.Context) error { return resume(ctx, s.run.pid) })
}

// within calls do with a ctx that ends after patience at the latest.
func within(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
	defer cancel()
	return do(ctx)
}
