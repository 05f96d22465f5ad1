package slice_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
)

// TestCallsIn compares the calls of random conversations, as of each number, with what the turns and edges say.
func TestCallsIn(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	found, answered := 0, 0
	for n := range 100 {
		w := &world{}
		for i := range 3 + r.IntN(20) {
			of := dag.Turn{ID: dag.ExternalTurnID("c", fmt.Sprint(n, i)), Conversation: dag.ExternalConversationID("c", fmt.Sprint(r.IntN(2))), Role: dag.Role(1 + r.IntN(4)), CreatedAt: dag.Time(i), Phase: dag.Planning}
			var parents []dag.Parent
			for _, p := range w.turns {
				if r.IntN(4) == 0 {
					parents = append(parents, dag.Parent{ID: p.ID, Kind: dag.Reply})
				}
			}
			w.add(of, dag.Body{Author: "human:lead"}, parents...)
			for thing := range r.IntN(3) {
				w.marks[i].Things = append(w.marks[i].Things, dag.Thing{byte(thing + 1), byte(r.IntN(3))})
			}
		}
		v := w.view(t)
		for last := range len(w.turns) + 1 {
			past := w.until(last)
			in := dag.ExternalConversationID("c", "0")
			var want []slice.Call
			for i, c := range slices.Backward(past.turns) {
				if c.Conversation != in || c.Role != dag.RoleAssistant || len(past.marks[i].Things) == 0 {
					continue
				}
				call := slice.Call{ID: c.ID, Things: past.marks[i].Things}
				for _, x := range past.turns {
					if x.Conversation == in && x.Role == dag.RoleTool && slices.Contains(past.parents(x.ID), c.ID) {
						call.Results = append(call.Results, x.ID)
						answered++
					}
				}
				want = append(want, call)
				found++
			}
			if got := slice.CallsIn(v.Until(dag.Seq(last)), in); !reflect.DeepEqual(got, want) {
				t.Fatalf("graph %d up to %d: got %+v, want %+v", n, last, got, want)
			}
		}
	}
	if found < 100 || answered < 20 {
		t.Errorf("%d calls, %d results: too few to tell", found, answered)
	}
}
