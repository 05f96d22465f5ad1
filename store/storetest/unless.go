package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/store"
)

// testUnless appends turns unless a text was erased after a number: before and after such an erasure, with both kinds of arrivals in one batch and with
// several ranges, in an empty store and for turns that are stored already.
func testUnless(t *testing.T, h Harness) {
	s, ctx := open(t, h), context.Background()
	unless := func(after dag.Seq, b ...store.Arrival) store.Batch {
		later := erasures.Later(after)
		for i := range b {
			b[i].Unless = &later
		}
		return b
	}
	erase := func(n int) {
		t.Helper()
		if _, err := (erasures.Base{History: s}).Erase(ctx, Tenant, erasures.Erasure{Turn: TurnID(n), Reason: "asked for", At: 1}); err != nil {
			t.Fatal(err)
		}
	}
	overtaken := func(what string, batches ...store.Batch) {
		t.Helper()
		if err := refused(t, s, batches...); !errors.Is(err, store.ErrOvertaken) {
			t.Errorf("%s: %v, want ErrOvertaken", what, err)
		}
	}
	mustAppend(t, s, store.Receipt{Admitted: 3, Edges: 2, Head: 3}, unless(0, Chain(1, 3, 0)...))
	mustAppend(t, s, store.Receipt{Admitted: 1, Head: 4}, unless(0, Arrival(4, 1, "no erasure yet")))
	erase(1) // number 5
	fifth := Arrival(5, 1, "an erasure")
	overtaken("after the erasure", unless(4, fifth))
	overtaken("in a later batch", store.Batch{Arrival(6, 1, "free")}, unless(0, fifth))
	overtaken("beside one that knows it", append(unless(5, Arrival(6, 1, "free")), unless(4, fifth)...))
	mustAppend(t, s, store.Receipt{Existing: 2, Head: 5}, unless(0, Arrival(4, 1, "no erasure yet"), Chain(1, 3, 0)[1]))
	mustAppend(t, s, store.Receipt{Admitted: 2, Head: 7}, append(unless(5, fifth), Arrival(6, 1, "free")))
	erase(2) // number 8
	overtaken("after another erasure", unless(7, Arrival(7, 1, "x")))
	mustAppend(t, s, store.Receipt{Admitted: 1, Existing: 1, Head: 9}, append(unless(8, Arrival(7, 1, "x")), unless(0, fifth)...))

	bad := erasures.Later(0)
	bad.Limit = -1
	b := store.Batch{Arrival(8, 1, "y")}
	b[0].Unless = &bad
	if err := refused(t, s, b); !errors.Is(err, dag.ErrForm) {
		t.Errorf("a range that no store answers: %v, want dag.ErrForm", err)
	}
	other := unless(0, Arrival(9, 1, "of another tenant"))
	if r, err := s.Append(ctx, "storetest-other", []store.Batch{other}); err != nil || r.Admitted != 1 {
		t.Errorf("another tenant: %+v, %v", r, err)
	}
	if lists, err := s.Terms(ctx, Tenant, []history.Range{erasures.Later(0)}); err != nil || len(lists[0]) != 2 {
		t.Errorf("%v, %v: want two erasures", lists, err)
	}
}
