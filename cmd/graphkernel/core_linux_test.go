package main

import (
	"syscall"
	"testing"
)

// TestWithoutCore asks the kernel what would become of a crash.
func TestWithoutCore(t *testing.T) {
	withoutCore()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_CORE, &limit); err != nil || limit.Cur != 0 || limit.Max != 0 {
		t.Errorf("the limit of core dumps is %+v, %v", limit, err)
	}
	const getDumpable = 3 // PR_GET_DUMPABLE of prctl(2)
	if got, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, getDumpable, 0, 0); errno != 0 || got != 0 {
		t.Errorf("the process is dumpable: %d, %v", got, errno)
	}
}
