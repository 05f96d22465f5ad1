//go:build unix

package oidc_test

import (
	"log/slog"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/graphkernel/graphkernel/server/oidc"
)

// TestPipe names a pipe as the key set: it is refused, not waited for.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	c := oidc.Config{Issuer: issuer, Audience: audience, JWKS: "file:" + path, Clock: (&clock{}).now, Log: slog.New(slog.DiscardHandler)}
	if i, err := oidc.New(t.Context(), c); err == nil || i != nil {
		t.Error("a pipe was taken")
	}
}
