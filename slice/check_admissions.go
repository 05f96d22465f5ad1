package slice

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
)

// A reasoning contains the data against which the reasons of a bundle's turns are checked.
type reasoning struct {
	*Bundle
	walk    policy.Walk
	schema  *Schema
	index   map[dag.TurnID]int
	joined  map[[2]dag.TurnID]bool
	said    []int                  // by turn: the index of the newest ancestor that is a prompt and that the bundle shows, or -1
	touched map[touching][]dag.Seq // the numbers of the turns of a conversation that touched a thing, ascending
}

// A touching identifies the turns of a conversation that touched a thing.
type touching struct {
	conversation dag.ConversationID
	thing        dag.Thing
}

// checkAdmissions recomputes each score, and checks each reason as far as the bundle shows its basis: the common parent
// of siblings need not be selected. From gkp/2 on numbers, voices, things and standings are the kernel's word, and the values
// derived from them are recomputed.
func (b *Bundle) checkAdmissions() Check {
	if b.Anchor != b.Provenance.Anchor {
		return otherAnchor(b.Anchor, b.Provenance.Anchor)
	}
	r := reasoning{Bundle: b, walk: b.Policy.Walk(), schema: schemaOf(b.Policy), index: b.index()}
	if len(b.Turns) > r.walk.MaxNodes {
		return Failed(CheckAdmissions, fmt.Sprint(r.walk.MaxNodes), fmt.Sprint(len(b.Turns)), "more turns than max_nodes")
	}
	if _, ok := r.index[b.Anchor]; !ok {
		return Failed(CheckAdmissions, b.Anchor.String(), "", "the anchor %s is not among the turns", b.Anchor)
	}
	r.joined = make(map[[2]dag.TurnID]bool, len(b.Edges))
	for _, e := range b.Edges {
		r.joined[[2]dag.TurnID{e.Parent, e.Child}] = true
	}
	if wrong := r.checkMarks(); wrong != "" {
		return Failed(CheckAdmissions, "", "", "%s", wrong)
	}
	if wrong := r.checkCounts(); wrong != "" {
		return Failed(CheckAdmissions, "", "", "%s", wrong)
	}
	scorer := r.walk.Scorer()
	for i := range b.Turns {
		t := &b.Turns[i]
		want := scorer.Score(t.Admission.Voice, t.Phase, t.Salience, t.Admission.Distance)
		if r.schema.Counted {
			want = scorer.ScoreOf(t.Admission.Standing, t.Phase, t.Salience, t.Admission.Distance)
		}
		if want != t.Admission.Score {
			return Failed(CheckAdmissions, fmt.Sprint(want), fmt.Sprint(t.Admission.Score), "the score of turn %s does not follow from the policy", t.ID)
		}
		if wrong := r.checkReason(t); wrong != "" {
			return Failed(CheckAdmissions, "", "", "turn %s: %s", t.ID, wrong)
		}
	}
	return Passed(CheckAdmissions, "%d scores and reasons", len(b.Turns))
}

func otherAnchor(anchor, header dag.TurnID) Check {
	return Failed(CheckAdmissions, header.String(), anchor.String(), "anchor differs from provenance.anchor_turn_id")
}

func (r *reasoning) checkReason(t *BundleTurn) string {
	a := &t.Admission
	if a.Distance > r.walk.MaxRadius {
		return fmt.Sprintf("distance %d is beyond max_radius %d", a.Distance, r.walk.MaxRadius)
	}
	if (a.Via == ViaAnchor) != (t.ID == r.Anchor) {
		return fmt.Sprintf("via is %s, which does not fit: the anchor is %s", a.Via, r.Anchor)
	}
	if a.Via == ViaAnchor {
		if a.Distance != 0 {
			return fmt.Sprintf("the anchor is at distance %d", a.Distance)
		}
		return ""
	}
	at, ok := r.index[a.From]
	if !ok {
		return fmt.Sprintf("reached from %s, which is not among the turns", a.From)
	}
	from := &r.Turns[at]
	if from.Admission.Standing == dag.StandingGuest && a.Via == ViaParent && t.Conversation != from.Conversation {
		return fmt.Sprintf("it is a parent of %s, and a guest's turn leads to no turn of another conversation", a.From)
	}
	if a.Via != ViaParent && from.Admission.Via != ViaAnchor && from.Admission.Standing == dag.StandingGuest {
		return fmt.Sprintf("it is a %s of %s, and a guest's turn leads to its parents alone", a.Via, a.From)
	}
	step := 1
	switch a.Via {
	case ViaParent:
		ok = r.joined[[2]dag.TurnID{t.ID, a.From}]
	case ViaChild:
		ok = r.joined[[2]dag.TurnID{a.From, t.ID}] && r.walk.Direction == policy.Both
	case ViaSibling:
		ok = r.walk.MaxSiblings > 0 && t.ID != a.From
		step = 0
	case ViaPrompt:
		ok = r.isPrompt(t, at)
	case ViaTouch:
		ok = r.isTouch(t, from)
	}
	if !ok {
		return fmt.Sprintf("it is not a %s of %s", a.Via, a.From)
	}
	if want := from.Admission.Distance + step; a.Distance != want {
		return fmt.Sprintf("a %s of a turn at distance %d is at distance %d, not %d", a.Via, from.Admission.Distance, want, a.Distance)
	}
	return ""
}

