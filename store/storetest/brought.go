package storetest

import (
	"context"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/store"
)

// testBrought checks that a turn keeps the credential that brought it first, even if another
// one brings it again or its text is erased, and that it has none if none brought it.
func testBrought(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	with := func(key string, a store.Arrival) store.Arrival {
		a.Key = key
		return a
	}
	first, second, token := Key(1).ID, Key(2).ID, "jwt:ci \U0001f511"
	expect := func(when string, want ...string) {
		t.Helper()
		at := 0
		err := s.Scan(ctx, Tenant, 0, nil, func(r *store.Record) error {
			if at < len(want) && r.Key != want[at] {
				t.Errorf("%s turn %s was brought by %q, want %q", when, r.Turn.ID, r.Key, want[at])
			}
			at++
			return nil
		})
		if err != nil || at != len(want) {
			t.Fatalf("%s there are %d turns, %v, want %d", when, at, err, len(want))
		}
	}
	batch := func(keys ...string) store.Batch {
		b := store.Batch{}
		for i, key := range keys {
			b = append(b, with(key, Arrival(10+i, 0, "brought")))
		}
		b[2] = Withheld(b[2])
		return b
	}
	mustAppend(t, s, store.Receipt{Admitted: 4, Head: 4}, batch(first, "", token, second))
	expect("at first", first, "", token, second)
	mustAppend(t, s, store.Receipt{Existing: 4, Head: 4}, batch(second, second, second, ""))
	expect("brought again", first, "", token, second)
	if _, err := Erase(ctx, s, Tenant, Erasure(10)); err != nil {
		t.Fatal(err)
	}
	expect("erased", first, "", token, second)

	for _, bad := range []string{"nobody", Key(1).ID + "0", "JWT:ci", "jwt:", "jwt:a\x00b"} {
		_ = refused(t, s, store.Batch{with(bad, Arrival(20, 0, "by nobody"))})
	}

	// Turns of another store keep the credentials that they have there.
	stretch := Stretch{
		Records: Records(6, nil, store.Batch{with(token, Arrival(20, 1, "from elsewhere")), with("", Arrival(21, 1, "from elsewhere"))}),
		Events:  []erasures.Erasure{Erased(8, 20)},
	}
	if err := Adopt(ctx, s, Tenant, stretch); err != nil {
		t.Fatal(err)
	}
	expect("adopted", first, "", token, second, token, "")
	stretch = Stretch{Records: Records(9, nil, store.Batch{with("nobody", Arrival(22, 1, "by nobody"))})}
	if err := Adopt(ctx, s, Tenant, stretch); err == nil {
		t.Error("a turn brought by nobody was adopted")
	}
	for _, n := range []int{10, 11, 12, 13, 20, 21} { // by their ids, and by their places
		r := mustTurn(t, s, n)
		placed, err := s.Turns(ctx, Tenant, store.Places{{Conversation: r.Turn.Conversation, Seq: r.Seq}})
		if want := map[int]string{10: first, 12: token, 13: second, 20: token}[n]; err != nil || len(placed) != 1 || r.Key != want || placed[0].Key != want {
			t.Errorf("turn %d was brought by %q, and by its place %v, %v, want %q", n, r.Key, placed, err, want)
		}
	}
	if head := mustHead(t, s); head != dag.Seq(8) {
		t.Errorf("the head is %d", head)
	}
}
