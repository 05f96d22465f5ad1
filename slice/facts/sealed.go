package facts

import (
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/slice"
)

// Head returns what all kinds of bundles have.
func (b *Bundle) Head() (slice.Provenance, slice.Seal, dag.Seq) {
	return b.Provenance, b.Seal, b.AsOf
}

type sealed = slice.Sealed[*Bundle]

// Sealed is a [slice.Sealed] bundle of facts.
type Sealed struct{ sealed }

// Seal seals a bundle of facts with its bytes. Both belong to the Sealed from then on.
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

// Claim returns a copy of all that the bundle says: the question, the policy and the aliases that
// counted, whether it was cut, and what the other methods return. Its zero value if there is no
// evidence.
func (s Sealed) Claim() Bundle {
	if !s.OK() {
		return Bundle{}
	}
	return slice.Unsealed(s.sealed).Own()
}
