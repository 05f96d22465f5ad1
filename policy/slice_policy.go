package policy

import (
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// Type is the type name of a SlicePolicyV1 in canonical forms and bundles.
const Type = "slice_policy_v1"

// Type returns the constant Type.
func (SlicePolicyV1) Type() string { return Type }

// Upper bounds of the parameters. The lower bound is 0, except for MaxNodes, where it is 1.
const (
	LimitNodes    = 10_000
	LimitRadius   = 64
	LimitSiblings = 100
)

// A SlicePolicy is a policy for slices of turns: a SlicePolicyV1, a SlicePolicyV2 or a SlicePolicyV3.
type SlicePolicy interface {
	Parameters

	// Walk returns the parameters that selection uses. One selection serves all types.
	Walk() Walk
}

// A Walk has the parameters that selection uses. A SlicePolicyV1 is a special case of a SlicePolicyV2, and a SlicePolicyV3 differs in one table.
type Walk struct {
	SlicePolicyV2
	Standings *StandingTable // the factors of W by standing, in place of Voices; nil: selection does not look at standings
}

// A SlicePolicyV1 is a set of parameters. Its zero value is not valid; start from DefaultV1.
type SlicePolicyV1 struct {
	MaxNodes        int        // turns in a slice, including the anchor
	MaxRadius       int        // the largest number of edges from the anchor
	Weights         PhaseTable // W of equation 1, by phase
	SalienceWeight  dag.PPM    // α: the influence of salience
	DistanceDecay   dag.PPM    // β: the factor of the score per edge
	IncludeSiblings bool
	MaxSiblings     int // per turn, the best first
}

// A PhaseTable contains a fraction for each phase; the index is the phase's number.
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

// phases returns the field of the phases' weights.
func phases[P any](at func(*P) *PhaseTable) Field[P] {
	all := [...]dag.Phase{dag.Consolidation, dag.Debugging, dag.Exploration, dag.Planning, dag.Synthesis}
	names := make([]string, len(all))
	for i, ph := range all {
		names[i] = ph.String()
	}
	return Fractions("phase_weights", func(p *P, i int) *dag.PPM { return &at(p)[all[i]] }, names...)
}

// noPhase returns an error if the entry for no phase, no voice or no standing, or for a voice in a table of standings, has a weight.
func noPhase(weight dag.PPM) error {
	if weight != 0 {
		return fmt.Errorf("%w: the weights for no phase, no voice and no standing must be 0, and so must those of voices where standings are weighed", ErrRange)
	}
	return nil
}

// Check returns an error for the first parameter that is out of range.
func (p SlicePolicyV1) Check() error { return tableV1.Check(p) }

// Canonical returns the canonical form, over which Hash is computed.
func (p SlicePolicyV1) Canonical() []byte { return tableV1.Canonical(p) }

// Hash returns policy_params_hash: the SHA-256 of the canonical form.
func (p SlicePolicyV1) Hash() dag.Digest { return tableV1.Hash(p) }

// AppendWire writes the parameters with decimals, as in bundles and in what people write.
func (p SlicePolicyV1) AppendWire(w *canon.Writer) { tableV1.AppendWire(w, p) }

// Walk returns the parameters of a selection in both directions, only by parents, children and siblings, regardless of cost and voice.
func (p SlicePolicyV1) Walk() Walk {
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
	return Walk{SlicePolicyV2: w}
}

// SliceForm is the form of SlicePolicyV1.
var SliceForm = Form{Type: Type, Read: func(c *canon.Cursor, n Notation) Parameters { return tableV1.Read(c, n) }}

// ParseCanonical reads the canonical form of a SlicePolicyV1 and accepts no other form.
func ParseCanonical(data []byte) (SlicePolicyV1, error) {
	p, err := Forms{SliceForm}.parseCanonical(data)
	if err != nil {
		return SlicePolicyV1{}, err
	}
	return p.(SlicePolicyV1), nil // the only form in the list
}

// ReadWire reads the output of AppendWire for the named type. Every parameter must be present, because a default would
// be a value that the signer did not sign.
func ReadWire(c *canon.Cursor, typ string) SlicePolicy {
	switch typ {
	case TypeV2:
		return tableV2.ReadWhole(c)
	case TypeV3:
		return tableV3.ReadWhole(c)
	}
	return tableV1.ReadWhole(c)
}
