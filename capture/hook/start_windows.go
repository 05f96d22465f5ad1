package hook

import (
	"os"
	"os/exec"
	"syscall"
)

const detached = 0x8 // DETACHED_PROCESS: without the console of this program

// Start starts a program that outlives this one, without this program's standard streams.
func Start(program string, args []string) error {
	if _, err := os.Stat(program); err != nil {
		return err
	}
	c := exec.Command(program, args...)
	c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: detached | syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
	if err := c.Start(); err != nil {
		return err
	}
	return c.Process.Release()
}
