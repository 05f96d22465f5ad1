package storetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/store"
)

// errFault is the error of an injected fault.
var errFault = errors.New("injected fault")

// testFaults makes each step of each write fail once. Up to "commit" the write
// is lost; from "committed" on it is kept, although its caller gets an error.
func testFaults(t *testing.T, writes []Write, fresh func(t *testing.T) Harness) {
	for _, w := range writes {
		t.Run(w.Name, func(t *testing.T) {
			steps, err := Steps(fresh(t), w)
			if err != nil {
				t.Fatal(err)
			}
			if len(steps) < 3 {
				t.Fatalf("the write has only the steps %q", steps)
			}
			logs := slices.ContainsFunc(steps, func(step string) bool { return strings.HasPrefix(step, "log") })
			if logs != (w.Leaves[1] > w.Leaves[0]) {
				t.Errorf("it appends to the ledger from %d leaves to %d in the steps %q", w.Leaves[0], w.Leaves[1], steps)
			}
			kept := 0
			for _, i := range Sampled(t, len(steps)) {
				if fault(t, fresh(t), w, i, steps[i]) {
					kept++
				}
			}
			if !testing.Short() && (kept == 0 || kept == len(steps)) {
				t.Errorf("of %d faults %d left the write in place; want some on each side of the commit", len(steps), kept)
			}
		})
	}
}

// Sampled returns the numbers below n: all of them, or with -short a fifth, from a random first number that the log names.
func Sampled(t *testing.T, n int) (numbers []int) {
	first, stride := 0, 1
	if testing.Short() {
		stride = 5
		first = rand.IntN(stride)
		t.Logf("every %dth case of %d, from %d on", stride, n, first)
	}
	for i := first; i < n; i += stride {
		numbers = append(numbers, i)
	}
	return numbers
}

