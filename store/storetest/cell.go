package storetest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/store"
)

// CellOf returns the value of a cell, nil if it does not exist.
func CellOf(ctx context.Context, s store.Store, tenant dag.Tenant, name string) ([]byte, error) {
	list, err := s.Cells(ctx, tenant, name)
	for _, c := range list {
		if c.Name == name {
			return c.Value, err
		}
	}
	return nil, err
}

func sameCell(a, b history.Cell) bool { return a.Name == b.Name && bytes.Equal(a.Value, b.Value) }

// testCells tests reading, replacing, listing and refusing cells.
func testCells(t *testing.T, h Harness) {
	ctx := context.Background()
	s, err := h.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"a/log.example", "a/Log.example", "x", "a log / of \u2603 & \U0001f464", strings.Repeat("o", 255), "-- ' \" \\ %"}
	for i := range names {
		names[i] = cellPrefix + names[i]
	}
	value := func(n int) []byte { return cellRoot(uint64(n)) }
	for i, name := range names {
		is := func(want []byte) {
			t.Helper()
			if got, err := CellOf(ctx, s, Tenant, name); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%q is %x, %v, want %x", name, got, err, want)
			}
		}
		is(nil)
		first := value(i + 1)
		if err := s.Swap(ctx, Tenant, name, [][]byte{nil, {}}[i%2], first); err != nil { // nil and an empty value are the same
			t.Fatalf("%q: %v", name, err)
		}
		is(first)
		for _, old := range [][]byte{nil, value(99), first[:2], append(bytes.Clone(first), 0)} {
			if err := s.Swap(ctx, Tenant, name, old, value(100)); !errors.Is(err, store.ErrMoved) {
				t.Errorf("%q: from %x: %v, want ErrMoved", name, old, err)
			}
		}
		is(first)
		if err := s.Swap(ctx, Tenant, name, first, first); err != nil {
			t.Errorf("%q: the same again: %v", name, err)
		}
		old := first
		for _, next := range [][]byte{value(50), {0}, bytes.Repeat([]byte{7}, history.MaxCell), nil, value(51), {}, first} {
			if err := s.Swap(ctx, Tenant, name, old, next); err != nil {
				t.Errorf("%q: to %d bytes: %v", name, len(next), err)
			}
			is(next)
			old = next
		}
	}
	listed := func(s store.Store, tenant dag.Tenant, prefix string, want ...string) {
		t.Helper()
		var cells []history.Cell
		for _, name := range want {
			if !strings.HasPrefix(name, cellPrefix) {
				name = cellPrefix + name
			}
			cells = append(cells, history.Cell{Name: name, Value: value(slices.Index(names, name) + 1)})
		}
		if got, err := s.Cells(ctx, tenant, prefix); err != nil || !slices.EqualFunc(got, cells, sameCell) {
			t.Errorf("%s: the cells that begin with %q are %q, %v, want %q", tenant, prefix, got, err, cells)
		}
	}
	sorted := slices.Sorted(slices.Values(names)) // as Go compares strings: by bytes
	all := func(s store.Store) {
		t.Helper()
		listed(s, Tenant, "", sorted...)
		listed(s, Tenant, cellPrefix+"a", "a log / of \u2603 & \U0001f464", "a/Log.example", "a/log.example")
		listed(s, Tenant, cellPrefix+"a/l", "a/log.example")
		listed(s, Tenant, cellPrefix+"a/log.example.")
		listed(s, "other", "")
	}
	all(s)
	for _, name := range []string{"", "a\nb", "a\x00", "\x7f", "\xff", "\u2028", strings.Repeat("o", history.MaxCellName+1)} {
		if err := s.Swap(ctx, Tenant, name, nil, value(1)); !errors.Is(err, dag.ErrForm) {
			t.Errorf("a cell named %.9q: %v, want dag.ErrForm", name, err)
		}
	}
	longest := strings.Repeat("o", history.MaxCellName)
	if err := errors.Join(s.Swap(ctx, Tenant, longest, nil, value(1)), s.Swap(ctx, Tenant, longest, value(1), nil)); err != nil {
		t.Errorf("a cell with the longest name: %v", err)
	}
	long := make([]byte, history.MaxCell+1)
	if err := s.Swap(ctx, Tenant, "new", nil, long); !errors.Is(err, dag.ErrForm) {
		t.Errorf("a value that is too long: %v, want dag.ErrForm", err)
	}
	if err := s.Swap(ctx, Tenant, "new", long, nil); !errors.Is(err, dag.ErrForm) {
		t.Errorf("an old value that is too long: %v, want dag.ErrForm", err)
	}
	// A cell that was only read, or whose swaps were refused or changed nothing, is not listed.
	if err := s.Swap(ctx, Tenant, "never", nil, nil); err != nil {
		t.Errorf("nothing to nothing: %v", err)
	}
	if err := s.Swap(ctx, Tenant, "never", value(1), value(2)); !errors.Is(err, store.ErrMoved) {
		t.Errorf("from what was never there: %v, want ErrMoved", err)
	}
	all(s)
	if err := s.Swap(ctx, "No Tenant", "x", nil, value(1)); !errors.Is(err, dag.ErrForm) {
		t.Errorf("no tenant: %v, want dag.ErrForm", err)
	}
	if head, err := s.Head(ctx, Tenant); err != nil || head != 0 {
		t.Errorf("the head is %d, %v; a cell takes no number", head, err)
	}
	if got := mustLog(t, s, Tenant); got.Size != 0 {
		t.Errorf("cells moved the ledger to %d leaves", got.Size)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	all(open(t, h))
}

// testCellsConcurrent lets several goroutines replace one cell: each value is
// replaced by one of them, and the values form a chain in which none is lost.
func testCellsConcurrent(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	const sides, each = 4, 6
	var all sync.WaitGroup
	var mu sync.Mutex
	next, moved := map[string]string{}, 0
	for side := range sides {
		all.Go(func() {
			for done := 0; done < each; {
				old, err := CellOf(ctx, s, Tenant, "cell")
				if err != nil {
					t.Error(err)
					return
				}
				to := append(bytes.Clone(old), byte(side), byte(done))
				err = s.Swap(ctx, Tenant, "cell", old, to)
				mu.Lock()
				if err == nil {
					if other, twice := next[string(old)]; twice {
						t.Errorf("%x was replaced by %x and by %x", old, other, to)
					}
					next[string(old)] = string(to)
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
	at, links := "", 0
	for ; links <= len(next); links++ {
		to, ok := next[at]
		if !ok {
			break
		}
		at = to
	}
	if got, err := CellOf(ctx, s, Tenant, "cell"); err != nil || string(got) != at || links != sides*each {
		t.Errorf("the cell is %x, %v; a chain of %d values leads to %x, want %d", got, err, links, at, sides*each)
	}

	// Of concurrent swaps from the same value one succeeds.
	var won atomic.Int64
	begin := make(chan struct{})
	for side := range sides {
		all.Go(func() {
			<-begin
			switch err := s.Swap(ctx, Tenant, "cell", []byte(at), []byte{100, byte(side)}); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, store.ErrMoved):
				t.Errorf("side %d: %v, want ErrMoved", side, err)
			}
		})
	}
	close(begin)
	all.Wait()
	last, err := CellOf(ctx, s, Tenant, "cell")
	if err := errors.Join(err, s.Swap(ctx, Tenant, "cell", last, nil)); err != nil { // no codec knows this cell
		t.Error(err)
	}
	if won.Load() != 1 {
		t.Errorf("%d of %d succeeded, want 1", won.Load(), sides)
	}
}
