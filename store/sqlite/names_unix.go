//go:build unix

package sqlite

import (
	"errors"
	"io/fs"
	"syscall"
)

// names returns the number of a file's names.
func names(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Nlink)
	}
	return 1
}

// running reports whether a process with this id exists.
func running(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// writable returns an error if this process may not write to the file, such as one on a
// read-only disk. It does not open the file: closing it would end SQLite's locks on it.
func writable(path string) error { return syscall.Access(path, 2) }
