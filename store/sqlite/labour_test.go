package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// rounds is how often a test kills: fifty times at full length.
func rounds() int {
	if testing.Short() {
		return 10
	}
	return 50
}

// TestKillAnywhere kills two processes that write to one file, at any moment. What
// either was told to be kept is there, and nothing is half there.
func TestKillAnywhere(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	created, err := sqlite.Create(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := created.Close(); err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	acknowledged := 0
	for round := range rounds() {
		tenant := dag.Tenant(fmt.Sprintf("round%d", round))
		crews := []*storetest.Crew{storetest.Hire(t, path, tenant, 0, r.Uint64()), storetest.Hire(t, path, tenant, 1, r.Uint64())}
		if round%5 > 0 { // else perhaps before there is anything
			crews[0].Begun()
		}
		time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
		var lines []string
		for _, c := range crews {
			lines = append(lines, c.Kill(t)...)
		}
		acknowledged += len(lines)
		audit(t, path, func(ctx context.Context, s store.Store) error { return storetest.Audit(ctx, s, tenant, lines) })
		if t.Failed() {
			t.Fatalf("round %d of seed %d", round, seed)
		}
	}
	audit(t, path, func(ctx context.Context, s store.Store) error {
		report, err := fsck.Store(ctx, s, fsck.Options{})
		return errors.Join(err, report.Err())
	})
	if acknowledged < rounds() {
		t.Errorf("in %d rounds only %d writes were acknowledged", rounds(), acknowledged)
	}
	t.Logf("%d writes were acknowledged", acknowledged)
}

// audit opens the file anew for fn.
func audit(t *testing.T, path string, fn func(context.Context, store.Store) error) {
	t.Helper()
	s, err := harness(path).Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(fn(t.Context(), s), s.Close()); err != nil {
		t.Error(err)
	}
}