// checkMarks checks marks for consistency: numbers, which must be unique and rise along edges; costs of
// turns whose text is present; and the sum of the costs.
func (r *reasoning) checkMarks() string {
	if !r.schema.Marked {
		return ""
	}
	last := r.AsOf
	if r.walk.Direction == policy.Past {
		last = r.Turns[r.index[r.Anchor]].Admission.Number
	}
	if last > r.AsOf {
		return fmt.Sprintf("the anchor has the number %d, but the slice was cut as of number %d", last, r.AsOf)
	}
	numbers, cost := make(map[dag.Seq]bool, len(r.Turns)), 0
	for i := range r.Turns {
		t, a := &r.Turns[i], &r.Turns[i].Admission
		switch {
		case a.Number > last:
			return fmt.Sprintf("turn %s has the number %d, at most %d", t.ID, a.Number, last)
		case numbers[a.Number]:
			return fmt.Sprintf("turn %s has the number %d, and so has another turn", t.ID, a.Number)
		case t.Body != nil && a.Cost != (len(t.Body.Content)+3)/4:
			return fmt.Sprintf("turn %s has the cost %d, but its content costs %d", t.ID, a.Cost, (len(t.Body.Content)+3)/4)
		}
		numbers[a.Number] = true
		cost += a.Cost
	}
	if r.walk.MaxCost > 0 && cost > r.walk.MaxCost {
		return fmt.Sprintf("the turns cost %d, which is more than max_cost %d", cost, r.walk.MaxCost)
	}
	return r.checkNumbers()
}

// checkNumbers checks that parents have smaller numbers than their children, and collects the data for isPrompt and
// isTouch.
func (r *reasoning) checkNumbers() string {
	parents := make([][]int, len(r.Turns))
	for _, e := range r.Edges {
		p, hasParent := r.index[e.Parent]
		c, hasChild := r.index[e.Child]
		if !hasParent || !hasChild { // the check of edges reports it
			continue
		}
		if r.Turns[p].Admission.Number >= r.Turns[c].Admission.Number {
			return fmt.Sprintf("the edge from %s leads to a smaller number", e.Parent)
		}
		parents[c] = append(parents[c], p)
	}
	r.said = make([]int, len(r.Turns))
	byNumber := make([]int, len(r.Turns))
	for i := range byNumber {
		byNumber[i] = i
	}
	number := func(i int) dag.Seq { return r.Turns[i].Admission.Number }
	slices.SortFunc(byNumber, func(a, b int) int { return cmp.Compare(number(a), number(b)) })
	r.touched = map[touching][]dag.Seq{}
	for _, c := range byNumber {
		for _, thing := range r.Turns[c].Admission.Things {
			key := touching{r.Turns[c].Conversation, thing}
			r.touched[key] = append(r.touched[key], number(c))
		}
		r.said[c] = -1
		for _, p := range parents[c] {
			if r.Turns[c].Admission.Standing == dag.StandingGuest && r.Turns[c].Conversation != r.Turns[p].Conversation {
				continue
			}
			if !r.saysWhat(p) {
				p = r.said[p]
			}
			if p >= 0 && (r.said[c] < 0 || number(p) > number(r.said[c])) {
				r.said[c] = p
			}
		}
	}
	return ""
}

// saysWhat reports whether a turn can be a prompt, as in selection.
func (r *reasoning) saysWhat(i int) bool {
	a := &r.Turns[i].Admission
	return a.Voice == dag.VoicePerson && (!r.schema.Counted || a.Standing.Orders())
}

// isPrompt reports whether a turn can be the nearest prompt before another turn: the bundle shows no
// nearer one. That none was left out is the kernel's word.
func (r *reasoning) isPrompt(t *BundleTurn, from int) bool {
	n := t.Admission.Number
	known := r.said[from]
	return r.walk.Spine && r.saysWhat(r.index[t.ID]) && n < r.Turns[from].Admission.Number &&
		(known < 0 || r.Turns[known].Admission.Number <= n)
}

// isTouch reports whether a turn is among the newest turns that touched the same thing as a later one, as far as the
// bundle shows them.
func (r *reasoning) isTouch(t, from *BundleTurn) bool {
	a := &t.Admission
	if t.Conversation != from.Conversation || a.Number >= from.Admission.Number || !slices.Contains(a.Things, a.Thing) || !slices.Contains(from.Admission.Things, a.Thing) {
		return false
	}
	all := r.touched[touching{t.Conversation, a.Thing}]
	at, _ := slices.BinarySearch(all, a.Number)
	before, _ := slices.BinarySearch(all, from.Admission.Number)
	return before-at <= r.walk.MaxTouching
}
