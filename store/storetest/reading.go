package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/graphkernel/graphkernel/access/apikeys"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/store"
)

func testTurns(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	if got, err := s.Turns(ctx, Tenant, store.IDs{TurnID(1)}); err != nil || len(got) != 0 {
		t.Errorf("of an empty store: %v, %v", got, err)
	}
	mustAppend(t, s, store.Receipt{Admitted: 600, Edges: 599, Head: 600}, Chain(1, 600, 0))
	ids := []dag.TurnID{TurnID(9999), TurnID(7), TurnID(7)}
	for n := 600; n > 0; n -= 2 {
		ids = append(ids, TurnID(n))
	}
	got, err := s.Turns(ctx, Tenant, store.IDs(ids))
	if err != nil || len(got) != 301 {
		t.Fatalf("got %d turns, %v, want 301", len(got), err)
	}
	for _, none := range []store.Selection{store.IDs(nil), nil} {
		if got, err := s.Turns(ctx, Tenant, none); err != nil || len(got) != 0 {
			t.Errorf("of %#v: %v, %v", none, got, err)
		}
	}
}

func testPlaced(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	at := func(conversation int, seq dag.Seq) store.Place {
		return store.Place{Conversation: ConversationID(conversation), Seq: seq}
	}
	if got, err := s.Turns(ctx, Tenant, store.Places{at(0, 1)}); err != nil || len(got) != 0 {
		t.Errorf("of an empty store: %v, %v", got, err)
	}
	first := Chain(1, 600, 0)
	first[6] = Named(first[6], "seven")
	mustAppend(t, s, store.Receipt{Admitted: 600, Edges: 599, Head: 600}, first)
	mustAppend(t, s, store.Receipt{Admitted: 1, Edges: 2, Head: 601}, store.Batch{Arrival(601, 1, "linked", 3, 9)})
	if _, err := Erase(ctx, s, Tenant, Erasure(601)); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, store.Receipt{Admitted: 1, Edges: 1, Head: 603}, store.Batch{Arrival(603, 1, "behind an event", 601)})

	none := []store.Place{{}, at(0, 0), at(1, 7), at(0, 601), at(1, 602), at(0, 602), at(1, 604), at(9, 1), at(0, dag.MaxSeq), at(0, dag.MaxSeq+1), at(0, 1<<64-1)}
	if got, err := s.Turns(ctx, Tenant, store.Places(none)); err != nil || len(got) != 0 {
		t.Errorf("where no turn stands: %v, %v", got, err)
	}
	if got, err := s.Turns(ctx, Tenant, store.Places(nil)); err != nil || len(got) != 0 {
		t.Errorf("of no places: %v, %v", got, err)
	}
	places := append(none, at(1, 601), at(1, 603), at(0, 7), at(0, 7))
	want := []int{601, 603, 7}
	for n := 600; n > 0; n -= 2 {
		places = append(places, at(0, dag.Seq(n)))
		want = append(want, n)
	}
	asked := slices.Clone(places)
	got, err := s.Turns(ctx, Tenant, store.Places(places))
	if err != nil || len(got) != len(want) {
		t.Fatalf("got %d turns, %v, want %d", len(got), err, len(want))
	}
	if !slices.Equal(asked, places) {
		t.Errorf("Placed changed its argument")
	}
	byID := map[dag.TurnID]store.Record{}
	for _, r := range got {
		byID[r.Turn.ID] = r
	}
	for _, n := range want {
		r, same := byID[TurnID(n)], mustTurn(t, s, n)
		if r.Seq != same.Seq || r.Turn != same.Turn || r.Leaf != same.Leaf || !sameList(r.Parents, same.Parents) ||
			(r.Body == nil) != (same.Body == nil) || string(r.Body) != string(same.Body) || r.Salt != same.Salt || r.External != same.External || r.Key != same.Key || !r.Marks.Equal(&same.Marks) {
			t.Errorf("turn %d: Placed gave %+v, Turns %+v", n, r, same)
		}
	}
}

