//go:build !unix

package sqlite

import "io/fs"

// names returns the number of a file's names, as far as that is known here.
func names(fs.FileInfo) int { return 1 }

// running reports whether a process with this id exists, as far as that is known here. On
// these systems, a file that a process has open can neither be opened nor removed anyway.
func running(int) bool { return false }

// writable returns an error if this process may not write to the file, as far as that is known here.
func writable(string) error { return nil }
