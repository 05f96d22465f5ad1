package policy

import (
	"crypto/sha256"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// Type is the type of a SlicePolicyV1, as canonical forms and bundles name it.
const Type = "slice_policy_v1"

// Type is the constant of that name.
func (SlicePolicyV1) Type() string { return Type }

// Bounds of the parameters. The lower bound is 0, except for MaxNodes, where it is 1.
const (
	LimitNodes    = 10_000
	LimitRadius   = 64
	LimitSiblings = 100
)

// A SlicePolicy is a policy that slices of turns are cut under: a SlicePolicyV1 or a SlicePolicyV2.
type SlicePolicy interface {
	Parameters

	// Walk returns the parameters that selection goes by. One selection serves both types: a
	// SlicePolicyV1 is a case of the other.
	Walk() SlicePolicyV2
}

// A SlicePolicyV1 is a set of parameters. Its zero value is not valid; start
// from Default.
type SlicePolicyV1 struct {
	MaxNodes        int        // turns in a slice, the anchor included
	MaxRadius       int        // edges away from the anchor
	Weights         PhaseTable // W of equation 1, by phase
	SalienceWeight  dag.PPM    // α: how much salience counts
	DistanceDecay   dag.PPM    // β: what each edge leaves of the score
	IncludeSiblings bool
	MaxSiblings     int // per turn, the best first
}

// A PhaseTable holds a fraction for each phase, at the phase's number.
type PhaseTable [len(dag.Phases) + 1]dag.PPM

// Default returns the parameters of the policy default@1.
func Default() SlicePolicyV1 {
	return SlicePolicyV1{
		MaxNodes:        256,
		MaxRadius:       10,
		Weights:         defaultWeights(),
		SalienceWeight:  300_000,
		DistanceDecay:   900_000,
		IncludeSiblings: true,
		MaxSiblings:     5,
	}
}

func defaultWeights() PhaseTable {
	return PhaseTable{
		dag.Synthesis:     1_000_000,
		dag.Planning:      900_000,
		dag.Consolidation: 600_000,
		dag.Debugging:     500_000,
		dag.Exploration:   300_000,
	}
}

// members lists the parameters of p.
func (p *SlicePolicyV1) members() members {
	return members{
		fraction("distance_decay", &p.DistanceDecay),
		{key: "include_siblings", flag: &p.IncludeSiblings},
		number("max_nodes", &p.MaxNodes, 1, LimitNodes),
		number("max_radius", &p.MaxRadius, 0, LimitRadius),
		number("max_siblings", &p.MaxSiblings, 0, LimitSiblings),
		phases(&p.Weights),
		fraction("salience_weight", &p.SalienceWeight),
		{key: "type", text: Type},
	}
}

// Check reports the first parameter that is out of range.
func (p SlicePolicyV1) Check() error {
	if p.Weights[0] != 0 {
		return fmt.Errorf("%w: a weight for no phase", ErrRange)
	}
	return p.members().check()
}

// Canonical returns the canonical form, which Hash is taken of.
func (p SlicePolicyV1) Canonical() []byte { return p.members().canonical() }

// Hash is policy_params_hash: SHA-256 of the canonical form.
func (p SlicePolicyV1) Hash() dag.Digest { return sha256.Sum256(p.Canonical()) }

// AppendWire writes the parameters as bundles and people do, as decimals.
func (p SlicePolicyV1) AppendWire(w *canon.Writer) { p.members().appendWire(w) }

// Walk returns parameters of the other type that select the same turns: in both directions, by
// parents, children and siblings alone, whatever they cost and whoever speaks.
func (p SlicePolicyV1) Walk() SlicePolicyV2 {
	w := SlicePolicyV2{
		MaxNodes: p.MaxNodes, MaxRadius: p.MaxRadius, Direction: Both,
		Weights: p.Weights, SalienceWeight: p.SalienceWeight, DistanceDecay: p.DistanceDecay,
	}
	if p.IncludeSiblings {
		w.MaxSiblings = p.MaxSiblings
	}
	for i := range w.Voices {
		w.Voices[i] = dag.One
	}
	return w
}

// SliceForm is how policies of the first type are read.
var SliceForm = Form{Type: Type, Read: func(c *canon.Cursor, n Notation) Parameters {
	p := Default()
	p.members().read(c, n)
	return p
}}

// ParseCanonical reads what SlicePolicyV1.Canonical writes and nothing else.
func ParseCanonical(data []byte) (SlicePolicyV1, error) {
	p, err := Forms{SliceForm}.parseCanonical(data)
	if err != nil {
		return SlicePolicyV1{}, err
	}
	return p.(SlicePolicyV1), nil // the one form that was given
}

// ReadWire reads what AppendWire writes of either type, which must be the one given: every parameter
// must be there, since a default would put words into a signer's mouth.
func ReadWire(c *canon.Cursor, f Form) SlicePolicy {
	var first SlicePolicyV1
	var second SlicePolicyV2
	if f.Type == Type {
		first.members().demand(c)
	} else {
		second.members().demand(c)
	}
	return f.Read(c, Wire).(SlicePolicy) // as both forms read
}
