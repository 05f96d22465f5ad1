package contexts

import (
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
)

// Bundles is the kind of contexts.
var Bundles = &slice.Kind{
	Name: "context", Noun: "a context",
	Forms: []slice.KindForm{
		{Schema: SchemaVersion, Predicate: "https://github.com/graphkernel/graphkernel/attestation/context/v1", Policy: formsOf(SchemaVersion)},
		{Schema: SchemaVersionV2, Predicate: "https://github.com/graphkernel/graphkernel/attestation/context/v2", Policy: formsOf(SchemaVersionV2)},
	},
	Counts: []string{"beliefs", "candidates", "facts", "turns"},
	Is:     Is, Parse: slice.Parses(Parse), Checks: Checks[:],
	Parts: Disclosures,
}

// Holds returns the chosen turns and facts.
func (ch *Choice) Holds() (turns []dag.TurnID, facts []dag.Digest) {
	for i := range ch.Turns {
		turns = append(turns, ch.Turns[i].ID)
	}
	for i := range ch.Facts {
		facts = append(facts, ch.Facts[i].Fact.ID())
	}
	return turns, facts
}
