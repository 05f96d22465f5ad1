// Package pgtest owns PostgreSQL servers that live for a test, a benchmark or a demonstration. They are real servers, run by
// the machine's own programs, each with its own folder and port. They can be killed, frozen, restarted, copied and promoted.
//
//	server := pgtest.Run(t, pgtest.Options{})
//	err := server.CreateDatabase(ctx, "kernel", "")
//	pool, err := pgxpool.New(ctx, server.URL("kernel"))
//	err = server.Kill()
//	err = server.Restart(ctx)
//
// # What a crash means here
//
// Kill ends every process of a server at once. Everything that the server has handed to the operating system stays: this is the
// crash of a program, or the power cut of a machine whose disk keeps writes in order. Pages that only the system's cache held
// are not lost, so a server without fsync recovers from Kill like a server with it.
//
// # What remains
//
// Nothing. All servers of a process are in one folder, and a shell watches over it: when the process ends, by whatever means,
// the shell stops the servers that still run and removes the folder. (The death signal of Linux is no alternative: it does not
// reach a frozen server, leaves the folder, and is bound to the thread that started the server.)
//
// # Which programs run
//
// The programs in the folder that GKTEST_POSTGRES_BIN names, else in the folder of pg_ctl on PATH, else the newest where
// Debian, Red Hat and Homebrew install them. If this process is root's, the programs run as the user postgres, or nobody, since
// they refuse to run as root.
//
// The first server of a process takes about a second, for initdb. The other servers are copies of its cluster, so they share a
// system identifier, unlike independent servers.
package pgtest

import (
	"context"
	"os"
	"testing"
)

const (
	binVariable  = "GKTEST_POSTGRES_BIN"
	needVariable = "GKTEST_POSTGRES"
)

// Options configure a server. The zero value makes a fast server that does not survive a crash of the machine.
type Options struct {
	// Settings are lines of postgresql.conf; they override the settings of this package. They must not contain the port, the
	// addresses or the folder of the socket.
	Settings map[string]string

	// Durable leaves fsync and full_page_writes on, as in production. Otherwise both are off.
	Durable bool
}

// Available returns an error that says why no server can be started and what to install, or nil if one can.
func Available() error {
	if _, err := programs(); err != nil {
		return err
	}
	_, err := account()
	return err
}

// Need skips the test if there are no server programs. With GKTEST_POSTGRES=required, as in CI, it fails the test instead.
func Need(t testing.TB) {
	t.Helper()
	err := Available()
	switch {
	case err == nil:
	case os.Getenv(needVariable) == "required":
		t.Fatal(err)
	default:
		t.Skip(err)
	}
}

// Run starts a server for a test and stops it when the test ends. If the test failed, Run logs the end of the server's log. It
// calls Need.
func Run(t testing.TB, o Options) *Server {
	t.Helper()
	Need(t)
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	s.stopAfter(t)
	return s
}

// RunStandby is Standby for a test, as Run is Start for a test.
func (s *Server) RunStandby(t testing.TB, o Options) *Server {
	t.Helper()
	standby, err := s.Standby(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	standby.stopAfter(t)
	return standby
}

func (s *Server) stopAfter(t testing.TB) {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the end of the log of PostgreSQL at port %d:\n%s", s.Port(), tail(s.Log()))
		}
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
}

// Start starts a server and returns when it accepts connections. The server runs until Stop or the end of the process; ctx only
// bounds the start.
func Start(ctx context.Context, o Options) (*Server, error) {
	w, err := open(ctx)
	if err != nil {
		return nil, err
	}
	s, err := w.newServer()
	if err != nil {
		return nil, err
	}
	if err := w.fresh(ctx, s.Folder()); err != nil {
		return nil, s.discard(err)
	}
	if err := s.begin(ctx, o); err != nil {
		return nil, s.discard(err)
	}
	return s, nil
}
