package main

import (
	"syscall"
)

// withoutCore keeps the memory of this process, which may hold keys, out of core dumps and
// from debuggers of the same user. The limit alone would not do: the kernel ignores it where
// dumps are handed to a program. That neither can be set is no reason not to run.
func withoutCore() {
	const setDumpable = 4 // PR_SET_DUMPABLE of prctl(2)
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setDumpable, 0, 0)
}
