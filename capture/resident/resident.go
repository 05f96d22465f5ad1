// Package resident lets a hook ask a process that has the store open: a service, or one that hooks started and that ends when no hook has asked for a while.
//
// The two talk over a socket of the operating system that its owner alone may use. A request is one JSON value, and so is the answer; the hook then says whether it could
// write the answer to the agent. A process answers the hooks of one spool, of its own build and with its own flags: another store, another tenant, another version is
// as if there were none, and so is a socket that a killed process left behind.
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
	Build  string   `json:"build"`  // see Build
	Flags  []string `json:"flags"`  // which name the store or the service, and the tenant
	Agent  string   `json:"agent"`  // as capture.Agent
	Policy string   `json:"policy"` // "": the kernel's default
	Event  []byte   `json:"event"`  // as the agent wrote it
}

// An Answer says what the hook prints.
type Answer struct {
	Text  []byte `json:"text,omitempty"`  // "": nothing
	Late  string `json:"late,omitempty"`  // why nothing can be given in time; "" if nothing is missing
	Other string `json:"other,omitempty"` // why the process does not answer the hook
}

// ErrNone is wrapped if no process answers the hooks of a spool.
var ErrNone = errors.New("no process answers hooks")

// maxMessage bounds a request and an answer, in bytes.
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

// Ask sends a request to the process that answers the hooks of a spool. give gets the text of the answer, if there is one, and writes it to the agent; the process is told
// whether it could.
func Ask(ctx context.Context, spool string, r *Request, give func(text []byte) error) (*Answer, error) {
	conn, err := dial(ctx, spool)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	defer func() { _ = conn.Close() }() // nothing is written after the last answer
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
	stop() // the deadline is for the answer, and the answer is here
	if err := give(a.Text); err != nil {
		return nil, err // without a word the process takes the answer for not given
	}
	_, _ = conn.Write([]byte{given}) // if the process is gone, the context is on record all the same
	return &a, nil
}

// There reports whether a process answers the hooks of a spool.
func There(ctx context.Context, spool string) bool {
	conn, err := dial(ctx, spool)
	if err != nil {
		return false
	}
	_ = conn.Close() // nothing was asked
	return true
}

// given is what the hook writes when the agent has the answer.
const given = '+'

// A Listener answers the hooks of a spool.
type Listener struct {
	net.Listener
	path string
	info os.FileInfo
}

// Serve answers requests until ctx ends, and returns when all are answered. handle returns the answer, and what to call when it is known whether the agent has it; done
// may be nil. A request of another build or with other flags is refused.
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
				answer = &Answer{Other: fmt.Sprintf("it is of build %q, and the hook of %q", build, r.Build)}
			case !slices.Equal(r.Flags, flags):
				answer = &Answer{Other: fmt.Sprintf("it has the flags %q, and the hook %q", flags, r.Flags)}
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

// Replaced reports whether another process answers in place of this one, or the socket is gone.
func (l *Listener) Replaced() bool {
	info, err := os.Lstat(l.path)
	return err != nil || !os.SameFile(info, l.info)
}
