//go:build race

package slice_test

// The race detector makes everything ten times slower, and there is no
// concurrency in verification to be looked at.
func init() { underRace = true }
