package kernel

import (
	"context"
	"slices"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/heldback"
	"github.com/graphkernel/graphkernel/slice/issued"
)

// changes tells anyone who waits that something happened to a tenant.
type changes struct {
	mu      sync.Mutex
	waiting map[dag.Tenant]chan struct{} // guarded by mu; closed when it happens
}

// tell wakes everybody who waits for a tenant. It is called after a write, even
// one that was reported as failed, since that may have been kept.
func (c *changes) tell(tenant dag.Tenant) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if waiting, ok := c.waiting[tenant]; ok {
		close(waiting)
		delete(c.waiting, tenant)
	}
}

// Changed returns a channel that is closed after the next admission, erasure or
// newly issued slice of a tenant through this kernel. What other processes do to
// the same store it does not see. Take the channel first, then look, then wait:
// nothing falls in between.
func (k Turns) Changed(tenant dag.Tenant) <-chan struct{} {
	k.changes.mu.Lock()
	defer k.changes.mu.Unlock()
	waiting, ok := k.changes.waiting[tenant]
	if !ok {
		waiting = make(chan struct{})
		if k.changes.waiting == nil {
			k.changes.waiting = map[dag.Tenant]chan struct{}{}
		}
		k.changes.waiting[tenant] = waiting
	}
	return waiting
}

// A Numbered is the number of an entry, with the properties that a stream of events needs.
type Numbered struct {
	Seq   dag.Seq
	Whole dag.Seq // the number of the last entry of the entry's change
	Quiet bool    // the stream has no event for it: a context that was not given, or a record of texts that are held back
}

// Numbered lists the numbers of up to limit entries numbered above after, ascending.
func (k Turns) Numbered(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) ([]Numbered, error) {
	entries, err := k.store.Entries(ctx, tenant, history.Page{After: after, Limit: limit})
	list := make([]Numbered, len(entries))
	for i := range entries {
		e := &entries[i]
		list[i] = Numbered{e.Seq, e.Whole(), e.Kind == issued.UndeliveredKind || slices.Contains(heldback.Codec{}.Kinds(), e.Kind)}
	}
	return list, err
}
