package storetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/store"
)

// testWitnessed walks through what is cosigned of other logs.
func testWitnessed(t *testing.T, h Harness) {
	ctx := context.Background()
	s, err := h.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	none := ledger.Root{Hash: ledger.EmptyRoot()}
	root := func(n uint64) ledger.Root { return ledger.Root{Size: n, Hash: ledger.Hash{byte(n), 1}} }
	origins := []string{"log.example", "Log.example", "x", "a log / of ☃ & \U0001f464", strings.Repeat("o", 255), "-- ' \" \\ %"}
	for i, origin := range origins {
		is := func(want ledger.Root) {
			t.Helper()
			if got, err := s.Witnessed(ctx, Tenant, origin); err != nil || got != want {
				t.Errorf("of %q %+v is witnessed, %v, want %+v", origin, got, err, want)
			}
		}
		is(none)
		first := root(uint64(i + 1))
		if i%2 == 0 {
			if err := s.PutWitnessed(ctx, Tenant, origin, ledger.Root{}, first); err != nil { // the zero root is none
				t.Fatalf("%q: %v", origin, err)
			}
		} else if err := s.PutWitnessed(ctx, Tenant, origin, none, first); err != nil {
			t.Fatalf("%q: %v", origin, err)
		}
		is(first)
		for _, old := range []ledger.Root{none, root(99), {Size: first.Size, Hash: ledger.Hash{9}}, {Size: 98, Hash: first.Hash}} {
			if err := s.PutWitnessed(ctx, Tenant, origin, old, root(100)); !errors.Is(err, store.ErrMoved) {
				t.Errorf("%q: from %+v: %v, want ErrMoved", origin, old, err)
			}
		}
		is(first)
		if err := s.PutWitnessed(ctx, Tenant, origin, first, first); err != nil {
			t.Errorf("%q: the same again: %v", origin, err)
		}
		for _, next := range []ledger.Root{root(50), {Size: 50, Hash: ledger.Hash{8}}, root(ledger.MaxSize), first} { // it compares, and judges nothing
			old, err := s.Witnessed(ctx, Tenant, origin)
			if err == nil {
				err = s.PutWitnessed(ctx, Tenant, origin, old, next)
			}
			if err != nil {
				t.Errorf("%q: to %+v: %v", origin, next, err)
			}
			is(next)
		}
	}
	listed := func(s store.Store, tenant dag.Tenant, want ...string) {
		t.Helper()
		if got, err := s.Origins(ctx, tenant); err != nil || !sameList(got, want) {
			t.Errorf("%s: the origins are %q, %v, want %q", tenant, got, err, want)
		}
	}
	sorted := slices.Sorted(slices.Values(origins)) // as Go compares strings: by bytes
	listed(s, Tenant, sorted...)
	listed(s, "other")
	for _, origin := range []string{"", "a\nb", "a\x00", "\x7f", "\xff", "\u2028", strings.Repeat("o", 256)} {
		if _, err := s.Witnessed(ctx, Tenant, origin); !errors.Is(err, dag.ErrForm) {
			t.Errorf("Witnessed of %.9q: %v, want dag.ErrForm", origin, err)
		}
		if err := s.PutWitnessed(ctx, Tenant, origin, none, root(1)); !errors.Is(err, dag.ErrForm) {
			t.Errorf("PutWitnessed of %.9q: %v, want dag.ErrForm", origin, err)
		}
	}
	for name, next := range map[string]ledger.Root{"no empty log": {Hash: ledger.Hash{1}}, "too large": root(ledger.MaxSize + 1), "far too large": root(1<<64 - 1)} {
		if err := s.PutWitnessed(ctx, Tenant, "new", none, next); !errors.Is(err, dag.ErrForm) {
			t.Errorf("%s: %v, want dag.ErrForm", name, err)
		}
	}
	if got, err := s.Witnessed(ctx, "other", "x"); err != nil || got != none {
		t.Errorf("of another tenant: %+v, %v", got, err)
	}
	// What is asked for, refused or changes nothing is not listed.
	if err := s.PutWitnessed(ctx, Tenant, "never", none, none); err != nil {
		t.Errorf("none to none: %v", err)
	}
	if err := s.PutWitnessed(ctx, Tenant, "never", root(1), root(2)); !errors.Is(err, store.ErrMoved) {
		t.Errorf("from what was never there: %v, want ErrMoved", err)
	}
	listed(s, Tenant, sorted...)
	if err := s.PutWitnessed(ctx, "other", "z", none, root(1)); err != nil {
		t.Error(err)
	}
	listed(s, Tenant, sorted...)
	listed(s, "other", "z")
	if err := s.PutWitnessed(ctx, "No Tenant", "x", none, root(1)); !errors.Is(err, dag.ErrForm) {
		t.Errorf("no tenant: %v, want dag.ErrForm", err)
	}
	if got := mustLog(t, s, Tenant); got.Size != 0 {
		t.Errorf("witnessing moved the ledger to %d leaves", got.Size)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, h)
	listed(s, Tenant, sorted...)
	for i, origin := range origins {
		if got, err := s.Witnessed(ctx, Tenant, origin); err != nil || got != root(uint64(i+1)) {
			t.Errorf("opened again: of %q %+v, %v", origin, got, err)
		}
	}
}

// testWitnessedConcurrent lets many replace what is witnessed: each root is replaced by
// one of them, and what stands in the end is a chain in which nothing is lost.
func testWitnessedConcurrent(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	const sides, each = 4, 6
	var all sync.WaitGroup
	var mu sync.Mutex
	next, moved := map[ledger.Root]ledger.Root{}, 0
	for side := range sides {
		all.Go(func() {
			for done := 0; done < each; {
				old, err := s.Witnessed(ctx, Tenant, "log")
				if err != nil {
					t.Error(err)
					return
				}
				to := ledger.Root{Size: old.Size + 1, Hash: ledger.Hash{byte(side), byte(done), 1}}
				err = s.PutWitnessed(ctx, Tenant, "log", old, to)
				mu.Lock()
				if err == nil {
					if other, twice := next[old]; twice {
						t.Errorf("%+v was replaced by %+v and by %+v", old, other, to)
					}
					next[old] = to
					done++
				} else if moved++; !errors.Is(err, store.ErrMoved) {
					t.Errorf("side %d: %v, want ErrMoved", side, err)
					done = each
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	at, links := ledger.Root{Hash: ledger.EmptyRoot()}, 0
	for ; links <= len(next); links++ {
		to, ok := next[at]
		if !ok {
			break
		}
		at = to
	}
	if got, err := s.Witnessed(ctx, Tenant, "log"); err != nil || got != at || links != sides*each {
		t.Errorf("%+v stands, %v; a chain of %d roots leads to %+v, want %d", got, err, links, at, sides*each)
	}

	// Of those who start from the same root at once one succeeds.
	var won atomic.Int64
	begin := make(chan struct{})
	for side := range sides {
		all.Go(func() {
			<-begin
			switch err := s.PutWitnessed(ctx, Tenant, "log", at, ledger.Root{Size: 100, Hash: ledger.Hash{byte(side)}}); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, store.ErrMoved):
				t.Errorf("side %d: %v, want ErrMoved", side, err)
			}
		})
	}
	close(begin)
	all.Wait()
	if won.Load() != 1 {
		t.Errorf("%d of %d succeeded, want 1", won.Load(), sides)
	}
}
