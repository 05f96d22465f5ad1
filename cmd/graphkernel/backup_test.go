package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

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
		a.stdout, a.stderr = &out, &out
		if code := a.run(ctx, []string{"--store", "sqlite:" + path, "--output", "json", "backup", file}); code != exitOK {
			t.Fatalf("exit code %d: %s", code, &out)
		}
		var result backupJSON
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
			if _, err := k.Slice(ctx, tenant, kernel.Request{Anchor: storetest.TurnID(n)}); err != nil {
				return err
			}
		}
		if n%10 == 0 {
			_, err := k.Erase(ctx, tenant, storetest.TurnID(n), "x")
			if err != nil && !errors.Is(err, store.ErrBusy) { // recorded; the backup reads in the log
				return err
			}
		}
		time.Sleep(time.Millisecond)
	}
}

// compareBackup compares a backup with the store that it is of, and gives the number of
// its issued slices.
func compareBackup(t *testing.T, over func(store.Store) *kernel.Kernel, s store.Store, file string, result *backupJSON) (issued int) {
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
		list, err := copied.IssuedAfter(ctx, tenant, 0, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		there, err := s.IssuedAfter(ctx, tenant, 0, len(list))
		if err != nil || len(there) != len(list) {
			t.Fatalf("%s: %d issued slices, %d in the store, %v", tenant, len(list), len(there), err)
		}
		for i := range list {
			if list[i] != there[i] {
				t.Errorf("%s: got %+v, want %+v", tenant, list[i], there[i])
			}
			replay, err := k.ReplayIssued(ctx, tenant, list[i].Provenance.SliceID)
			if err != nil || replay.Outcome != kernel.Identical && replay.Outcome != kernel.Erased {
				t.Errorf("%s: issued slice %d: %+v, %v", tenant, list[i].Number, replay, err)
			}
		}
		issued += len(list)
	}
	return issued
}
