package contexts

import (
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
)

// Bundles is the kind of contexts.
var Bundles = &slice.Kind{
	Name: "context", Noun: "a context",
	Forms:  []slice.KindForm{{Schema: SchemaVersion, Predicate: "https://github.com/graphkernel/graphkernel/attestation/context/v1", Policy: PolicyForm}},
	Counts: []string{"beliefs", "candidates", "facts", "turns"},
	Is:     Is, Parse: slice.Parses(Parse), Checks: Checks[:],
	Parts: []*slice.DisclosureForm{Disclosures},
}

// Holds returns the chosen turns and facts.
func (b *Bundle) Holds() (turns []dag.TurnID, facts []dag.Digest) {
	for i := range b.Turns {
		turns = append(turns, b.Turns[i].ID)
	}
	for i := range b.Facts {
		facts = append(facts, b.Facts[i].Fact.ID())
	}
	return turns, facts
}
