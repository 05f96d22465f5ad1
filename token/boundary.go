package token

import (
	"bytes"
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// A Boundary holds a question within admissible evidence: it sees the turns of the evidence and the facts that are in it or rest on
// these turns, and nothing else. Only the Boundary methods of [Admissible], [AdmissibleFacts], [AdmissibleContext] and [AdmissibleBelief] return one
// that lets anything through; the zero value lets nothing through, and no question is answered within it.
//
// Source: Graph Kernel paper, SliceBoundaryGuard.
type Boundary struct {
	tenant dag.Tenant
	asOf   dag.Seq
	turns  map[dag.TurnID]bool
	facts  map[dag.Digest]bool // statements
}

type admitted interface {
	OK() bool
	Tenant() dag.Tenant
	AsOf() dag.Seq
	Holds() (turns []dag.TurnID, facts []dag.Digest)
}

func boundary(of admitted) Boundary {
	if !of.OK() {
		return Boundary{}
	}
	b := Boundary{of.Tenant(), of.AsOf(), map[dag.TurnID]bool{}, map[dag.Digest]bool{}}
	turns, facts := of.Holds()
	for _, id := range turns {
		b.turns[id] = true
	}
	for _, id := range facts {
		b.facts[id] = true
	}
	return b
}

// Boundary lets the turns of the slice through, and the facts that rest on them.
func (a Admissible) Boundary() Boundary { return boundary(a) }

// Boundary lets the facts through, the turns that are their evidence, and other facts that rest on these.
func (a AdmissibleFacts) Boundary() Boundary { return boundary(a) }

// Boundary lets the chosen turns and facts through, and other facts that rest on these turns.
func (a AdmissibleContext) Boundary() Boundary { return boundary(a) }

// Boundary lets the turns through that the belief rests on, and the facts that rest on them.
func (a AdmissibleBelief) Boundary() Boundary { return boundary(a) }

// OK reports whether the boundary is that of admissible evidence.
func (b *Boundary) OK() bool { return b.turns != nil }

// Tenant is that of the evidence.
func (b *Boundary) Tenant() dag.Tenant { return b.tenant }

// AsOf is the number of the view that the evidence is of.
func (b *Boundary) AsOf() dag.Seq { return b.asOf }

// Turns returns the turns that are let through, ascending.
func (b *Boundary) Turns() []dag.TurnID {
	return slices.SortedFunc(maps.Keys(b.turns), dag.TurnID.Compare)
}

// HasTurn reports whether a turn is let through.
func (b *Boundary) HasTurn(id dag.TurnID) bool { return b.turns[id] }

// Facts returns the statements that are in the evidence itself, ascending.
func (b *Boundary) Facts() []dag.Digest {
	return slices.SortedFunc(maps.Keys(b.facts), func(x, y dag.Digest) int { return bytes.Compare(x[:], y[:]) })
}
