package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/store"
)

func testErase(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	b := Chain(1, 3, 0)
	b[1] = Named(b[1], "a name")
	mustAppend(t, s, store.Receipt{Admitted: 3, Edges: 2, Head: 3}, b)
	before := mustTurn(t, s, 2)

	want := Erasure(2)
	want.Seq = 4
	got, err := s.Erase(ctx, Tenant, Erasure(2))
	if err != nil || got != want {
		t.Fatalf("got %+v, %v, want %+v", got, err, want)
	}
	r := mustTurn(t, s, 2)
	if r.Body != nil || r.Salt != (dag.Salt{}) || r.External != "" {
		t.Errorf("after the erasure there is %+v", r)
	}
	if r.Turn != before.Turn || r.Leaf != before.Leaf || r.Seq != before.Seq || len(r.Parents) != 1 || r.Parents[0] != before.Parents[0] {
		t.Errorf("the erasure changed more than the body: %+v, was %+v", r, before)
	}
	if ids, err := s.External(ctx, Tenant, "a name", 9); err != nil || len(ids) != 0 {
		t.Errorf("the external id still leads to %v, %v", ids, err)
	}
	later := Erasure(2)
	later.At, later.Reason = later.At+1, "again"
	if got, err := s.Erase(ctx, Tenant, later); err != nil || got != want {
		t.Errorf("a second time: got %+v, %v, want the event that stands, %+v", got, err, want)
	}
	// The turn arrives again in every form, and stays erased.
	mustAppend(t, s, store.Receipt{Existing: 1, Head: 4}, store.Batch{b[1]})
	mustAppend(t, s, store.Receipt{Existing: 1, Head: 4}, store.Batch{Withheld(b[1])})
	mustAppend(t, s, store.Receipt{Existing: 1, Head: 4}, store.Batch{Drawn(b[1], 50)})
	if r := mustTurn(t, s, 2); r.Body != nil {
		t.Errorf("the erased turn came back")
	}
	var conflict *store.ConflictError
	if err := refused(t, s, store.Batch{Arrival(2, 0, "another text", 1)}); !errors.As(err, &conflict) {
		t.Errorf("another text: got %v, want a ConflictError", err)
	}
	if _, err := s.Erase(ctx, Tenant, Erasure(99)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown turn: got %v, want ErrNotFound", err)
	}
	if _, err := s.Erase(ctx, "nobody", Erasure(2)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown tenant: got %v, want ErrNotFound", err)
	}
	if _, err := s.Erase(ctx, Tenant, store.Event{Kind: "other", Turn: TurnID(1)}); !errors.Is(err, dag.ErrForm) {
		t.Errorf("an unknown kind: got %v, want dag.ErrForm", err)
	}
	// Numbers go on after the event.
	mustAppend(t, s, store.Receipt{Admitted: 1, Edges: 1, Head: 5}, store.Batch{Arrival(4, 0, "from the erased one", 2)})
}

func testEvents(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	mustAppend(t, s, store.Receipt{Admitted: 5, Edges: 4, Head: 5}, Chain(1, 5, 0))
	var want []store.Event
	for _, n := range []int{4, 1, 5} {
		e, err := s.Erase(ctx, Tenant, Erasure(n))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, e)
	}
	for _, c := range []struct {
		after dag.Seq
		limit int
		want  []store.Event
	}{{0, 9, want}, {0, 2, want[:2]}, {6, 9, want[1:]}, {8, 9, nil}, {dag.MaxSeq, 9, nil}, {0, 0, nil}, {0, -1, nil}} {
		got, err := s.Events(ctx, Tenant, c.after, c.limit)
		if err != nil || !sameList(got, c.want) {
			t.Errorf("Events(%d, %d) gave %v, %v, want %v", c.after, c.limit, got, err, c.want)
		}
	}
}

func testPolicies(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	if r, err := s.Policies(ctx, Tenant); err != nil || len(r.All()) != 0 {
		t.Errorf("of an empty store: %v, %v", r.All(), err)
	}
	for _, p := range []policy.Registered{Policy("zeta@1", 1), Policy("alpha@2", 2), Policy("alpha@1", 3), Policy("alpha@2", 2)} {
		if err := s.PutPolicy(ctx, Tenant, p); err != nil {
			t.Fatalf("PutPolicy(%s): %v", p.ID(), err)
		}
	}
	if err := s.PutPolicy(ctx, Tenant, Policy("alpha@1", 4)); !errors.Is(err, policy.ErrConflict) {
		t.Errorf("other parameters: got %v, want policy.ErrConflict", err)
	}
	if err := s.PutPolicy(ctx, Tenant, policy.Registered{}); err == nil {
		t.Errorf("no policy at all was registered")
	}
	r, err := s.Policies(ctx, Tenant)
	if err != nil || len(r.All()) != 3 {
		t.Fatalf("got %v, %v, want three", r.All(), err)
	}
	if p, err := r.Get("alpha@1"); err != nil || p != Policy("alpha@1", 3) {
		t.Errorf("alpha@1 is %+v, %v, want the first one", p, err)
	}
}

