package projection

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/internal/bytelru"
)

// Ends caches which sequence numbers are the last of a change. Every as-of number of a caller is resolved here to such a number: a number inside a change
// is resolved to the last number before the change.
type Ends struct {
	store Store
	kept  *bytelru.Cache[numberKey, dag.Seq] // the view of each number below the head, which never changes
}

type numberKey struct {
	tenant dag.Tenant
	seq    dag.Seq
}

// ErrBeyondHead is wrapped when a caller asks for a view beyond the head.
var ErrBeyondHead = errors.New("as-of sequence number is beyond the head")

// keptEnds is the maximum number of cached views.
const keptEnds = 1 << 14

// NewEnds returns an empty cache.
func NewEnds(s Store) *Ends { return &Ends{s, bytelru.New[numberKey, dag.Seq](keptEnds)} }

// AsOf is like UpTo, but reads the tenant's head and returns it, too.
func (e *Ends) AsOf(ctx context.Context, tenant dag.Tenant, given dag.Seq) (asOf, head dag.Seq, err error) {
	if head, err = e.store.Head(ctx, tenant); err == nil {
		asOf, err = e.UpTo(ctx, tenant, given, head)
	}
	return asOf, head, err
}

// UpTo returns the number of the view that a caller asked for, for a tenant with a head: the newest end of a change up to the
// number given, or the head if given is 0. It takes one look-up for a number below the head, and none for the head, since changes
// are committed as a whole.
func (e *Ends) UpTo(ctx context.Context, tenant dag.Tenant, given, head dag.Seq) (dag.Seq, error) {
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
	at := given // the number of a turn
	if len(entries) == 1 {
		at = entries[0].AsOf()
	}
	e.kept.Put(key, at, 1)
	return at, nil
}
