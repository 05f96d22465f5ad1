package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// chain is storetest.Chain with the 400 bytes of text that a turn has on average.
func chain(first, n, conversation int) store.Batch {
	b := make(store.Batch, n)
	for i := range b {
		content := fmt.Sprintf("%d %s", first+i, strings.Repeat("forty bytes of text that say nothing. ", 10))
		if i == 0 {
			b[i] = storetest.Arrival(first, conversation, content)
		} else {
			b[i] = storetest.Arrival(first+i, conversation, content, first+i-1)
		}
	}
	return b
}

func create(b testing.TB, path string) *sqlite.Store {
	b.Helper()
	s, err := sqlite.Create(context.Background(), path, sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	return s
}

// BenchmarkAppend admits 1000 turns in each Append, durably.
func BenchmarkAppend(b *testing.B) {
	const size = 1000
	for _, kind := range []string{"new", "existing"} {
		b.Run(kind, func(b *testing.B) {
			s := create(b, filepath.Join(b.TempDir(), "store.db"))
			first := 1
			batch := chain(first, size, 0)
			if _, err := s.Append(context.Background(), storetest.Tenant, []store.Batch{batch}); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if kind == "new" {
					b.StopTimer()
					first += size
					batch = chain(first, size, first)
					b.StartTimer()
				}
				if _, err := s.Append(context.Background(), storetest.Tenant, []store.Batch{batch}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(size*b.N)/b.Elapsed().Seconds(), "turns/s")
		})
	}
}

// BenchmarkAppendOne admits a single turn in each Append, as a chat does.
func BenchmarkAppendOne(b *testing.B) {
	s := create(b, filepath.Join(b.TempDir(), "store.db"))
	n := 0
	for b.Loop() {
		n++
		if _, err := s.Append(context.Background(), storetest.Tenant, []store.Batch{chain(n, 1, n/1000)}); err != nil {
			b.Fatal(err)
		}
	}
}

const benchTurns = 100_000

// filled makes a store of 100 000 turns in conversations of 1000.
func filled(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "store.db")
	s := create(b, path)
	for first := 1; first <= benchTurns; first += 1000 {
		if _, err := s.Append(context.Background(), storetest.Tenant, []store.Batch{chain(first, 1000, first/1000)}); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

func someIDs(n int) []dag.TurnID {
	ids := make([]dag.TurnID, n)
	for i := range ids {
		ids[i] = storetest.TurnID(50_001 + i*3)
	}
	return ids
}

func BenchmarkRead(b *testing.B) {
	ctx, path := context.Background(), filled(b)
	tenant := storetest.Tenant
	part := store.Part{Conversation: storetest.ConversationID(50)}
	b.Run("OpenSegmentTurns", func(b *testing.B) {
		for b.Loop() {
			s, err := sqlite.Open(ctx, path, sqlite.Options{})
			if err != nil {
				b.Fatal(err)
			}
			if seg, err := s.Segment(ctx, tenant, []store.Part{part}); err != nil || len(seg.Turns) != 1000 {
				b.Fatalf("%d turns, %v", len(seg.Turns), err)
			}
			if got, err := s.Turns(ctx, tenant, store.IDs(someIDs(256))); err != nil || len(got) != 256 {
				b.Fatalf("%d turns, %v", len(got), err)
			}
			b.StopTimer()
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	})
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	b.Run("SegmentCold", func(b *testing.B) {
		for b.Loop() {
			if seg, err := s.Segment(ctx, tenant, []store.Part{part}); err != nil || len(seg.Turns) != 1000 {
				b.Fatalf("%d turns, %v", len(seg.Turns), err)
			}
		}
	})
	for _, parts := range []int{1, 8} {
		b.Run(fmt.Sprintf("SegmentNoNews%d", parts), func(b *testing.B) {
			b.ReportAllocs()
			ask := make([]store.Part, parts)
			for i := range ask {
				ask[i] = store.Part{Conversation: storetest.ConversationID(50 + i), After: benchTurns}
			}
			for b.Loop() {
				if seg, err := s.Segment(ctx, tenant, ask); err != nil || len(seg.Turns) != 0 || seg.Head != benchTurns {
					b.Fatalf("%d turns, %v", len(seg.Turns), err)
				}
			}
		})
	}
	for _, n := range []int{1, 41, 256} {
		b.Run(fmt.Sprintf("Turns%d", n), func(b *testing.B) {
			b.ReportAllocs()
			ids := someIDs(n)
			for b.Loop() {
				if got, err := s.Turns(ctx, tenant, store.IDs(ids)); err != nil || len(got) != n {
					b.Fatalf("%d turns, %v", len(got), err)
				}
			}
		})
	}
	b.Run("Scan", func(b *testing.B) {
		for b.Loop() {
			n := 0
			if err := s.Scan(ctx, tenant, 0, nil, func(*store.Record) error { n++; return nil }); err != nil || n != benchTurns {
				b.Fatalf("%d turns, %v", n, err)
			}
		}
		b.ReportMetric(float64(benchTurns*b.N)/b.Elapsed().Seconds(), "turns/s")
	})
}

// BenchmarkLedger records sixteen issued slices at a time, after an empty ledger
// and after one of a million leaves, by turns: so both see the same machine. It returns
// how much longer the second takes.
func BenchmarkLedger(b *testing.B) {
	const list, leaves = 16, 1_000_000
	ctx := context.Background()
	var stores [2]*sqlite.Store
	for i := range stores {
		path := filepath.Join(b.TempDir(), "store.db")
		s, err := sqlite.Create(ctx, path, sqlite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for first := 0; first < i*leaves; first += 1000 {
			if _, err := storetest.PutLeaves(ctx, s, storetest.Tenant, storetest.Leaves(first, 1000)); err != nil {
				b.Fatal(err)
			}
		}
		if err := s.Close(); err != nil { // which empties the log: copying it into the file is no price of what comes
			b.Fatal(err)
		}
		if stores[i], err = sqlite.Open(ctx, path, sqlite.Options{}); err != nil {
			b.Fatal(err)
		}
		defer stores[i].Close()
	}
	var took [2]time.Duration
	n := 0
	for b.Loop() {
		bundles := make([]issued.Record, list)
		for i := range bundles {
			bundles[i] = storetest.Issued(n*list+i, i)
		}
		for k := range stores {
			at := (k + n) % 2
			begin := time.Now()
			if _, err := storetest.Bundles(stores[at]).Put(ctx, storetest.Tenant, bundles); err != nil {
				b.Fatal(err)
			}
			took[at] += time.Since(begin)
		}
		n++
	}
	b.ReportMetric(float64(took[0].Microseconds())/float64(n), "µs/empty")
	b.ReportMetric(float64(took[1].Microseconds())/float64(n), "µs/million")
	b.ReportMetric(float64(took[1])/float64(took[0]), "ratio")
}
