package sqlite_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// TestDroppedSnapshotIsGone replaces and drops snapshots of several tenants and of many sizes, and looks for them in the files. What was
// replaced goes with the next plan that erases.
func TestDroppedSnapshotIsGone(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := rand.New(rand.NewPCG(31, 32))
	path := filepath.Join(t.TempDir(), "store.db")
	s := create(t, path)
	tenants := []dag.Tenant{"a", "b", "c"}
	at := map[string]int{} // the marker of each that is there, by tenant and name
	var gone []int
	const rounds = 300
	for n := range rounds {
		of, name := tenants[r.IntN(3)], fmt.Sprintf("test/%d", r.IntN(20))
		marker := fmt.Sprintf("<secret %04d>", n)
		one := history.Snapshot{Name: name, Value: []byte(marker + strings.Repeat("x", r.IntN([]int{1, 300, 5_000, 60_000}[r.IntN(4)])) + marker)}
		key := string(of) + name
		if before, ok := at[key]; ok {
			gone = append(gone, before)
		}
		if at[key] = n; r.IntN(3) == 0 {
			delete(at, key)
			one.Value = nil
		}
		if err := storetest.Snap(ctx, s, of, []history.Snapshot{one}, n == rounds-1); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range gone {
		if files := in(t, path, fmt.Appendf(nil, "<secret %04d>", n)); len(files) > 0 {
			t.Errorf("snapshot %d, which was dropped, is in %v", n, files)
		}
	}
	for key, n := range at {
		if files := in(t, path, fmt.Appendf(nil, "<secret %04d>", n)); len(files) == 0 {
			t.Errorf("snapshot %d, %s, is nowhere: this test cannot find anything", n, key)
		}
	}
	if len(gone) < 50 || len(at) < 10 {
		t.Errorf("%d were dropped and %d kept", len(gone), len(at))
	}
}
