package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// appendJudged admits batches whose turns have their values from the rules
// of package ingest. A turn that comes again and was admitted under other rules
// is the same turn, so it gets the values of the stored turn before the two are compared.
//
// The stored turns are read after a conflict and not before every admission,
// so that a new turn costs nothing. The store does not know the rules:
// it compares the values that it gets. If another process admits such a turn between the reading and
// the next try, there is one more conflict, and the next reading finds the turn.
//
// The caller has called hold for the batches before.
func (k Admissions) appendJudged(ctx context.Context, tenant dag.Tenant, batches []store.Batch) (store.Receipt, error) {
	for {
		receipt, err := k.store.Append(ctx, tenant, batches)
		k.kernel.Changed(tenant)
		k.kernel.Grew(tenant, receipt.Head)
		var conflict *store.ConflictError
		if !errors.As(err, &conflict) {
			return receipt, err
		}
		changed, rejudgeErr := k.rejudge(ctx, tenant, batches)
		if rejudgeErr != nil {
			return store.Receipt{}, rejudgeErr
		}
		if !changed {
			return receipt, err
		}
	}
}

// rejudge gives each arrival whose turn is stored the values that rules assigned to the
// stored turn. It reports whether any arrival changed.
func (k Admissions) rejudge(ctx context.Context, tenant dag.Tenant, batches []store.Batch) (changed bool, err error) {
	at := map[dag.TurnID][]*store.Arrival{}
	var ids []dag.TurnID
	for _, batch := range batches {
		for i := range batch {
			if a := &batch[i]; a.Body != nil {
				if at[a.Turn.ID] == nil {
					ids = append(ids, a.Turn.ID)
				}
				at[a.Turn.ID] = append(at[a.Turn.ID], a)
			}
		}
	}
	for some := range slices.Chunk(ids, page) {
		records, err := k.store.Turns(ctx, tenant, store.IDs(some))
		if err != nil {
			return false, err
		}
		for i := range records {
			for _, a := range at[records[i].Turn.ID] {
				again, err := judgedAs(a, &records[i])
				if err != nil {
					return false, err
				}
				changed = changed || again
			}
		}
	}
	return changed, nil
}

// judgedAs gives an arrival the values that rules assigned to the stored turn. A stored turn without text does not show whether rules assigned its
// values; the arrival then stays as it is.
func judgedAs(a *store.Arrival, r *store.Record) (changed bool, err error) {
	if r.Body == nil {
		return false, nil
	}
	stored, err := slice.ParseBody(r.Body)
	if err != nil {
		return false, fmt.Errorf("kernel: stored turn %s: %w", r.Turn.ID, err)
	}
	body, err := slice.ParseBody(a.Body)
	if err != nil {
		return false, err
	}
	d := dag.Draft{Role: a.Turn.Role, Phase: a.Turn.Phase, Salience: a.Turn.Salience, Author: body.Author, Content: body.Content, Attrs: body.Attrs}
	if !ingest.AsStored(&d, &dag.Draft{Phase: r.Turn.Phase, Salience: r.Turn.Salience, Attrs: stored.Attrs}) {
		return false, nil
	}
	body.Attrs = d.Attrs
	a.Turn.Phase, a.Turn.Salience = d.Phase, d.Salience
	a.Body = slice.AppendBody(nil, &body)
	a.Turn.BodyDigest = slice.DigestBody(a.Body, a.Salt)
	return true, nil
}
