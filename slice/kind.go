package slice

import (
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
)

// A Kind is what one kind of evidence has of its own. Each is a value in the package of its bundles; package slice/kinds lists them, and the rest of the program asks
// the list, so that another kind is a package and a line.
type Kind struct {
	Name string // as ledgers and listings call it, such as facts
	Noun string // as sentences do, such as a slice of facts

	Forms   []KindForm // its versions
	Counts  []string   // the members of attestations that count what a bundle holds, by ascending name
	Redacts bool       // bundles may lack texts: Redacted says which

	// Is reports whether bytes are meant to be a bundle of the kind, whole or not. Bytes of no other kind are meant to be a slice of turns.
	Is func(data []byte) bool
	// Parse reads a bundle. Checks are what its checks are called, in their order.
	Parse  func(data []byte) (Body, error)
	Checks []CheckID
	open   func(data []byte) (Body, []Check, error) // reads and checks at once; nil: one after the other

	// Parts are the forms of disclosures, by version; none: evidence of the kind cannot be divided.
	Parts []*DisclosureForm
}

// A KindForm is a version of a kind.
type KindForm struct {
	Schema    string      // of bundles
	Predicate string      // the type of in-toto statements about them
	Policy    policy.Form // of their parameters
}

// Has reports whether bundles of a schema version are of the kind.
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

// Parses is the Parse of a kind whose bundles have a type.
func Parses[B Body](parse func([]byte) (B, error)) func([]byte) (Body, error) {
	return func(data []byte) (Body, error) {
		b, err := parse(data)
		if err != nil {
			return nil, err
		}
		return b, nil
	}
}

// Bundles are slices of turns.
var Bundles = &Kind{
	Name: "slice", Noun: "a slice of turns",
	Forms: []KindForm{
		{SchemaVersion, "https://github.com/graphkernel/graphkernel/attestation/slice/v1", policy.SliceForm},
		{SchemaVersionV2, "https://github.com/graphkernel/graphkernel/attestation/slice/v2", policy.SliceFormV2},
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
	Parts:  []*DisclosureForm{TurnDisclosures, TurnDisclosuresV2},
}

// Holds returns the turns of the slice.
func (b *Bundle) Holds() (turns []dag.TurnID, facts []dag.Digest) {
	turns = make([]dag.TurnID, len(b.Turns))
	for i := range b.Turns {
		turns[i] = b.Turns[i].ID
	}
	return turns, nil
}
