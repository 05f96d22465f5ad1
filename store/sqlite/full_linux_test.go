package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// smallDisk mounts a file system of so many bytes; only root can.
func smallDisk(t *testing.T, size string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("mounting a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// fill writes a file until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// listed returns the names and the sizes of a folder's files.
func listed(t *testing.T, folder string) (files []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, fmt.Sprint(e.Name(), " ", info.Size()))
	}
	return files
}

// TestFullDisk fills the disk again and again under a store that is open: each write is
// acknowledged and there, or refused and not, reads go on, and so do writes once there is
// room, without opening the store again.
func TestFullDisk(t *testing.T) {
	ctx := context.Background()
	folder := smallDisk(t, "6m")
	path, ballast := filepath.Join(folder, "store.db"), filepath.Join(folder, "ballast")
	s := create(t, path)
	defer s.Close()
	turns, refused := 0, 0
	for round := range 12 {
		for n := 0; ; n++ {
			if n == round { // each round fills it at another moment of the log's growth
				fill(t, ballast)
			}
			got, err := s.Append(ctx, storetest.Tenant, []store.Batch{storetest.Chain(1+turns, 7, turns)})
			if err == nil {
				turns += got.Admitted
			} else if !errors.Is(err, store.ErrUnwritable) || errors.Is(err, store.ErrBroken) {
				t.Fatalf("round %d: %v", round, err)
			}
			if head, err := s.Head(ctx, storetest.Tenant); err != nil || int(head) != turns {
				t.Fatalf("round %d: the head is %d, %v, want %d", round, head, err, turns)
			}
			if err != nil {
				break
			}
			if n > 10_000 {
				t.Fatal("the disk never was full")
			}
		}
		refused++
		if err := storetest.Check(ctx, s, storetest.Tenant); err != nil {
			t.Fatalf("round %d, full: %v", round, err)
		}
		for range 2 { // asking does not clear what the write has noted
			before := listed(t, folder)
			if err := s.Writable(ctx); !errors.Is(err, store.ErrUnwritable) || errors.Is(err, store.ErrBroken) {
				t.Errorf("round %d, full: %v", round, err)
			}
			if after := listed(t, folder); !slices.Equal(before, after) {
				t.Errorf("round %d: asking changed the folder from %q to %q", round, before, after)
			}
		}
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		if err := s.Writable(ctx); err != nil {
			t.Fatalf("round %d, with room again: %v", round, err)
		}
	}
	if refused != 12 {
		t.Errorf("%d writes were refused", refused)
	}
	if _, err := s.Append(ctx, storetest.Tenant, []store.Batch{storetest.Chain(1+turns, 7, turns)}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if head, err := again.Head(ctx, storetest.Tenant); err != nil || int(head) != turns+7 {
		t.Errorf("the head is %d, %v, want %d", head, err, turns+7)
	}
	if err := storetest.Check(ctx, again, storetest.Tenant); err != nil {
		t.Error(err)
	}
}

// TestRoomForOnePage leaves some pages on the disk: too few for a write of turns, which is refused, and enough for a probe of one page. The store takes
// no writes as long as that is so.
func TestRoomForOnePage(t *testing.T) {
	ctx := context.Background()
	folder := smallDisk(t, "6m")
	path, ballast := filepath.Join(folder, "store.db"), filepath.Join(folder, "ballast")
	s := create(t, path)
	defer s.Close()
	if _, err := s.Append(ctx, storetest.Tenant, []store.Batch{storetest.Chain(1, 7, 0)}); err != nil {
		t.Fatal(err)
	}
	fill(t, ballast)
	info, err := os.Stat(ballast)
	if err == nil {
		err = os.Truncate(ballast, info.Size()-8*4096)
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := s.Append(ctx, storetest.Tenant, []store.Batch{storetest.Chain(100, 200, 1)}); !errors.Is(err, store.ErrUnwritable) {
			t.Fatalf("a write of 200 turns: %v", err)
		}
		before := listed(t, folder)
		if err := s.Writable(ctx); !errors.Is(err, store.ErrUnwritable) || errors.Is(err, store.ErrBroken) {
			t.Errorf("with room for some pages: %v", err)
		}
		if after := listed(t, folder); !slices.Equal(before, after) {
			t.Errorf("asking changed the folder from %q to %q", before, after)
		}
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := s.Writable(ctx); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

// TestReadOnlyDisk opens stores on a disk that is read-only or full: one that was closed,
// and one that was killed, whose newest turns are in its log alone. To read is enough, and
// who wants to write is told what is wrong.
func TestReadOnlyDisk(t *testing.T) {
	ctx := context.Background()
	for _, disk := range []string{"full", "read-only"} {
		for _, end := range []string{"closed", "killed"} {
			t.Run(disk+", "+end, func(t *testing.T) {
				folder := smallDisk(t, "6m")
				path := filepath.Join(folder, "store.db")
				original := path
				if end == "killed" {
					original = filepath.Join(t.TempDir(), "store.db")
				}
				s := create(t, original)
				if _, err := s.Append(ctx, storetest.Tenant, []store.Batch{storetest.Chain(1, 500, 0)}); err != nil {
					t.Fatal(err)
				}
				if end == "killed" { // what a kill leaves
					for _, suffix := range []string{"", "-wal", "-shm"} {
						data, err := os.ReadFile(original + suffix)
						if err == nil {
							err = os.WriteFile(path+suffix, data, 0o600)
						}
						if err != nil {
							t.Fatal(err)
						}
					}
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if disk == "full" {
					fill(t, filepath.Join(folder, "ballast"))
				} else if err := syscall.Mount("", folder, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
					t.Fatal(err)
				}
				if disk == "read-only" {
					if _, err := sqlite.Open(ctx, path, sqlite.Options{}); !errors.Is(err, store.ErrUnwritable) || !strings.Contains(err.Error(), "read-only") {
						t.Errorf("opening it to write gave %v", err)
					}
				}
				r, err := sqlite.Open(ctx, path, sqlite.Options{ReadOnly: true})
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				if head, err := r.Head(ctx, storetest.Tenant); err != nil || head != 500 {
					t.Errorf("the head is %d, %v, want 500", head, err)
				}
				if err := storetest.Check(ctx, r, storetest.Tenant); err != nil {
					t.Error(err)
				}
				if _, err := r.Append(ctx, storetest.Tenant, []store.Batch{storetest.Chain(1000, 5, 1)}); !errors.Is(err, store.ErrUnwritable) || !strings.Contains(err.Error(), "read-only") {
					t.Errorf("a write gave %v", err)
				}
			})
		}
	}
}
