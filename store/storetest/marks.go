package storetest

import (
	"context"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
)

// testMarks checks that a turn keeps the marks with which it was admitted first, by every way to read
// it, even if it arrives again with others or its text is erased; and that malformed marks are refused.
func testMarks(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	things := func(n int) (list []dag.Thing) {
		for i := range n {
			list = append(list, dag.Thing{byte(i), 15: 7})
		}
		return list
	}
	want := []dag.Marks{
		{Rules: dag.Marks1, Voice: dag.VoicePerson, Origin: dag.Origin{Channel: dag.ChannelProgram}},
		{Rules: dag.Marks1, Voice: dag.VoiceAgent, Cost: dag.MaxCost, Things: things(dag.MaxThings), Origin: dag.Origin{Channel: dag.ChannelAgent, Grant: dag.GrantOperator, Author: dag.Thing{1}, Key: dag.Thing{15: 2}}},
		{Rules: dag.Marks2, Voice: dag.VoiceTool, Cost: 1, Things: things(1), Origin: dag.Origin{Channel: dag.ChannelHarness, Author: dag.Thing{3}}},
		{Rules: dag.Marks2, Voice: dag.VoiceHarness, Cost: 77, Origin: dag.Origin{Channel: dag.ChannelAPI, Grant: dag.GrantRefused, Key: dag.Thing{4}}},
	}
	batch := store.Batch{Arrival(0, 0, "first")}
	for n := 1; n < len(want); n++ {
		batch = append(batch, Arrival(n, 0, "later", n-1))
	}
	for i := range batch {
		batch[i].Marks = want[i]
	}
	batch[2] = Withheld(batch[2])
	expect := func(when string) {
		t.Helper()
		segment, err := s.Segment(ctx, Tenant, []store.Part{{Conversation: ConversationID(0)}})
		if err != nil || len(segment.Turns) < len(want) {
			t.Fatalf("%s: %d skeletons, %v", when, len(segment.Turns), err)
		}
		for n := range want {
			r := mustTurn(t, s, n)
			placed, err := s.Turns(ctx, Tenant, store.Places{{Conversation: r.Turn.Conversation, Seq: r.Seq}})
			if err != nil || len(placed) != 1 || !placed[0].Marks.Equal(&want[n]) || !r.Marks.Equal(&want[n]) || !segment.Turns[n].Marks.Equal(&want[n]) {
				t.Errorf("%s: turn %d has the marks %+v, by its place %+v, %v, in the segment %+v, want %+v", when, n, r.Marks, placed, err, segment.Turns[n].Marks, want[n])
			}
		}
	}
	mustAppend(t, s, store.Receipt{Admitted: 4, Edges: 3, Head: 4}, batch)
	expect("at first")
	for i := range batch {
		batch[i].Marks = want[(i+1)%len(want)]
	}
	mustAppend(t, s, store.Receipt{Existing: 4, Head: 4}, batch)
	expect("admitted again")
	if _, err := Erase(ctx, s, Tenant, Erasure(1)); err != nil {
		t.Fatal(err)
	}
	expect("erased")
	adopted := Records(6, batch, store.Batch{Arrival(4, 0, "from elsewhere", 3)})
	adopted[0].Marks = dag.Marks{Rules: dag.Marks1, Voice: dag.VoiceTool, Cost: 5, Things: things(3), Origin: OriginOf(0)}
	want = append(want, adopted[0].Marks)
	if err := Adopt(ctx, s, Tenant, Stretch{Records: adopted}); err != nil {
		t.Fatal(err)
	}
	expect("adopted")

	for name, spoil := range map[string]func(*dag.Marks){
		"no rules":        func(m *dag.Marks) { m.Rules = 0 },
		"unknown rules":   func(m *dag.Marks) { m.Rules = 9 },
		"no voice":        func(m *dag.Marks) { m.Voice = 0 },
		"unknown voice":   func(m *dag.Marks) { m.Voice = 5 },
		"cost":            func(m *dag.Marks) { m.Cost = dag.MaxCost + 1 },
		"things":          func(m *dag.Marks) { m.Things = things(dag.MaxThings + 1) },
		"no channel":      func(m *dag.Marks) { m.Origin.Channel = 0 },
		"unknown channel": func(m *dag.Marks) { m.Origin.Channel = dag.ChannelAgent + 1 },
		"unknown grant":   func(m *dag.Marks) { m.Origin.Grant = dag.GrantOperator + 1 },
		"a thing twice":   func(m *dag.Marks) { m.Things = []dag.Thing{{1}, {1}} },
		"things' order":   func(m *dag.Marks) { m.Things = []dag.Thing{{2}, {1}} },
	} {
		a := Arrival(20, 1, "spoilt")
		spoil(&a.Marks)
		t.Log(name)
		refused(t, s, store.Batch{a})
		if err := Adopt(ctx, s, Tenant, Stretch{Records: Records(7, nil, store.Batch{a})}); err == nil {
			t.Errorf("%s: adopted", name)
		}
	}
}
