package policy

import (
	"cmp"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// TypeV2 is the type of a SlicePolicyV2, as canonical forms and bundles name it.
const TypeV2 = "slice_policy_v2"

// Type is TypeV2.
func (SlicePolicyV2) Type() string { return TypeV2 }

// Bounds of the parameters that a SlicePolicyV1 has not.
const (
	LimitCost     = 1 << 30
	LimitTouching = 100
)

// A Direction says which turns a slice may hold.
type Direction string

// The directions.
const (
	Past Direction = "past" // the anchor, and what was admitted before it
	Both Direction = "both" // what came after it, too
)

// A SlicePolicyV2 goes by the marks of turns (dag.Marks), beside what a SlicePolicyV1 goes by. Its
// zero value is not valid; start from DefaultV2.
type SlicePolicyV2 struct {
	MaxNodes       int        // turns in a slice, the anchor included
	MaxRadius      int        // steps away from the anchor
	MaxCost        int        // the sum of what the turns cost; 0: any
	Direction      Direction  //
	Spine          bool       // the nearest ancestor in a person's voice is one step away
	MaxTouching    int        // earlier turns of the conversation that touched a thing, for each thing, are one step away
	MaxSiblings    int        // per turn, the best first
	Weights        PhaseTable // W of equation 1, by phase
	Voices         VoiceTable // V, which W is multiplied with, by voice
	SalienceWeight dag.PPM    // α: how much salience counts
	DistanceDecay  dag.PPM    // β: what each step leaves of the score
}

// A VoiceTable holds a fraction for each voice, at the voice's number.
type VoiceTable [len(dag.Voices) + 1]dag.PPM

// DefaultV2 returns the parameters of the policy default@2. docs/design/2026-11-23-slice-policy-v2.md
// says what they were measured with.
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
	Fields: []Field[SlicePolicyV2]{
		direction(),
		Fraction("distance_decay", dag.One, func(p *SlicePolicyV2) *dag.PPM { return &p.DistanceDecay }),
		Int("max_cost", 0, LimitCost, func(p *SlicePolicyV2) *int { return &p.MaxCost }),
		Int("max_nodes", 1, LimitNodes, func(p *SlicePolicyV2) *int { return &p.MaxNodes }),
		Int("max_radius", 0, LimitRadius, func(p *SlicePolicyV2) *int { return &p.MaxRadius }),
		Int("max_siblings", 0, LimitSiblings, func(p *SlicePolicyV2) *int { return &p.MaxSiblings }),
		Int("max_touching", 0, LimitTouching, func(p *SlicePolicyV2) *int { return &p.MaxTouching }),
		phases(func(p *SlicePolicyV2) *PhaseTable { return &p.Weights }),
		Fraction("salience_weight", dag.One, func(p *SlicePolicyV2) *dag.PPM { return &p.SalienceWeight }),
		Switch("spine", func(p *SlicePolicyV2) *bool { return &p.Spine }),
		voices(),
	},
	Further: func(p *SlicePolicyV2) error { return cmp.Or(noPhase(p.Weights[0]), noPhase(p.Voices[0])) },
}

func direction() Field[SlicePolicyV2] {
	f := Text("direction", func(p *SlicePolicyV2) *Direction { return &p.Direction }, func(d Direction) error {
		if d != Past && d != Both {
			return fmt.Errorf("%.40q, want past or both", d)
		}
		return nil
	})
	f.shape.Values = []string{string(Past), string(Both)}
	return f
}

// voices is the table of the weights of voices.
func voices() Field[SlicePolicyV2] {
	all := [...]dag.Voice{dag.VoiceAgent, dag.VoiceHarness, dag.VoicePerson, dag.VoiceTool}
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = v.String()
	}
	return Fractions("voice_weights", func(p *SlicePolicyV2, i int) *dag.PPM { return &p.Voices[all[i]] }, names...)
}

// ShapesV2 describes the parameters of a SlicePolicyV2.
func ShapesV2() []Shape { return tableV2.Shapes() }

// Check reports the first parameter that is out of range.
func (p SlicePolicyV2) Check() error { return tableV2.Check(p) }

// Canonical returns the canonical form, which Hash is taken of.
func (p SlicePolicyV2) Canonical() []byte { return tableV2.Canonical(p) }

// Hash is policy_params_hash: SHA-256 of the canonical form.
func (p SlicePolicyV2) Hash() dag.Digest { return tableV2.Hash(p) }

// AppendWire writes the parameters as bundles and people do, as decimals.
func (p SlicePolicyV2) AppendWire(w *canon.Writer) { tableV2.AppendWire(w, p) }

// Walk returns the parameters as they are.
func (p SlicePolicyV2) Walk() SlicePolicyV2 { return p }

// SliceFormV2 is how policies of the second type are read.
var SliceFormV2 = Form{Type: TypeV2, Read: func(c *canon.Cursor, n Notation) Parameters { return tableV2.Read(c, n) }}
