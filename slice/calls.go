package slice

import (
	"cmp"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// A Call is a turn in which an agent called tools that touched things, as marks say.
type Call struct {
	ID      dag.TurnID
	Things  []dag.Thing  // what they touched
	Results []dag.TurnID // what tools returned to it, in the order of their numbers
}

// CallsIn returns the calls of a conversation in a view, the newest first. They share no memory with the view. CallsIn looks at every turn of the view's graph.
func CallsIn(v dag.View, conversation dag.ConversationID) (calls []Call) {
	var found, results []dag.Node
	for i := range v.Len() {
		n := dag.Node(i)
		switch {
		case v.Conversation(n) != conversation || !v.Present(n) || v.Admitted(n) > v.Seq():
		case v.Role(n) == dag.RoleTool:
			results = append(results, n)
		case v.Role(n) == dag.RoleAssistant && v.ThingCount(n) > 0:
			found = append(found, n)
		}
	}
	byNumber := func(a, b dag.Node) int { return cmp.Compare(v.Admitted(a), v.Admitted(b)) }
	slices.SortFunc(found, byNumber)
	slices.SortFunc(results, byNumber)
	places := map[dag.Node]int{} // in calls
	for i, n := range slices.Backward(found) {
		places[n] = len(found) - 1 - i
		c := Call{ID: v.ID(n), Things: make([]dag.Thing, v.ThingCount(n))}
		for i := range c.Things {
			c.Things[i] = v.Thing(n, i)
		}
		calls = append(calls, c)
	}
	for _, n := range results { // a parent may have come after its child
		for i := range v.ParentCount(n) {
			parent, _, _ := v.Parent(n, i)
			if at, ok := places[parent]; ok {
				calls[at].Results = append(calls[at].Results, v.ID(n))
			}
		}
	}
	return calls
}
