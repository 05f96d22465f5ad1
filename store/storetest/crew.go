package storetest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
)

// labourOrder is the environment variable that makes a test's program labour.
const labourOrder = "GRAPHKERNEL_TEST_LABOUR"

// A Crew is a child process that labours until it is killed.
type Crew struct {
	cmd    *exec.Cmd
	said   strings.Builder
	mu     sync.Mutex // guards lines
	lines  []string
	begun  chan struct{} // closed with the first line
	silent chan struct{} // closed when the process has ended
}

// Hire starts the test's program as a child process, whose TestMain calls Hired. place says where the store is.
func Hire(t testing.TB, place string, tenant dag.Tenant, number int, seed uint64) *Crew {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &Crew{cmd: exec.Command(exe, "-test.run=^$"), begun: make(chan struct{}), silent: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), labourOrder+"="+fmt.Sprintf("%s %d %d %s", tenant, number, seed, place))
	c.cmd.Stderr = &c.said
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.silent)
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				return // half a line was not acknowledged
			}
			c.mu.Lock()
			if c.lines = append(c.lines, line[:len(line)-1]); len(c.lines) == 1 {
				close(c.begun)
			}
			c.mu.Unlock()
		}
	}()
	return c
}

// Begun waits until a write was acknowledged, or the process has ended.
func (c *Crew) Begun() {
	select {
	case <-c.begun:
	case <-c.silent:
	}
}

// Acknowledged returns how many writes were acknowledged so far.
func (c *Crew) Acknowledged() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.lines)
}

// Kill ends the process with SIGKILL and returns the acknowledged writes. If the process had ended by itself, the test fails.
func (c *Crew) Kill(t testing.TB) []string {
	t.Helper()
	_ = c.cmd.Process.Kill()
	<-c.silent
	_ = c.cmd.Wait()
	if c.cmd.ProcessState.Exited() {
		t.Errorf("a child ended by itself: %s\n%s", c.cmd.ProcessState, c.said.String())
	}
	return c.lines
}

// Hired labours if this process is a child that Hire started, and reports whether it is.
func Hired(open func(place string) (store.Store, error)) bool {
	order, hired := os.LookupEnv(labourOrder)
	if !hired {
		return false
	}
	fields := strings.SplitN(order, " ", 4)
	number, err := strconv.Atoi(fields[1])
	if err == nil {
		var seed uint64
		if seed, err = strconv.ParseUint(fields[2], 10, 64); err == nil {
			var s store.Store
			if s, err = open(fields[3]); err == nil {
				err = Labour(context.Background(), s, dag.Tenant(fields[0]), number, seed, os.Stdout)
			}
		}
	}
	fmt.Fprintln(os.Stderr, err)
	return true
}

// Audit checks that every acknowledged write is stored, and that package fsck
// finds nothing in the tenant and in the tenants that its labourers adopted into.
func Audit(ctx context.Context, s store.Store, tenant dag.Tenant, lines []string) error {
	for _, line := range lines {
		if err := Acknowledged(ctx, s, line); err != nil {
			return err
		}
	}
	tenants, err := s.Tenants(ctx, "", 1000)
	if err != nil {
		return err
	}
	for _, name := range tenants {
		if !strings.HasPrefix(string(name)+"-", string(tenant)+"-") {
			continue
		}
		report, err := fsck.Tenant(ctx, s, name, fsck.Options{})
		if err == nil {
			err = report.Err()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
