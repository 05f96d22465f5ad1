// Package resident lets a hook ask a process that has the store open: a service, or a process that hooks started and that ends
// when no hook has asked for a while.
//
// Hook and process talk over a socket of the operating system that only its owner may use. A request is one JSON value, and so
// is the answer; the hook then says whether it could write the answer to the agent. A process answers only the hooks of one
// spool, of its own build and with its own flags. A hook treats a process of another store, tenant or version, and a socket
// that a killed process left, like a missing process.
package resident

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// A Request is an event of an agent that asks for a context.
type Request struct {
	Build  string   `json:"build"`  // as returned by Build
	Flags  []string `json:"flags"`  // name the store or the service, and the tenant
	Agent  string   `json:"agent"`  // a capture.Agent
	Policy string   `json:"policy"` // "": the kernel's default
	Event  []byte   `json:"event"`  // as the agent wrote it
}

// An Answer holds the text that the hook prints.
type Answer struct {
	Text  []byte `json:"text,omitempty"`  // empty: the hook prints nothing
	Late  string `json:"late,omitempty"`  // why there is no text in time; "" if nothing is missing
	Other string `json:"other,omitempty"` // why the process does not answer the hook
}

// ErrNone is wrapped if no process answers the hooks of a spool.
var ErrNone = errors.New("no process answers hooks")

// maxMessage is the largest request or answer, in bytes.
const maxMessage = 96 << 20

// Build names the build of the running program. Two programs of one build understand each other.
func Build() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "?"
	}
	build := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" || s.Key == "vcs.modified" {
			build += " " + s.Value
		}
	}
	return build
}

// Ask sends a request to the process that answers the hooks of a spool. If the answer has a text, give writes it to the agent;
// Ask then tells the process that the agent has it.
func Ask(ctx context.Context, spool string, r *Request, give func(text []byte) error) (*Answer, error) {
	conn, err := dial(ctx, spool)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	defer func() { _ = conn.Close() }() // nothing is written after the answer is confirmed
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := json.NewEncoder(conn).Encode(r); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	var a Answer
	if err := json.NewDecoder(io.LimitReader(conn, maxMessage)).Decode(&a); err != nil {
		if ctx.Err() != nil {
			return &Answer{Late: "the process that answers hooks did not answer in time"}, nil
		}
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	if a.Other != "" {
		return nil, fmt.Errorf("%w: %s", ErrNone, a.Other)
	}
	if len(a.Text) == 0 {
		return &a, nil
	}
	stop() // the deadline is only for the answer, which has arrived
	if err := give(a.Text); err != nil {
		return nil, err // without a confirmation the process assumes that the agent does not have the answer
	}
	_, _ = conn.Write([]byte{given}) // if the process is gone, the context is recorded nevertheless
	return &a, nil
}

// There reports whether a process answers the hooks of a spool.
func There(ctx context.Context, spool string) bool {
	conn, err := dial(ctx, spool)
	if err != nil {
		return false
	}
	_ = conn.Close() // no request was sent
	return true
}

// given is the byte that the hook writes when the agent has the answer.
const given = '+'

// A Listener answers the hooks of a spool.
type Listener struct {
	net.Listener
	path string
	info os.FileInfo
}

// Serve answers requests until ctx ends, and returns when all are answered. handle returns the answer and a function done,
// which Serve calls when it knows whether the agent has the answer; done may be nil. Serve refuses a request of another build
// or with other flags.
func (l *Listener) Serve(ctx context.Context, flags []string, handle func(ctx context.Context, r *Request) (answer *Answer, done func(err error))) error {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	var answering sync.WaitGroup
	defer answering.Wait()
	build := Build()
	for {
		conn, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return nil
			}
			return err
		}
		answering.Go(func() {
			defer func() { _ = conn.Close() }()
			_ = conn.SetDeadline(time.Now().Add(connDeadline))
			var r Request
			if json.NewDecoder(io.LimitReader(conn, maxMessage)).Decode(&r) != nil {
				return
			}
			var answer *Answer
			var done func(error)
			switch {
			case r.Build != build:
				answer = &Answer{Other: fmt.Sprintf("it is of build %q, but the hook is of build %q", build, r.Build)}
			case !slices.Equal(r.Flags, flags):
				answer = &Answer{Other: fmt.Sprintf("it has the flags %q, but the hook has %q", flags, r.Flags)}
			default:
				answer, done = handle(ctx, &r)
			}
			err := json.NewEncoder(conn).Encode(answer)
			if err == nil && len(answer.Text) > 0 {
				var word [1]byte
				if _, err = io.ReadFull(conn, word[:]); err == nil && word[0] != given {
					err = fmt.Errorf("the hook says %q", word)
				}
			}
			if done != nil {
				done(err)
			}
		})
	}
}

// connDeadline is how long a hook may take to send its event and to write the answer.
const connDeadline = 10 * time.Second

// Replaced reports whether another process has replaced the socket, or the socket is gone.
func (l *Listener) Replaced() bool {
	info, err := os.Lstat(l.path)
	return err != nil || !os.SameFile(info, l.info)
}
