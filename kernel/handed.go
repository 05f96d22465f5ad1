package kernel

import (
	"context"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/slice/kinds"
)

// mostRecords is the maximum number of records that one listing reads to find those of a kind.
const mostRecords = 1000

// List returns a page of the records of bundles that were handed out.
func (k Slices) List(ctx context.Context, tenant dag.Tenant, in api.SliceQuery) (w api.Slices, err error) {
	after, err := in.Number()
	if err != nil {
		return w, err
	}
	limit := in.Size()
	look := limit
	if in.Kind != "" {
		look = mostRecords
	}
	var list []issued.Record
	switch {
	case in.Begins != "":
		list, err = k.Begin(ctx, tenant, strings.ToLower(in.Begins), limit)
	case in.Newest:
		list, err = k.Before(ctx, tenant, after, look+1)
	default:
		list, err = k.After(ctx, tenant, after, look+1)
	}
	if err != nil {
		return w, err
	}
	var page []issued.Record
	for i := range list {
		if len(page) == limit || i == look {
			w.Next = api.Next(list[i-1].Number)
			break
		}
		if in.Kind == "" || in.Kind == kindOf(&list[i]).Name {
			page = append(page, list[i])
		}
	}
	w.Slices = records(page)
	for i := range page {
		if in.Counted && page[i].OfTurns() {
			s, err := k.Recorded(ctx, tenant, &page[i])
			if err != nil {
				return w, err
			}
			w.Slices[i].Holds = len(s.Turns)
		}
	}
	return w, nil
}

// kindOf returns the kind of a record's evidence.
func kindOf(r *issued.Record) *slice.Kind {
	k, _ := kinds.OfSchema(r.Provenance.SchemaVersion)
	return k
}

// Get lists the records of a bundle by its id.
func (k Slices) Get(ctx context.Context, tenant dag.Tenant, in api.SliceByID) (api.SliceRecord, error) {
	list, err := k.Issued(ctx, tenant, in.SliceID)
	return api.SliceRecord{SliceID: in.SliceID, Issued: records(list)}, err
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