func testIssued(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	var want []store.Issued
	for n := range 10 {
		i := Issued(n, n%3)
		i.Number = 77 // the store's to set
		got, err := s.PutIssued(ctx, Tenant, i)
		i.Number = uint64(n + 1)
		if err != nil || got != i {
			t.Fatalf("got %+v, %v, want %+v", got, err, i)
		}
		want = append(want, got)
	}
	again := Issued(4, 1)
	again.At, again.Token = again.At+1, "another"
	if got, err := s.PutIssued(ctx, Tenant, again); err != nil || got != want[4] {
		t.Errorf("the same bundle: got %+v, %v, want the first record %+v", got, err, want[4])
	}
	for _, c := range []struct {
		after uint64
		limit int
		want  []store.Issued
	}{{0, 99, want}, {0, 4, want[:4]}, {8, 4, want[8:]}, {10, 4, nil}, {1<<64 - 1, 4, nil}, {0, 0, nil}} {
		got, err := s.IssuedAfter(ctx, Tenant, c.after, c.limit)
		if err != nil || !sameList(got, c.want) {
			t.Errorf("IssuedAfter(%d, %d) gave %d records, %v, want %d", c.after, c.limit, len(got), err, len(c.want))
		}
	}
	if got, err := s.IssuedByID(ctx, Tenant, want[0].Provenance.SliceID); err != nil || len(got) != 4 || got[3] != want[9] {
		t.Errorf("IssuedByID gave %v, %v", got, err)
	}
	if got, err := s.IssuedByID(ctx, Tenant, "ffffffffffffffff"); err != nil || len(got) != 0 {
		t.Errorf("an unknown slice: %v, %v", got, err)
	}
	malformed := Issued(50, 0)
	malformed.Provenance.SliceID = ""
	if _, err := s.PutIssued(ctx, Tenant, malformed); err == nil {
		t.Errorf("a record without a slice id was kept")
	}
	if head := mustHead(t, s); head != 0 {
		t.Errorf("issuing moved the head to %d", head)
	}
}

// testTenants gives two tenants the same ids with other content.
func testTenants(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	tenants := []dag.Tenant{Tenant, "other", "a"}
	for i, tenant := range tenants {
		a := Named(Arrival(1, 0, fmt.Sprintf("of tenant %d", i)), "name")
		link := Arrival(2, 1, "linked", 1)
		if got, err := s.Append(ctx, tenant, []store.Batch{{a, link}}); err != nil || got != (store.Receipt{Admitted: 2, Edges: 1, Head: 2}) {
			t.Fatalf("%s: %+v, %v", tenant, got, err)
		}
		if err := s.PutPolicy(ctx, tenant, Policy("p@1", i)); err != nil {
			t.Fatal(err)
		}
		if got, err := s.PutIssued(ctx, tenant, Issued(1, 1)); err != nil || got.Number != 1 {
			t.Fatalf("%s: issued %+v, %v", tenant, got, err)
		}
	}
	if _, err := s.Erase(ctx, Tenant, Erasure(1)); err != nil {
		t.Fatal(err)
	}
	for i, tenant := range tenants {
		if err := Check(ctx, s, tenant); err != nil {
			t.Errorf("%s: %v", tenant, err)
		}
		head, err := s.Head(ctx, tenant)
		if want := dag.Seq(2 + len(tenants[:1-min(i, 1)])); err != nil || head != want {
			t.Errorf("%s: head %d, %v, want %d", tenant, head, err, want)
		}
		records, err := s.Turns(ctx, tenant, []dag.TurnID{TurnID(1)})
		if err != nil || len(records) != 1 || (records[0].Body == nil) != (i == 0) {
			t.Fatalf("%s: %v, %v", tenant, records, err)
		}
		want := Named(Arrival(1, 0, fmt.Sprintf("of tenant %d", i)), "name")
		if records[0].Turn.BodyDigest != want.Turn.BodyDigest || i > 0 && string(records[0].Body) != string(want.Body) {
			t.Errorf("%s has another tenant's turn", tenant)
		}
		if r, err := s.Policies(ctx, tenant); err != nil || len(r.All()) != 1 || r.All()[0] != Policy("p@1", i) {
			t.Errorf("%s: policies %v, %v", tenant, r.All(), err)
		}
		if ids, err := s.External(ctx, tenant, "name", 9); err != nil || (len(ids) == 0) != (i == 0) {
			t.Errorf("%s: external %v, %v", tenant, ids, err)
		}
	}
	var unknown *store.ParentError
	_, err := s.Append(ctx, "fresh", []store.Batch{{Arrival(3, 0, "from another tenant's turn", 1)}})
	if !errors.As(err, &unknown) {
		t.Errorf("a parent of another tenant: got %v, want a ParentError", err)
	}
	if err := Check(ctx, s, "fresh"); err != nil {
		t.Errorf("a tenant that has nothing: %v", err)
	}
}
