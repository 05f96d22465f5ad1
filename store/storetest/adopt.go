package storetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// testAdopt adopts a history in several stretches, and compares the stored turns and erasures with those of the stretches.
func testAdopt(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	chain := Chain(1, 5, 0)
	chain[2] = Named(chain[2], "three")
	stretches := []Stretch{
		{Records: Records(1, nil, chain)},
		adoption(),
		{Events: []erasures.Erasure{Erased(80, 5)}},
		{},
	}
	heads := []dag.Seq{5, 79, 80, 80}
	for i, stretch := range stretches {
		if err := Adopt(ctx, s, Tenant, stretch); err != nil {
			t.Fatalf("stretch %d: %v", i, err)
		}
		if head := mustHead(t, s); head != heads[i] {
			t.Fatalf("after stretch %d the head is %d, want %d", i, head, heads[i])
		}
		if err := Check(ctx, s, Tenant); err != nil {
			t.Fatalf("after stretch %d: %v", i, err)
		}
	}
	for _, want := range slices.Concat(stretches[0].Records, stretches[1].Records) {
		if slices.Contains([]dag.TurnID{TurnID(3), TurnID(5), TurnID(11)}, want.Turn.ID) {
			want.Body, want.Salt, want.External = nil, dag.Salt{}, ""
		}
		records, err := s.Turns(ctx, Tenant, store.IDs{want.Turn.ID})
		if err != nil || len(records) != 1 {
			t.Fatalf("turn %s: %d records, %v", want.Turn.ID, len(records), err)
		}
		r := records[0]
		if r.Seq != want.Seq || r.Turn != want.Turn || r.Leaf != want.Leaf || !sameList(r.Parents, want.Parents) ||
			(r.Body == nil) != (want.Body == nil) || string(r.Body) != string(want.Body) || r.Salt != want.Salt || r.External != want.External {
			t.Errorf("got %+v, want %+v", r, want)
		}
	}
	events, err := Events(ctx, s, Tenant, 0, 9)
	if want := append(adoption().Events, Erased(80, 5)); err != nil || !sameList(events, want) {
		t.Errorf("events are %v, %v, want %v", events, err, want)
	}
	if ids, err := s.Find(ctx, Tenant, store.External("three"), 9); err != nil || len(ids) != 0 {
		t.Errorf("the external id of an erased turn still leads to %v, %v", ids, err)
	}
	if ids, err := s.Find(ctx, Tenant, store.External("ten"), 9); err != nil || !sameList(ids, []dag.TurnID{TurnID(10)}) {
		t.Errorf("the external id of an adopted turn leads to %v, %v", ids, err)
	}
	// More turns can be appended after that, erased, and adopted.
	mustAppend(t, s, store.Receipt{Admitted: 1, Existing: 1, Edges: 2, Head: 81}, store.Batch{chain[4], Arrival(12, 3, "behind", 11, 89)})
	if got, err := Erase(ctx, s, Tenant, Erasure(3)); err != nil || got != Erased(8, 3) {
		t.Errorf("erasing an adopted erasure gave %+v, %v, want the event that was there", got, err)
	}
	behind := Stretch{Records: Records(82, store.Batch{Arrival(12, 3, "")}, store.Batch{Arrival(13, 3, "adopted behind", 12)})}
	if err := Adopt(ctx, s, Tenant, behind); err != nil {
		t.Errorf("behind an append: %v", err)
	}
	clear(behind.Records[0].Body)
	clear(behind.Records[0].Parents)
	if err := Check(ctx, s, Tenant); err != nil {
		t.Errorf("after the argument was changed: %v", err)
	}
}

// testAdoptLong adopts more than a page of everything, with an event at each hundredth number.
func testAdoptLong(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	var stretch Stretch
	const turns = 2000
	var before store.Batch
	for n := 1; len(before) < turns; n++ {
		seq := dag.Seq(n)
		if n%100 == 0 {
			stretch.Events = append(stretch.Events, Erased(seq, len(before)))
			continue
		}
		a := Arrival(len(before)+1, len(before)%3, "long")
		if len(before) > 0 {
			a = Arrival(len(before)+1, len(before)%3, "long", len(before))
			stretch.Records = append(stretch.Records, Records(seq, before[len(before)-1:], store.Batch{a})...)
		} else {
			stretch.Records = Records(seq, nil, store.Batch{a})
		}
		before = append(before, a)
	}
	if err := Adopt(ctx, s, Tenant, stretch); err != nil {
		t.Fatal(err)
	}
	if head := mustHead(t, s); head != dag.Seq(turns+len(stretch.Events)) || len(stretch.Events) < 20 {
		t.Errorf("head is %d with %d events", head, len(stretch.Events))
	}
}

