//go:build unix

package hook

import (
	"os"
	"os/exec"
	"syscall"
)

// Start starts a program that outlives this one, in its own session and without this program's standard streams.
func Start(program string, args []string) error {
	if _, err := os.Stat(program); err != nil {
		return err
	}
	c := exec.Command(program, args...)
	c.Dir = "/" // so that it keeps no folder in use
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		return err
	}
	return c.Process.Release()
}
