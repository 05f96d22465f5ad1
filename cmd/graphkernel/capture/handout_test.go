package capture

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	_ "modernc.org/sqlite" // the driver

	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/ready"
	"github.com/graphkernel/graphkernel/slice/issued"
)

// app returns a run of the program with a home folder of its own.
func app(t *testing.T, home string) (*cli.App, *bytes.Buffer) {
	t.Helper()
	var stderr bytes.Buffer
	return cli.New(cli.Config{
		Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}, Stderr: &stderr, Clock: time.Now,
		Getenv:   func(name string) string { return map[string]string{"HOME": home}[name] },
		Commands: func(a *cli.App) []*cobra.Command { return Commands(a) },
	}), &stderr
}

// lock holds the lock of a store's file, as another process that writes does, until unlock is called.
func lock(t *testing.T, path string) (unlock func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // the lock goes with it
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := conn.ExecContext(context.Background(), "ROLLBACK"); err != nil {
			t.Error(err)
		}
	}
}

// TestHandOutBesideWriter hands out contexts while another process holds the store's lock. A mark stands for the record; a context from before an entry is not given, leaves nothing
// behind, and its record says that nobody received it.
func TestHandOutBesideWriter(t *testing.T) {
	for name, moves := range map[string]bool{"no entry": false, "an entry meanwhile": true} {
		t.Run(name, func(t *testing.T) {
			ctx, home := t.Context(), t.TempDir()
			a, stderr := app(t, home)
			a.Settings.Dev = true // signs with a key of this run
			spool, err := a.Settings.Spool()
			if err != nil {
				t.Fatal(err)
			}
			ring, err := a.Signing.RingToSign()
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(home, ".local", "share", "graphkernel", "graphkernel.db")
			err = a.Stores.WithNewKernel(ctx, ring, func(s *cli.Session) error {
				folder := filepath.Join(home, "project")
				var drafts []dag.Draft
				for n := range 3 {
					drafts = append(drafts, dag.Draft{
						ID: dag.ExternalTurnID("test", fmt.Sprint(n)), Conversation: dag.ExternalConversationID("test", "c"), Role: dag.RoleUser, Author: "human:user",
						CreatedAt: dag.Time(1_780_000_000_000_000 + int64(n)), Content: fmt.Sprintf("In step %d the login form rejects passwords.", n), Attrs: map[string]string{"cwd": folder},
					})
				}
				if _, err := s.Turns.Admit(ctx, drafts); err != nil {
					return err
				}
				place, last, err := s.Ready(ctx)
				if err != nil {
					return err
				}
				if err := spool.SetReadyIn(capture.ReadyIn{Folder: place.Path(), Policies: []string{""}}); err != nil {
					return err
				}
				tell := teller{session: s, spool: spool, wait: 200 * time.Millisecond, keys: func() capture.KeyFile { return capture.KeyFile{} }}
				tell.now = func() time.Time { // asked between the choice and the mark
					if moves {
						if err := place.Move(uint64(last) + 1); err != nil {
							t.Error(err)
						}
					}
					return time.Now()
				}
				unlock := lock(t, path)
				e := &capture.Event{Agent: capture.ClaudeCode, Name: capture.UserPromptSubmit, Prompt: "why does the login form reject passwords", Session: "s", Folder: folder}
				got, err := tell.give(ctx, e, "")
				givens, failed := spool.Givens()
				if failed != nil {
					return failed
				}
				if moves {
					if !errors.Is(err, errLate) || len(givens) != 0 || held(t, place) != 0 {
						t.Errorf("it was given: %v, %v; %d marks, %d texts", got, err, len(givens), held(t, place))
					}
				} else if err != nil || !bytes.Contains(got.text, []byte("login form")) || len(givens) != 1 || held(t, place) != 1 {
					t.Errorf("it was not given: %v, %v; %d marks, %d texts", got, err, len(givens), held(t, place))
				}
				unlock()
				tell.late.Wait()
				list, err := s.Kernel.Slices().After(ctx, s.Tenant, 0, 9)
				if err != nil || len(list) != 1 {
					t.Fatalf("on record: %+v, %v", list, err)
				}
				if not := list[0].NotGiven != 0; not != moves || list[0].Delivery.Recipient != (issued.Recipient{Agent: "claude-code", Session: "s", Event: capture.UserPromptSubmit}) {
					t.Errorf("on record: %+v", list[0])
				}
				if givens, err := spool.Givens(); err != nil || len(givens) != 0 || held(t, place) != 0 {
					t.Errorf("afterwards: %d marks, %d texts, %v", len(givens), held(t, place), err)
				}
				return nil
			})
			if err != nil {
				t.Fatalf("%v\n%s", err, stderr)
			}
		})
	}
}

// held counts the texts of a folder that were given.
func held(t *testing.T, f ready.Folder) (n int) {
	t.Helper()
	entries, err := os.ReadDir(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "held.") {
			n++
		}
	}
	return n
}

// TestUnlessLater tells errors that a later round may not meet from others.
func TestUnlessLater(t *testing.T) {
	if err := unlessLater(fmt.Errorf("x: %w", ready.ErrMoved)); err != nil {
		t.Error(err)
	}
	if broken := errors.New("broken"); !errors.Is(unlessLater(broken), broken) || unlessLater(nil) != nil {
		t.Error("a fault is passed over")
	}
}
