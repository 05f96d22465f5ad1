package kernel

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/api"
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

// errEnough ends a scan that has read enough records.
var errEnough = errors.New("enough")

// After returns up to limit records of turns numbered above after, ascending, and
// whether there are more. If conversation is not nil, it returns only turns of that conversation. It
// stops early after the record with which the texts exceed most bytes in total.
func (k Turns) After(ctx context.Context, tenant dag.Tenant, after dag.Seq, conversation *dag.ConversationID, limit, most int) (records []store.Record, more bool, err error) {
	records, _, more, err = k.turns().By(ctx, tenant, TurnFilter{}, after, conversation, limit, most)
	return records, more, err
}

// mostLooked is the largest number of turns that one listing with a filter reads.
const mostLooked = 10_000

// A TurnFilter selects the turns of a listing. The zero value selects every turn.
type TurnFilter struct {
	Credential string   // the credential that brought the turns, see [access.Identity.Credential]; "": turns with any credential or without one
	Role       dag.Role // 0: any role
}

func (f TurnFilter) lets(r *store.Record) bool {
	return (f.Credential == "" || r.Key == f.Credential) && (f.Role == 0 || r.Turn.Role == f.Role)
}

// By is After for the turns that a filter selects. last is the number of the last turn
// that was read, 0 if there was none: the next page begins after it. With a filter, at most
// 10 000 turns are read.
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

// bundles returns the base of issued bundles over the kernel's store.
func (k *engine) bundles() issued.Base { return issued.Base{History: k.store} }

// Issued returns the records of a slice id, by ascending number, or an error that
// wraps store.ErrNotFound.
func (k Slices) Issued(ctx context.Context, tenant dag.Tenant, id slice.SliceID) ([]issued.Record, error) {
	records, err := k.bundles().ByID(ctx, tenant, id)
	if err == nil && len(records) == 0 {
		err = fmt.Errorf("slice %s of tenant %s: %w: it was never issued here", id, tenant, store.ErrNotFound)
	}
	return k.delivered(ctx, tenant, records, err)
}

// delivered sets NotGiven in the records of contexts that were not given to their recipients. If err is not nil, it returns list and err unchanged.
func (k *engine) delivered(ctx context.Context, tenant dag.Tenant, list []issued.Record, err error) ([]issued.Record, error) {
	if err != nil || !slices.ContainsFunc(list, func(r issued.Record) bool { return r.OfContext() }) {
		return list, err
	}
	not, err := k.bundles().Undelivered(ctx, tenant)
	for i := range list {
		list[i].NotGiven = not[list[i].Bundle]
	}
	return list, err
}

// Before lists up to limit records of issued slices numbered below before, descending; before 0 begins with the newest.
func (k Slices) Before(ctx context.Context, tenant dag.Tenant, before uint64, limit int) ([]issued.Record, error) {
	if before == 0 {
		last, err := k.bundles().Last(ctx, tenant)
		if err != nil {
			return nil, err
		}
		before = last + 1
	}
	list, err := k.bundles().Before(ctx, tenant, before, limit)
	return k.delivered(ctx, tenant, list, err)
}

// Begin lists up to limit records of issued slices whose id begins with digits, which are lowercase hexadecimal.
func (k Slices) Begin(ctx context.Context, tenant dag.Tenant, digits string, limit int) ([]issued.Record, error) {
	list, err := k.bundles().Begin(ctx, tenant, digits, limit)
	return k.delivered(ctx, tenant, list, err)
}

// Recorded cuts a recorded slice of turns again, without its text.
func (k Slices) Recorded(ctx context.Context, tenant dag.Tenant, i *issued.Record) (*slice.Slice, error) {
	return steady(k.engine, func(c *cache) (*slice.Slice, error) {
		p, err := c.policy(ctx, tenant, i.Provenance.PolicyID)
		if err != nil {
			return nil, err
		}
		_, s, _, err := c.cuts.Select(ctx, tenant, i.Provenance.Anchor, p, i.AsOf, i.Reading)
		return s, err
	})
}

// mostHolding is how many of the newest records Holding searches for slices that contain a turn.
const mostHolding = 1000

// Holding lists the contexts that showed a turn, and the slices of turns that contain it. Contexts are found by an index. There is
// no index from turns to slices: Holding cuts the slices among the newest 1000 records again if they can contain the turn.
func (k Slices) Holding(ctx context.Context, tenant dag.Tenant, in api.TurnByID) (h api.Holding, err error) {
	t, err := k.turns().Get(ctx, tenant, in.ID)
	if err != nil {
		return h, err
	}
	showing, err := k.contexts().Showing(ctx, tenant, in.ID)
	if err != nil {
		return h, err
	}
	slices.Reverse(showing)
	h.Contexts, h.Slices = records(showing), []api.Issued{}
	newest, err := k.Before(ctx, tenant, 0, mostHolding)
	if err != nil || len(newest) == 0 {
		return h, err
	}
	h.Looked, h.Older = len(newest), newest[len(newest)-1].Number-1
	var held []issued.Record
	for i := range newest {
		r := &newest[i]
		if !r.OfTurns() || r.AsOf < t.Seq {
			continue
		}
		s, err := k.Recorded(ctx, tenant, r)
		if err != nil {
			return h, err
		}
		if slices.ContainsFunc(s.Turns, func(of slice.Selected) bool { return of.ID == in.ID }) {
			held = append(held, *r)
		}
	}
	h.Slices = records(held)
	return h, nil
}

// After lists up to limit records of issued slices numbered above after,
// ascending.
func (k Slices) After(ctx context.Context, tenant dag.Tenant, after uint64, limit int) ([]issued.Record, error) {
	list, err := k.bundles().After(ctx, tenant, after, limit)
	return k.delivered(ctx, tenant, list, err)
}
