package postgres

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A bound ends questions some time after they began. To set a timer wakes a thread of the
// runtime, and that costs a short question a quarter of its time: so there is one timer for
// all that begin within an eighth of the time, and each lasts up to an eighth longer.
type bound struct {
	lasts time.Duration

	mu     sync.Mutex // guards what follows: the newest end
	end    context.Context
	cancel context.CancelFunc
}

// ending returns a context that ends when a question that begins now has taken too long.
func (b *bound) ending() context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.end != nil {
		if at, _ := b.end.Deadline(); at.Sub(now) >= b.lasts {
			return b.end
		}
	}
	// The one before ends by itself: there may be questions in it.
	b.end, b.cancel = context.WithDeadline(context.Background(), now.Add(b.lasts+b.lasts/8))
	return b.end
}

// of returns a context for a question, which need not tell its deadline. leave must be called
// when it is over, with its error: it returns one that wraps context.DeadlineExceeded if the
// question was ended here.
func (b *bound) of(ctx context.Context) (bounded context.Context, leave func(error) error) {
	end := b.ending()
	if ctx.Done() == nil {
		return borne{end, ctx}, func(err error) error { return err }
	}
	bounded, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(end, func() { cancel(context.DeadlineExceeded) })
	return bounded, func(err error) error {
		if err != nil && context.Cause(bounded) == context.DeadlineExceeded && ctx.Err() == nil {
			err = fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
		}
		stop()
		cancel(nil)
		return err
	}
}

// close releases the newest timer. No question may be open.
func (b *bound) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cancel != nil {
		b.cancel()
	}
}

// A borne context ends as one does and has the values of another, too.
type borne struct {
	context.Context
	values context.Context
}

func (b borne) Value(key any) any {
	if v := b.values.Value(key); v != nil {
		return v
	}
	return b.Context.Value(key)
}
