package slice

import (
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
)

// A Kind contains the properties of one kind of evidence. Each package of bundles has one as a value; package
// slice/kinds lists them, and the rest of the program uses the list, so that another kind needs a package and one line.
type Kind struct {
	Name string // in ledgers and listings, such as facts
	Noun string // in sentences, such as a slice of facts

	Forms   []KindForm // its versions
	Counts  []string   // the members of attestations that count the contents of a bundle, by ascending name
	Redacts bool       // bundles may lack texts; Redacted lists the turns without text

	// Is reports whether bytes claim to be a bundle of the kind, even a damaged one. Bytes that no other kind claims count
	// as a slice of turns.
	Is func(data []byte) bool
	// Parse reads a bundle. Checks lists the ids of its checks, in their order.
	Parse  func(data []byte) (Body, error)
	Checks []CheckID
	open   func(data []byte) (Body, []Check, error) // reads and checks in parallel; nil: first reads, then checks

	// Parts lists the forms of disclosures, by version; none: evidence of the kind cannot be disclosed in part.
	Parts []*DisclosureForm
}

// A KindForm is a version of a kind.
type KindForm struct {
	Schema    string       // the schema version of bundles
	Predicate string       // the type of in-toto statements about bundles
	Policy    policy.Forms // the forms of their policies
}

// Has reports whether the kind has a schema version.
func (k *Kind) Has(schema string) bool {
	for i := range k.Forms {
		if k.Forms[i].Schema == schema {
			return true
		}
	}
	return false
}

// Open reads a bundle and makes every check that needs no key.
func (k *Kind) Open(data []byte) (Body, []Check, error) {
	if k.open != nil {
		return k.open(data)
	}
	b, err := k.Parse(data)
	if err != nil {
		return nil, nil, err
	}
	return b, b.Check(), nil
}

// Parses returns the Parse of a kind from a function that returns the concrete type of bundle.
func Parses[B Body](parse func([]byte) (B, error)) func([]byte) (Body, error) {
	return func(data []byte) (Body, error) {
		b, err := parse(data)
		if err != nil {
			return nil, err
		}
		return b, nil
	}
}

// Bundles is the kind of slices of turns.
var Bundles = &Kind{
	Name: "slice", Noun: "a slice of turns",
	Forms: []KindForm{
		{SchemaVersion, "https://github.com/graphkernel/graphkernel/attestation/slice/v1", policy.Forms{policy.SliceForm}},
		{SchemaVersionV2, "https://github.com/graphkernel/graphkernel/attestation/slice/v2", policy.Forms{policy.SliceFormV2}},
		{SchemaVersionV3, "https://github.com/graphkernel/graphkernel/attestation/slice/v3", policy.Forms{policy.SliceFormV3}},
	},
	Counts: []string{"edges", "turns"}, Redacts: true,
	Is:    func([]byte) bool { return true },
	Parse: Parses(ParseBundle),
	open: func(data []byte) (Body, []Check, error) {
		b, checks, err := OpenBundle(data)
		if err != nil {
			return nil, nil, err
		}
		return b, checks, nil
	},
	Checks: []CheckID{CheckBodies, CheckCanonicalOrder, CheckEdges, CheckAdmissions, CheckOrder, CheckPolicyHash, CheckSnapshot, CheckSliceID},
	Parts:  TurnDisclosures,
}

// Holds returns the turns of the slice.
func (b *Bundle) Holds() (turns []dag.TurnID, facts []dag.Digest) {
	turns = make([]dag.TurnID, len(b.Turns))
	for i := range b.Turns {
		turns[i] = b.Turns[i].ID
	}
	return turns, nil
}
