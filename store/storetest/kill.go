//go:build unix

package storetest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
)

// The environment of a process that kills itself: the name of its data, the write and the step.
const (
	killData  = "GRAPHKERNEL_TEST_KILL_DATA"
	killWrite = "GRAPHKERNEL_TEST_KILL_WRITE"
	killStep  = "GRAPHKERNEL_TEST_KILL_STEP"
)

// KillAt starts the test's program again, as a child process that does one of Writes on the data with a
// name and ends itself with SIGKILL at a step of the write. The program's TestMain must call Killed first.
func KillAt(t *testing.T, data string, write, step int) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(exe, "-test.run=^$")
	child.Env = append(os.Environ(), killData+"="+data, killWrite+"="+strconv.Itoa(write), killStep+"="+strconv.Itoa(step))
	out, err := child.CombinedOutput()
	status, ok := child.ProcessState.Sys().(syscall.WaitStatus)
	if err == nil || !ok || !status.Signaled() || status.Signal() != syscall.SIGKILL {
		t.Fatalf("step %d: the child was not killed: %v\n%s", step, err, out)
	}
}

// Killed does what KillAt started this process for. In any other process it reports false.
func Killed(harness func(data string) Harness) bool {
	data := os.Getenv(killData)
	if data == "" {
		return false
	}
	fmt.Println(dieAtStep(harness(data))) // why it is still alive
	return true
}

func dieAtStep(h Harness) error {
	i, err := strconv.Atoi(os.Getenv(killWrite))
	if err != nil {
		return err
	}
	step, err := strconv.Atoi(os.Getenv(killStep))
	if err != nil {
		return err
	}
	armed, at := false, 0
	s, err := h.Open(func(string) error {
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
	w, ctx := Writes()[i], context.Background()
	if err := w.Before(ctx, s); err != nil {
		return err
	}
	armed = true
	if err := w.Do(ctx, s); err != nil {
		return err
	}
	return fmt.Errorf("the process is still alive after %d of %d steps", at, step)
}