// testHeadWhile asks for the head while others write: the head includes everything that was
// acknowledged before the call, whatever the work does. A work that panics breaks nothing else.
func testHeadWhile(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	worked := 0
	work := func() { worked++ }
	if head, err := store.HeadWhile(ctx, s, "nobody", work); err != nil || head != 0 || worked != 1 {
		t.Errorf("nobody's head is %d, %v, and the work was done %d times", head, err, worked)
	}
	var acknowledged, begun atomic.Uint64
	var enough atomic.Bool
	var writer sync.WaitGroup
	writer.Go(func() {
		for n := 0; !enough.Load(); n++ {
			begun.Add(1)
			if _, err := s.Append(ctx, Tenant, []store.Batch{{Arrival(1+n, n, "a turn")}}); err != nil {
				t.Error(err)
				return
			}
			acknowledged.Add(1)
		}
	})
	moved := map[dag.Seq]bool{}
	for n := 0; (n < 50 || len(moved) < 5) && !t.Failed(); n++ {
		before, seen := acknowledged.Load(), uint64(0)
		worked = 0
		head, err := store.HeadWhile(ctx, s, Tenant, func() {
			work()
			seen = acknowledged.Load()
		})
		if after := begun.Load(); err != nil || uint64(head) < before || uint64(head) > after || worked != 1 || seen < before {
			t.Errorf("the head is %d, %v, with %d turns acknowledged before and %d begun after; the work was done %d times", head, err, before, after, worked)
		}
		moved[head] = true
	}
	enough.Store(true)
	writer.Wait()
	for range 40 { // more than there are connections
		func() {
			defer func() {
				if recover() != "work" {
					t.Error("the panic of the work is gone")
				}
			}()
			_, _ = store.HeadWhile(ctx, s, Tenant, func() { panic("work") })
		}()
	}
	if head, err := store.HeadWhile(ctx, s, Tenant, work); err != nil || uint64(head) != acknowledged.Load() {
		t.Errorf("behind panics the head is %d, %v, want %d", head, err, acknowledged.Load())
	}
}

// testTenantList writes one kind of data to each tenant, and lists the tenants. Tenants without data are not listed.
func testTenantList(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	list := func(after dag.Tenant, limit int, want ...dag.Tenant) {
		t.Helper()
		if got, err := s.Tenants(ctx, after, limit); err != nil || !sameList(got, want) {
			t.Errorf("Tenants(%q, %d) gave %q, %v, want %q", after, limit, got, err, want)
		}
	}
	list("", 9)
	// Writes that are refused or have no effect make no tenant, and reads make none.
	_, _ = s.Append(ctx, "nothing", []store.Batch{{}})
	_, _ = s.Append(ctx, "refused", []store.Batch{{Arrival(2, 0, "an orphan", 1)}})
	_ = Adopt(ctx, s, "refused", Stretch{Records: Records(2, nil, Chain(1, 1, 0))})
	_ = Adopt(ctx, s, "nothing", Stretch{})
	_, _ = Erase(ctx, s, "refused", Erasure(1))
	_, _ = apikeys.Base{History: s}.Revoke(ctx, "refused", Key(1).ID, 1)
	_, _ = s.Head(ctx, "asked")
	_, _ = store.HeadWhile(ctx, s, "asked", func() {})
	_, _ = registry.Base{History: s}.All(ctx, "asked")
	_, _ = s.Log(ctx, "asked")
	_, _ = s.Cells(ctx, "asked", "cell")
	_, _ = PutLeaves(ctx, s, "nothing", nil)
	_, _ = Bundles(s).Put(ctx, "nothing", nil)
	_, _ = PutLeaves(ctx, s, "refused", [][]byte{nil})
	_ = s.Swap(ctx, "refused", "cell", []byte{1}, []byte{2})
	_ = s.Swap(ctx, "nothing", "cell", nil, nil)
	list("", 9)

	key := Key(1)
	key.Tenant = "k"
	_, appended := s.Append(ctx, "a-2", []store.Batch{Chain(1, 1, 0)})
	_, recorded := PutIssued(ctx, s, "a0", Issued(1, 1))
	err := errors.Join(appended, recorded, apikeys.Base{History: s}.Put(ctx, key), registry.Base{History: s}.Put(ctx, "a", Policy("p@1", 1)),
		Adopt(ctx, s, "ab", Stretch{Records: Records(1, nil, Chain(1, 1, 0))}),
		s.Swap(ctx, "w", "cell", nil, []byte{1}))
	_, logged := Raw().Put(ctx, s, "leaf", Leaves(0, 1))
	if err := errors.Join(err, logged); err != nil {
		t.Fatal(err)
	}
	all := []dag.Tenant{"a", "a-2", "a0", "ab", "k", "leaf", "w"} // in the order of their bytes
	list("", 9, all...)
	list("", 2, all[:2]...)
	list("a-2", 2, all[2:4]...)
	list("a-", 1, "a-2")
	list("w", 9)
	list("a", 0)
	list("a", -1)
}

