package render

import (
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// Explanation puts an explanation of a slice into words; the slice was made under policyID as of a sequence number.
func Explanation(e *slice.Explanation, policyID policy.ID, asOf dag.Seq) string {
	switch e.Outcome {
	case slice.Chosen:
		return fmt.Sprintf("selected as number %d of %d: %s, score %s", e.Rank, e.Selected, Reason(&e.Admission), Score(e.Admission.Score))
	case slice.Beaten:
		if e.Admission.From == e.BeatenBy.ID && e.Admission.Score > e.BeatenBy.Admission.Score {
			return fmt.Sprintf("not selected: %s has room for %d turns; it came into reach (%s, score %s) only through the last turn that was selected",
				policyID, e.Selected, Reason(&e.Admission), Score(e.Admission.Score))
		}
		return fmt.Sprintf("not selected: %s has room for %d turns; its score %s (%s) was beaten by %s with %s (%s), the last turn that was selected",
			policyID, e.Selected, Score(e.Admission.Score), Reason(&e.Admission),
			Short(e.BeatenBy.ID), Score(e.BeatenBy.Admission.Score), Reason(&e.BeatenBy.Admission))
	case slice.TooCostly:
		return fmt.Sprintf("not selected: it costs %d (%s, score %s), and that did not fit into max_cost of %s any more", e.Admission.Cost, Reason(&e.Admission), Score(e.Admission.Score), policyID)
	case slice.Later:
		return fmt.Sprintf("not selected: it came after the anchor, and %s looks at the past", policyID)
	case slice.TooFar:
		return fmt.Sprintf("not selected: it is %d edges away, beyond max_radius of %s", e.Edges, policyID)
	case slice.Unreached:
		return fmt.Sprintf("not selected: it is %d edges away, but none of the %d selected turns led to it", e.Edges, e.Selected)
	case slice.NotYet:
		return fmt.Sprintf("not selected: as of sequence number %d it had not been admitted", asOf)
	}
	return fmt.Sprintf("not selected: no path of at most %d edges leads to it", policy.LimitRadius)
}
