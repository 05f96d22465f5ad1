package facts

import (
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/slice"
)

// Head returns the head of the bundle, which all kinds of bundles have.
func (b *Bundle) Head() slice.Head {
	return slice.Head{Anchor: b.Provenance.Anchor, AsOf: b.AsOf, Provenance: b.Provenance, Seal: b.Seal, Policy: b.Policy, Counts: []slice.Count{
		{Name: "aliases", N: uint64(len(b.Aliases))}, {Name: "evidence", N: uint64(len(b.Evidence))},
		{Name: "facts", N: uint64(len(b.Facts))}, {Name: "reached", N: uint64(len(b.Reached))},
	}}
}

// Redacted returns none: a bundle of facts contains no texts.
func (b *Bundle) Redacted() []dag.TurnID { return nil }

type sealed = slice.Sealed[*Bundle]

// Sealed is a [slice.Sealed] bundle of facts.
type Sealed struct{ sealed }

// Seal seals a bundle of facts with its bytes. The Sealed takes ownership of both.
func Seal(b *Bundle, text []byte) Sealed { return Sealed{slice.NewSealed(b, text)} }

// Facts returns a copy of the assertions, by ascending statement, or nil.
func (s Sealed) Facts() []knowledge.Act {
	if !s.OK() {
		return nil
	}
	return slice.Unsealed(s.sealed).OwnFacts()
}

// Reached returns a copy of the entities with their paths, or nil.
func (s Sealed) Reached() []Reached {
	if !s.OK() {
		return nil
	}
	return slice.Unsealed(s.sealed).OwnReached()
}

// Evidence returns a copy of the turns that the facts name, with their leaf hashes, or nil.
func (s Sealed) Evidence() []Turn {
	if !s.OK() {
		return nil
	}
	return slices.Clone(slice.Unsealed(s.sealed).Evidence)
}

// Claim returns a copy of the whole bundle: the question, the policy, the aliases, whether the result was cut, and the
// values of the other methods. It is the zero value if there is no evidence.
func (s Sealed) Claim() Bundle {
	if !s.OK() {
		return Bundle{}
	}
	return slice.Unsealed(s.sealed).Own()
}
