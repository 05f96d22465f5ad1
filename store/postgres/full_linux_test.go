package postgres_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/internal/pgtest"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/postgres"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// TestFullTablespace fills the disk that a database lies on under a store that is open: each
// write is acknowledged and there, or refused and not, reads go on, and so do writes once there
// is room.
func TestFullTablespace(t *testing.T) {
	t.Parallel()
	pgtest.Need(t)
	ctx := t.Context()
	disk := t.TempDir()
	if err := os.Chmod(filepath.Dir(disk), 0o755); err != nil { // the server runs as another user
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=64m"); err != nil {
		t.Skipf("mounting a small disk: %v", err) // only root can
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	server := pgtest.Run(t, pgtest.Options{})
	folder, ballast := filepath.Join(disk, "tablespace"), filepath.Join(disk, "ballast")
	data, err := os.Stat(server.Folder())
	if err != nil {
		t.Fatal(err)
	}
	owner := data.Sys().(*syscall.Stat_t)
	if err := errors.Join(os.Mkdir(folder, 0o700), os.Chown(folder, int(owner.Uid), int(owner.Gid))); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{"CREATE TABLESPACE small LOCATION '" + folder + "'", "CREATE DATABASE small TABLESPACE small"} {
		if err := server.Exec(ctx, "postgres", sql); err != nil {
			t.Fatal(err)
		}
	}
	s, err := postgres.Open(ctx, server.URL("small"), postgres.Options{Connections: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	turns, refused := 0, 0
	for round := range 3 {
		block := make([]byte, 4096)
		f, err := os.Create(ballast)
		for err == nil {
			_, err = f.Write(block)
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		for n := 0; ; n++ {
			got, err := s.Append(ctx, storetest.Tenant, []store.Batch{storetest.Chain(1+turns, 70, turns)})
			if err == nil {
				turns += got.Admitted
			} else if !errors.Is(err, store.ErrUnwritable) || errors.Is(err, store.ErrLost) {
				t.Fatalf("round %d: %v", round, err)
			}
			if head, err := s.Head(ctx, storetest.Tenant); err != nil || int(head) != turns {
				t.Fatalf("round %d: the head is %d, %v, want %d", round, head, err, turns)
			}
			if err != nil {
				refused++
				break
			}
			if n > 10_000 {
				t.Fatal("the disk never was full")
			}
		}
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		got, err := s.Append(ctx, storetest.Tenant, []store.Batch{storetest.Chain(1+turns, 70, turns)})
		if err != nil {
			t.Fatalf("round %d, with room again: %v", round, err)
		}
		turns += got.Admitted
	}
	if err := storetest.Check(ctx, s, storetest.Tenant); err != nil || refused != 3 {
		t.Errorf("%d refused, %v", refused, err)
	}
}

// TestReadOnlyServer turns a database read-only under a store that is open, and back.
func TestReadOnlyServer(t *testing.T) {
	t.Parallel()
	server := pgtest.Run(t, pgtest.Options{})
	ctx := context.Background()
	if err := server.CreateDatabase(ctx, "still", ""); err != nil {
		t.Fatal(err)
	}
	s, err := postgres.Open(ctx, server.URL("still"), postgres.Options{Connections: 2, Patience: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	turn := func(value string) {
		t.Helper()
		// Sessions that are open keep the setting that they began with.
		for _, sql := range []string{"ALTER DATABASE still SET default_transaction_read_only = " + value, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'still'"} {
			if err := server.Exec(ctx, "postgres", sql); err != nil {
				t.Fatal(err)
			}
		}
	}
	admit := func(n int) error {
		_, err := s.Append(ctx, storetest.Tenant, []store.Batch{storetest.Chain(n, 1, 0)})
		return err
	}
	if err := admit(1); err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		turn("on")
		if err := admit(2 + round); !errors.Is(err, store.ErrUnwritable) || errors.Is(err, store.ErrLost) {
			t.Errorf("round %d: read-only: %v", round, err)
		}
		if head, err := s.Head(ctx, storetest.Tenant); err != nil || int(head) != 1+round {
			t.Errorf("round %d: the head is %d, %v", round, head, err)
		}
		turn("off")
		if err := admit(2 + round); err != nil {
			t.Errorf("round %d: writable again: %v", round, err)
		}
	}
}
