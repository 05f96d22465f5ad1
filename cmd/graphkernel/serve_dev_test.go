package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestServeDevStore runs serve --dev beside a store of the user's: not a byte of that changes, though
// slices are cut, and nothing of the run's own store stays.
func TestServeDevStore(t *testing.T) {
	folder, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	real := filepath.Join(folder, "real.db")
	t.Setenv("GRAPHKERNEL_STORE", "sqlite:"+real)
	if err := os.WriteFile(real, []byte("not even a database"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServe(t, folder, "--dev")
	if said := s.stderr.String(); !strings.Contains(said, "for this run only") || !strings.Contains(said, "does not use the GRAPHKERNEL_STORE") {
		t.Errorf("said %q", s.stderr.String())
	}
	s.get("/api/conversations")
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-s.ended
	if data, err := os.ReadFile(real); err != nil || string(data) != "not even a database" {
		t.Errorf("the user's store is %q now, %v", data, err)
	}
	left, err := os.ReadDir(temporary)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
