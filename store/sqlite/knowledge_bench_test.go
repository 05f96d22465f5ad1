package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// popular makes a store in which one statement has n assertions, each by another source.
func popular(b *testing.B, n int) (*sqlite.Store, knowledge.ID) {
	b.Helper()
	s := create(b, filepath.Join(b.TempDir(), "store.db"))
	for from := 0; from < n; from += knowledge.MaxActs {
		var acts []knowledge.Act
		for i := from; i < min(n, from+knowledge.MaxActs); i++ {
			acts = append(acts, storetest.Assertion(1, 1, 2, 500_000, fmt.Sprintf("source-%d", i)))
		}
		if _, err := storetest.Facts(s).Learn(b.Context(), storetest.Tenant, acts, 1); err != nil {
			b.Fatal(err)
		}
	}
	f := storetest.Assertion(1, 1, 2, 500_000, "user").Fact
	return s, f.ID()
}

// BenchmarkConfirm asserts a statement once more, by 1000 sources at once, that has so many
// assertions already.
func BenchmarkConfirm(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 40_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, _ := popular(b, n)
			next := n
			for b.Loop() {
				var acts []knowledge.Act
				for range 1000 {
					acts = append(acts, storetest.Assertion(1, 1, 2, 500_000, fmt.Sprintf("source-%d", next)))
					next++
				}
				if _, err := storetest.Facts(s).Learn(b.Context(), storetest.Tenant, acts, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkActsOf reads all acts of a statement in pages of 100.
func BenchmarkActsOf(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 40_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, id := popular(b, n)
			for b.Loop() {
				read := 0
				for after := dag.Seq(0); ; {
					page, err := storetest.Facts(s).ActsOf(b.Context(), storetest.Tenant, id, after, 100)
					if err != nil {
						b.Fatal(err)
					}
					if read += len(page); len(page) < 100 {
						break
					}
					after = page[99].Seq
				}
				if read != n {
					b.Fatalf("%d acts, want %d", read, n)
				}
			}
		})
	}
}
