package postgres

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestBound lets questions begin at many moments, of callers that can and cannot break off. Each
// ends after its time, and at most an eighth later; what ended it can be told.
func TestBound(t *testing.T) {
	type key struct{}
	for _, cancelable := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			const lasts = 8 * time.Second
			b := &bound{lasts: lasts}
			defer b.close()
			caller, cancel := context.WithValue(context.Background(), key{}, "value"), func() {}
			if cancelable {
				caller, cancel = context.WithCancel(caller)
			}
			defer cancel()
			ends := map[context.Context]bool{}
			for n := range 20 {
				ends[b.ending()] = true
				ctx, leave := b.of(caller)
				if ctx.Value(key{}) != "value" {
					t.Error("a question lacks its caller's values")
				}
				child, done := context.WithCancel(ctx) // as the driver makes them
				began := time.Now()
				if n%2 == 0 {
					<-child.Done()
					took := time.Since(began)
					err := leave(errors.Join(errors.New("reading"), ctx.Err()))
					if took < lasts || took > lasts+lasts/8 || !errors.Is(err, context.DeadlineExceeded) || natureOf(err) != broken {
						t.Errorf("it ended after %v with %v", took, err)
					}
				} else if err := leave(nil); err != nil {
					t.Errorf("what went well gave %v", err)
				}
				done()
				time.Sleep(time.Duration(n) * 100 * time.Millisecond)
			}
			if len(ends) < 10 {
				t.Errorf("20 questions in %v had %d ends", 10*lasts, len(ends))
			}
			if !cancelable {
				return
			}
			ctx, leave := b.of(caller)
			cancel()
			<-ctx.Done()
			if err := leave(ctx.Err()); !errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the caller broke off, and is told %v", err)
			}
		})
	}
}

// TestBoundShared begins a thousand questions in little time: they have one timer.
func TestBoundShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bound{lasts: 8 * time.Second}
		defer b.close()
		first := b.ending()
		for range 1000 {
			time.Sleep(time.Millisecond)
			if b.ending() != first {
				t.Fatal("a question within an eighth of the time has a timer of its own")
			}
		}
		time.Sleep(time.Millisecond)
		if b.ending() == first {
			t.Error("a question later than that has not")
		}
	})
}
