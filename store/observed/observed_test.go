package observed_test

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/observed"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// A watcher counts calls, and notes those that end twice or not at all.
type watcher struct {
	mu    sync.Mutex
	calls map[string]int
	open  int
	twice int
}

func (w *watcher) hook(ctx context.Context, call string) (context.Context, func(error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.calls == nil {
		w.calls = map[string]int{}
	}
	w.calls[call]++
	w.open++
	ended := false
	return ctx, func(error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if ended {
			w.twice++
		}
		ended = true
		w.open--
	}
}

// TestContract runs the contract's suite over a wrapped store: it passes, and all methods are seen
// except Close and Epoch, which ask for nothing. HeadWhile is seen too, and Turns and Find are each
// seen as two calls.
func TestContract(t *testing.T) {
	w := &watcher{}
	t.Run("suite", func(t *testing.T) {
		storetest.Run(t, fresh(w))
	})
	if calls := reflect.TypeFor[store.Store]().NumMethod() - 2 + 2 + reflect.TypeFor[store.HeadWhiler]().NumMethod(); len(w.calls) != calls {
		t.Errorf("%d of %d calls were seen: %v", len(w.calls), calls, w.calls)
	}
	if got, want := slices.Sorted(maps.Keys(w.calls)), slices.Sorted(slices.Values(observed.Calls[:])); !slices.Equal(got, want) {
		t.Errorf("the calls %q were seen, and Calls lists %q", got, want)
	}
	if w.open != 0 || w.twice != 0 {
		t.Errorf("%d calls did not end, %d ended twice", w.open, w.twice)
	}
}

// TestContractLarge runs the suite's large cases over a wrapped store.
func TestContractLarge(t *testing.T) {
	if race.Enabled {
		t.Skip("long, and on one goroutine: nothing for the race detector")
	}
	storetest.RunLarge(t, fresh(&watcher{}))
}

func fresh(w *watcher) func(*testing.T) storetest.Harness {
	return func(*testing.T) storetest.Harness {
		disk, opened := new(inmem.Disk), uint64(0)
		return storetest.Harness{Open: func(step func(string) error) (store.Store, error) {
			opened++
			return observed.New(inmem.Open(disk, inmem.Options{Seed: opened, Step: step}), w.hook), nil
		}}
	}
}

// TestHook makes sure that a call gets the hook's context, and the hook the call's
// error.
func TestHook(t *testing.T) {
	cause := errors.New("cause")
	var seen error
	s := observed.New(&asking{Store: inmem.Open(&inmem.Disk{}, inmem.Options{}), err: cause}, func(ctx context.Context, call string) (context.Context, func(error)) {
		return context.WithValue(ctx, key{}, call), func(err error) { seen = err }
	})
	if _, err := s.Head(t.Context(), "default"); !errors.Is(err, cause) || !errors.Is(seen, cause) {
		t.Errorf("got %v, the hook %v", err, seen)
	}
}

type key struct{}

type asking struct {
	store.Store
	err error
}

func (a *asking) Head(ctx context.Context, _ dag.Tenant) (dag.Seq, error) {
	if ctx.Value(key{}) != "head" {
		return 0, errors.New("not the hook's context")
	}
	return 0, a.err
}
