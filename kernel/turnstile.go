package kernel

import (
	"context"
	"sync/atomic"
)

// A turnstile lets in as many at once as it has room for, in the order of arrival. With
// room for one it is a lock that nobody has to wait for longer than they would.
type turnstile chan struct{}

// pass runs fn inside.
func (t turnstile) pass(ctx context.Context, fn func() error) error {
	select {
	case t <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-t }()
	return fn()
}

// each calls fn with the numbers 0 to n-1 inside, and lets as many help as find a place at
// once: nobody waits for that, and when others are at work there is no help. It returns one
// of the errors, if there are any.
func (t turnstile) each(ctx context.Context, n int, fn func(i int) error) error {
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
	return t.pass(ctx, func() error {
		type outcome struct {
			err      error
			panicked any
		}
		run := func() (o outcome) {
			defer func() { o.panicked = recover() }()
			o.err = work()
			return o
		}
		helpers := make(chan outcome, cap(t))
		asked := 0
		for ; asked < (n-1)/portion && asked < cap(t); asked++ {
			select {
			case t <- struct{}{}:
				go func() {
					o := run()
					<-t
					helpers <- o
				}()
				continue
			default:
			}
			break
		}
		all := run()
		for range asked {
			o := <-helpers
			if all.err == nil {
				all.err = o.err
			}
			if all.panicked == nil {
				all.panicked = o.panicked
			}
		}
		if all.panicked != nil {
			panic(all.panicked) // the caller's to deal with
		}
		return all.err
	})
}
