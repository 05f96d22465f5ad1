//go:build unix

package resident_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/capture/resident"
)

// spools returns two paths of spools: a short one, and one that is longer than the path of a socket may be.
func spools(t *testing.T) []string {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	short, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	return []string{filepath.Join(short, "spool"), filepath.Join(t.TempDir(), strings.Repeat("long-", 25), "spool")}
}

func ask(t *testing.T, spool string, r resident.Request, write error) (text string, a *resident.Answer, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r.Build = resident.Build() + r.Build
	a, err = resident.Ask(ctx, spool, &r, func(b []byte) error { text = string(b); return write })
	return text, a, err
}

// TestAsk asks a process that answers, of the right store and of others, and one that is gone.
func TestAsk(t *testing.T) {
	for _, spool := range spools(t) {
		if _, _, err := ask(t, spool, resident.Request{}, nil); !errors.Is(err, resident.ErrNone) || resident.There(t.Context(), spool) {
			t.Errorf("without a process: %v", err)
		}
		l, err := resident.Listen(t.Context(), spool, false)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := resident.Listen(t.Context(), spool, false); !errors.Is(err, resident.ErrThere) {
			t.Errorf("a second process: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		dones := make(chan error, 9)
		ended := make(chan error)
		go func() {
			ended <- l.Serve(ctx, []string{"--store", "x"}, func(_ context.Context, r *resident.Request) (*resident.Answer, func(error)) {
				if r.Policy == "late" {
					return &resident.Answer{Late: "no time"}, nil
				}
				return &resident.Answer{Text: []byte(r.Agent + " " + r.Policy + " " + string(r.Event))}, func(err error) { dones <- err }
			})
		}()
		right := resident.Request{Flags: []string{"--store", "x"}, Agent: "claude-code", Policy: "p@1", Event: []byte("\xff{}")}
		if text, _, err := ask(t, spool, right, nil); err != nil || text != "claude-code p@1 \xff{}" {
			t.Errorf("%q, %v", text, err)
		}
		if err := <-dones; err != nil {
			t.Errorf("a text that the agent has counts as not given: %v", err)
		}
		broken := errors.New("the pipe is broken")
		if _, _, err := ask(t, spool, right, broken); !errors.Is(err, broken) || errors.Is(err, resident.ErrNone) {
			t.Errorf("%v", err)
		}
		if err := <-dones; err == nil {
			t.Error("a text that the agent does not have counts as given")
		}
		late := right
		late.Policy = "late"
		if text, a, err := ask(t, spool, late, nil); err != nil || text != "" || a.Late != "no time" {
			t.Errorf("%q, %+v, %v", text, a, err)
		}
		for name, change := range map[string]func(*resident.Request){
			"another store": func(r *resident.Request) { r.Flags = []string{"--store", "y"} },
			"no flags":      func(r *resident.Request) { r.Flags = nil },
			"another build": func(r *resident.Request) { r.Build = " changed" },
		} {
			other := right
			change(&other)
			if text, _, err := ask(t, spool, other, nil); !errors.Is(err, resident.ErrNone) || text != "" {
				t.Errorf("%s: %q, %v", name, text, err)
			}
		}
		if l.Replaced() {
			t.Error("it counts as replaced")
		}

		// Another process takes over, and the first one sees it and leaves the socket alone.
		over, err := resident.Listen(t.Context(), spool, true)
		if err != nil || !l.Replaced() || over.Replaced() {
			t.Fatalf("taking over: %v", err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
		if !resident.There(t.Context(), spool) {
			t.Error("the process that took over is not there")
		}
		if err := over.Close(); err != nil || resident.There(t.Context(), spool) {
			t.Errorf("after its end: %v", err)
		}
	}
}

// TestForeignSockets: a socket that others can use, one that a killed process left, and one that never answers, are as if there were none.
func TestForeignSockets(t *testing.T) {
	spool := spools(t)[0]
	path := spool + ".sock"
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	var asked atomic.Int32
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			asked.Add(1)
			defer conn.Close()
		}
	}()
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ask(t, spool, resident.Request{}, nil); !errors.Is(err, resident.ErrNone) || asked.Load() != 0 {
		t.Errorf("a socket of mode 0666: %v", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if a, err := resident.Ask(ctx, spool, &resident.Request{}, nil); err != nil || a.Late == "" {
		t.Errorf("one that never answers: %+v, %v", a, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ask(t, spool, resident.Request{}, nil); !errors.Is(err, resident.ErrNone) {
		t.Errorf("one that was left behind: %v", err)
	}
	again, err := resident.Listen(t.Context(), spool, false)
	if err != nil {
		t.Fatalf("in its place: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket is left behind")
	}
}
