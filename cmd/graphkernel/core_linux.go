package main

import (
	"syscall"
)

// withoutCore keeps the memory of this process, which may contain keys, out of core dumps, and hides it from debuggers of the same user. The limit alone
// would not be enough: the operating system ignores it if dumps are passed to a program. If neither can be set, the program runs anyway.
func withoutCore() {
	const setDumpable = 4 // PR_SET_DUMPABLE of prctl(2)
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setDumpable, 0, 0)
}
