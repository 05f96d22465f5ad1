//go:build race

package cluster

// The program under test is built with the race detector when the tests are.
func init() { buildFlags = append(buildFlags, "-race") }
