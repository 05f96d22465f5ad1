package sqlite

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/graphkernel/graphkernel/store"
)

// A gate lets methods use a store until it is closed or broken.
type gate struct {
	use    sync.RWMutex // held for reading while a method uses the database, and for writing by Close; it guards closed
	closed bool
	broken atomic.Pointer[error] // the cause, if the outcome of a write is unknown
}

// enter returns an error if the store cannot be used. Otherwise the caller must call leave when it is done with the database.
func (g *gate) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	g.use.RLock()
	err := g.usable()
	if err != nil {
		g.use.RUnlock()
	}
	return err
}

// leave ends a use of the database.
func (g *gate) leave() { g.use.RUnlock() }

// while runs fn while the store can be used, and adds the name of the operation to its error.
func (g *gate) while(ctx context.Context, what string, fn func() error) error {
	err := g.enter(ctx)
	if err == nil {
		defer g.leave()
		err = fn()
	}
	if err != nil {
		return failed(what, err)
	}
	return nil
}

// usable returns an error if the store cannot be used. The caller has the gate locked.
func (g *gate) usable() error {
	if g.closed {
		return store.ErrClosed
	}
	if cause := g.broken.Load(); cause != nil {
		return fmt.Errorf("%w: %w", store.ErrBroken, *cause)
	}
	return nil
}

// fail marks the store as broken: whether the last write was kept is unknown.
func (g *gate) fail(cause error) error {
	g.broken.CompareAndSwap(nil, &cause)
	return fmt.Errorf("%w: %w", store.ErrBroken, cause)
}
