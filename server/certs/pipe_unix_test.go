//go:build unix

package certs_test

import (
	"log/slog"
	"syscall"
	"testing"

	"github.com/graphkernel/graphkernel/server/certs"
)

// TestPipe names a pipe as the key: it is refused, not waited for.
func TestPipe(t *testing.T) {
	cert, _ := pair(t, 1)
	f := newFolder(t)
	f.replace(f.cert, cert, 0o644)
	if err := syscall.Mkfifo(f.key, 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := certs.Open(f.cert, f.key, slog.New(slog.DiscardHandler)); err == nil || r != nil {
		t.Error("a pipe was taken")
	}
}
