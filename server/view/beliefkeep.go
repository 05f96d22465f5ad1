package view

import (
	"context"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
)

// leastDecay is what a belief must lose for decay to be recorded, unless the request says otherwise.
const leastDecay dag.PPM = 10_000

func decayBeliefs(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.DecayRequest) (w api.Decay, err error) {
	least := leastDecay
	if in.Least != nil {
		least = *in.Least
	}
	d, err := k.Beliefs().Decay(ctx, tenant, in.Space, least, in.DryRun)
	if err != nil {
		return w, err
	}
	w = api.Decay{Seq: d.Seq, Lowered: []api.DecayedBelief{}, Excepted: append([]string{}, d.Excepted...)}
	for _, l := range d.Lowered {
		w.Lowered = append(w.Lowered, api.DecayedBelief{Ref: l.Ref, Origin: l.Origin, Before: l.Before, After: l.After, Reason: l.Reason})
	}
	return w, nil
}

func archiveBeliefs(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.ArchiveRequest) (w api.Archive, err error) {
	var saved *dag.Digest
	if in.SHA256 != (dag.Digest{}) {
		saved = &in.SHA256
	}
	a, err := k.Beliefs().Archive(ctx, tenant, in.Space, saved)
	if err != nil {
		return w, err
	}
	w = api.Archive{SHA256: a.SHA256, Items: []api.ArchivedItem{}, Left: a.Left}
	if saved == nil {
		w.Document = string(a.Document)
	}
	for i := range a.Items {
		item := &a.Items[i]
		w.Items = append(w.Items, api.ArchivedItem{
			Item: item.Item, Revisions: item.Revisions, Confidence: item.Confidence, LastUsed: item.LastUsed, SHA256: item.SHA256, Seq: item.Seq,
		})
	}
	return w, nil
}

func unarchiveBeliefs(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.UnarchiveRequest) (w api.Unarchived, err error) {
	list, err := k.Beliefs().Unarchive(ctx, tenant, []byte(in.Document), in.DryRun)
	if err != nil {
		return w, err
	}
	w = api.Unarchived{Items: []api.UnarchivedItem{}}
	for _, item := range list {
		one := api.UnarchivedItem{Item: item.Item, Outcome: item.Result, Seq: item.Seq, Reason: item.Reason}
		for _, e := range item.Conflict {
			one.Conflict = append(one.Conflict, statement(e.Literal, item.Wording))
		}
		w.Items = append(w.Items, one)
	}
	return w, nil
}
