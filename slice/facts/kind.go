package facts

import (
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// Bundles is the kind of slices of facts.
var Bundles = &slice.Kind{
	Name: "facts", Noun: "a slice of facts",
	Forms:  []slice.KindForm{{Schema: SchemaVersion, Predicate: "https://github.com/graphkernel/graphkernel/attestation/facts/v1", Policy: policy.Forms{PolicyForm}}},
	Counts: []string{"aliases", "evidence", "facts", "reached"},
	Is:     Is, Parse: slice.Parses(Parse), Checks: Checks[:],
	Parts: []*slice.DisclosureForm{Disclosures},
}

// Holds returns the turns that are evidence of the facts, and the facts.
func (b *Bundle) Holds() (turns []dag.TurnID, facts []dag.Digest) {
	for i := range b.Evidence {
		turns = append(turns, b.Evidence[i].ID)
	}
	for i := range b.Facts {
		facts = append(facts, b.Facts[i].Fact.ID())
	}
	return turns, facts
}
