// Package race says whether the race detector is on. Long tests that run on one goroutine are skipped when it is.
package race
