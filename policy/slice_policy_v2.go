package policy

import (
	"cmp"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// TypeV2 is the type name of a SlicePolicyV2 in canonical forms and bundles.
const TypeV2 = "slice_policy_v2"

// Type returns TypeV2.
func (SlicePolicyV2) Type() string { return TypeV2 }

// Upper bounds of the parameters that a SlicePolicyV1 does not have.
const (
	LimitCost     = 1 << 30
	LimitTouching = 100
)

// A Direction says which turns a slice may contain, relative to its anchor.
type Direction string

// The directions.
const (
	Past Direction = "past" // the anchor, and turns admitted before it
	Both Direction = "both" // also turns admitted after it
)

// A SlicePolicyV2 uses the marks of turns (dag.Marks) in addition to the properties that a SlicePolicyV1 uses. Its zero
// value is not valid; start from DefaultV2.
type SlicePolicyV2 struct {
	MaxNodes       int        // turns in a slice, including the anchor
	MaxRadius      int        // the largest number of steps from the anchor
	MaxCost        int        // the largest sum of the turns' costs; 0: no limit
	Direction      Direction  //
	Spine          bool       // the nearest ancestor in a person's voice is one step away
	MaxTouching    int        // per thing, the number of earlier turns of the conversation that touched the same thing and are one step away
	MaxSiblings    int        // per turn, the best first
	Weights        PhaseTable // W of equation 1, by phase
	Voices         VoiceTable // V, a factor of W, by voice
	SalienceWeight dag.PPM    // α: the influence of salience
	DistanceDecay  dag.PPM    // β: the factor of the score per step
}

// A VoiceTable contains a fraction for each voice; the index is the voice's number.
type VoiceTable [len(dag.Voices) + 1]dag.PPM

// DefaultV2 returns the parameters of the policy default@2. docs/design/2026-11-23-slice-policy-v2.md describes the
// measurements behind them.
func DefaultV2() SlicePolicyV2 {
	return SlicePolicyV2{
		MaxNodes:       256,
		MaxRadius:      64,
		MaxCost:        32_000,
		Direction:      Past,
		Spine:          true,
		MaxTouching:    2,
		MaxSiblings:    5,
		Weights:        PhaseTable{dag.Synthesis: 1_000_000, dag.Planning: 900_000, dag.Consolidation: 800_000, dag.Debugging: 800_000, dag.Exploration: 800_000},
		Voices:         VoiceTable{dag.VoicePerson: 1_000_000, dag.VoiceAgent: 700_000, dag.VoiceTool: 300_000, dag.VoiceHarness: 200_000},
		SalienceWeight: 300_000,
		DistanceDecay:  950_000,
	}
}

var tableV2 = Table[SlicePolicyV2]{
	Type: TypeV2, Default: DefaultV2(),
	Fields:  append(walkFields(func(p *SlicePolicyV2) *SlicePolicyV2 { return p }), voices()),
	Further: func(p *SlicePolicyV2) error { return cmp.Or(noPhase(p.Weights[0]), noPhase(p.Voices[0])) },
}

// walkFields returns the fields that a SlicePolicyV2 and a SlicePolicyV3 have in common.
func walkFields[P any](at func(*P) *SlicePolicyV2) []Field[P] {
	return []Field[P]{
		direction(func(p *P) *Direction { return &at(p).Direction }),
		Fraction("distance_decay", dag.One, func(p *P) *dag.PPM { return &at(p).DistanceDecay }),
		Int("max_cost", 0, LimitCost, func(p *P) *int { return &at(p).MaxCost }),
		Int("max_nodes", 1, LimitNodes, func(p *P) *int { return &at(p).MaxNodes }),
		Int("max_radius", 0, LimitRadius, func(p *P) *int { return &at(p).MaxRadius }),
		Int("max_siblings", 0, LimitSiblings, func(p *P) *int { return &at(p).MaxSiblings }),
		Int("max_touching", 0, LimitTouching, func(p *P) *int { return &at(p).MaxTouching }),
		phases(func(p *P) *PhaseTable { return &at(p).Weights }),
		Fraction("salience_weight", dag.One, func(p *P) *dag.PPM { return &at(p).SalienceWeight }),
		Switch("spine", func(p *P) *bool { return &at(p).Spine }),
	}
}

func direction[P any](at func(*P) *Direction) Field[P] {
	f := Text("direction", at, func(d Direction) error {
		if d != Past && d != Both {
			return fmt.Errorf("%.40q, want past or both", d)
		}
		return nil
	})
	f.shape.Values = []string{string(Past), string(Both)}
	return f
}

// voices returns the field of the voices' weights.
func voices() Field[SlicePolicyV2] {
	all := [...]dag.Voice{dag.VoiceAgent, dag.VoiceHarness, dag.VoicePerson, dag.VoiceTool}
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = v.String()
	}
	return Fractions("voice_weights", func(p *SlicePolicyV2, i int) *dag.PPM { return &p.Voices[all[i]] }, names...)
}

// ShapesV2 returns the shapes of the parameters of a SlicePolicyV2.
func ShapesV2() []Shape { return tableV2.Shapes() }

// Check returns an error for the first parameter that is out of range.
func (p SlicePolicyV2) Check() error { return tableV2.Check(p) }

// Canonical returns the canonical form, over which Hash is computed.
func (p SlicePolicyV2) Canonical() []byte { return tableV2.Canonical(p) }

// Hash returns policy_params_hash: the SHA-256 of the canonical form.
func (p SlicePolicyV2) Hash() dag.Digest { return tableV2.Hash(p) }

// AppendWire writes the parameters with decimals, as in bundles and in what people write.
func (p SlicePolicyV2) AppendWire(w *canon.Writer) { tableV2.AppendWire(w, p) }

// Walk returns the parameters.
func (p SlicePolicyV2) Walk() Walk { return Walk{SlicePolicyV2: p} }

// SliceFormV2 is the form of SlicePolicyV2.
var SliceFormV2 = Form{Type: TypeV2, Read: func(c *canon.Cursor, n Notation) Parameters { return tableV2.Read(c, n) }}
