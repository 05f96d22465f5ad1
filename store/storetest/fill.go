package storetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// Filled is how many turns Fill admits.
const Filled = 40

// Fill writes something of every kind to a tenant that has nothing: turns of four
// conversations with edges between them, named, withheld and erased ones, policies,
// API keys, slices that were really cut, and roots of other logs that were witnessed.
func Fill(ctx context.Context, s store.Store, tenant dag.Tenant) error {
	var errs []error
	did := func(err error) { errs = append(errs, err) }
	admit := func(first, last int) {
		var b store.Batch
		for n := first; n <= last; n++ {
			var parents []int
			if n > 4 {
				parents = append(parents, n-4) // its own conversation's
			}
			if n > 8 && n%5 == 0 {
				parents = append(parents, n-5)
			}
			a := Arrival(n, n%4, fmt.Sprintf("turn %d of %s", n, tenant), parents...)
			switch {
			case n%7 == 3:
				a = Named(a, fmt.Sprintf("name %d", n%2))
			case n%11 == 5:
				a = Withheld(a)
			}
			b = append(b, a)
		}
		_, err := s.Append(ctx, tenant, []store.Batch{b})
		did(err)
	}
	erase := func(n int) {
		_, err := s.Erase(ctx, tenant, Erasure(n))
		did(err)
	}
	for i, id := range []policy.ID{"wide@1", "narrow@2"} {
		did(s.PutPolicy(ctx, tenant, Policy(id, 20-17*i)))
	}
	admit(1, 20)
	did(Issue(ctx, s, tenant, TurnID(15), "wide@1"))
	erase(3)
	erase(12)
	admit(21, 30)
	for _, n := range []int{15, 24, 30} {
		did(Issue(ctx, s, tenant, TurnID(n), "narrow@2"))
	}
	admit(31, Filled)
	erase(24)
	did(Issue(ctx, s, tenant, TurnID(Filled), "wide@1"))
	for n := range 3 {
		k := Key(n)
		k.Tenant = tenant
		did(s.PutKey(ctx, k))
	}
	_, err := s.RevokeKey(ctx, tenant, Key(1).ID, RevokedAt(1))
	did(err)
	for n := range 2 {
		did(s.PutWitnessed(ctx, tenant, fmt.Sprintf("log%d.example", n), ledger.Root{}, ledger.Root{Size: uint64(7 + n), Hash: ledger.Hash{byte(n)}}))
	}
	return errors.Join(errs...)
}

// Issue cuts a slice under a registered policy at the present head, and records it.
// Its token and its bundle's digest are made up.
func Issue(ctx context.Context, s store.Store, tenant dag.Tenant, anchor dag.TurnID, id policy.ID) error {
	registry, err := s.Policies(ctx, tenant)
	if err != nil {
		return err
	}
	p, err := registry.Get(id)
	if err != nil {
		return err
	}
	parts, err := everyPart(ctx, s, tenant)
	if err != nil {
		return err
	}
	var seg store.Segment
	for whole := false; !whole; { // others may begin a conversation meanwhile
		if seg, err = s.Segment(ctx, tenant, parts); err != nil {
			return err
		}
		now, err := everyPart(ctx, s, tenant)
		if err != nil {
			return err
		}
		whole, parts = len(now) == len(parts), now
	}
	g := dag.NewGraph()
	for i := range seg.Turns {
		if err := g.Add(&seg.Turns[i]); err != nil {
			return err
		}
	}
	cut, err := slice.Cut(g.At(seg.Head), anchor, p)
	if err != nil {
		return err
	}
	record := Issued(int(seg.Head), 0)
	record.Provenance, record.AsOf = cut.Provenance, seg.Head
	record.Bundle = dag.Digest(cut.Provenance.GraphSnapshotHash)
	record.Bundle[0] ^= byte(seg.Head)
	_, err = PutIssued(ctx, s, tenant, record)
	return err
}

// PutIssued records one bundle.
func PutIssued(ctx context.Context, s store.Store, tenant dag.Tenant, i store.Issued) (store.Issued, error) {
	stand, err := s.PutIssued(ctx, tenant, []store.Issued{i})
	if err == nil && len(stand) != 1 {
		err = fmt.Errorf("%d records stand for one bundle", len(stand))
	}
	if err != nil {
		return store.Issued{}, err
	}
	return stand[0], nil
}

// everyPart names all conversations from their beginnings.
func everyPart(ctx context.Context, s store.Store, tenant dag.Tenant) (parts []store.Part, err error) {
	for after := (dag.ConversationID{}); ; {
		page, err := s.Conversations(ctx, tenant, after, 100)
		if err != nil || len(page) == 0 {
			return parts, err
		}
		for _, c := range page {
			after = c.ID
			parts = append(parts, store.Part{Conversation: c.ID})
		}
	}
}
