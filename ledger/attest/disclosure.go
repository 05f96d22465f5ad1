package attest

import (
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
)

// MatchDisclosure compares the statement with a disclosure, a part of its bundle. Only the parts that the disclosure
// shows are compared. The error is a *MismatchError. The disclosure must have passed its own Check.
func (s *Statement) MatchDisclosure(d *slice.Disclosure) error {
	if err := s.matchHead(d.Head()); err != nil {
		return err
	}
	if s.Subject != d.Bundle {
		return &MismatchError{"subject[0].digest.sha256", s.Subject.String(), d.Bundle.String()}
	}
	for i := range d.Shown {
		t, ok := d.Shown[i].Leaf.(*slice.ShownTurn)
		if !ok || t.Body == nil {
			continue
		}
		if at, stated := slices.BinarySearchFunc(s.Redacted, t.Turn.ID, func(r Redaction, id dag.TurnID) int { return r.Turn.Compare(id) }); stated {
			return &MismatchError{"predicate.redacted", fmt.Sprintf("turn %s is redacted (%s)", t.Turn.ID, s.Redacted[at].Why), "that it is not"}
		}
	}
	return nil
}
