package turnstile_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/graphkernel/graphkernel/internal/turnstile"
)

// TestTurnstile counts who is inside.
func TestTurnstile(t *testing.T) {
	inside, most, passed := make(turnstile.Turnstile, 3), 0, 0
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			err := inside.Pass(t.Context(), func() error {
				mu.Lock()
				most = max(most, len(inside))
				passed++
				mu.Unlock()
				runtime.Gosched()
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if most > 3 || passed != 100 {
		t.Errorf("%d passed, %d at once", passed, most)
	}
	full := make(turnstile.Turnstile)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := full.Pass(ctx, func() error { t.Error("passed"); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting in vain gave %v", err)
	}
}

// TestTurnstileEach counts every number once, anyone who else is inside, and stops at a fault.
func TestTurnstileEach(t *testing.T) {
	for _, room := range []int{1, 2, 5} {
		for _, n := range []int{0, 1, 31, 32, 33, 64, 65, 1000} {
			for _, others := range []int{0, room - 1} {
				inside := make(turnstile.Turnstile, room)
				for range others {
					inside <- struct{}{}
				}
				seen := make([]atomic.Int32, n)
				var at, most atomic.Int32
				err := inside.Each(t.Context(), n, func(i int) error {
					now := at.Add(1)
					for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
					}
					runtime.Gosched()
					seen[i].Add(1)
					at.Add(-1)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				for i := range seen {
					if seen[i].Load() != 1 {
						t.Fatalf("room for %d, %d numbers: %d was seen %d times", room, n, i, seen[i].Load())
					}
				}
				if int(most.Load()) > room-others || len(inside) != others {
					t.Errorf("room for %d beside %d: %d at once, %d stayed", room, others, most.Load(), len(inside))
				}
				fault := errors.New("fault")
				calls := atomic.Int32{}
				err = inside.Each(t.Context(), n, func(i int) error {
					calls.Add(1)
					if i == n/2 {
						return fault
					}
					return nil
				})
				if n > 0 && !errors.Is(err, fault) || len(inside) != others {
					t.Errorf("room for %d, %d numbers: a fault gave %v, %d stayed", room, n, err, len(inside))
				}
			}
		}
	}
}

// TestTurnstilePanic makes sure that a panic of a helper is the caller's.
func TestTurnstilePanic(t *testing.T) {
	inside, caller := make(turnstile.Turnstile, 2), make(chan struct{})
	helped := false
	for range 100 {
		func() {
			defer func() {
				if p := recover(); p != nil {
					helped = true
				}
			}()
			var once sync.Once
			_ = inside.Each(t.Context(), 64, func(i int) error {
				if i >= 32 {
					once.Do(func() { close(caller) })
					panic("one too many")
				}
				<-caller // so that somebody else takes the second half
				return nil
			})
		}()
		if len(inside) != 0 {
			t.Fatalf("%d stayed", len(inside))
		}
		caller = make(chan struct{})
	}
	if !helped {
		t.Error("nobody panicked")
	}
}
