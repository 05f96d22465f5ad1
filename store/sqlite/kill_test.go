//go:build unix

package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// TestKill ends a process with SIGKILL at every step of every write. Whatever
// it wrote up to then, the file is sound and holds all of the write or nothing.
func TestKill(t *testing.T) {
	t.Parallel()
	if race.Enabled {
		t.Skip("starts a process for each step, which is not watched")
	}
	for i, w := range storetest.Writes() {
		t.Run(w.Name, func(t *testing.T) {
			steps, err := storetest.Steps(fresh(t), w)
			if err != nil {
				t.Fatal(err)
			}
			kept := 0
			for _, n := range storetest.Sampled(t, len(steps)) {
				path := filepath.Join(t.TempDir(), "store.db")
				killAt(t, path, i, n)
				if storetest.Reopened(t, harness(path), w, steps[n]) {
					kept++
				}
			}
			if !testing.Short() && (kept == 0 || kept == len(steps)) {
				t.Errorf("of %d killed processes %d had finished their write; want some on each side of the commit", len(steps), kept)
			}
		})
	}
}

// killAt ends a process, which leaves its log behind: Close would remove it.
func killAt(t *testing.T, path string, write, step int) {
	t.Helper()
	storetest.KillAt(t, path, write, step)
	if _, err := os.Stat(path + "-wal"); err != nil {
		t.Errorf("step %d: the child left no log behind: %v", step, err)
	}
}

// TestKillBeforeCheckpoint ends a process when an erasure is committed and its
// text still in the log. To open the store again is enough to be rid of it.
func TestKillBeforeCheckpoint(t *testing.T) {
	writes := storetest.Writes()
	i := slices.IndexFunc(writes, func(w storetest.Write) bool { return w.Name == "Erase" })
	steps, err := storetest.Steps(fresh(t), writes[i])
	if err != nil {
		t.Fatal(err)
	}
	n := slices.Index(steps, "checkpoint")
	if n < 0 {
		t.Fatalf("an erasure has no checkpoint: %q", steps)
	}
	path, text := filepath.Join(t.TempDir(), "store.db"), []byte("turn 3 of a chain")
	killAt(t, path, i, n)
	if len(in(t, path, text)) == 0 {
		t.Error("the killed process left no text behind: this test shows nothing")
	}
	s, err := harness(path).Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if files := in(t, path, text); len(files) > 0 {
		t.Errorf("the text is in %v", files)
	}
	if done, err := writes[i].Done(context.Background(), s); err != nil || !done {
		t.Errorf("the erasure was lost: %v, %v", done, err)
	}
}

// childOfKill does the write in a child process. It reports false in the parent.
func childOfKill() bool { return storetest.Killed(harness) }