// sameSkeletons checks that EachSkeleton yields the turns of a segment, and ends with the first error of its function.
func sameSkeletons(t *testing.T, s store.Store, parts []store.Part, seg *store.Segment) {
	t.Helper()
	var got []dag.Skeleton
	last := map[dag.ConversationID]dag.Seq{}
	head, err := store.EachSkeleton(context.Background(), s, Tenant, parts, func(sk *dag.Skeleton) error {
		if sk.Seq <= last[sk.Conversation] {
			t.Errorf("EachSkeleton: turn %d of %s comes after turn %d", sk.Seq, sk.Conversation, last[sk.Conversation])
		}
		last[sk.Conversation] = sk.Seq
		own := *sk
		own.Parents, own.Marks.Things = slices.Clone(sk.Parents), slices.Clone(sk.Marks.Things)
		got = append(got, own)
		return nil
	})
	slices.SortFunc(got, func(a, b dag.Skeleton) int { return cmp.Compare(a.Seq, b.Seq) })
	same := slices.EqualFunc(got, seg.Turns, func(a, b dag.Skeleton) bool {
		marks := a.Marks.Equal(&b.Marks)
		a.Marks, b.Marks = dag.Marks{}, dag.Marks{}
		return marks && fmt.Sprint(a) == fmt.Sprint(b)
	})
	if err != nil || head != seg.Head || !same {
		t.Errorf("EachSkeleton: head %d, turns %+v, %v; want those of the segment %+v", head, got, err, seg)
	}
	if len(got) > 1 {
		enough, calls := errors.New("enough"), 0
		_, err := store.EachSkeleton(context.Background(), s, Tenant, parts, func(*dag.Skeleton) error { calls++; return enough })
		if !errors.Is(err, enough) || calls != 1 {
			t.Errorf("EachSkeleton: %d calls of a function that fails, %v", calls, err)
		}
	}
}

