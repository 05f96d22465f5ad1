package postgres

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
)

// lines makes the writers of each tenant wait in line before they take a connection. They would wait for
// each other at the tenant's row anyway, but with connections that other tenants, and all readers, need.
type lines struct {
	mu sync.Mutex
	of map[dag.Tenant]*line // guarded by mu; only for tenants with writers
}

type line struct {
	place   chan struct{} // of capacity 1
	writers int           // guarded by lines.mu: inside or waiting
}

// enter waits for the tenant's place, no longer than most, and returns the function that leaves it.
func (l *lines) enter(ctx context.Context, tenant dag.Tenant, most time.Duration) (leave func(), err error) {
	l.mu.Lock()
	if l.of == nil {
		l.of = map[dag.Tenant]*line{}
	}
	at := l.of[tenant]
	if at == nil {
		at = &line{place: make(chan struct{}, 1)}
		l.of[tenant] = at
	}
	at.writers++
	l.mu.Unlock()
	gone := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if at.writers--; at.writers == 0 {
			delete(l.of, tenant)
		}
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case at.place <- struct{}{}:
		return func() { <-at.place; gone() }, nil
	case <-timer.C:
		err = fmt.Errorf("%w: the tenant's other writers of this process took longer than %s", store.ErrBusy, most)
	case <-ctx.Done():
		err = ctx.Err()
	}
	gone()
	return nil, err
}
