//go:build unix

package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	if testing.Short() {
		t.Skip("starts a process for each step")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
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
				child := exec.Command(exe, "-test.run=^$")
				child.Env = append(os.Environ(), killFile+"="+path, killWrite+"="+strconv.Itoa(i), killStep+"="+strconv.Itoa(n))
				out, err := child.CombinedOutput()
				status, ok := child.ProcessState.Sys().(syscall.WaitStatus)
				if err == nil || !ok || !status.Signaled() || status.Signal() != syscall.SIGKILL {
					t.Fatalf("step %q: the child was not killed: %v\n%s", steps[n], err, out)
				}
				if _, err := os.Stat(path + "-wal"); err != nil { // Close removes it
					t.Errorf("step %q: the child left no log behind: %v", steps[n], err)
				}
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
