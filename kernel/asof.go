package kernel

import (
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/projection"
)

// AsOf resolves an as-of number: it returns the greatest number up to it that is the last of a change. For 0, the present, it returns the head.
func (k Turns) AsOf(ctx context.Context, tenant dag.Tenant, given dag.Seq) (dag.Seq, error) {
	return steady(k.engine, func(c *cache) (dag.Seq, error) {
		at, _, err := c.ends.AsOf(ctx, tenant, given)
		return at, err
	})
}

// whole returns the number of the last entry of the change that an entry belongs to.
func (k *engine) whole(ctx context.Context, tenant dag.Tenant, of dag.Seq) (dag.Seq, error) {
	entries, err := k.store.Entries(ctx, tenant, history.Page{At: []dag.Seq{of}})
	if err != nil || len(entries) != 1 {
		return of, err
	}
	return entries[0].Whole(), nil
}

// AsOf implements [assemble.Epoch], [find.Epoch] and [query.Epoch]. It returns the number of the view for an as-of number, and the head; for 0 the view is that
// of the head. It brings the cached facts up to the head.
func (c *cache) AsOf(ctx context.Context, tenant dag.Tenant, given dag.Seq) (asOf, head dag.Seq, err error) {
	head, err = c.store.Head(ctx, tenant)
	if err != nil {
		return 0, 0, err
	}
	if err := c.tenants.Of(tenant).Facts.Reach(ctx, head); err != nil {
		return 0, 0, err
	}
	if asOf, err = c.ends.UpTo(ctx, tenant, given, head); err != nil {
		return 0, 0, err
	}
	return asOf, head, nil
}

// known checks that evidence that is made again is as of a number. To the functions that make it, 0 would be the present.
func known(asOf dag.Seq) error {
	if asOf == 0 {
		return fmt.Errorf("%w: as_of is 0, before anything was known", projection.ErrBeyondHead)
	}
	return nil
}
