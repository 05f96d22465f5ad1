//go:build unix

package pgtest

import (
	"errors"
	"fmt"
	"syscall"
)

const supported = true

const (
	sigStop     = syscall.SIGSTOP
	sigContinue = syscall.SIGCONT
	sigKill     = syscall.SIGKILL
	sigFast     = syscall.SIGINT  // tells a server to end its connections and write all down
	sigAtOnce   = syscall.SIGQUIT // tells a server to end and write nothing
)

// send sends a signal to a process; it is no error that the process has ended.
func send(pid int, sig syscall.Signal) error {
	if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("pgtest: %s to process %d: %w", sig, pid, err)
	}
	return nil
}

// attributes are those of a process that runs as the owner, or as this process does
// when that is nil. A signal that the terminal sends to the test does not reach it.
func attributes(user *owner) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if user != nil {
		a.Credential = &syscall.Credential{Uid: uint32(user.uid), Gid: uint32(user.gid)}
	}
	return a
}
