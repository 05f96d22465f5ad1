//go:build unix

package ingest

import (
	"path/filepath"
	"syscall"
	"testing"
)

func makePipe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("SKIPPED: no named pipes: %v", err)
	}
	return path
}
