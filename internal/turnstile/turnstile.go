// Package turnstile limits how many computations run at once.
package turnstile

import (
	"context"
	"sync/atomic"
)

// A Turnstile lets at most cap(t) callers run at once, in the order of their arrival. With a capacity of one it is a lock whose
// waiters can give up when their context ends.
type Turnstile chan struct{}

// Pass waits for a place, runs fn, and returns its error. It returns ctx's error if ctx ends first.
func (t Turnstile) Pass(ctx context.Context, fn func() error) error {
	select {
	case t <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-t }()
	return fn()
}

// Each calls fn with the numbers 0 to n-1. It waits for one place, and uses as many more places as are free at that moment, so
// it has no helpers while others work. It returns one of the errors, if there are any.
func (t Turnstile) Each(ctx context.Context, n int, fn func(i int) error) error {
	const portion = 32 // numbers taken at once, enough to be worth a goroutine
	var next atomic.Int64
	work := func() error {
		for {
			end := int(next.Add(portion))
			for i := end - portion; i < min(end, n); i++ {
				if err := fn(i); err != nil {
					next.Store(int64(n))
					return err
				}
			}
			if end >= n {
				return nil
			}
		}
	}
	return t.Pass(ctx, func() error {
		helpers := make(chan outcome, cap(t))
		asked := 0
		for ; asked < (n-1)/portion && asked < cap(t); asked++ {
			select {
			case t <- struct{}{}:
				go func() {
					o := outcomeOf(work)
					<-t
					helpers <- o
				}()
				continue
			default:
			}
			break
		}
		all := outcomeOf(work)
		for range asked {
			all = all.or(<-helpers)
		}
		return all.end()
	})
}

// Both runs two functions at the same time. It returns the error of the first function, or else that of the second.
func Both(first, second func() error) error {
	other := make(chan outcome, 1)
	go func() { other <- outcomeOf(second) }()
	return outcomeOf(first).or(<-other).end()
}

// An outcome is the result of a function that ran on a goroutine.
type outcome struct {
	err      error
	panicked any
}

func outcomeOf(fn func() error) (o outcome) {
	defer func() { o.panicked = recover() }()
	o.err = fn()
	return o
}

func (o outcome) or(other outcome) outcome {
	if o.err == nil {
		o.err = other.err
	}
	if o.panicked == nil {
		o.panicked = other.panicked
	}
	return o
}

// end returns the error. If the function panicked, end panics with the same value.
func (o outcome) end() error {
	if o.panicked != nil {
		panic(o.panicked)
	}
	return o.err
}
