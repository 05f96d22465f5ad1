//go:build race

package kernel_test

// The race detector makes computing ten times as slow, and finds its races in fewer cases.
func init() { raced = true }
