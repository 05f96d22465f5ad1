package policy

import (
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

// DefaultV1 returns the parameters of the policy default@1.
func DefaultV1() SlicePolicyV1 {
	return SlicePolicyV1{
		MaxNodes:  256,
		MaxRadius: 10,
		Weights: PhaseTable{
			dag.Synthesis:     1_000_000,
			dag.Planning:      900_000,
			dag.Consolidation: 600_000,
			dag.Debugging:     500_000,
			dag.Exploration:   300_000,
		},
		SalienceWeight:  300_000,
		DistanceDecay:   900_000,
		IncludeSiblings: true,
		MaxSiblings:     5,
	}
}

var tableV1 = Table[SlicePolicyV1]{
	Type: Type, Default: DefaultV1(),
	Fields: []Field[SlicePolicyV1]{
		Fraction("distance_decay", dag.One, func(p *SlicePolicyV1) *dag.PPM { return &p.DistanceDecay }),
		Switch("include_siblings", func(p *SlicePolicyV1) *bool { return &p.IncludeSiblings }),
		Int("max_nodes", 1, LimitNodes, func(p *SlicePolicyV1) *int { return &p.MaxNodes }),
		Int("max_radius", 0, LimitRadius, func(p *SlicePolicyV1) *int { return &p.MaxRadius }),
		Int("max_siblings", 0, LimitSiblings, func(p *SlicePolicyV1) *int { return &p.MaxSiblings }),
		phases(func(p *SlicePolicyV1) *PhaseTable { return &p.Weights }),
		Fraction("salience_weight", dag.One, func(p *SlicePolicyV1) *dag.PPM { return &p.SalienceWeight }),
	},
	Further: func(p *SlicePolicyV1) error { return noPhase(p.Weights[0]) },
}

// phases is the table of the weights of phases.
func phases[P any](at func(*P) *PhaseTable) Field[P] {
	all := [...]dag.Phase{dag.Consolidation, dag.Debugging, dag.Exploration, dag.Planning, dag.Synthesis}
	names := make([]string, len(all))
	for i, ph := range all {
		names[i] = ph.String()
	}
	return Fractions("phase_weights", func(p *P, i int) *dag.PPM { return &at(p)[all[i]] }, names...)
}

// noPhase reports a weight for what is no phase, or no voice.
func noPhase(weight dag.PPM) error {
	if weight != 0 {
		return fmt.Errorf("%w: a weight for no phase or no voice", ErrRange)
	}
	return nil
}

// Check reports the first parameter that is out of range.
func (p SlicePolicyV1) Check() error { return tableV1.Check(p) }

// Canonical returns the canonical form, which Hash is taken of.
func (p SlicePolicyV1) Canonical() []byte { return tableV1.Canonical(p) }

// Hash is policy_params_hash: SHA-256 of the canonical form.
func (p SlicePolicyV1) Hash() dag.Digest { return tableV1.Hash(p) }

// AppendWire writes the parameters as bundles and people do, as decimals.
func (p SlicePolicyV1) AppendWire(w *canon.Writer) { tableV1.AppendWire(w, p) }

// Walk returns parameters of the other type that select the same turns: in both directions, by
// parents, children and siblings alone, without regard to cost and voice.
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
var SliceForm = Form{Type: Type, Read: func(c *canon.Cursor, n Notation) Parameters { return tableV1.Read(c, n) }}

// ParseCanonical reads what SlicePolicyV1.Canonical writes and nothing else.
func ParseCanonical(data []byte) (SlicePolicyV1, error) {
	p, err := Forms{SliceForm}.parseCanonical(data)
	if err != nil {
		return SlicePolicyV1{}, err
	}
	return p.(SlicePolicyV1), nil // the one form that was given
}

// ReadWire reads what AppendWire writes of the type that is named: every parameter must be there, since a
// default would put words into a signer's mouth.
func ReadWire(c *canon.Cursor, typ string) SlicePolicy {
	if typ == TypeV2 {
		return tableV2.ReadWhole(c)
	}
	return tableV1.ReadWhole(c)
}
