package postgres

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A bound ends queries some time after they began. Setting a timer wakes a thread of the runtime, which costs a short query a quarter
// of its time. So all queries that begin within an eighth of the time share one timer, and each lasts up to an eighth longer.
type bound struct {
	lasts time.Duration

	mu     sync.Mutex // guards the newest end
	end    context.Context
	cancel context.CancelFunc
}

// ending returns a context that ends when a query that begins now has taken too long.
func (b *bound) ending() context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.end != nil {
		if at, _ := b.end.Deadline(); at.Sub(now) >= b.lasts {
			return b.end
		}
	}
	// The context before ends by itself: queries may still use it.
	b.end, b.cancel = context.WithDeadline(context.Background(), now.Add(b.lasts+b.lasts/8))
	return b.end
}

// of returns a context for a query, which need not report its deadline. The caller must call leave with the query's error
// when the query is over. The error that leave returns wraps context.DeadlineExceeded if the bound ended the query.
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

// close releases the newest timer. No query may be open.
func (b *bound) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cancel != nil {
		b.cancel()
	}
}

// A borne is a context that ends as its own does, and has the values of another context, too.
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
