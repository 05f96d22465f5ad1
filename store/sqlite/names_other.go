//go:build !unix

package sqlite

import "io/fs"

// names says how many names a file has, as far as that can be told.
func names(fs.FileInfo) int { return 1 }

// running reports whether there is a process of this id, as far as that can be told. A file
// that a process has open can neither be opened nor removed here anyway.
func running(int) bool { return false }

// writable returns an error if this process may not write to the file, as far as that can
// be told.
func writable(string) error { return nil }
