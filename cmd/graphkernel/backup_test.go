package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/storage"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/store/storetest"
	"github.com/graphkernel/graphkernel/token"
)

// TestBackupWhileWriting takes backups while another process would append, erase and
// issue slices. Each is sound, every slice that it has a record of replays from it, and
// up to its heads it is what the store is.
func TestBackupWhileWriting(t *testing.T) {
	t.Parallel()
	ctx, folder := t.Context(), t.TempDir()
	secret, err := token.NewSecret(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	ring, err := token.Keyring{}.Rotate("k1", secret, 0)
	if err != nil {
		t.Fatal(err)
	}
	over := func(s store.Store) *kernel.Kernel {
		k, err := kernel.Open(kernel.Config{Store: s, Authority: token.NewAuthority(ring), Clock: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	path := filepath.Join(folder, "store.db")
	s, err := sqlite.Create(ctx, path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	writing, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- writeOn(writing, over(s), s) }()

	issued := 0
	for n := range 4 {
		for { // let something be written
			head, err := s.Head(ctx, "a")
			if err != nil {
				t.Fatal(err)
			}
			if head > dag.Seq(40*n+20) {
				break
			}
			select {
			case err := <-done:
				t.Fatalf("writing ended: %v", err)
			case <-time.After(time.Millisecond):
			}
		}
		file := filepath.Join(folder, fmt.Sprintf("backup%d.db", n))
		var out bytes.Buffer
		a := testApp()
		a.IO.Stdout, a.IO.Stderr = &out, &out
		if code := a.Run(ctx, []string{"--store", "sqlite:" + path, "--output", "json", "backup", file}); code != api.ExitOK {
			t.Fatalf("exit code %d: %s", code, &out)
		}
		var result storage.BackupJSON
		if err := json.Unmarshal(out.Bytes(), &result); err != nil {
			t.Fatal(err)
		}
		issued += compareBackup(t, over, s, file, &result)
	}
	stop()
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("writing: %v", err)
	}
	if issued < 10 {
		t.Errorf("only %d issued slices were in the backups", issued)
	}
}

// writeOn appends, erases and issues until it is stopped.
func writeOn(ctx context.Context, k *kernel.Kernel, s store.Store) error {
	for n := 1; ; n++ {
		tenant, parents := dag.Tenant([]string{"a", "b"}[n%2]), []int{n - 2}
		if n <= 2 {
			parents = nil
		}
		a := storetest.Arrival(n, n%3, fmt.Sprint("turn ", n), parents...)
		if _, err := s.Append(ctx, tenant, []store.Batch{{a}}); err != nil {
			return err
		}
		if n%3 == 0 {
			if _, err := k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: storetest.TurnID(n)}); err != nil {
				return err
			}
		}
		if n%10 == 0 {
			_, err := k.Turns().Erase(ctx, tenant, storetest.TurnID(n), "x")
			if err != nil && !errors.Is(err, store.ErrBusy) { // recorded; the backup reads in the log
				return err
			}
		}
		time.Sleep(time.Millisecond)
	}
}

// compareBackup compares a backup with the store that it is of, and returns the number of
// its issued slices.
func compareBackup(t *testing.T, over func(store.Store) *kernel.Kernel, s store.Store, file string, result *storage.BackupJSON) (issued int) {
	t.Helper()
	ctx := t.Context()
	copied, err := sqlite.Open(ctx, file, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = copied.Close() }()
	if report, err := fsck.Store(ctx, copied, fsck.Options{}); err != nil || !report.OK() || len(result.Tenants) != 2 {
		t.Fatalf("%d tenants, %v, %v", len(result.Tenants), report.Findings, err)
	}
	k := over(copied)
	for _, r := range result.Tenants {
		tenant, head := dag.Tenant(r.Tenant), dag.Seq(r.Head)
		if got, err := copied.Head(ctx, tenant); err != nil || got != head || head == 0 {
			t.Errorf("%s: the head is %d, %v, printed was %d", tenant, got, err, head)
		}
		records := map[dag.Seq]store.Record{}
		err := copied.Scan(ctx, tenant, 0, nil, func(r *store.Record) error {
			records[r.Seq] = *r
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		err = s.Scan(ctx, tenant, 0, nil, func(want *store.Record) error {
			got, ok := records[want.Seq]
			if want.Seq > head {
				if ok {
					t.Errorf("%s: number %d is above the head", tenant, want.Seq)
				}
				return nil
			}
			delete(records, want.Seq)
			// Since then it may have been erased.
			if !ok || got.Turn != want.Turn || got.Leaf != want.Leaf || want.Body != nil && string(got.Body) != string(want.Body) {
				t.Errorf("%s: got %+v, want %+v", tenant, got, *want)
			}
			return nil
		})
		if err != nil || len(records) > 0 {
			t.Errorf("%s: %d records too many, %v", tenant, len(records), err)
		}
		list, err := storetest.Bundles(copied).After(ctx, tenant, 0, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		there, err := storetest.Bundles(s).After(ctx, tenant, 0, len(list))
		if err != nil || len(there) != len(list) {
			t.Fatalf("%s: %d issued slices, %d in the store, %v", tenant, len(list), len(there), err)
		}
		for i := range list {
			if list[i] != there[i] {
				t.Errorf("%s: got %+v, want %+v", tenant, list[i], there[i])
			}
			replay, err := k.Slices().ReplayIssued(ctx, tenant, list[i].Provenance.SliceID)
			if err != nil || replay.Outcome != kernel.Identical && replay.Outcome != kernel.Erased {
				t.Errorf("%s: issued slice %d: %+v, %v", tenant, list[i].Number, replay, err)
			}
		}
		issued += len(list)
	}
	return issued
}

// TestBackupOntoOpenStore asks for a backup in the place of a file that somebody has
// open and has not written to yet: what is written then must not be lost.
func TestBackupOntoOpenStore(t *testing.T) {
	t.Parallel()
	ctx, folder := t.Context(), t.TempDir()
	source, other := filepath.Join(folder, "source.db"), filepath.Join(folder, "other.db")
	for path, n := range map[string]int{source: 3, other: 5} {
		made := filepath.Join(t.TempDir(), "made.db") // this process has had it open
		s, err := sqlite.Create(ctx, made, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Append(ctx, "a", []store.Batch{storetest.Chain(1, n, 0)})
		if err = errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(made)
		if err == nil {
			err = os.WriteFile(path, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	backup := func(path string) (int, string) {
		var out bytes.Buffer
		a := testApp()
		a.IO.Stdout, a.IO.Stderr = &out, &out
		return a.Run(ctx, []string{"--store", "sqlite:" + source, "backup", path, "--force"}), out.String()
	}
	for _, path := range []string{source, other} {
		open, err := sqlite.Open(ctx, path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		before, err := open.Head(ctx, "a")
		if err != nil {
			t.Fatal(err)
		}
		if code, out := backup(path); code == api.ExitOK || !strings.Contains(out, map[string]string{source: "is the store itself", other: "the file is in use as a store"}[path]) {
			t.Errorf("exit code %d: %s", code, out)
		}
		if _, err := open.Append(ctx, "a", []store.Batch{storetest.Chain(100, 1, 0)}); err != nil {
			t.Fatal(err)
		}
		if err := open.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := sqlite.Open(ctx, path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if head, err := again.Head(ctx, "a"); err != nil || head != before+1 {
			t.Errorf("the head is %d, %v, want %d", head, err, before+1)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
	left, err := filepath.Glob(filepath.Join(folder, ".graphkernel*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestTakePlace opens the file while the backup is made: it is refused at the end, too.
func TestTakePlace(t *testing.T) {
	t.Parallel()
	ctx, folder := t.Context(), t.TempDir()
	path, fresh := filepath.Join(folder, "old.db"), filepath.Join(folder, "new.db")
	if err := os.WriteFile(fresh, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Create(ctx, path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := storage.TakePlace(ctx, fresh, path, false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v, want ErrExist", err)
	}
	if err := storage.TakePlace(ctx, fresh, path, true); !errors.Is(err, store.ErrBusy) {
		t.Errorf("got %v, want ErrBusy", err)
	}
	if err := storage.TakePlace(ctx, fresh, filepath.Join(folder, "none.db"), false); err != nil {
		t.Error(err)
	}
}