// testAdoptRefused spoils a stretch in every way. Nothing of a refused stretch may be stored.
func testAdoptRefused(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	mustAppend(t, s, store.Receipt{Admitted: 5, Edges: 4, Head: 5}, Chain(1, 5, 0))
	if _, err := Erase(ctx, s, Tenant, Erasure(2)); err != nil {
		t.Fatal(err)
	}
	chain := Chain(1, 5, 0)
	good := func() Stretch {
		return Stretch{
			Records: slices.Concat(
				Records(7, chain, store.Batch{Named(Arrival(10, 1, "linked", 4, 5), "ten"), Arrival(11, 0, "more", 5)}),
				Records(11, store.Batch{Arrival(11, 0, "")}, store.Batch{Arrival(12, 0, "and more", 11)}),
			),
			Events: []erasures.Erasure{Erased(9, 3), Erased(10, 11)},
		}
	}
	for _, c := range []struct {
		name  string
		spoil func(*Stretch)
		want  error
		says  string // a text that the message must contain
	}{
		{"begins too late", func(s *Stretch) { renumber(s, 1) }, store.ErrGap, "number 8"},
		{"begins too early", func(s *Stretch) { renumber(s, -1) }, store.ErrGap, "number 6"},
		{"begins with 0", func(s *Stretch) { *s = Stretch{Records: Records(0, nil, Chain(10, 1, 0))} }, dag.ErrForm, "number 0"},
		{"beyond the last number", func(s *Stretch) { *s = Stretch{Records: Records(dag.MaxSeq, nil, Chain(10, 2, 0))} }, dag.ErrForm, "9007199254740991"},
		{"a gap", func(s *Stretch) { s.Records[2].Seq++ }, dag.ErrForm, "number 12"},
		{"a gap among events", func(s *Stretch) { s.Events = s.Events[:1] }, dag.ErrForm, "number 11"},
		{"a number twice", func(s *Stretch) { s.Records[1].Seq-- }, dag.ErrForm, "number 7"},
		{"a number of a turn and an event", func(s *Stretch) { s.Events[0].Seq-- }, dag.ErrForm, "number 8"},
		{"out of order", func(s *Stretch) { slices.Reverse(s.Records) }, dag.ErrForm, "number 8"},
		{"events out of order", func(s *Stretch) { slices.Reverse(s.Events) }, dag.ErrForm, "number "},
		{"a leaf", func(s *Stretch) { s.Records[0].Leaf[31] ^= 1 }, dag.ErrForm, "number 7: "},
		{"a leaf, by a field", func(s *Stretch) { s.Records[1].Turn.CreatedAt++ }, dag.ErrForm, "number 8: "},
		{"an edge's leaf", func(s *Stretch) { s.Records[0].Parents[1].Leaf[0] ^= 1 }, dag.ErrForm, "number 7: "},
		{"an edge's leaf, by its kind", func(s *Stretch) { p := &s.Records[0].Parents[1]; p.Kind = p.Kind%4 + 1 }, dag.ErrForm, "number 7: "},
		{"a body", func(s *Stretch) {
			s.Records[2].Body = Arrival(12, 0, "other").Body
		}, dag.ErrForm, "number 11: "},
		{"a body that is erased", func(s *Stretch) { s.Records[1].Body = []byte("{}") }, dag.ErrForm, "number 8: "},
		{"a salt", func(s *Stretch) { s.Records[2].Salt[0] ^= 1 }, dag.ErrForm, "number 11: "},
		{"no body", func(s *Stretch) { s.Records[0] = unread(s.Records[0]) }, dag.ErrForm, "number 7: "},
		{"another external id", func(s *Stretch) { s.Records[0].External = "eleven" }, dag.ErrForm, `"eleven"`},
		{"an external id of none", func(s *Stretch) { s.Records[2].External = "none" }, dag.ErrForm, `"none"`},
		{"withheld with a salt", func(s *Stretch) { s.Records[2].Body = nil }, dag.ErrForm, "number 11: "},
		{"no role", func(s *Stretch) { s.Records[2].Turn.Role = 0 }, dag.ErrForm, "number 11: "},
		{"no id", func(s *Stretch) { s.Records[2].Turn.ID = dag.TurnID{} }, dag.ErrForm, "number 11: "},
		{"a parent twice", func(s *Stretch) { s.Records[0].Parents[1] = s.Records[0].Parents[0] }, dag.ErrForm, "number 7: "},
		{"an unknown parent", func(s *Stretch) { s.Records[2] = Records(11, nil, store.Batch{Arrival(12, 0, "", 99)})[0] }, dag.ErrForm, TurnID(99).String()},
		{"its own parent", func(s *Stretch) { s.Records[2] = Records(11, nil, store.Batch{Arrival(12, 0, "", 12)})[0] }, dag.ErrForm, "number 11 "},
		{"a parent that comes later", func(s *Stretch) {
			s.Records[0] = Records(7, store.Batch{Arrival(12, 0, "")}, store.Batch{Arrival(10, 1, "", 12)})[0]
		}, dag.ErrForm, TurnID(12).String()},
		{"a stored parent's conversation", func(s *Stretch) { s.Records[0].Parents[0].Conversation[0] ^= 1 }, dag.ErrForm, "number 7: "},
		{"a new parent's conversation", func(s *Stretch) { s.Records[2].Parents[0].Conversation[0] ^= 1 }, dag.ErrForm, "number 11: "},
		{"a turn twice", func(s *Stretch) { s.Records[2] = Records(11, chain, store.Batch{Arrival(11, 0, "more", 5)})[0] }, dag.ErrForm, "number 11 "},
		{"a stored turn", func(s *Stretch) { s.Records[2] = Records(11, nil, chain[:1])[0] }, dag.ErrForm, TurnID(1).String()},
		{"an unknown turn's erasure", func(s *Stretch) { s.Events[0].Turn = TurnID(99) }, dag.ErrForm, TurnID(99).String()},
		{"a later turn's erasure", func(s *Stretch) { s.Events[0].Turn = TurnID(12) }, dag.ErrForm, TurnID(12).String()},
		{"a second erasure", func(s *Stretch) { s.Events[1].Turn = TurnID(3) }, dag.ErrForm, "number 10 "},
		{"a second erasure of a stored one", func(s *Stretch) { s.Events[0].Turn = TurnID(2) }, dag.ErrForm, "number 9 "},
		{"an event at no time", func(s *Stretch) { s.Events[0].At = -1 }, dag.ErrForm, "9"},
	} {
		stretch := good()
		c.spoil(&stretch)
		err := s.Adopt(ctx, Tenant, stretch.Store())
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %q about %s", c.name, err, c.want, c.says)
		}
		if other := store.ErrGap; c.want != other && errors.Is(err, other) {
			t.Errorf("%s: %v is no gap", c.name, err)
		}
		if head := mustHead(t, s); head != 6 {
			t.Fatalf("%s: the head went to %d", c.name, head)
		}
		if records, err := s.Turns(ctx, Tenant, store.IDs{TurnID(10), TurnID(11), TurnID(12)}); err != nil || len(records) != 0 {
			t.Fatalf("%s: there are %d of its turns, %v", c.name, len(records), err)
		}
		if r := mustTurn(t, s, 3); r.Body == nil {
			t.Fatalf("%s: the refused stretch erased a body", c.name)
		}
	}
	if err := s.Adopt(ctx, "No Tenant", good().Store()); !errors.Is(err, dag.ErrForm) {
		t.Errorf("no tenant: got %v, want dag.ErrForm", err)
	}
	if err := Adopt(ctx, s, Tenant, good()); err != nil {
		t.Errorf("unspoiled: %v", err)
	}
	if err := s.Adopt(ctx, Tenant, good().Store()); !errors.Is(err, store.ErrGap) {
		t.Errorf("a second time: got %v, want ErrGap", err)
	}
}

// renumber shifts all numbers of a stretch.
func renumber(s *Stretch, by int) {
	for i := range s.Records {
		s.Records[i].Seq += dag.Seq(by)
	}
	for i := range s.Events {
		s.Events[i].Seq += dag.Seq(by)
	}
}

// unread returns a record with a body that has the right digest and cannot be parsed.
func unread(r store.Record) store.Record {
	r.Body = []byte("not a body")
	r.Turn.BodyDigest = slice.DigestBody(r.Body, r.Salt)
	r.Leaf = slice.TurnLeaf(&r.Turn)
	return r
}
