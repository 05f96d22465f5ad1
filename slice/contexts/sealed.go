package contexts

import (
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/slice"
)

// Head returns the head of the bundle, which all kinds of bundles have.
func (b *Bundle) Head() slice.Head {
	return slice.Head{Anchor: b.Provenance.Anchor, AsOf: b.AsOf, Provenance: b.Provenance, Seal: b.Seal, Policy: b.Policy, Counts: []slice.Count{
		{Name: "beliefs", N: uint64(len(b.Beliefs))}, {Name: "candidates", N: uint64(len(b.Candidates))}, {Name: "facts", N: uint64(len(b.Facts))}, {Name: "turns", N: uint64(len(b.Turns))},
	}}
}

// Redacted returns none: every turn in a context has its text.
func (b *Bundle) Redacted() []dag.TurnID { return nil }

type sealed = slice.Sealed[*Bundle]

// Sealed is a [slice.Sealed] context.
type Sealed struct{ sealed }

// Seal seals a context with its bytes. The Sealed takes ownership of both.
func Seal(b *Bundle, text []byte) Sealed { return Sealed{slice.NewSealed(b, text)} }

// Turns returns a copy of the chosen turns, by ascending id, or nil.
func (s Sealed) Turns() []ChosenTurn {
	if !s.OK() {
		return nil
	}
	turns := slices.Clone(slice.Unsealed(s.sealed).Turns)
	for i := range turns {
		turns[i].Body.Attrs = maps.Clone(turns[i].Body.Attrs)
	}
	return turns
}

// Facts returns a copy of the chosen assertions, by ascending statement, or nil.
func (s Sealed) Facts() []knowledge.Act {
	if !s.OK() {
		return nil
	}
	return slices.Clone(slice.Unsealed(s.sealed).Facts)
}

// Beliefs returns a copy of the chosen revisions, by ascending address, or nil.
func (s Sealed) Beliefs() []journal.Revision {
	if !s.OK() {
		return nil
	}
	return slices.Clone(slice.Unsealed(s.sealed).Beliefs)
}

// Prompt returns the prompt in the requested format, or nil.
func (s Sealed) Prompt() []byte {
	if !s.OK() {
		return nil
	}
	return slice.Unsealed(s.sealed).Render()
}

// Task returns the task and the anchor of the request.
func (s Sealed) Task() (task string, anchor *dag.TurnID) {
	if !s.OK() {
		return "", nil
	}
	r := &slice.Unsealed(s.sealed).Request
	if r.Anchor != nil {
		own := *r.Anchor
		anchor = &own
	}
	return r.Task, anchor
}
