//go:build !unix

package sqlite

import "io/fs"

// names says how many names a file has, as far as that can be told.
func names(fs.FileInfo) int { return 1 }
