package kernel_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/graphkernel/graphkernel/internal/pgstore"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := pgstore.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// A scope is a test within a test: what it cleans up is cleaned up when it is done, not
// when the outer test ends.
type scope struct {
	testing.TB
	cleanups []func()
}

func (s *scope) Cleanup(fn func()) { s.cleanups = append(s.cleanups, fn) }

func (s *scope) done() {
	for i := len(s.cleanups) - 1; i >= 0; i-- {
		s.cleanups[i]()
	}
}
