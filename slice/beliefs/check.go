package beliefs

import (
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/slice"
)

// The checks of evidence of a belief that a slice of turns does not have. The other checks have the names and meanings
// of package slice.
const (
	CheckBeliefs  slice.CheckID = "beliefs"  // every revision is in the question's space and used by a step
	CheckSteps    slice.CheckID = "steps"    // each step follows from those before it, and the requested statement from the last
	CheckEvidence slice.CheckID = "evidence" // the turns are exactly those on which the statements of the steps rest
	CheckQuestion slice.CheckID = "question" // anchor_turn_id is the anchor of the question
)

// Checks lists the checks of Bundle.Check, in their order.
var Checks = [...]slice.CheckID{
	slice.CheckCanonicalOrder, CheckBeliefs, CheckSteps, CheckEvidence, CheckQuestion, slice.CheckPolicyHash, slice.CheckSnapshot, slice.CheckSliceID,
}

// Check recomputes from the bundle's body everything that its header claims, and returns one result for each of Checks,
// even if some fail. It does not check the token.
func (b *Bundle) Check() []slice.Check {
	want, got := b.fingerprint(), &b.Provenance
	return []slice.Check{
		b.checkCanonicalOrder(), b.checkBeliefs(), b.checkSteps(), b.checkEvidence(),
		slice.Compared(CheckQuestion, want.Anchor, got.Anchor),
		slice.Compared(slice.CheckPolicyHash, want.PolicyParamsHash, got.PolicyParamsHash),
		slice.Compared(slice.CheckSnapshot, want.GraphSnapshotHash, got.GraphSnapshotHash),
		slice.Compared(slice.CheckSliceID, want.SliceID, got.SliceID),
	}
}

func (b *Bundle) checkCanonicalOrder() slice.Check {
	for i := 1; i < len(b.Revisions); i++ {
		if byAddress(b.Revisions[i-1], b.Revisions[i]) >= 0 {
			return slice.Failed(slice.CheckCanonicalOrder, "", "", "revisions[%d]: %s does not come after %s", i, b.Revisions[i].Address(), b.Revisions[i-1].Address())
		}
	}
	for i := 1; i < len(b.Evidence); i++ {
		if b.Evidence[i-1].ID.Compare(b.Evidence[i].ID) >= 0 {
			return slice.Failed(slice.CheckCanonicalOrder, "", "", "evidence[%d]: turn %s does not come after %s", i, b.Evidence[i].ID, b.Evidence[i-1].ID)
		}
	}
	return slice.Passed(slice.CheckCanonicalOrder, "%d revisions, %d turns", len(b.Revisions), len(b.Evidence))
}

func (b *Bundle) checkBeliefs() slice.Check {
	for i := range b.Revisions {
		r := &b.Revisions[i]
		wrong := ""
		switch {
		case r.Item.Space() != b.Question.Space:
			wrong = fmt.Sprintf("it is not in the space %s", b.Question.Space)
		case !slices.ContainsFunc(b.Steps, func(s Step) bool { return s.Revision == i }):
			wrong = "no step uses a statement of it"
		}
		if wrong != "" {
			return slice.Failed(CheckBeliefs, "", "", "revisions[%d], %s: %s", i, r.Address(), wrong)
		}
	}
	return slice.Passed(CheckBeliefs, "%d", len(b.Revisions))
}

func (b *Bundle) checkSteps() slice.Check {
	d := derivation{constraints: b.Policy.Constraints(), span: b.Question.span()}
	seen := map[Step]bool{}
	for i, step := range b.Steps {
		s := &b.Revisions[step.Revision].Statements[step.Statement]
		if seen[step] {
			return slice.Failed(CheckSteps, "", "", "steps[%d]: it repeats an earlier step", i)
		}
		seen[step] = true
		if !d.follows(s) {
			return slice.Failed(CheckSteps, "", "", "steps[%d], %s: a premise does not follow from the earlier steps, or the statement does not hold at the same time as they do", i, s.Literal)
		}
		d.take(s)
		if follows := d.constraints.Entails(s.Literal, b.Question.Literal); follows != (i == len(b.Steps)-1) {
			return slice.Failed(CheckSteps, "", "", "steps[%d], %s: the question %s must follow from the last step, and not from an earlier step", i, s.Literal, b.Question.Literal)
		}
	}
	if len(b.Steps) == 0 {
		return slice.Failed(CheckSteps, "", "", "no step")
	}
	return slice.Passed(CheckSteps, "%d", len(b.Steps))
}

func (b *Bundle) checkEvidence() slice.Check {
	named := b.named()
	if len(named) != len(b.Evidence) {
		return slice.Failed(CheckEvidence, fmt.Sprint(len(named)), fmt.Sprint(len(b.Evidence)), "the number of turns differs from the number that the steps rest on")
	}
	for i := range named {
		if b.Evidence[i].ID != named[i] {
			return slice.Failed(CheckEvidence, named[i].String(), b.Evidence[i].ID.String(), "evidence[%d]: it differs from the turn that the steps rest on", i)
		}
	}
	return slice.Passed(CheckEvidence, "%d turns", len(named))
}
