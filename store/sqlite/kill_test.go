//go:build unix

package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/graphkernel/graphkernel/store/storetest"
)

// The environment of a child process: the file, the write and the step at
// which the child ends itself.
const (
	killFile  = "GRAPHKERNEL_TEST_KILL_FILE"
	killWrite = "GRAPHKERNEL_TEST_KILL_WRITE"
	killStep  = "GRAPHKERNEL_TEST_KILL_STEP"
)

// TestKill ends a process with SIGKILL at every step of every write. Whatever
// it wrote up to then, the file is sound and holds all of the write or nothing.
func TestKill(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a process for each step")
	}
	for i, w := range storetest.Writes() {
		t.Run(w.Name, func(t *testing.T) {
			steps, err := storetest.Steps(fresh(t), w)
			if err != nil {
				t.Fatal(err)
			}
			kept := 0
			for n := range steps {
				path := filepath.Join(t.TempDir(), "store.db")
				killAt(t, path, i, n)
				if storetest.Reopened(t, harness(path), w, steps[n]) {
					kept++
				}
			}
			if kept == 0 || kept == len(steps) {
				t.Errorf("of %d killed processes %d had finished their write; want some on each side of the commit", len(steps), kept)
			}
		})
	}
}

// killAt starts a child that ends itself at a step of a write.
func killAt(t *testing.T, path string, write, step int) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(exe, "-test.run=^$")
	child.Env = append(os.Environ(), killFile+"="+path, killWrite+"="+strconv.Itoa(write), killStep+"="+strconv.Itoa(step))
	out, err := child.CombinedOutput()
	status, ok := child.ProcessState.Sys().(syscall.WaitStatus)
	if err == nil || !ok || !status.Signaled() || status.Signal() != syscall.SIGKILL {
		t.Fatalf("step %d: the child was not killed: %v\n%s", step, err, out)
	}
	if _, err := os.Stat(path + "-wal"); err != nil { // Close removes it
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
func childOfKill() bool {
	path := os.Getenv(killFile)
	if path == "" {
		return false
	}
	if err := dieAtStep(path); err != nil {
		fmt.Println(err)
	}
	return true
}

func dieAtStep(path string) error {
	i, err := strconv.Atoi(os.Getenv(killWrite))
	if err != nil {
		return err
	}
	step, err := strconv.Atoi(os.Getenv(killStep))
	if err != nil {
		return err
	}
	armed, at := false, 0
	s, err := harness(path).Open(func(string) error {
		if !armed {
			return nil
		}
		if at++; at-1 == step {
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		return nil
	})
	if err != nil {
		return err
	}
	w, ctx := storetest.Writes()[i], context.Background()
	if err := w.Before(ctx, s); err != nil {
		return err
	}
	armed = true
	if err := w.Do(ctx, s); err != nil {
		return err
	}
	return fmt.Errorf("the process is still alive after %d of %d steps", at, step)
}
