package slice

import (
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/standing"
)

// An Outcome is the position of a turn relative to a slice.
type Outcome string

// The outcomes. Only a Chosen turn is in the slice.
const (
	Chosen    Outcome = "selected"
	Beaten    Outcome = "beaten"      // it was still a candidate when max_nodes was reached
	TooCostly Outcome = "too_costly"  // it was a candidate, but its cost did not fit into the rest of max_cost
	TooFar    Outcome = "too_far"     // it is connected, but further away than max_radius
	Unreached Outcome = "unreached"   // it is near enough, but no selected turn led to it
	Apart     Outcome = "unconnected" // no path of at most 64 edges leads to it
	Later     Outcome = "later"       // it was admitted after the anchor, and the policy selects only past turns
	NotYet    Outcome = "not_in_view" // the view does not show it: it is not admitted yet, or unknown
)

// An Explanation is the reason why a turn is in a slice or not.
type Explanation struct {
	Outcome   Outcome
	Rank      int       // of a Chosen turn: its rank in the order of selection, from 1
	Admission Admission // of a Chosen, Beaten or TooCostly turn; without Setting
	Setting   *Setting  // of such a turn under gkp/3: the setting that decides what it counts for
	Edges     int       // the fewest edges between it and the anchor, in either direction; -1 if none or over 64
	BeatenBy  *Rival    // of a Beaten turn: the turn selected last, which may be the turn from which it was reached
	Selected  int       // the number of turns in the slice
}

// A Rival is a turn that was selected in preference to another.
type Rival struct {
	ID        dag.TurnID
	Admission Admission
}

// Explain repeats the selection and returns the outcome of one turn. It costs a selection and, unless the turn is
// NotYet or Later, a walk over the turns around the anchor. [Select] says what words are.
func Explain(v dag.View, anchor dag.TurnID, params policy.SlicePolicy, words *standing.Words, turn dag.TurnID) (Explanation, error) {
	if err := params.Check(); err != nil {
		return Explanation{}, err
	}
	s := selections.Get().(*selection)
	defer selections.Put(s)
	defer s.reset()
	n, shown := v.Find(turn)
	var candidacy *candidate
	walk := params.Walk()
	picks, err := s.run(v, anchor, walk, words, func(c candidate) {
		if shown && c.node == n {
			candidacy = &c
		}
	})
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{Selected: len(picks), Edges: -1}
	if !shown {
		e.Outcome = NotYet
		return e, nil
	}
	start, _ := v.Find(anchor)
	if walk.Direction == policy.Past && v.Admitted(n) > v.Admitted(start) {
		e.Outcome = Later
		return e, nil
	}
	v = s.view // this view does not show later turns
	if e.Edges, err = edgesBetween(v, start, n); err != nil {
		return Explanation{}, err
	}
	if candidacy == nil {
		switch {
		case e.Edges < 0:
			e.Outcome = Apart
		case e.Edges > walk.MaxRadius:
			e.Outcome = TooFar
		default:
			e.Outcome = Unreached
		}
		return e, nil
	}
	schema := schemaOf(params)
	e.Setting = s.setting(n)
	e.Admission = s.admissionOf(Pick{Node: n, From: candidacy.from, Score: candidacy.score(), Distance: candidacy.distance(), Via: candidacy.via, Thing: candidacy.thing}, schema)
	at := slices.IndexFunc(picks, func(p Pick) bool { return p.Node == n })
	if at >= 0 {
		e.Outcome, e.Rank = Chosen, at+1
		return e, nil
	}
	if slices.Contains(s.skipped, n) {
		e.Outcome = TooCostly
		return e, nil
	}
	last := picks[len(picks)-1]
	e.Outcome = Beaten
	e.BeatenBy = &Rival{ID: v.ID(last.Node), Admission: s.admissionOf(last, schema)}
	return e, nil
}

// setting returns the setting that decides what a turn counts for, or nil if selection does not look at standings.
func (s *selection) setting(n dag.Node) *Setting {
	if s.words == nil {
		return nil
	}
	_, at := s.words.Of(n)
	set := SettingOf(&s.words.Course()[at])
	return &set
}

// admissionOf returns the reason of a pick, without its setting.
func (s *selection) admissionOf(p Pick, schema *Schema) Admission {
	var a Admission
	a.fill(s.view, &p)
	if schema.Marked {
		a.mark(s.view, p.Node)
	}
	if schema.Counted {
		ruling, _ := s.words.Of(p.Node)
		a.Standing, a.Rule = ruling.Standing, uint16(ruling.Rule)
	}
	return a
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
