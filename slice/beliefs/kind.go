package beliefs

import (
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// Bundles is the kind of evidence of a belief.
var Bundles = &slice.Kind{
	Name: "belief", Noun: "evidence of a belief",
	Forms:  []slice.KindForm{{Schema: SchemaVersion, Predicate: "https://github.com/graphkernel/graphkernel/attestation/belief/v1", Policy: policy.Forms{kinds.Form}}},
	Counts: []string{"evidence", "revisions", "steps"},
	Is:     Is, Parse: slice.Parses(Parse), Checks: Checks[:],
}

// Holds returns the turns on which the belief rests.
func (b *Bundle) Holds() (turns []dag.TurnID, facts []dag.Digest) { return b.Turns(), nil }
