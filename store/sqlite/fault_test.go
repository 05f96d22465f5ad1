package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// TestRefusedWrite has SQLite itself refuse a write, for want of pages and for being
// read-only: nothing is changed, reads go on, and so do writes once the fault has gone.
func TestRefusedWrite(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct{ name, fault, mend string }{
		{"full", `PRAGMA max_page_count = 1`, `PRAGMA max_page_count = 1000000`}, // SQLite takes the pages that there are for 1
		{"read-only", `PRAGMA query_only = 1`, `PRAGMA query_only = 0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Create(ctx, filepath.Join(t.TempDir(), "store.db"), Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			exec := func(text string) {
				t.Helper()
				if _, err := s.writer.conn.ExecContext(ctx, text); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.Append(ctx, storetest.Tenant, []store.Batch{storetest.Chain(1, 20, 0)}); err != nil {
				t.Fatal(err)
			}
			exec(c.fault)
			fired := 0
			for n := range 300 { // until the free room in the pages is used up
				batch := []store.Batch{storetest.Chain(1000+20*n, 20, 1+n)}
				before, err := s.Head(ctx, storetest.Tenant)
				if err != nil {
					t.Fatal(err)
				}
				if _, err = s.Append(ctx, storetest.Tenant, batch); err == nil {
					continue
				}
				if fired++; !errors.Is(err, store.ErrUnwritable) || errors.Is(err, store.ErrBroken) || errors.Is(err, store.ErrUncertain) {
					t.Fatalf("the refused write gave %v", err)
				}
				if after, err := s.Head(ctx, storetest.Tenant); err != nil || after != before {
					t.Fatalf("the head went from %d to %d, %v", before, after, err)
				}
				if err := storetest.Check(ctx, s, storetest.Tenant); err != nil {
					t.Fatal(err)
				}
				if fired == 3 {
					break
				}
			}
			if fired != 3 {
				t.Fatalf("the fault fired %d times", fired)
			}
			if !s.refuses.Load() {
				t.Error("the store has not noted that its disk refuses writes")
			}
			exec(c.mend)
			if err := s.Writable(ctx); err != nil || s.refuses.Load() {
				t.Errorf("after the mend the store is not writable: %v", err)
			}
			if _, err := s.Append(ctx, storetest.Tenant, []store.Batch{storetest.Chain(100_000, 20, 999)}); err != nil {
				t.Fatal(err)
			}
			if err := storetest.Check(ctx, s, storetest.Tenant); err != nil {
				t.Error(err)
			}
		})
	}
}