// Steps returns the steps of a write.
func Steps(h Harness, w Write) (steps []string, err error) {
	ctx := context.Background()
	recording := false
	s, err := h.Open(func(step string) error {
		if recording {
			steps = append(steps, step)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := w.Before(ctx, s); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	recording = true
	err = w.Do(ctx, s)
	return steps, errors.Join(err, s.Close())
}

// testCancelledSteps ends the caller's context at each step of each write. The result
// must be true: after an error nothing was kept, and without an error everything was.
func testCancelledSteps(t *testing.T, writes []Write, fresh func(t *testing.T) Harness) {
	for _, w := range writes {
		steps, err := Steps(fresh(t), w)
		if err != nil {
			t.Fatal(err)
		}
		failed := 0
		for _, n := range Sampled(t, slices.Index(steps, "committed")) {
			ctx, cancel := context.WithCancel(context.Background())
			h, at := fresh(t), -1
			s, err := h.Open(func(string) error {
				if at >= 0 {
					if at++; at-1 == n {
						cancel()
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Before(ctx, s); err != nil {
				t.Fatal(err)
			}
			at = 0
			err = w.Do(ctx, s)
			if at <= n {
				t.Fatalf("%s: step %q was not reached", w.Name, steps[n])
			}
			if err != nil {
				failed++
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%s, cancelled at %q: %v", w.Name, steps[n], err)
				}
			}
			kept, doneErr := w.Done(context.Background(), s)
			if doneErr != nil || kept != (err == nil) {
				t.Errorf("%s, cancelled at %q, gave %v; kept is %v, %v", w.Name, steps[n], err, kept, doneErr)
			}
			if err := errors.Join(Check(context.Background(), s, Tenant), w.Do(context.Background(), s), s.Close()); err != nil {
				t.Errorf("%s, cancelled at %q: afterwards %v", w.Name, steps[n], err)
			}
			cancel()
		}
		if failed == 0 && !testing.Short() {
			t.Errorf("%s was never cancelled", w.Name)
		}
	}
}

// fault makes the n-th step of a write fail and reports whether the write was kept.
func fault(t *testing.T, h Harness, w Write, n int, step string) bool {
	t.Helper()
	ctx := context.Background()
	fired, at := 0, -1
	s, err := h.Open(func(name string) error {
		if at < 0 {
			return nil // still before the write
		}
		if at++; at-1 != n {
			return nil
		}
		if name != step {
			t.Errorf("step %d is %q, and was %q", n, name, step)
		}
		fired++
		return errFault
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Before(ctx, s); err != nil {
		t.Fatal(err)
	}
	before := mustLog(t, s, Tenant)
	at = 0
	err = w.Do(ctx, s)
	if fired != 1 {
		t.Fatalf("step %q: the fault fired %d times", step, fired)
	}
	if !errors.Is(err, errFault) {
		t.Errorf("step %q: the write gave %v, want the fault", step, err)
	}
	unknown := store.ErrBroken
	if h.Heals {
		unknown = store.ErrUncertain
	}
	for _, sentinel := range []error{store.ErrBroken, store.ErrUncertain} {
		if want := step == "committed" && sentinel == unknown; errors.Is(err, sentinel) != want {
			t.Errorf("step %q: the write gave %v; that it wraps %q is %v", step, err, sentinel, !want)
		}
	}
	if step == "committed" && !h.Heals {
		allFail(t, ctx, s, store.ErrBroken)
	} else {
		settled(t, ctx, s, w, step) // without opening again
	}
	if err := s.Close(); err != nil {
		t.Errorf("step %q: Close: %v", step, err)
	}
	return reopened(t, h, w, step, before)
}

// Reopened opens a store after a fault and checks it: the write is stored in full or not
// at all, and repeating it succeeds, twice. It reports whether the write was stored.
func Reopened(t *testing.T, h Harness, w Write, step string) (kept bool) {
	t.Helper()
	return reopened(t, h, w, step, ledger.Root{Hash: ledger.EmptyRoot()}) // every ledger extends the empty one
}

// reopened is like Reopened, and also checks that the ledger extends the one before the fault.
func reopened(t *testing.T, h Harness, w Write, step string, before ledger.Root) (kept bool) {
	t.Helper()
	ctx := context.Background()
	s, err := h.Open(nil)
	if err != nil {
		t.Fatalf("step %q: opening again: %v", step, err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Errorf("step %q: Close: %v", step, err)
		}
	}()
	kept = settled(t, ctx, s, w, step)
	extends := func() {
		t.Helper()
		if err := Extends(ctx, s, Tenant, before); err != nil {
			t.Errorf("step %q: the ledger forked: %v", step, err)
		}
	}
	extends()
	var head dag.Seq
	var log ledger.Root
	for i := range 2 {
		if err := w.Do(ctx, s); err != nil {
			t.Fatalf("step %q: the write again: %v", step, err)
		}
		if done, err := w.Done(ctx, s); err != nil || !done {
			t.Fatalf("step %q: after the write again: %v, %v", step, done, err)
		}
		if err := Check(ctx, s, Tenant); err != nil {
			t.Fatalf("step %q: after the write again: %v", step, err)
		}
		now, logged := mustHead(t, s), mustLog(t, s, Tenant)
		if i > 0 && (now != head || logged != log) {
			t.Errorf("step %q: repeating the write moved the head from %d to %d, the ledger from %+v to %+v", step, head, now, log, logged)
		}
		if head, log = now, logged; log.Size != w.Leaves[1] {
			t.Errorf("step %q: after the write again the ledger has %d leaves, want %d", step, log.Size, w.Leaves[1])
		}
	}
	extends()
	return kept
}

// settled checks the store after a fault and reports whether the write is stored.
func settled(t *testing.T, ctx context.Context, s store.Store, w Write, step string) bool {
	t.Helper()
	if err := Check(ctx, s, Tenant); err != nil {
		t.Fatalf("step %q: %v", step, err)
	}
	kept, err := w.Done(ctx, s)
	if err != nil {
		t.Fatalf("step %q: half kept: %v", step, err)
	}
	leaves := w.Leaves[0]
	if kept {
		leaves = w.Leaves[1]
	}
	if got := mustLog(t, s, Tenant); got.Size != leaves {
		t.Errorf("step %q: kept is %v, and the ledger has %d leaves, want %d", step, kept, got.Size, leaves)
	}
	if late := step == "committed" || step == "checkpoint"; kept != late && step != "killed" {
		t.Errorf("step %q: kept is %v", step, kept)
	}
	return kept
}
