package token

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// A Boundary limits a question to admissible evidence: the question sees the turns and facts of the evidence and the
// facts that rest on these turns, and nothing else. Only the Boundary methods of [Admissible], [AdmissibleFacts],
// [AdmissibleContext] and [AdmissibleBelief], and [Verifier.BoundaryFor], return a boundary that admits anything; the
// zero value admits nothing, and no question is answered within it.
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

// Boundary returns a boundary that admits the turns of the slice and the facts that rest on them.
func (a Admissible) Boundary() Boundary { return boundary(a) }

// Boundary returns a boundary that admits the facts, the turns that are their evidence, and other facts that rest on
// these turns.
func (a AdmissibleFacts) Boundary() Boundary { return boundary(a) }

// Boundary returns a boundary that admits the chosen turns and facts, and other facts that rest on these turns.
func (a AdmissibleContext) Boundary() Boundary { return boundary(a) }

// Boundary returns a boundary that admits the turns that the belief rests on, and the facts that rest on these turns.
func (a AdmissibleBelief) Boundary() Boundary { return boundary(a) }

// OK reports whether the boundary comes from admissible evidence.
func (b *Boundary) OK() bool { return b.turns != nil }

// Tenant returns the tenant of the evidence.
func (b *Boundary) Tenant() dag.Tenant { return b.tenant }

// AsOf returns the sequence number of the view from which the evidence was taken.
func (b *Boundary) AsOf() dag.Seq { return b.asOf }

// Turns returns the admitted turns, ascending.
func (b *Boundary) Turns() []dag.TurnID {
	return slices.SortedFunc(maps.Keys(b.turns), dag.TurnID.Compare)
}

// HasTurn reports whether the boundary admits a turn.
func (b *Boundary) HasTurn(id dag.TurnID) bool { return b.turns[id] }

// Facts returns the statements that are in the evidence itself, ascending.
func (b *Boundary) Facts() []dag.Digest {
	return slices.SortedFunc(maps.Keys(b.facts), func(x, y dag.Digest) int { return bytes.Compare(x[:], y[:]) })
}

// Errors of evidence that does not serve a question.
var (
	// ErrTenant is wrapped when evidence belongs to another tenant.
	ErrTenant = errors.New("wrong tenant")
	// ErrNotAdmissible is wrapped when a question is limited to evidence that was not verified. It wraps dag.ErrForm.
	ErrNotAdmissible = fmt.Errorf("%w: the question is to be held within evidence that is not admissible", dag.ErrForm)
)

// Held returns the as-of number of a question that is limited to the boundary: asOf, or the number of the evidence if asOf is 0. nil limits no question. For a
// boundary of another tenant the error wraps ErrTenant; for one of evidence that was not verified, ErrNotAdmissible.
func (b *Boundary) Held(tenant dag.Tenant, asOf dag.Seq) (dag.Seq, error) {
	switch {
	case b == nil:
		return asOf, nil
	case !b.OK():
		return 0, ErrNotAdmissible
	case b.Tenant() != tenant:
		return 0, fmt.Errorf("the question is held within evidence of tenant %q, not %q: %w", b.Tenant(), tenant, ErrTenant)
	}
	return cmp.Or(asOf, b.AsOf()), nil
}
