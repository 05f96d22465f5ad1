package slice

import (
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
)

// A Standing is the position of a turn relative to a slice.
type Standing string

// The standings. Only a Chosen turn is in the slice.
const (
	Chosen    Standing = "selected"
	Beaten    Standing = "beaten"      // it was still a candidate when max_nodes was reached
	TooCostly Standing = "too_costly"  // it was a candidate, but its cost did not fit into the rest of max_cost
	TooFar    Standing = "too_far"     // it is connected, but further away than max_radius
	Unreached Standing = "unreached"   // it is near enough, but no selected turn led to it
	Apart     Standing = "unconnected" // no path of at most 64 edges leads to it
	Later     Standing = "later"       // it was admitted after the anchor, and the policy selects only past turns
	NotYet    Standing = "not_in_view" // the view does not show it: it is not admitted yet, or unknown
)

// An Explanation is the reason why a turn is in a slice or not.
type Explanation struct {
	Standing  Standing
	Rank      int       // of a Chosen turn: its rank in the order of selection, from 1
	Admission Admission // of a Chosen, Beaten or TooCostly turn
	Edges     int       // the fewest edges between it and the anchor, in either direction; -1 if none or over 64
	BeatenBy  *Rival    // of a Beaten turn: the turn selected last, which may be the turn from which it was reached
	Selected  int       // the number of turns in the slice
}

// A Rival is a turn that was selected in preference to another.
type Rival struct {
	ID        dag.TurnID
	Admission Admission
}

// Explain repeats the selection and returns the standing of one turn. It costs a selection and, unless the turn is
// NotYet or Later, a walk over the turns around the anchor.
func Explain(v dag.View, anchor dag.TurnID, params policy.SlicePolicy, turn dag.TurnID) (Explanation, error) {
	if err := params.Check(); err != nil {
		return Explanation{}, err
	}
	s := selections.Get().(*selection)
	defer selections.Put(s)
	defer s.reset()
	n, shown := v.Find(turn)
	var candidacy *candidate
	walk := params.Walk()
	picks, err := s.run(v, anchor, walk, func(c candidate) {
		if shown && c.node == n {
			candidacy = &c
		}
	})
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{Selected: len(picks), Edges: -1}
	if !shown {
		e.Standing = NotYet
		return e, nil
	}
	start, _ := v.Find(anchor)
	if walk.Direction == policy.Past && v.Admitted(n) > v.Admitted(start) {
		e.Standing = Later
		return e, nil
	}
	v = s.view // this view does not show later turns
	if e.Edges, err = edgesBetween(v, start, n); err != nil {
		return Explanation{}, err
	}
	if candidacy == nil {
		switch {
		case e.Edges < 0:
			e.Standing = Apart
		case e.Edges > walk.MaxRadius:
			e.Standing = TooFar
		default:
			e.Standing = Unreached
		}
		return e, nil
	}
	marked := schemaOf(params) == SchemaVersionV2
	e.Admission = admissionOf(v, Pick{Node: n, From: candidacy.from, Score: candidacy.score(), Distance: candidacy.distance(), Via: candidacy.via, Thing: candidacy.thing}, marked)
	at := slices.IndexFunc(picks, func(p Pick) bool { return p.Node == n })
	if at >= 0 {
		e.Standing, e.Rank = Chosen, at+1
		return e, nil
	}
	if slices.Contains(s.skipped, n) {
		e.Standing = TooCostly
		return e, nil
	}
	last := picks[len(picks)-1]
	e.Standing = Beaten
	e.BeatenBy = &Rival{ID: v.ID(last.Node), Admission: admissionOf(v, last, marked)}
	return e, nil
}

// edgesBetween returns the fewest edges between two turns, in any direction, or -1 if they are more than any radius
// allows. It is a breadth-first walk. The error is a *MissingError if a path through a conversation that is not loaded
// may be shorter than all others or the only one.
func edgesBetween(v dag.View, from, to dag.Node) (int, error) {
	distance := map[dag.Node]int{from: 0}
	queue := []dag.Node{from}
	missing := map[dag.ConversationID]struct{}{}
	nearest := policy.LimitRadius + 1 // the smallest distance of an absent turn
	var near []dag.Node
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		if n == to && distance[n] <= nearest+1 { // otherwise a path through an absent turn may be shorter
			return distance[n], nil
		}
		if n == to {
			break
		}
		if !v.Present(n) {
			missing[v.Conversation(n)] = struct{}{}
			nearest = min(nearest, distance[n])
			continue
		}
		if distance[n] == policy.LimitRadius {
			continue
		}
		near = v.AppendChildren(near[:0], n)
		for i := range v.ParentCount(n) {
			parent, _, _ := v.Parent(n, i)
			near = append(near, parent)
		}
		for _, m := range near {
			if _, seen := distance[m]; !seen {
				distance[m] = distance[n] + 1
				queue = append(queue, m)
			}
		}
	}
	if len(missing) > 0 {
		return -1, &MissingError{Conversations: slices.SortedFunc(maps.Keys(missing), dag.ConversationID.Compare)}
	}
	return -1, nil
}
