// Package race says whether the race detector watches the program. Tests that run on one goroutine and are long
// under it are left to the run without it.
package race
