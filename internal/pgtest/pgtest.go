// Package pgtest owns PostgreSQL servers that live for a test, a benchmark or a
// demonstration: real ones, with the machine's own programs, each in a folder and at
// a port of its own, which can be killed, frozen, restarted, copied and promoted.
//
//	server := pgtest.Run(t, pgtest.Options{})
//	err := server.CreateDatabase(ctx, "kernel", "")
//	pool, err := pgxpool.New(ctx, server.URL("kernel"))
//	err = server.Kill()
//	err = server.Restart(ctx)
//
// # What a crash is here
//
// Kill ends every process of a server at once. What it had handed to the operating
// system stays there: that is the crash of a program, or the power cut of a machine
// whose disk keeps what was written in order. Pages that only the system's cache held
// are not lost, so a server without fsync recovers from Kill like one with it.
//
// # What is left over
//
// Nothing. All servers of a process are in one folder, and a shell watches over it:
// when the process ends, by whatever means, it stops the servers that still run and
// removes the folder. (The death signal of Linux was considered. It does not reach
// a frozen server, leaves the folder, and is bound to the thread that started the
// server.)
//
// # Which programs
//
// Those of the folder that GKTEST_POSTGRES_BIN names, else beside pg_ctl on
// PATH, else the newest where Debian, Red Hat and Homebrew put them. A process of
// root runs them as the user postgres, or nobody: they refuse root.
//
// The first server of a process takes about a second, for initdb. The others copy
// what that made; so they share a system identifier, which servers of the world
// do not.
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

// Options are those of a server. The zero value is a fast one that does not survive
// a crash of the machine.
type Options struct {
	// Settings are lines of postgresql.conf; they win over what this package sets.
	// The port, the addresses and the folder of the socket are not to be set.
	Settings map[string]string

	// Durable leaves fsync and full_page_writes on, as they are in operation. Else
	// both are off.
	Durable bool
}

// Available says why no server can be started here and what to install; nil when one can.
func Available() error {
	if _, err := programs(); err != nil {
		return err
	}
	_, err := account()
	return err
}

// Need skips the test when there are no server programs. With
// GKTEST_POSTGRES=required, as in CI, it fails instead.
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

// Run starts a server for a test and stops it when the test ends. When the test
// failed, the end of the server's log is in its output. It calls Need.
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

// RunStandby is Standby for a test, as Run is Start.
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

// Start starts a server and returns when it accepts connections. It runs until Stop,
// or the end of the process; ctx bounds the start only.
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