// testSegment reads two conversations that continue from one another, as an incremental reader does.
func testSegment(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	ask := func(parts ...store.Part) store.Segment {
		t.Helper()
		seg, err := s.Segment(ctx, Tenant, parts)
		if err != nil {
			t.Fatalf("Segment: %v", err)
		}
		sameSkeletons(t, s, parts, &seg)
		return seg
	}
	numbers := func(seg store.Segment) (turns, links []dag.Seq) {
		for _, sk := range seg.Turns {
			turns = append(turns, sk.Seq)
		}
		for _, l := range seg.Links {
			links = append(links, l.Seq)
		}
		return turns, links
	}
	check := func(seg store.Segment, head dag.Seq, turns, links []dag.Seq) {
		t.Helper()
		gotTurns, gotLinks := numbers(seg)
		if seg.Head != head || !slices.Equal(gotTurns, turns) || !slices.Equal(gotLinks, links) {
			t.Errorf("got head %d, turns %v, links %v, want %d, %v, %v", seg.Head, gotTurns, gotLinks, head, turns, links)
		}
	}
	here, there := ConversationID(1), ConversationID(2)
	check(ask(store.Part{Conversation: here}), 0, nil, nil)
	mustAppend(t, s, store.Receipt{Admitted: 3, Edges: 2, Head: 3}, Chain(1, 3, 1))
	mustAppend(t, s, store.Receipt{Admitted: 1, Edges: 2, Head: 4}, store.Batch{Arrival(4, 2, "spawned", 1, 2)})
	mustAppend(t, s, store.Receipt{Admitted: 1, Edges: 2, Head: 5}, store.Batch{Arrival(5, 1, "merged", 3, 4)})

	seg := ask(store.Part{Conversation: here})
	check(seg, 5, []dag.Seq{1, 2, 3, 5}, []dag.Seq{4, 4})
	for _, l := range seg.Links {
		if l.Child != TurnID(4) || l.ChildConversation != there || l.Parent != TurnID(1) && l.Parent != TurnID(2) {
			t.Errorf("link %+v, want one of turn 4 from turn 1 or 2", l)
		}
	}
	if p := seg.Turns[3].Parents; len(p) != 2 || p[1].ID != TurnID(4) || p[1].Conversation != there {
		t.Errorf("the merged turn has parents %+v", p)
	}
	check(ask(store.Part{Conversation: there}), 5, []dag.Seq{4}, []dag.Seq{5})
	check(ask(store.Part{Conversation: here, After: 3}), 5, []dag.Seq{5}, []dag.Seq{4, 4})
	check(ask(store.Part{Conversation: here, After: 5}), 5, nil, nil)
	check(ask(store.Part{Conversation: here, After: dag.MaxSeq}, store.Part{Conversation: there, After: dag.MaxSeq}), 5, nil, nil)
	check(ask(store.Part{Conversation: here, After: 2}, store.Part{Conversation: there, After: 4}), 5, []dag.Seq{3, 5}, []dag.Seq{4, 4, 5})
	check(ask(), 5, nil, nil)
	check(ask(store.Part{Conversation: ConversationID(77)}), 5, nil, nil)
	check(ask(store.Part{Conversation: here, After: 5}, store.Part{Conversation: here, After: 2}), 5, []dag.Seq{3, 5}, []dag.Seq{4, 4})

	// A turn of another conversation without a parent here changes only the head.
	mustAppend(t, s, store.Receipt{Admitted: 1, Head: 6}, store.Batch{Arrival(6, 3, "elsewhere")})
	check(ask(store.Part{Conversation: here, After: 5}), 6, nil, nil)
	// A turn of another conversation with a parent here adds a link here.
	mustAppend(t, s, store.Receipt{Admitted: 1, Edges: 1, Head: 7}, store.Batch{Arrival(7, 3, "from here", 5)})
	check(ask(store.Part{Conversation: here, After: 6}), 7, nil, []dag.Seq{7})
	// An erasure takes a number but adds nothing.
	if _, err := Erase(ctx, s, Tenant, Erasure(1)); err != nil {
		t.Fatal(err)
	}
	check(ask(store.Part{Conversation: here, After: 7}), 8, nil, nil)
}

