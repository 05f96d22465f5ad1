package kernel

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/marks"
	"github.com/graphkernel/graphkernel/store"
)

// mark sets the marks of the things that turns touched; names[i] are the names of the things of arrivals[i]. The
// tenant's key is read, and made if there is none, only if there is a name. The arrivals were checked before, so no
// key is made for turns that are not well-formed.
func (k *engine) mark(ctx context.Context, tenant dag.Tenant, arrivals []store.Arrival, names [][]string) error {
	for i := range arrivals {
		if len(names[i]) == 0 {
			continue
		}
		key, err := steady(k, func(c *cache) (marks.Key, error) { return c.markKey(ctx, tenant) })
		if err != nil {
			return err
		}
		for ; i < len(arrivals); i++ {
			arrivals[i].Marks.Things = key.Things(names[i])
		}
		return nil
	}
	return nil
}

// markKey returns the key under which the tenant's turns are marked. The first call for a tenant makes and stores the key.
func (c *cache) markKey(ctx context.Context, tenant dag.Tenant) (marks.Key, error) {
	if key, ok := c.markKeys.Get(tenant); ok {
		return key, nil
	}
	for {
		key, err := c.storedMarkKey(ctx, tenant)
		if err != nil {
			return marks.Key{}, err
		}
		if key != (marks.Key{}) {
			c.markKeys.Put(tenant, key, 1)
			return key, nil
		}
		if err := c.k.draw(key[:]); err != nil {
			return marks.Key{}, err
		}
		if err := c.store.Swap(ctx, tenant, marks.Cell, nil, key[:]); err != nil && !errors.Is(err, store.ErrMoved) {
			return marks.Key{}, err
		} // with ErrMoved another process has stored a key; the loop reads the stored key
	}
}

// storedMarkKey returns the tenant's stored key, or the zero Key if there is none.
func (c *cache) storedMarkKey(ctx context.Context, tenant dag.Tenant) (marks.Key, error) {
	cells, err := c.store.Cells(ctx, tenant, marks.Cell)
	if err != nil {
		return marks.Key{}, err
	}
	for i := range cells {
		if cells[i].Name == marks.Cell {
			return marks.ParseKey(cells[i].Value)
		}
	}
	return marks.Key{}, nil
}

// draw fills b from the kernel's randomness.
func (k *engine) draw(b []byte) error {
	k.random.Lock()
	defer k.random.Unlock()
	if _, err := io.ReadFull(k.salts, b); err != nil {
		return fmt.Errorf("kernel: drawing at random: %w", err)
	}
	return nil
}
