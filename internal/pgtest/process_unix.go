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
	sigFast     = syscall.SIGINT  // makes a server end its connections and write everything to disk
	sigAtOnce   = syscall.SIGQUIT // makes a server end without writing anything
)

// send sends a signal to a process. A process that has already ended is not an error.
func send(pid int, sig syscall.Signal) error {
	if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("pgtest: %s to process %d: %w", sig, pid, err)
	}
	return nil
}

// attributes returns the attributes of a process that runs as the owner, or as this process's user if user is nil. Signals from
// the terminal to the test do not reach it.
func attributes(user *owner) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if user != nil {
		a.Credential = &syscall.Credential{Uid: uint32(user.uid), Gid: uint32(user.gid)}
	}
	return a
}
