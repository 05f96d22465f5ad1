// Package turnstile bounds how much is computed at once.
package turnstile

import (
	"context"
	"sync/atomic"
)

// A Turnstile lets in as many at once as it has room for, in the order of arrival. With
// room for one it is a lock that nobody has to wait for longer than they would.
type Turnstile chan struct{}

// Pass runs fn inside.
func (t Turnstile) Pass(ctx context.Context, fn func() error) error {
	select {
	case t <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-t }()
	return fn()
}

// Each calls fn with the numbers 0 to n-1 inside, and lets as many help as find a place at
// once: nobody waits for that, and when others are at work there is no help. It returns one
// of the errors, if there are any.
func (t Turnstile) Each(ctx context.Context, n int, fn func(i int) error) error {
	const portion = 32 // numbers taken at once, worth a goroutine
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

// Both runs two functions at once. It returns the error of the first one, or else that of the second.
func Both(first, second func() error) error {
	other := make(chan outcome, 1)
	go func() { other <- outcomeOf(second) }()
	return outcomeOf(first).or(<-other).end()
}

// An outcome is what became of a function that ran on a goroutine.
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

// end returns the error. A panic becomes the caller's to deal with.
func (o outcome) end() error {
	if o.panicked != nil {
		panic(o.panicked)
	}
	return o.err
}
