package sqlite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// TestFilesTakenAway removes, renames and replaces each file under an open store: the next
// write is not acknowledged, and the store is broken from then on.
func TestFilesTakenAway(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("open files can neither be removed nor replaced")
	}
	ctx := context.Background()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		for name, take := range map[string]func(path string) error{
			"removed": os.Remove,
			"renamed": func(path string) error { return os.Rename(path, path+".old") },
			"replaced": func(path string) error {
				data, err := os.ReadFile(path)
				if err == nil {
					err = os.WriteFile(path+".copy", data, 0o600)
				}
				if err == nil {
					err = os.Rename(path+".copy", path)
				}
				return err
			},
		} {
			for _, notice := range []string{"write", "probe"} {
				t.Run("store.db"+suffix+" "+name+", "+notice, func(t *testing.T) {
					path := filepath.Join(t.TempDir(), "store.db")
					s := create(t, path)
					if _, err := s.Append(ctx, storetest.Tenant, []store.Batch{storetest.Chain(1, 5, 0)}); err != nil {
						t.Fatal(err)
					}
					if err := s.Writable(ctx); err != nil {
						t.Fatal(err)
					}
					if err := take(path + suffix); err != nil {
						t.Fatal(err)
					}
					if notice == "probe" {
						if err := s.Writable(ctx); !errors.Is(err, store.ErrBroken) {
							t.Errorf("the probe gave %v", err)
						}
					}
					if got, err := s.Append(ctx, storetest.Tenant, []store.Batch{storetest.Chain(6, 5, 0)}); !errors.Is(err, store.ErrBroken) {
						t.Errorf("a write was acknowledged: %+v, %v", got, err)
					}
					if _, err := s.Head(ctx, storetest.Tenant); !errors.Is(err, store.ErrBroken) {
						t.Errorf("a read gave %v", err)
					}
				})
			}
		}
	}
}
