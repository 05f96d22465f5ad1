package kernel

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/slice/kinds"
	"github.com/graphkernel/graphkernel/store"
)

// Records are the records of the bundles that a kernel handed out.
type Records struct {
	bundles  issued.Base
	erasures erasures.Base
	stored   projection.Checked
}

// Issued returns the records of a slice id, by ascending number, or an error that
// wraps store.ErrNotFound.
func (k Records) Issued(ctx context.Context, tenant dag.Tenant, id slice.SliceID) ([]issued.Record, error) {
	records, err := k.bundles.ByID(ctx, tenant, id)
	if err == nil && len(records) == 0 {
		err = fmt.Errorf("slice %s of tenant %s: %w: it was never issued here", id, tenant, store.ErrNotFound)
	}
	return k.delivered(ctx, tenant, records, err)
}

// delivered sets NotGiven in the records of contexts that were not given to their recipients. If err is not nil, it returns list and err unchanged.
func (k Records) delivered(ctx context.Context, tenant dag.Tenant, list []issued.Record, err error) ([]issued.Record, error) {
	if err != nil || !slices.ContainsFunc(list, func(r issued.Record) bool { return r.OfContext() }) {
		return list, err
	}
	not, err := k.bundles.Undelivered(ctx, tenant)
	for i := range list {
		list[i].NotGiven = not[list[i].Bundle]
	}
	return list, err
}

// Before lists up to limit records of issued slices numbered below before, descending; before 0 begins with the newest.
func (k Records) Before(ctx context.Context, tenant dag.Tenant, before uint64, limit int) ([]issued.Record, error) {
	if before == 0 {
		last, err := k.bundles.Last(ctx, tenant)
		if err != nil {
			return nil, err
		}
		before = last + 1
	}
	list, err := k.bundles.Before(ctx, tenant, before, limit)
	return k.delivered(ctx, tenant, list, err)
}

// Begin lists up to limit records of issued slices whose id begins with digits, which are lowercase hexadecimal.
func (k Records) Begin(ctx context.Context, tenant dag.Tenant, digits string, limit int) ([]issued.Record, error) {
	list, err := k.bundles.Begin(ctx, tenant, digits, limit)
	return k.delivered(ctx, tenant, list, err)
}

// After lists up to limit records of issued slices numbered above after,
// ascending.
func (k Records) After(ctx context.Context, tenant dag.Tenant, after uint64, limit int) ([]issued.Record, error) {
	list, err := k.bundles.After(ctx, tenant, after, limit)
	return k.delivered(ctx, tenant, list, err)
}

// Count returns the number of a tenant's newest issued slice, or 0 if there is none.
func (k Records) Count(ctx context.Context, tenant dag.Tenant) (uint64, error) {
	return k.bundles.Last(ctx, tenant)
}

// vantage returns the vantage of a bundle: the as-of number that the bundle names, with the reading and the bounds of its record. A bundle without a
// record gets the current reading and no bounds.
func (k Records) vantage(ctx context.Context, tenant dag.Tenant, b slice.Body, digest dag.Digest) (issued.Vantage, error) {
	h := b.Head()
	record, err := k.bundles.ByDigest(ctx, tenant, h.Provenance.SliceID, digest)
	if record == nil {
		return issued.Vantage{AsOf: h.AsOf, Reading: dag.ReadNow}, err
	}
	of := record.Vantage()
	of.AsOf = h.AsOf
	return of, err
}

// taskErased returns the erasure of a record's task, or nil if the task was not erased by itself.
func (k Records) taskErased(ctx context.Context, tenant dag.Tenant, i *issued.Record) (*issued.TaskErasure, error) {
	if !i.OfContext() || i.Question != "" {
		return nil, nil
	}
	list, err := k.bundles.TaskErasuresOf(ctx, tenant, i.Provenance.SliceID)
	if err != nil {
		return nil, err
	}
	for n := range list {
		if list[n].Covers(i) {
			return &list[n], nil
		}
	}
	return nil, nil
}

// erasedSince returns the turns of the view of recorded evidence that were erased after the evidence was made. For a context of gkc/2 it includes turns after the
// end of the view up to the head at that time, because beliefs can rest on them. It compares numbers, or ledger leaves for a
// record without a head, and never times, since the clocks of two processes may differ.
func (k Records) erasedSince(ctx context.Context, tenant dag.Tenant, i *issued.Record) (gone []dag.TurnID, err error) {
	last := i.AsOf
	if i.Reading >= dag.ReadStandings && i.OfContext() {
		last = max(last, i.Head)
	}
	for after := i.AsOf; ; {
		page, err := k.erasures.After(ctx, tenant, after, 256)
		if err != nil || len(page) == 0 {
			return gone, err
		}
		turns := make([]dag.TurnID, len(page))
		for e := range page {
			after, turns[e] = page[e].Seq, page[e].Turn
		}
		logged, err := k.erasures.LoggedAmong(ctx, tenant, turns)
		if err != nil {
			return nil, err
		}
		var later store.IDs
		for e, turn := range turns {
			if i.Head != 0 && page[e].Seq > i.Head || i.Head == 0 && logged[turn] > dag.Seq(i.Leaf)+1 {
				later = append(later, turn)
			}
		}
		records, err := k.stored.Turns(ctx, tenant, later)
		if err != nil {
			return nil, err
		}
		for n := range records {
			if records[n].Seq <= last {
				gone = append(gone, records[n].Turn.ID)
			}
		}
	}
}

// kindOf returns the kind of a record's evidence.
func kindOf(r *issued.Record) *slice.Kind {
	k, _ := kinds.OfSchema(r.Provenance.SchemaVersion)
	return k
}

// asked returns the task of a context, or the start entities of a slice of facts; "" for other kinds and if the question was erased.
func asked(r *issued.Record) string {
	switch kindOf(r) {
	case contexts.Bundles:
		if q, err := contexts.ParseRequest(r.Question); err == nil { // else it was erased
			return q.Task
		}
	case facts.Bundles:
		if q, err := facts.ParseQuestion(r.Question); err == nil {
			return strings.Join(q.Start, ", ")
		}
	}
	return ""
}

// records returns records in the form of package api, with the question and the number of turns and facts of each.
func records(list []issued.Record) []api.Issued {
	w := make([]api.Issued, len(list))
	for i := range list {
		w[i] = Handed(&list[i])
		w[i].Asked = asked(&list[i])
		w[i].Holds = len(list[i].Shown.Unpack()) + len(list[i].Facts.Unpack())
	}
	return w
}

// Handed returns a record in the form of package api, without Asked and Holds.
func Handed(i *issued.Record) api.Issued {
	p := &i.Provenance
	w := api.Issued{
		Number: i.Number, SliceID: p.SliceID, Anchor: p.Anchor, PolicyID: p.PolicyID,
		PolicyParamsHash: p.PolicyParamsHash.String(), GraphSnapshotHash: p.GraphSnapshotHash.String(), SchemaVersion: p.SchemaVersion,
		AsOf: i.AsOf, KeyID: i.KeyID, Token: i.Token, BundleSHA256: i.Bundle, IssuedAt: i.At, Leaf: i.Leaf, By: i.By,
		Folders: i.Delivery.Folders.Unpack(), NotGiven: i.NotGiven,
	}
	if to := i.Delivery.Recipient; to != (issued.Recipient{}) {
		w.Recipient = &api.Recipient{Agent: to.Agent, Session: to.Session, Event: to.Event}
	}
	return w
}

func listed[T any](list []T) []T { return append([]T{}, list...) }
