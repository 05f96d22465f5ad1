package attest

import (
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
)

// MatchDisclosure compares the statement with a part of the bundle that it is of. What the
// part does not show cannot differ. The error is a *MismatchError. The disclosure must
// have passed its own Check.
func (s *Statement) MatchDisclosure(d *slice.Disclosure) error {
	if err := s.matchHead(d.Head()); err != nil {
		return err
	}
	if s.Subject != d.Bundle {
		return &MismatchError{"subject[0].digest.sha256", s.Subject.String(), d.Bundle.String()}
	}
	for _, r := range s.Redacted {
		at, shown := slices.BinarySearchFunc(d.Turns, r.Turn, func(t slice.DisclosedTurn, id dag.TurnID) int { return t.ID.Compare(id) })
		if shown && d.Turns[at].Body != nil {
			return &MismatchError{"predicate.redacted", fmt.Sprintf("turn %s is redacted (%s)", r.Turn, r.Why), "that it is not"}
		}
	}
	return nil
}
