package admission

import (
	"context"
	"errors"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/marks"
	"github.com/graphkernel/graphkernel/internal/bytelru"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/store"
)

// mark sets the things in the marks of arrivals; names[i] are the names of arrivals[i]. The tenant's key is read, and made if there is none,
// only if there is a name. The arrivals were checked before, so no key is made for turns that are not well-formed. known remembers the things of names.
func (k Admissions) mark(ctx context.Context, tenant dag.Tenant, arrivals []store.Arrival, names []Names, known *marks.Names) error {
	var key marks.Key
	for i := range arrivals {
		n, m := &names[i], &arrivals[i].Marks
		if len(n.touched) == 0 && n.author == "" && n.credential == "" {
			continue
		}
		if key == (marks.Key{}) {
			err := k.kernel.Reading(func(kept *Kept) (err error) {
				key, err = kept.key(ctx, tenant)
				return err
			})
			if err != nil {
				return err
			}
			known.Under(key)
		}
		m.Things = key.Things(n.touched)
		if n.author != "" {
			m.Origin.Author = known.Author(n.author)
		}
		if n.credential != "" {
			m.Origin.Key = known.Credential(n.credential)
		}
	}
	return nil
}

// keptKeys is the maximum number of tenants in a Kept.
const keptKeys = 10_000

// Kept is the cache of one epoch of a store: the keys of the marks of tenants' turns.
type Kept struct {
	store projection.Store
	draw  func([]byte) error
	keys  *bytelru.Cache[dag.Tenant, marks.Key]
}

// NewKept returns an empty Kept. draw draws new keys.
func NewKept(s projection.Store, draw func([]byte) error) *Kept {
	return &Kept{s, draw, bytelru.New[dag.Tenant, marks.Key](keptKeys)}
}

// key returns the key under which the tenant's turns are marked. The first call for a tenant makes and stores the key.
func (c *Kept) key(ctx context.Context, tenant dag.Tenant) (marks.Key, error) {
	for {
		key, err := c.StoredKey(ctx, tenant)
		if err != nil || key != (marks.Key{}) {
			return key, err
		}
		if err := c.draw(key[:]); err != nil {
			return marks.Key{}, err
		}
		if err := c.store.Swap(ctx, tenant, marks.Cell, nil, key[:]); err != nil && !errors.Is(err, store.ErrMoved) {
			return marks.Key{}, err
		} // with ErrMoved another process has stored a key; the loop reads the stored key
	}
}

// Namer returns the tenant's stored key as a [standing.Namer]; drawn is false if there is none.
func (c *Kept) Namer(ctx context.Context, tenant dag.Tenant) (names standing.Namer, drawn bool, err error) {
	key, err := c.StoredKey(ctx, tenant)
	return key, key != marks.Key{}, err
}

// StoredKey returns the tenant's stored key, or the zero Key if there is none. A stored key never changes, and is read once.
func (c *Kept) StoredKey(ctx context.Context, tenant dag.Tenant) (marks.Key, error) {
	if key, ok := c.keys.Get(tenant); ok {
		return key, nil
	}
	cells, err := c.store.Cells(ctx, tenant, marks.Cell)
	if err != nil {
		return marks.Key{}, err
	}
	for i := range cells {
		if cells[i].Name == marks.Cell {
			key, err := marks.ParseKey(cells[i].Value)
			if err == nil {
				c.keys.Put(tenant, key, 1)
			}
			return key, err
		}
	}
	return marks.Key{}, nil
}
