package policy

import (
	"crypto/sha256"
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

// A Direction says which turns a slice may hold. The zero value is none.
type Direction uint8

// The directions.
const (
	Past Direction = 1 // the anchor, and what was admitted before it
	Both Direction = 2 // what came after it, too
)

var directionNames = [...]string{Past: "past", Both: "both"}

// String returns the direction's name on the wire, or "" if it is not one.
func (d Direction) String() string {
	if int(d) < len(directionNames) {
		return directionNames[d]
	}
	return ""
}

func parseDirection(s string) (Direction, error) {
	for d := Past; d <= Both; d++ {
		if d.String() == s {
			return d, nil
		}
	}
	return 0, fmt.Errorf("%w: direction %.40q, want past or both", dag.ErrForm, s)
}

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
		MaxTouching:    3,
		MaxSiblings:    5,
		Weights:        defaultWeights(),
		Voices:         VoiceTable{dag.VoicePerson: 1_000_000, dag.VoiceAgent: 600_000, dag.VoiceTool: 400_000, dag.VoiceHarness: 200_000},
		SalienceWeight: 300_000,
		DistanceDecay:  900_000,
	}
}

// members lists the parameters of p.
func (p *SlicePolicyV2) members() members {
	return members{
		{key: "direction", direction: &p.Direction},
		fraction("distance_decay", &p.DistanceDecay),
		number("max_cost", &p.MaxCost, 0, LimitCost),
		number("max_nodes", &p.MaxNodes, 1, LimitNodes),
		number("max_radius", &p.MaxRadius, 0, LimitRadius),
		number("max_siblings", &p.MaxSiblings, 0, LimitSiblings),
		number("max_touching", &p.MaxTouching, 0, LimitTouching),
		phases(&p.Weights),
		fraction("salience_weight", &p.SalienceWeight),
		{key: "spine", flag: &p.Spine},
		{key: "type", text: TypeV2},
		voices(&p.Voices),
	}
}

// Check reports the first parameter that is out of range.
func (p SlicePolicyV2) Check() error {
	if p.Weights[0] != 0 || p.Voices[0] != 0 {
		return fmt.Errorf("%w: a weight for no phase or no voice", ErrRange)
	}
	return p.members().check()
}

// Canonical returns the canonical form, which Hash is taken of.
func (p SlicePolicyV2) Canonical() []byte { return p.members().canonical() }

// Hash is policy_params_hash: SHA-256 of the canonical form.
func (p SlicePolicyV2) Hash() dag.Digest { return sha256.Sum256(p.Canonical()) }

// AppendWire writes the parameters as bundles and people do, as decimals.
func (p SlicePolicyV2) AppendWire(w *canon.Writer) { p.members().appendWire(w) }

// Walk returns the parameters as they are.
func (p SlicePolicyV2) Walk() SlicePolicyV2 { return p }

// SliceFormV2 is how policies of the second type are read.
var SliceFormV2 = Form{Type: TypeV2, Read: func(c *canon.Cursor, n Notation) Parameters {
	p := DefaultV2()
	p.members().read(c, n)
	return p
}}