func testScan(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	const turns = 600 // more than a page of any back end
	for first := 1; first <= turns; first += 100 {
		mustAppend(t, s, store.Receipt{Admitted: 100, Edges: 99, Head: dag.Seq(first + 99)}, Chain(first, 100, first/100%2))
	}
	scan := func(after dag.Seq, conversation *dag.ConversationID) (got []dag.Seq) {
		t.Helper()
		var kept []*store.Record
		var bodies [][]byte
		err := s.Scan(ctx, Tenant, after, conversation, func(r *store.Record) error {
			got = append(got, r.Seq)
			kept, bodies = append(kept, r), append(bodies, r.Body)
			return nil
		})
		if err != nil {
			t.Fatalf("Scan: %v", err)
		}
		for i, b := range bodies {
			if len(b) == 0 {
				t.Fatalf("the body of record %d did not stay after the scan", i)
			}
		}
		return got
	}
	if got := scan(0, nil); len(got) != turns || got[0] != 1 || !slices.IsSorted(got) {
		t.Errorf("got %d records from %v", len(got), got[0])
	}
	if got := scan(590, nil); len(got) != 10 || got[0] != 591 {
		t.Errorf("after 590: %v", got)
	}
	if got := scan(turns, nil); len(got) != 0 {
		t.Errorf("after the head: %v", got)
	}
	one := ConversationID(1)
	if got := scan(0, &one); len(got) != 300 || got[0] != 101 || !slices.IsSorted(got) {
		t.Errorf("one conversation: %d records from %v", len(got), got[0])
	}
	if got := scan(550, &one); len(got) != 50 || got[0] != 551 {
		t.Errorf("one conversation after 550: %d records", len(got))
	}
	unknown := ConversationID(99)
	if got := scan(0, &unknown); len(got) != 0 {
		t.Errorf("an unknown conversation: %v", got)
	}
	stop, count := errors.New("enough"), 0
	err := s.Scan(ctx, Tenant, 0, nil, func(*store.Record) error {
		if count++; count == 3 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || count != 3 {
		t.Errorf("fn's error: got %v after %d records", err, count)
	}
	// fn may read and write; what it writes is above the head at the call.
	count = 0
	err = s.Scan(ctx, Tenant, 595, nil, func(r *store.Record) error {
		count++
		_, err := s.Append(ctx, Tenant, []store.Batch{{Arrival(2000+count, 5, "while scanning")}})
		return err
	})
	if err != nil || count != 5 {
		t.Errorf("writing from fn: %v, %d records, want 5", err, count)
	}
}

func testMatch(t *testing.T, h Harness) {
	s := open(t, h)
	var b store.Batch
	ids := map[string]string{ // they differ at and around the dashes and at the end
		"00000000-0000-0000-0000-000000000001": "first",
		"0a000000-0000-4000-8000-000000000001": "a",
		"0a000000-0000-4000-8000-0000000000ff": "b",
		"0a000000-0fff-4000-8000-000000000001": "c",
		"0affffff-ffff-4fff-bfff-ffffffffffff": "d",
		"ffffffff-ffff-ffff-ffff-ffffffffffff": "last",
	}
	for text, content := range ids {
		id, err := dag.ParseTurnID(text)
		if err != nil {
			t.Fatal(err)
		}
		a := Arrival(len(b), 0, content)
		a.Turn.ID = id
		b = append(b, a)
	}
	mustAppend(t, s, store.Receipt{Admitted: 6, Head: 6}, b)
	for _, c := range []struct {
		prefix string
		limit  int
		want   []string
	}{
		{"0a", 9, []string{"a", "b", "c", "d"}},
		{"0a", 2, []string{"a", "b"}},
		{"0a", 0, nil},
		{"0a", -1, nil},
		{"0a000000-", 9, []string{"a", "b", "c"}},
		{"0a000000-0", 9, []string{"a", "b", "c"}},
		{"0a000000-00", 9, []string{"a", "b"}},
		{"0a0000000", 9, nil}, // a digit where the form has a dash
		{"0a-", 9, nil},
		{"0a000000-0000-4000-8000-000000000001", 9, []string{"a"}},
		{"0a000000-0000-4000-8000-0000000000010", 9, nil},
		{"0A", 9, nil},
		{"f", 9, []string{"last"}},
		{"", 9, []string{"first", "a", "b", "c", "d", "last"}},
		{"1", 9, nil},
		{"%", 9, nil},
	} {
		got, err := s.Find(context.Background(), Tenant, store.Prefix(c.prefix), c.limit)
		if err != nil {
			t.Fatalf("Match(%q): %v", c.prefix, err)
		}
		var names []string
		for _, id := range got {
			names = append(names, ids[id.String()])
		}
		if !slices.Equal(names, c.want) {
			t.Errorf("Match(%q, %d) gave %q, want %q", c.prefix, c.limit, names, c.want)
		}
	}
}

// testExternalPrefix finds digests by their prefixes, and no other names, for prefixes within the key of a name and for longer ones.
func testExternalPrefix(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	names := []string{
		"3f2a91c8d0e15b7764a0c2f9b81e4d3377aa0042", "3f2a91c8d0e15b7764a0c2f9b81e4d3377aa0043", "3f2a91c8d0e15b7864a0c2f9b81e4d3377aa0042", "3f2a91c9d0e15b7764a0c2f9b81e4d3377aa0042",
		strings.Repeat("3f2a91c8", 8), "3f2a91c8", "3f2a91c8d0e15b7764a0c2f9b81e4d3377aa004", "3f2a91c8d0e15b7764a0c2f9b81e4d3377aa00421", "3F2A91C8D0E15B7764A0C2F9B81E4D3377AA0042",
		"3f2a91c8d0e15b7764a0c2f9b81e4d3377aa004g", "name", strings.Repeat("0", 40), strings.Repeat("f", 64),
	}
	var b store.Batch
	ids := map[dag.TurnID]string{}
	for n := range 40 { // so that for every key of one digit there are several names that are not digests
		a := Named(Arrival(100+n, 0, "x"), fmt.Sprintf("3 %d", n))
		b = append(b, a)
	}
	for n, name := range names {
		a := Named(Arrival(n, 0, "x"), name)
		ids[a.Turn.ID] = name
		b = append(b, a)
	}
	mustAppend(t, s, store.Receipt{Admitted: len(b), Head: dag.Seq(len(b))}, b)
	prefixes := []string{"", "3", "f", "0", "4", "3F", "g", "3f2a91c8-d0e1", "name", "3 ", strings.Repeat("f", 65)}
	for _, name := range names {
		for n := range len(name) + 1 {
			prefixes = append(prefixes, name[:n])
		}
	}
	for _, prefix := range prefixes {
		var want []string
		for _, name := range names {
			if store.ExternalPrefix(prefix).Has(name) {
				want = append(want, name)
			}
		}
		got, err := s.Find(ctx, Tenant, store.ExternalPrefix(prefix), 99)
		var found []string
		for _, id := range got {
			found = append(found, ids[id])
		}
		if !slices.IsSortedFunc(got, dag.TurnID.Compare) {
			t.Errorf("%q gave ids out of order: %v", prefix, got)
		}
		slices.Sort(want)
		slices.Sort(found)
		if err != nil || !slices.Equal(found, want) {
			t.Errorf("%q gave %q, %v, want %q", prefix, found, err, want)
		}
		if some, err := s.Find(ctx, Tenant, store.ExternalPrefix(prefix), 1); err != nil || !slices.Equal(some, got[:min(1, len(got))]) {
			t.Errorf("one of %q is %v, %v, want the first of %v", prefix, some, err, got)
		}
	}
}

func testExternal(t *testing.T, h Harness) {
	s := open(t, h)
	var b store.Batch
	for n := range 12 {
		b = append(b, Named(Arrival(n, 0, "x"), fmt.Sprintf("name %d", n%3)))
	}
	mustAppend(t, s, store.Receipt{Admitted: 13, Head: 13}, append(b, Arrival(100, 0, "no name")))
	got, err := s.Find(context.Background(), Tenant, store.External("name 1"), 3)
	if err != nil || len(got) != 3 || !slices.IsSortedFunc(got, dag.TurnID.Compare) {
		t.Fatalf("got %v, %v, want three ids in order", got, err)
	}
	all, err := s.Find(context.Background(), Tenant, store.External("name 1"), 99)
	if err != nil || len(all) != 4 || !slices.Equal(all[:3], got) {
		t.Errorf("got %v, %v, want %v and one more", all, err, got)
	}
	for _, name := range []string{"", "name", "name 1 ", "NAME 1"} {
		if got, err := s.Find(context.Background(), Tenant, store.External(name), 9); err != nil || len(got) != 0 {
			t.Errorf("External(%q) gave %v, %v", name, got, err)
		}
	}
	if got, err := s.Find(context.Background(), Tenant, store.External("name 1"), 0); err != nil || len(got) != 0 {
		t.Errorf("up to none: %v, %v", got, err)
	}
	if got, err := s.Find(context.Background(), Tenant, nil, 9); err != nil || len(got) != 0 {
		t.Errorf("without a name: %v, %v", got, err)
	}
}

func testConversations(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	var b store.Batch
	for n := range 20 {
		a := Arrival(n, n%5, "x")
		a.Turn.CreatedAt = dag.Time((n*13)%20 + 1)
		b = append(b, a)
	}
	mustAppend(t, s, store.Receipt{Admitted: 20, Head: 20}, b[:10:10], b[10:])
	late := Arrival(30, 2, "earlier and later")
	late.Turn.CreatedAt = 0
	mustAppend(t, s, store.Receipt{Admitted: 1, Head: 21}, store.Batch{late})
	list, err := s.Conversations(ctx, Tenant, dag.ConversationID{}, 99)
	if err != nil || len(list) != 5 || !slices.IsSortedFunc(list, func(a, b store.Conversation) int { return a.ID.Compare(b.ID) }) {
		t.Fatalf("got %v, %v, want five in order", list, err)
	}
	at := slices.IndexFunc(list, func(c store.Conversation) bool { return c.ID == ConversationID(2) })
	if c := list[at]; c.Turns != 5 || c.Last != 21 || c.FirstAt != 0 {
		t.Errorf("got %+v, want five turns, the last 21, the first at 0", c)
	}
	rest, err := s.Conversations(ctx, Tenant, list[1].ID, 2)
	if err != nil || !slices.Equal(rest, list[2:4]) {
		t.Errorf("got %v, %v, want %v", rest, err, list[2:4])
	}
	if none, err := s.Conversations(ctx, Tenant, dag.ConversationID{}, 0); err != nil || len(none) != 0 {
		t.Errorf("up to none: %v, %v", none, err)
	}
}
