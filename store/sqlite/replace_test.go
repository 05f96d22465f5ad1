package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// withTurns makes a file with some turns of tenant a, and leaves it open.
func withTurns(t *testing.T, path string, turns int) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Create(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if _, err := s.Append(t.Context(), "a", []store.Batch{storetest.Chain(1, turns, 0)}); err != nil {
		t.Fatal(err)
	}
	return s
}

// fileWith makes a file of a store with some turns that this process has not had open.
func fileWith(t *testing.T, path string, turns int) {
	t.Helper()
	made := filepath.Join(t.TempDir(), "made.db")
	if err := withTurns(t, made, turns).Close(); err != nil {
		t.Fatal(err)
	}
	copyFile(t, made, path)
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil || len(data) == 0 {
		t.Fatalf("%s has %d bytes, %v", from, len(data), err)
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func headOf(t *testing.T, path string) dag.Seq {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Busy: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	head, err := s.Head(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	return head
}

// TestHold makes sure that a file in use cannot be held, even by who only has it open,
// that a held one cannot be opened, and that a hold changes nothing.
func TestHold(t *testing.T) {
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "old.db")
	fileWith(t, path, 5)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	hold, err := sqlite.HoldFile(ctx, path, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := sqlite.Open(ctx, path, sqlite.Options{Busy: time.Millisecond}); err == nil {
		_ = s.Close()
		t.Error("a held file was opened")
	}
	for range 2 {
		if err := hold.Release(); err != nil {
			t.Fatal(err)
		}
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the hold changed the file, %v", err)
	}
	if _, err := os.Stat(path + "-wal"); err == nil {
		t.Error("the hold left a log")
	}
	idle, err := sqlite.Open(ctx, path, sqlite.Options{}) // has not written
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.HoldFile(ctx, path, time.Millisecond); !errors.Is(err, store.ErrBusy) {
		t.Errorf("got %v, want ErrBusy", err)
	}
	if head, err := idle.Head(ctx, "a"); err != nil || head != 5 {
		t.Errorf("the head is %d, %v, want 5", head, err)
	}
	if err := idle.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestReplace puts a new file in the place of an old one whose process was killed: its
// log does not get to the new one. A second name of the old one keeps all it had.
func TestReplace(t *testing.T) {
	ctx, folder := t.Context(), t.TempDir()
	live, old, fresh, link := filepath.Join(folder, "live.db"), filepath.Join(folder, "old.db"), filepath.Join(folder, "new.db"), filepath.Join(folder, "second.db")
	withTurns(t, live, 9)
	for _, suffix := range []string{"", "-wal"} { // as a crash leaves them
		copyFile(t, live+suffix, old+suffix)
	}
	if err := os.Link(old, link); err != nil {
		t.Skip(err)
	}
	fileWith(t, fresh, 3)
	hold, err := sqlite.HoldFile(ctx, old, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if err := hold.Replace(ctx, fresh); err != nil {
		t.Fatal(err)
	}
	if err := hold.Release(); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]dag.Seq{old: 3, link: 9, live: 9} {
		if head := headOf(t, path); head != want {
			t.Errorf("the head of %s is %d, want %d", filepath.Base(path), head, want)
		}
	}
}

// TestReplaceWaiting opens a file just before it is replaced. What is written then is in
// the new file or refused.
func TestReplaceWaiting(t *testing.T) {
	ctx, folder := t.Context(), t.TempDir()
	old, fresh := filepath.Join(folder, "old.db"), filepath.Join(folder, "new.db")
	for path, turns := range map[string]int{old: 5, fresh: 3} {
		fileWith(t, path, turns)
	}
	hold, err := sqlite.HoldFile(ctx, old, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	opened := make(chan error, 1)
	go func() {
		s, err := sqlite.Open(ctx, old, sqlite.Options{})
		if err == nil {
			err = errors.Join(errors.New("the old file was opened"), s.Close())
		}
		opened <- err
	}()
	time.Sleep(200 * time.Millisecond) // until it waits; if it comes later it opens the new one
	if err := hold.Replace(ctx, fresh); err != nil {
		t.Fatal(err)
	}
	if err := hold.Release(); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; !errors.Is(err, sqlite.ErrForeign) {
		t.Errorf("got %v, want ErrForeign", err)
	}
	if head := headOf(t, old); head != 3 {
		t.Errorf("the head is %d, want 3", head)
	}
}

// TestHoldNoDatabase holds what is none, and one that is empty, with the log of another
// beside it.
func TestHoldNoDatabase(t *testing.T) {
	live := filepath.Join(t.TempDir(), "live.db")
	withTurns(t, live, 9)
	for _, text := range []string{"", "x", "this is a text and no database, and longer than the header of one, which has a hundred bytes: so it is."} {
		folder := t.TempDir()
		path, fresh := filepath.Join(folder, "text"), filepath.Join(folder, "new.db")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		fileWith(t, fresh, 3)
		if text != "" { // SQLite would take it for this one's
			copyFile(t, live+"-wal", path+"-wal")
		}
		hold, err := sqlite.HoldFile(t.Context(), path, time.Millisecond)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if err := errors.Join(hold.Replace(t.Context(), fresh), hold.Release()); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if head := headOf(t, path); head != 3 {
			t.Errorf("%q: the head is %d, want 3", text, head)
		}
	}
	if _, err := sqlite.HoldFile(t.Context(), filepath.Join(t.TempDir(), "none"), 0); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
