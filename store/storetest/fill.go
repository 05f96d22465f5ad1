package storetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/access/apikeys"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/witness"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

// Filled is the number of turns that Fill admits.
const Filled = 40

// Fill writes something of every kind to a tenant without data: turns of four conversations with edges between them, some of them named, withheld or
// erased, policies, API keys, slices that were really cut, witnessed roots of other logs, and acts of knowledge, between the turns and after them.
func Fill(ctx context.Context, s store.Store, tenant dag.Tenant) error {
	var errs []error
	did := func(err error) { errs = append(errs, err) }
	admit := func(first, last int) {
		var b store.Batch
		for n := first; n <= last; n++ {
			var parents []int
			if n > 4 {
				parents = append(parents, n-4) // a parent in its own conversation
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
		_, err := Erase(ctx, s, tenant, Erasure(n))
		did(err)
	}
	for i, id := range []policy.ID{"wide@1", "narrow@2"} {
		did(registry.Base{History: s}.Put(ctx, tenant, Policy(id, 20-17*i)))
	}
	admit(1, 20)
	did(Issue(ctx, s, tenant, TurnID(15), "wide@1"))
	erase(3)
	erase(12)
	admit(21, 30)
	for _, n := range []int{15, 24, 30} {
		did(Issue(ctx, s, tenant, TurnID(n), "narrow@2"))
	}
	did(learnFirst(ctx, s, tenant))
	admit(31, Filled)
	did(learnMore(ctx, s, tenant))
	erase(24)
	did(learnLast(ctx, s, tenant))
	did(Issue(ctx, s, tenant, TurnID(Filled), "wide@1"))
	for n := range 3 {
		k := Key(n)
		k.Tenant = tenant
		did(apikeys.Base{History: s}.Put(ctx, k))
	}
	_, err := apikeys.Base{History: s}.Revoke(ctx, tenant, Key(1).ID, RevokedAt(1))
	did(err)
	for n := range 2 {
		did(witness.Roots{Cells: s}.Replace(ctx, tenant, fmt.Sprintf("log%d.example", n), ledger.Root{}, ledger.Root{Size: uint64(7 + n), Hash: ledger.Hash{byte(n)}}))
		did(Snap(ctx, s, tenant, []history.Snapshot{{Name: fmt.Sprintf("test/%d", n), Value: []byte("derived")}}, false))
	}
	return errors.Join(errs...)
}

// learnFirst records facts: with evidence, for a time, of one entity with itself, and with names
// in another spelling; one fact is confirmed once with a lower and once with a higher confidence.
func learnFirst(ctx context.Context, s store.Store, tenant dag.Tenant) error {
	learned := Assertion(1, 1, 2, 300_000, "llm:m")
	learned.Fact.Turn, learned.Fact.Slice = TurnID(7), "0123456789abcdef"
	timed := Assertion(1, 1, 3, 300_000, "user")
	timed.Fact.From, timed.Fact.Statement.Until = 5, 9
	wide, err := knowledge.NewFact("Ada Müller", "wrote", "e1", "user")
	if err != nil {
		return err
	}
	return putActs(ctx, s, tenant, 1, learned, Assertion(1, 1, 2, 200_000, "user"), timed,
		Assertion(4, 2, 4, dag.One, "user"), knowledge.Act{Kind: knowledge.Assert, Fact: wide}, Assertion(1, 1, 2, 900_000, "user"))
}

// learnMore adds aliases, removes one of them, and ends beliefs by retracting and by superseding.
func learnMore(ctx context.Context, s store.Store, tenant dag.Tenant) error {
	retracted := Assertion(4, 2, 4, dag.One, "user")
	replacing := Assertion(1, 1, 5, 500_000, "user")
	for _, old := range []knowledge.Act{Assertion(1, 1, 2, 0, "user"), Assertion(6, 1, 2, 0, "user")} {
		replacing.Supersedes = append(replacing.Supersedes, old.Fact.ID())
	}
	replacing.Supersedes = knowledge.SortIDs(replacing.Supersedes)
	return putActs(ctx, s, tenant, 2, Assertion(6, 1, 2, 0, "user"),
		knowledge.Act{Kind: knowledge.Alias, Alias: "ee-one", Canonical: "e1"}, knowledge.Act{Kind: knowledge.Alias, Alias: "ee-two", Canonical: "e2"},
		knowledge.Act{Kind: knowledge.Retract, Statement: retracted.Fact.ID(), Reason: "wrong"}, replacing,
		knowledge.Act{Kind: knowledge.Unalias, Alias: "ee-two", Canonical: "e2"})
}

// learnLast asserts again a statement that was retracted, and asserts and retracts another one in one batch.
func learnLast(ctx context.Context, s store.Store, tenant dag.Tenant) error {
	short := Assertion(7, 3, 1, 700_000, "user")
	end := knowledge.Act{Kind: knowledge.Retract, Statement: short.Fact.ID()}
	learned := Assertion(2, 3, 1, 100_000, "llm:m")
	learned.Fact.Turn = TurnID(24) // a turn whose text was erased
	return putActs(ctx, s, tenant, 3, Assertion(4, 2, 4, dag.One, "user"), short, end, short, end, learned,
		Assertion(2, 3, 1, 100_000, "user"), Assertion(2, 3, 1, 100_000, "another"), Assertion(2, 3, 1, 600_000, "user"), Assertion(2, 3, 4, 0, "user"))
}

// putActs records acts. Each of them must change something.
func putActs(ctx context.Context, s store.Store, tenant dag.Tenant, at dag.Time, acts ...knowledge.Act) error {
	outcomes, err := Facts(s).Learn(ctx, tenant, acts, at)
	for i, o := range outcomes {
		if o.Seq == 0 {
			err = errors.Join(err, fmt.Errorf("act %d of %d changed nothing: %s", i+1, len(acts), o.Result))
		}
	}
	return err
}

// Issue cuts a slice under a registered policy at the present head, and records it. The
// token is invented, and the bundle's digest is that of the bundle with this token.
func Issue(ctx context.Context, s store.Store, tenant dag.Tenant, anchor dag.TurnID, id policy.ID) error {
	registry, err := registry.Base{History: s}.All(ctx, tenant)
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
	cut, err := slice.Cut(g.At(seg.Head), anchor, p, nil)
	if err != nil {
		return err
	}
	record := Issued(int(seg.Head), 0)
	record.Provenance, record.AsOf = cut.Provenance, seg.Head
	cut.AsOf = seg.Head
	if record.Bundle, err = bundleDigest(ctx, s, tenant, cut, slice.Seal{Tenant: tenant, KeyID: record.KeyID, Token: record.Token}); err != nil {
		return err
	}
	_, err = PutIssued(ctx, s, tenant, record)
	return err
}

func bundleDigest(ctx context.Context, s store.Store, tenant dag.Tenant, cut *slice.Slice, seal slice.Seal) (d dag.Digest, err error) {
	ids := make([]dag.TurnID, len(cut.Turns))
	for i := range ids {
		ids[i] = cut.Turns[i].ID
	}
	records, err := s.Turns(ctx, tenant, store.IDs(ids))
	if err != nil {
		return d, err
	}
	encoded := map[dag.TurnID]slice.EncodedTurn{}
	for i := range records {
		r := &records[i]
		if encoded[r.Turn.ID], err = slice.EncodeTurn(&r.Turn, r.Body, r.Salt); err != nil {
			return d, err
		}
	}
	return sha256.Sum256(slice.AppendBundle(nil, cut, seal, func(i int) slice.EncodedTurn { return encoded[cut.Turns[i].ID] })), nil
}

// Bundles returns the record of issued bundles of a store.
func Bundles(s store.Store) issued.Base { return issued.Base{History: s} }

// PutIssued records one bundle.
func PutIssued(ctx context.Context, s store.Store, tenant dag.Tenant, i issued.Record) (issued.Record, error) {
	stand, err := Bundles(s).Put(ctx, tenant, []issued.Record{i})
	if err == nil && len(stand) != 1 {
		err = fmt.Errorf("%d records stand for one bundle", len(stand))
	}
	if err != nil {
		return issued.Record{}, err
	}
	return stand[0], nil
}

// everyPart returns the parts of all conversations, from their beginnings.
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

// policyLeaf returns the ledger's leaf for a registered policy.
func policyLeaf(tenant dag.Tenant, p policy.Registered) []byte {
	l := registry.Leaf{Tenant: tenant, ID: p.ID(), Hash: p.Hash()}
	return l.Append(nil)
}
