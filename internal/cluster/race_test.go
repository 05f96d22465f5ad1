//go:build race

package cluster

// The program under test is built with the race detector when the tests are, and like them
// without SQLite (see .ci/unit): what they compiled is used again.
func init() {
	buildFlags = append(buildFlags, "-race", "-gcflags=modernc.org/sqlite/lib=-race=false", "-gcflags=modernc.org/libc=-race=false")
}
