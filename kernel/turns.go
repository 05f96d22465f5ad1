package kernel

import (
	"context"
	"slices"
	"sync"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/heldback"
	"github.com/graphkernel/graphkernel/ingest/admission"
	"github.com/graphkernel/graphkernel/retrieval/find"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/standing/settings"
)

// Turns are a kernel's turns.
type Turns struct {
	find.Turns
	admission.Admissions
	Reader
	Catalog
	Erasures
	*engine
}

func (k *engine) turns() Turns {
	return Turns{find.New(finder{desk{k}}), admission.New(door{desk{k}}, k.recognition()), Reader{k.store}, Catalog{k.store}, Erasures{k}, k}
}

// Operations lists the operations that the facet answers.
func (k Turns) Operations() []api.Answer {
	return slices.Concat(
		k.Turns.Operations(), k.Admissions.Operations(), k.Reader.Operations(), k.Catalog.Operations(), k.Erasures.Operations(),
		[]api.Answer{api.ResolveTurn.By(k.resolveTurn)},
	)
}

// AsOf resolves an as-of number: it returns the greatest number up to it that is the last of a change. For 0, the present, it returns the head.
func (k Turns) AsOf(ctx context.Context, tenant dag.Tenant, given dag.Seq) (dag.Seq, error) {
	return steady(k.engine, func(c *cache) (dag.Seq, error) {
		at, _, err := c.ends.AsOf(ctx, tenant, given)
		return at, err
	})
}

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

// next returns the channel that is closed when a tenant changes next.
func (c *changes) next(tenant dag.Tenant) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	waiting, ok := c.waiting[tenant]
	if !ok {
		waiting = make(chan struct{})
		if c.waiting == nil {
			c.waiting = map[dag.Tenant]chan struct{}{}
		}
		c.waiting[tenant] = waiting
	}
	return waiting
}

// Changed returns a channel that is closed after the next change of a tenant through this
// kernel: an admission, an erasure, a newly issued slice, a release of turns, or a change of facts or
// beliefs. It does not see changes by other processes in the same store. Call Changed first, then read
// the store, then wait on the channel: so no change is missed.
func (k Turns) Changed(tenant dag.Tenant) <-chan struct{} { return k.changes.next(tenant) }

// A Numbered is an entry's number, with the properties that a stream of events needs.
type Numbered struct {
	Seq   dag.Seq
	Whole dag.Seq // the number of the last entry of the entry's change
	Quiet bool    // the stream has no event for the entry: it records that a context was not given or that a standing policy was set, or concerns texts that are held back
}

// Numbered lists the numbers of up to limit entries numbered above after, ascending.
func (k Turns) Numbered(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) ([]Numbered, error) {
	entries, err := k.store.Entries(ctx, tenant, history.Page{After: after, Limit: limit})
	list := make([]Numbered, len(entries))
	for i := range entries {
		e := &entries[i]
		list[i] = Numbered{e.Seq, e.Whole(), e.Kind == issued.UndeliveredKind || e.Kind == settings.Kind || slices.Contains(heldback.Codec{}.Kinds(), e.Kind)}
	}
	return list, err
}
