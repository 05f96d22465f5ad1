package policy

import (
	"cmp"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// TypeV3 is the type name of a SlicePolicyV3 in canonical forms and bundles.
const TypeV3 = "slice_policy_v3"

// Type returns TypeV3.
func (SlicePolicyV3) Type() string { return TypeV3 }

// A SlicePolicyV3 weighs turns by standing, where a SlicePolicyV2 weighs them by voice. Under it a guest's turn leads only to its parents in the same conversation. Its zero value is not valid; start from DefaultV3.
type SlicePolicyV3 struct {
	Base      SlicePolicyV2 // without Voices
	Standings StandingTable // V, a factor of W, by standing
}

// A StandingTable contains a fraction for each standing; the index is the standing's number.
type StandingTable [len(dag.Standings) + 1]dag.PPM

// DefaultV3 returns the parameters of the policy default@3: those of default@2, in which every order weighs as much as a person's voice did, and all that only
// informs as much as a tool's.
func DefaultV3() SlicePolicyV3 {
	p := SlicePolicyV3{Base: DefaultV2()}
	p.Base.Voices = VoiceTable{}
	p.Standings = StandingTable{
		dag.StandingSystem: 1_000_000, dag.StandingOwner: 1_000_000, dag.StandingMember: 1_000_000, dag.StandingAgent: 700_000,
		dag.StandingGuest: 300_000, dag.StandingOutside: 300_000,
	}
	return p
}

var tableV3 = Table[SlicePolicyV3]{
	Type: TypeV3, Default: DefaultV3(),
	Fields: append(walkFields(func(p *SlicePolicyV3) *SlicePolicyV2 { return &p.Base }), standings()),
	Further: func(p *SlicePolicyV3) error {
		return cmp.Or(noPhase(p.Base.Weights[0]), noPhase(p.Standings[0]), noVoices(&p.Base.Voices))
	},
}

// standings returns the field of the standings' weights.
func standings() Field[SlicePolicyV3] {
	all := [...]dag.Standing{
		dag.StandingAgent, dag.StandingGuest, dag.StandingMember, dag.StandingOutside, dag.StandingOwner, dag.StandingSystem,
	}
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.String()
	}
	return Fractions("standing_weights", func(p *SlicePolicyV3, i int) *dag.PPM { return &p.Standings[all[i]] }, names...)
}

// noVoices returns an error if a voice has a weight.
func noVoices(t *VoiceTable) error {
	for _, weight := range t {
		if weight != 0 {
			return noPhase(weight)
		}
	}
	return nil
}

// ShapesV3 returns the shapes of the parameters of a SlicePolicyV3.
func ShapesV3() []Shape { return tableV3.Shapes() }

// Check returns an error for the first parameter that is out of range.
func (p SlicePolicyV3) Check() error { return tableV3.Check(p) }

// Canonical returns the canonical form, over which Hash is computed.
func (p SlicePolicyV3) Canonical() []byte { return tableV3.Canonical(p) }

// Hash returns policy_params_hash: the SHA-256 of the canonical form.
func (p SlicePolicyV3) Hash() dag.Digest { return tableV3.Hash(p) }

// AppendWire writes the parameters with decimals, as in bundles and in what people write.
func (p SlicePolicyV3) AppendWire(w *canon.Writer) { tableV3.AppendWire(w, p) }

// Walk returns the parameters.
func (p SlicePolicyV3) Walk() Walk { return Walk{p.Base, &p.Standings} }

// SliceFormV3 is the form of SlicePolicyV3.
var SliceFormV3 = Form{Type: TypeV3, Read: func(c *canon.Cursor, n Notation) Parameters { return tableV3.Read(c, n) }}
