package sqlite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// TestCloseLeavesOneFile makes sure that anyone who copies the file of a closed
// store copies everything.
func TestCloseLeavesOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := sqlite.Create(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), storetest.Tenant, []store.Batch{storetest.Chain(1, 50, 0)}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		t.Errorf("%d bytes are left in the log", info.Size())
	}
	// Nothing of this process holds the file any more.
	h, err := sqlite.HoldFile(t.Context(), path, 0)
	if err != nil {
		t.Fatalf("after Close: %v", err)
	}
	if err := h.Release(); err != nil {
		t.Error(err)
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return // not Linux
	}
	for _, fd := range open {
		if at, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.HasPrefix(at, path) {
			t.Errorf("%s is still open", at)
		}
	}
}
