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

// changes wakes the goroutines that wait for a change of a tenant.
type changes struct {
	mu      sync.Mutex
	waiting map[dag.Tenant]chan struct{} // guarded by mu; a channel is closed when its tenant changes
}

// tell wakes all goroutines that wait for a tenant. It is called after a write, even
// after one that was reported as failed, because the store may have kept it.
func (c *changes) tell(tenant dag.Tenant) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if waiting, ok := c.waiting[tenant]; ok {
		close(waiting)
		delete(c.waiting, tenant)
	}
}

// Changed returns a channel that is closed after the next change of a tenant through this
// kernel: an admission, an erasure, a newly issued slice, a release of turns, or a change of facts or
// beliefs. It does not see changes by other processes in the same store. Call Changed first, then read
// the store, then wait on the channel: so no change is missed.
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

// A Numbered is an entry's number, with the properties that a stream of events needs.
type Numbered struct {
	Seq   dag.Seq
	Whole dag.Seq // the number of the last entry of the entry's change
	Quiet bool    // the stream has no event for the entry: it records that a context was not given, or concerns texts that are held back
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
