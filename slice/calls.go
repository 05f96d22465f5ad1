package slice

import (
	"cmp"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// A Call is a turn in which an agent called tools that touched things, as marks say.
type Call struct {
	ID      dag.TurnID
	Seq     dag.Seq
	Things  []dag.Thing
	Results []Result // ascending by number
}

// A Result is a turn with what a tool returned to a call.
type Result struct {
	ID  dag.TurnID
	Seq dag.Seq
}

// CallsIn returns the calls of a conversation in a view, the newest first. It is a copy of what the view shows.
func CallsIn(v dag.View, conversation dag.ConversationID) (calls []Call) {
	places := map[dag.Node]int{} // in calls, plus one
	var results []dag.Node
	for i := range v.Len() {
		n := dag.Node(i)
		if v.Conversation(n) != conversation || !v.Present(n) || v.Admitted(n) > v.Seq() {
			continue
		}
		switch {
		case v.Role(n) == dag.RoleTool:
			results = append(results, n)
		case v.Role(n) == dag.RoleAssistant && v.ThingCount(n) > 0:
			call := Call{ID: v.ID(n), Seq: v.Admitted(n)}
			for i := range v.ThingCount(n) {
				call.Things = append(call.Things, v.Thing(n, i))
			}
			calls = append(calls, call)
			places[n] = len(calls)
		}
	}
	for _, n := range results {
		for i := range v.ParentCount(n) {
			parent, _, _ := v.Parent(n, i)
			if at := places[parent]; at > 0 {
				calls[at-1].Results = append(calls[at-1].Results, Result{v.ID(n), v.Admitted(n)})
			}
		}
	}
	for i := range calls {
		slices.SortFunc(calls[i].Results, func(a, b Result) int { return cmp.Compare(a.Seq, b.Seq) })
	}
	slices.SortFunc(calls, func(a, b Call) int { return cmp.Compare(b.Seq, a.Seq) })
	return calls
}
