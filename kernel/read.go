package kernel

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

// Get returns the record of one turn, or an error that wraps store.ErrNotFound.
func (k Turns) Get(ctx context.Context, tenant dag.Tenant, id dag.TurnID) (store.Record, error) {
	records, err := k.store.Turns(ctx, tenant, store.IDs{id})
	if err != nil {
		return store.Record{}, err
	}
	if len(records) == 0 {
		return store.Record{}, fmt.Errorf("turn %s of tenant %s: %w", id, tenant, store.ErrNotFound)
	}
	return records[0], nil
}

// errEnough ends a scan that has what it came for.
var errEnough = errors.New("enough")

// After returns up to limit records of turns numbered above after, ascending, and
// whether there are more. If conversation is not nil, of that conversation only. It
// stops early after a record with which their text passes most bytes.
func (k Turns) After(ctx context.Context, tenant dag.Tenant, after dag.Seq, conversation *dag.ConversationID, limit, most int) (records []store.Record, more bool, err error) {
	records, _, more, err = k.turns().By(ctx, tenant, TurnFilter{}, after, conversation, limit, most)
	return records, more, err
}

// mostLooked bounds the turns that one listing looks at for those that a filter lets through.
const mostLooked = 10_000

// A TurnFilter says which turns a listing is to have. The zero value lets every turn through.
type TurnFilter struct {
	Credential string   // that brought them, see [access.Identity.Credential]; "" stands for any, and for none
	Role       dag.Role // 0 stands for any
}

func (f TurnFilter) lets(r *store.Record) bool {
	return (f.Credential == "" || r.Key == f.Credential) && (f.Role == 0 || r.Turn.Role == f.Role)
}

// By is After for the turns that a filter lets through. last is the number of the last turn
// that was looked at, 0 if there was none: the listing goes on after it. At most 10 000 are
// looked at for a filter.
func (k Turns) By(ctx context.Context, tenant dag.Tenant, only TurnFilter, after dag.Seq, conversation *dag.ConversationID, limit, most int) (records []store.Record, last dag.Seq, more bool, err error) {
	size, looked := 0, 0
	err = k.store.Scan(ctx, tenant, after, conversation, func(r *store.Record) error {
		if len(records) >= limit || size > most || only != (TurnFilter{}) && looked == mostLooked {
			more = true
			return errEnough
		}
		looked++
		last = r.Seq
		if !only.lets(r) {
			return nil
		}
		size += len(r.Body)
		records = append(records, *r)
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, 0, false, err
	}
	return records, last, more, nil
}

// bundles returns the record of issued bundles.
func (k *engine) bundles() issued.Base { return issued.Base{History: k.store} }

// Issued returns the records of a slice id, by ascending number, or an error that
// wraps store.ErrNotFound.
func (k Slices) Issued(ctx context.Context, tenant dag.Tenant, id slice.SliceID) ([]issued.Record, error) {
	records, err := k.bundles().ByID(ctx, tenant, id)
	if err == nil && len(records) == 0 {
		err = fmt.Errorf("slice %s of tenant %s: %w: it was never issued here", id, tenant, store.ErrNotFound)
	}
	return records, err
}

// After lists up to limit records of issued slices numbered above after,
// ascending.
func (k Slices) After(ctx context.Context, tenant dag.Tenant, after uint64, limit int) ([]issued.Record, error) {
	return k.bundles().After(ctx, tenant, after, limit)
}
