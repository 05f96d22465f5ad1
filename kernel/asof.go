package kernel

import (
	"context"
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// ends caches which sequence numbers are the last of a change. Every as-of number of a caller is resolved here to such a number: a number inside a change
// is resolved to the last number before the change.
type ends struct {
	store steadyStore
	kept  *lru.Cache[numberKey, dag.Seq] // the view of a number that is not the head, which never changes
}

type numberKey struct {
	tenant dag.Tenant
	seq    dag.Seq
}

// keptEnds bounds the numbers whose view is kept.
const keptEnds = 1 << 14

func newEnds(s steadyStore) (*ends, error) {
	kept, err := lru.New[numberKey, dag.Seq](keptEnds)
	if err != nil {
		return nil, fmt.Errorf("kernel: %w", err)
	}
	return &ends{s, kept}, nil
}

// upTo returns the number of the view that is asked for, where the tenant has come to a head: the newest end of a change up to the
// number given, or the head if none is. It takes one look-up for a number that is not the head, and none for the head: what is
// committed is whole.
func (e *ends) upTo(ctx context.Context, tenant dag.Tenant, given, head dag.Seq) (dag.Seq, error) {
	switch {
	case given > head:
		return 0, fmt.Errorf("%w: %d, and the head of tenant %s is %d", ErrBeyondHead, given, tenant, head)
	case given == 0 || given == head:
		return head, nil
	}
	key := numberKey{tenant, given}
	if at, ok := e.kept.Get(key); ok {
		return at, nil
	}
	entries, err := e.store.Entries(ctx, tenant, history.Page{At: []dag.Seq{given}})
	if err != nil {
		return 0, err
	}
	at := given // of a turn
	if len(entries) == 1 {
		at = entries[0].AsOf()
	}
	e.kept.Add(key, at)
	return at, nil
}

// AsOf resolves an as-of number that a caller gave: it returns the greatest number up to it that is the end of a change. For 0, the present, it returns the head.
func (k Turns) AsOf(ctx context.Context, tenant dag.Tenant, given dag.Seq) (dag.Seq, error) {
	return k.asOfHead(ctx, tenant, given)
}

// whole returns the number of the last entry of the change that an entry belongs to.
func (k *engine) whole(ctx context.Context, tenant dag.Tenant, of dag.Seq) (dag.Seq, error) {
	entries, err := k.store.Entries(ctx, tenant, history.Page{At: []dag.Seq{of}})
	if err != nil || len(entries) != 1 {
		return of, err
	}
	return entries[0].Whole(), nil
}

// asOfHead resolves an as-of number as AsOf does; for 0 it returns the head.
func (k *engine) asOfHead(ctx context.Context, tenant dag.Tenant, given dag.Seq) (dag.Seq, error) {
	return steady(k, func(c *cache) (dag.Seq, error) {
		head, err := c.store.Head(ctx, tenant)
		if err != nil {
			return 0, err
		}
		return c.ends.upTo(ctx, tenant, given, head)
	})
}

// asOf returns the number of the view that a question as of a number is about, which is the head if none is given, and the head. The
// cached facts are those of the head then.
func (c *cache) asOf(ctx context.Context, tenant dag.Tenant, given dag.Seq) (asOf, head dag.Seq, err error) {
	head, err = c.store.Head(ctx, tenant)
	if err != nil {
		return 0, 0, err
	}
	if err := c.tenants.of(tenant).facts.followed.Reach(ctx, head); err != nil {
		return 0, 0, err
	}
	if asOf, err = c.ends.upTo(ctx, tenant, given, head); err != nil {
		return 0, 0, err
	}
	return asOf, head, nil
}
