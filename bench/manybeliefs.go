package main

import (
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/store"
)

const manySpace = belief.Space("bench/many")

const (
	manyRevisions = 3     // of each item
	manyResolved  = 5_000 // which a kernel keeps
)

// many makes a space with so many items of three revisions each, the newest of which is believed. One after the other they would take hours, so a store
// takes them over as from another one, which plans each entry and checks it all the same. They are denials, which are no facts.
func (b *believer) many(ctx context.Context, s store.Store, items int) error {
	if _, err := b.k.Beliefs().SetSpace(ctx, b.tenant, api.NewSpace{Space: manySpace, Policy: "bench-kinds@1"}); err != nil {
		return err
	}
	head, err := b.k.Turns().Head(ctx, b.tenant)
	if err != nil {
		return err
	}
	const batch = 1_000
	for from := 0; from < items; from += batch {
		var entries []history.Entry
		for i := from; i < min(from+batch, items); i++ {
			for n := range manyRevisions {
				head++
				e, err := denial(i, n+1, head)
				if err != nil {
					return err
				}
				entries = append(entries, e)
			}
		}
		c, err := journal.Codec{}.Adopt(entries)
		if err != nil {
			return err
		}
		if err := s.Write(ctx, b.tenant, history.Exactly(c, history.Known, entries)); err != nil {
			return err
		}
	}
	return nil
}

// manyItem is the i-th item of the space.
func manyItem(i int) belief.Item {
	return belief.Item(fmt.Sprintf("kref://%s/item-%d.fact", manySpace, i))
}

// denial is the entry of a revision by which an item denies a value.
func denial(i, number int, seq dag.Seq) (e history.Entry, err error) {
	l := valued(i, number)
	l.Not = true
	r := journal.Revision{
		Item: manyItem(i), Number: number, Current: true, Supersedes: number - 1, Confidence: dag.One, Source: "manual",
		Statements: []journal.Stated{{Literal: l, Span: belief.Always, Rank: journal.Rank{Class: belief.Human}}},
	}
	w := canon.NewWriter(nil)
	r.WriteEvidence(w)
	halves, err := canon.Parse(w.Bytes)
	if err != nil {
		return e, err
	}
	half := func(name string) []byte { return canon.AppendValue(nil, halves.Get(name)) }
	return history.Entry{Seq: seq, Kind: journal.KindRevision, At: dag.Time(1_700_000_000_000_000 + int64(seq)), Public: half("public"), Private: half("private")}, nil
}

// measureMany measures operations on a space of many items.
func (b *believer) measureMany(ctx context.Context, r *report, items, rounds int) error {
	refs := make([]belief.Address, min(items, manyResolved))
	for i := range refs {
		refs[i] = belief.Address{Item: manyItem(i * 7919 % items)}
	}
	resolve := func(i int) error {
		kref, err := b.k.Beliefs().Kref(ctx, b.tenant, refs[i%len(refs)])
		if err == nil && (kref.Revision == nil || kref.Revision.Number < manyRevisions) {
			err = fmt.Errorf("%s leads to %+v", refs[i%len(refs)], kref.Revision)
		}
		return err
	}
	first := &candidate{name: "resolve an address for the first time", run: func(_ context.Context, i int) error { return resolve(len(refs) - 1 - i) }}
	if err := inTurn(ctx, rounds, []*candidate{first}); err != nil {
		return err
	}
	for i := range refs {
		if err := resolve(i); err != nil {
			return err
		}
	}
	again := &candidate{name: "resolve an address that was resolved before", burst: 20, run: func(_ context.Context, i int) error { return resolve(i) }}
	decide := &candidate{name: "decide a revise, without the commit", burst: 4, run: func(ctx context.Context, i int) error {
		o, err := b.operate(ctx, manySpace, "", true, valued(i*7919%(items/2), manyRevisions))
		if err == nil && len(o.GaveWay) != 1 {
			err = fmt.Errorf("%d statements gave way, want 1", len(o.GaveWay))
		}
		return err
	}}
	revise := &candidate{name: "revise and commit", run: func(ctx context.Context, i int) error {
		_, err := b.operate(ctx, manySpace, "", false, valued(items/2+i*7907%(items/2), manyRevisions))
		return err
	}}
	for _, c := range []*candidate{again, decide, revise} {
		if err := c.warm(ctx, 3); err != nil {
			return err
		}
	}
	if err := inTurn(ctx, rounds, []*candidate{again, decide, revise}); err != nil {
		return err
	}
	r.table(fmt.Sprintf("Beliefs of a space of %d items with %d revisions", items, items*manyRevisions), []row{
		rowOf(again, nil, atMost(again.sample.p50(), boundResolve)), rowOf(first, nil), rowOf(decide, nil, atMost(decide.sample.p50(), boundRevise)), rowOf(revise, nil),
	})
	return nil
}
