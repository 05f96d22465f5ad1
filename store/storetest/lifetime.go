package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/access/apikeys"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

func testReopen(t *testing.T, h Harness) {
	ctx := context.Background()
	s, err := h.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := Chain(1, 20, 0)
	b[4] = Named(b[4], "five")
	mustAppend(t, s, store.Receipt{Admitted: 20, Edges: 19, Head: 20}, b)
	mustAppend(t, s, store.Receipt{Admitted: 1, Edges: 1, Head: 21}, store.Batch{Arrival(30, 1, "elsewhere", 5)})
	erased, err := Erase(ctx, s, Tenant, Erasure(3))
	if err != nil {
		t.Fatal(err)
	}
	if err := (registry.Base{History: s}).Put(ctx, Tenant, Policy("p@1", 1)); err != nil {
		t.Fatal(err)
	}
	bundle, err := PutIssued(ctx, s, Tenant, Issued(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	keys := []access.Key{Key(1), Key(2)}
	for _, k := range keys {
		if err := (apikeys.Base{History: s}).Put(ctx, k); err != nil {
			t.Fatal(err)
		}
	}
	keys[1].RevokedAt = RevokedAt(2)
	if _, err := (apikeys.Base{History: s}).Revoke(ctx, Tenant, keys[1].ID, keys[1].RevokedAt); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(keys, apikeys.Compare)
	if _, err := PutLeaves(ctx, s, Tenant, Leaves(0, 3)); err != nil {
		t.Fatal(err)
	}
	logged := mustLog(t, s, Tenant)
	before := mustTurn(t, s, 5)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = open(t, h)
	if err := Check(ctx, s, Tenant); err != nil {
		t.Fatal(err)
	}
	if head := mustHead(t, s); head != 22 {
		t.Errorf("head is %d, want 22", head)
	}
	after := mustTurn(t, s, 5)
	if after.Turn != before.Turn || string(after.Body) != string(before.Body) || after.Salt != before.Salt || after.External != "five" ||
		after.Seq != before.Seq || after.Leaf != before.Leaf || !sameList(after.Parents, before.Parents) {
		t.Errorf("turn 5 is %+v, was %+v", after, before)
	}
	if got, err := Events(ctx, s, Tenant, 0, 9); err != nil || !sameList(got, []erasures.Erasure{erased}) {
		t.Errorf("events: %v, %v", got, err)
	}
	if r, err := (registry.Base{History: s}).All(ctx, Tenant); err != nil || len(r.All()) != 1 || r.All()[0] != Policy("p@1", 1) {
		t.Errorf("policies: %v, %v", r.All(), err)
	}
	if got, err := Bundles(s).After(ctx, Tenant, 0, 9); err != nil || !sameList(got, []issued.Record{bundle}) {
		t.Errorf("issued: %v, %v", got, err)
	}
	if got, err := (apikeys.Base{History: s}).All(ctx, Tenant); err != nil || !sameList(got, keys) {
		t.Errorf("keys: %v, %v", got, err)
	}
	if got := mustLog(t, s, Tenant); got != logged || got.Size != 9 {
		t.Errorf("the ledger is %+v, was %+v", got, logged)
	}
	mustAppend(t, s, store.Receipt{Admitted: 1, Existing: 20, Edges: 1, Head: 23}, append(b, Arrival(31, 0, "more", 20)))
	if next, err := PutIssued(ctx, s, Tenant, Issued(2, 1)); err != nil || next.Number != 2 {
		t.Errorf("the next issued slice: %+v, %v", next, err)
	}
	if err := Extends(ctx, s, Tenant, logged); err != nil || mustLog(t, s, Tenant).Size != 10 {
		t.Errorf("after one more: %+v, %v", mustLog(t, s, Tenant), err)
	}
}

// testArguments changes the arguments and the results of calls: the store's own data must not change.
func testArguments(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	b := Chain(1, 3, 0)
	mustAppend(t, s, store.Receipt{Admitted: 3, Edges: 2, Head: 3}, b)
	for i := range b {
		clear(b[i].Body)
		clear(b[i].Parents)
	}
	ids := []dag.TurnID{TurnID(3), TurnID(1), TurnID(2)}
	for range 2 {
		records, err := s.Turns(ctx, Tenant, store.IDs(ids))
		if err != nil {
			t.Fatal(err)
		}
		if ids[0] != TurnID(3) || ids[1] != TurnID(1) {
			t.Errorf("Turns changed its argument")
		}
		for _, r := range records {
			if len(r.Body) == 0 || r.Body[0] != '{' {
				t.Errorf("the body of %s became %.20q", r.Turn.ID, r.Body)
			}
			clear(r.Body)
			clear(r.Parents)
		}
		seg, err := s.Segment(ctx, Tenant, []store.Part{{Conversation: ConversationID(0)}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range seg.Turns {
			clear(seg.Turns[i].Parents)
		}
	}
}

// every calls each method of the store once, and returns the errors.
func every(ctx context.Context, s store.Store) map[string]error {
	errs := map[string]error{}
	_, errs["Append"] = s.Append(ctx, Tenant, []store.Batch{Chain(500, 2, 9)})
	errs["Adopt"] = Adopt(ctx, s, Tenant, Stretch{Records: Records(4, nil, Chain(600, 2, 9))})
	_, errs["Tenants"] = s.Tenants(ctx, "", 1)
	_, errs["Head"] = s.Head(ctx, Tenant)
	_, errs["HeadWhile"] = store.HeadWhile(ctx, s, Tenant, func() {})
	_, errs["Turns"] = s.Turns(ctx, Tenant, store.IDs{TurnID(1)})
	_, errs["Placed"] = s.Turns(ctx, Tenant, store.Places{{Conversation: ConversationID(0), Seq: 1}})
	_, errs["Segment"] = s.Segment(ctx, Tenant, []store.Part{{Conversation: ConversationID(0)}})
	errs["Scan"] = s.Scan(ctx, Tenant, 0, nil, func(*store.Record) error { return nil })
	_, errs["Match"] = s.Find(ctx, Tenant, store.Prefix("a"), 1)
	_, errs["External"] = s.Find(ctx, Tenant, store.External("a"), 1)
	_, errs["Conversations"] = s.Conversations(ctx, Tenant, dag.ConversationID{}, 1)
	_, errs["Erase"] = Erase(ctx, s, Tenant, Erasure(1))
	_, errs["Events"] = Events(ctx, s, Tenant, 0, 1)
	errs["PutPolicy"] = registry.Base{History: s}.Put(ctx, Tenant, Policy("p@1", 1))
	_, errs["Policies"] = registry.Base{History: s}.All(ctx, Tenant)
	_, errs["PutIssued"] = PutIssued(ctx, s, Tenant, Issued(1, 1))
	_, errs["IssuedByID"] = Bundles(s).ByID(ctx, Tenant, Issued(1, 1).Provenance.SliceID)
	_, errs["IssuedAfter"] = Bundles(s).After(ctx, Tenant, 0, 1)
	errs["PutKey"] = apikeys.Base{History: s}.Put(ctx, Key(1))
	_, errs["Key"] = apikeys.Base{History: s}.Get(ctx, Tenant, Key(1).ID)
	_, errs["Keys"] = apikeys.Base{History: s}.All(ctx, Tenant)
	_, errs["RevokeKey"] = apikeys.Base{History: s}.Revoke(ctx, Tenant, Key(1).ID, RevokedAt(1))
	_, errs["Log"] = s.Log(ctx, Tenant)
	_, errs["LogHashes"] = s.LogHashes(ctx, Tenant, 0, 0, 1)
	_, errs["LogIndex"] = LeafIndex(ctx, s, Tenant, Leaves(0, 1)[0])
	_, errs["PutLeaves"] = PutLeaves(ctx, s, Tenant, Leaves(0, 1))
	_, errs["Cells"] = s.Cells(ctx, Tenant, "")
	_, errs["Snapshots"] = s.Snapshots(ctx, Tenant, history.SnapshotPage{Limit: 1})
	errs["Swap"] = s.Swap(ctx, Tenant, "cell", nil, []byte{1})
	return errs
}

// allFail expects every method to fail with want.
func allFail(t *testing.T, ctx context.Context, s store.Store, want error) {
	t.Helper()
	for method, err := range every(ctx, s) {
		if !errors.Is(err, want) {
			t.Errorf("%s gave %v, want %v", method, err, want)
		}
	}
}

func testClosed(t *testing.T, h Harness) {
	s := open(t, h)
	mustAppend(t, s, store.Receipt{Admitted: 3, Edges: 2, Head: 3}, Chain(1, 3, 0))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
	allFail(t, context.Background(), s, store.ErrClosed)
}

func testCancelled(t *testing.T, h Harness) {
	s := open(t, h)
	mustAppend(t, s, store.Receipt{Admitted: 3, Edges: 2, Head: 3}, Chain(1, 3, 0))
	ctx, cancel := context.WithCancel(context.Background())
	count := 0
	err := s.Scan(ctx, Tenant, 0, nil, func(*store.Record) error {
		count++
		cancel()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) || count != 1 {
		t.Errorf("cancelled while scanning: %v after %d records", err, count)
	}
	allFail(t, ctx, s, context.Canceled)
	// Nothing was changed, and the store works as before.
	if head := mustHead(t, s); head != 3 {
		t.Errorf("head is %d, want 3", head)
	}
	if r := mustTurn(t, s, 1); r.Body == nil {
		t.Errorf("a cancelled Erase erased")
	}
	mustAppend(t, s, store.Receipt{Admitted: 1, Edges: 1, Head: 4}, store.Batch{Arrival(4, 0, "after", 3)})
}
