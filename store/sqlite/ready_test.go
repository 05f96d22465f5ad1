package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/ready"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// TestReady carries out a write of each kind next to texts that were prepared, from another process's point of view: one that appends an entry keeps the texts from being given
// from before its commit on, also if the process fails at any step, and an erasure removes them.
func TestReady(t *testing.T) {
	ctx := t.Context()
	broken := errors.New("broken")
	entries, failures, erasures := 0, 0, map[string]int{}
	for _, w := range storetest.Writes() {
		for step := 0; ; step++ { // 0: none fails
			steps, armed := 0, false
			path := filepath.Join(t.TempDir(), "store.db")
			s, err := Create(ctx, path, Options{Step: func(string) error {
				if armed {
					if steps++; steps == step {
						return broken
					}
				}
				return nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Before(ctx, s); err != nil {
				t.Fatal(err)
			}
			folder, last, err := s.Ready(ctx, storetest.Tenant)
			if err != nil {
				t.Fatal(err)
			}
			if err := folder.Keep("key", uint64(last), "", []byte("words")); err != nil {
				t.Fatal(err)
			}
			armed = true
			did := w.Do(ctx, s)
			armed = false
			if did != nil && !errors.Is(did, broken) {
				t.Fatalf("%s: %v", w.Name, did)
			}
			fails := steps >= step && step > 0
			again := reopened(ctx, t, s, path)
			now, err := lastEntry(ctx, again)
			if err != nil {
				t.Fatal(err)
			}
			at := fmt.Sprintf("%s, with a fault at step %d (%v)", w.Name, step, did)
			waits := folder.Count("key", "") > 0
			if now != last && waits {
				t.Errorf("%s: the last entry went from %d to %d, and the text is given", at, last, now)
			}
			if now != last {
				entries++
			}
			if fails {
				failures++
			}
			_, _, err = ready.At(folder.Path()).Take("key", func([]byte) error { return nil })
			if gone := errors.Is(err, ready.ErrNone); gone && now != last {
				erasures[w.Name]++
			}
			// Whatever happened, the folder is in order again with the next round.
			folder, last, err = again.Ready(ctx, storetest.Tenant)
			if err == nil {
				err = folder.Keep("key", uint64(last), "", []byte("more"))
			}
			if err != nil || last != now || folder.Count("key", "") != 1 {
				t.Errorf("%s: afterwards %d texts wait, after entry %d of %d, %v", at, folder.Count("key", ""), last, now, err)
			}
			if err := again.Close(); err != nil {
				t.Fatal(err)
			}
			if step > 0 && !fails {
				break
			}
		}
	}
	t.Logf("%d writes with an entry, %v that removed the texts, %d faults", entries, erasures, failures)
	if entries < 10 || len(erasures) != 3 || failures < 50 {
		t.Error("too few writes show anything")
	}
}

// reopened closes a store, which may be broken, and opens its file as another process does.
func reopened(ctx context.Context, t *testing.T, s *Store, path string) *Store {
	t.Helper()
	_ = s.Close() // it may say what broke it
	again, err := Open(ctx, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func lastEntry(ctx context.Context, s *Store) (last dag.Seq, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT coalesce(max(e.seq), 0) FROM entries e JOIN tenants t ON t.tenant = e.tenant WHERE t.name = ?`, string(storetest.Tenant)).Scan(&last)
	return last, err
}
