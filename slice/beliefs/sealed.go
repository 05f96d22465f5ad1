package beliefs

import (
	"slices"

	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
)

// Head returns the head of the bundle, which all kinds of bundles have.
func (b *Bundle) Head() slice.Head {
	return slice.Head{Anchor: b.Provenance.Anchor, AsOf: b.AsOf, Provenance: b.Provenance, Seal: b.Seal, Policy: b.Policy, Counts: []slice.Count{
		{Name: "evidence", N: uint64(len(b.Evidence))}, {Name: "revisions", N: uint64(len(b.Revisions))}, {Name: "steps", N: uint64(len(b.Steps))},
	}}
}

// Redacted returns none: evidence of a belief contains no texts of turns.
func (b *Bundle) Redacted() []dag.TurnID { return nil }

// Turns returns the turns of the evidence, ascending.
func (b *Bundle) Turns() []dag.TurnID {
	turns := make([]dag.TurnID, len(b.Evidence))
	for i := range b.Evidence {
		turns[i] = b.Evidence[i].ID
	}
	return turns
}

type sealed = slice.Sealed[*Bundle]

// Sealed is a [slice.Sealed] bundle of this package.
type Sealed struct{ sealed }

// Seal seals evidence with its bytes. The Sealed takes ownership of both.
func Seal(b *Bundle, text []byte) Sealed { return Sealed{slice.NewSealed(b, text)} }

// Question returns a copy of the question, or its zero value if there is no evidence.
func (s Sealed) Question() Question {
	if !s.OK() {
		return Question{}
	}
	q := slice.Unsealed(s.sealed).Question
	if q.ValidAt != nil {
		at := *q.ValidAt
		q.ValidAt = &at
	}
	return q
}

// Revisions returns a copy of the revisions, by ascending address, or nil.
func (s Sealed) Revisions() []journal.Revision {
	if !s.OK() {
		return nil
	}
	return slices.Clone(slice.Unsealed(s.sealed).Revisions)
}

// Evidence returns a copy of the turns on which the statements rest, with their leaf hashes, or nil.
func (s Sealed) Evidence() []Turn {
	if !s.OK() {
		return nil
	}
	return slices.Clone(slice.Unsealed(s.sealed).Evidence)
}
