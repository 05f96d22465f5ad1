package attest

import (
	"fmt"
	"slices"
	"strings"

	beliefkinds "github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/beliefs"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/facts"
)

// Predicate types. A statement of another one is ErrVersion: by the rules of in-toto a member
// whose absence would change the meaning of the others takes a new predicate type.
const (
	PredicateType      = "https://github.com/graphkernel/graphkernel/attestation/slice/v1" // of a slice of turns
	PredicateTypeV2    = "https://github.com/graphkernel/graphkernel/attestation/slice/v2" // of one under slice_policy_v2
	FactsPredicateType = "https://github.com/graphkernel/graphkernel/attestation/facts/v1" // of a slice of facts

	BeliefPredicateType  = "https://github.com/graphkernel/graphkernel/attestation/belief/v1"  // of evidence of a belief
	ContextPredicateType = "https://github.com/graphkernel/graphkernel/attestation/context/v1" // of a context
)

// A kind is what the statements about one kind of bundle have of their own.
type kind struct {
	predicateType string
	schema        string      // the schema version of the bundles
	policy        policy.Form // of their parameters
	counts        []string    // the members that count what a bundle holds, by ascending name
	redacts       bool        // the bundles may lack texts: redacted says which
}

// kinds are the kinds of bundles that statements are about. The first is that of a statement
// whose predicateType is no string, which is malformed.
var kinds = []kind{
	{PredicateType, slice.SchemaVersion, policy.SliceForm, []string{"edges", "turns"}, true},
	{PredicateTypeV2, slice.SchemaVersionV2, policy.SliceFormV2, []string{"edges", "turns"}, true},
	{FactsPredicateType, facts.SchemaVersion, facts.PolicyForm, []string{"aliases", "evidence", "facts", "reached"}, false},
	{ContextPredicateType, contexts.SchemaVersion, contexts.PolicyForm, []string{"beliefs", "candidates", "facts", "turns"}, false},
	{BeliefPredicateType, beliefs.SchemaVersion, beliefkinds.Form, []string{"evidence", "revisions", "steps"}, false},
}

// ParseBundle reads a bundle of any of the kinds.
func ParseBundle(data []byte) (slice.Body, error) {
	switch {
	case facts.Is(data):
		return facts.Parse(data)
	case contexts.Is(data):
		return contexts.Parse(data)
	case beliefs.Is(data):
		return beliefs.Parse(data)
	}
	return slice.ParseBundle(data)
}

// kindOf returns the kind of bundles of a schema version, or nil.
func kindOf(schema string) *kind {
	at := slices.IndexFunc(kinds, func(k kind) bool { return k.schema == schema })
	if at < 0 {
		return nil
	}
	return &kinds[at]
}

// checkVersion looks at the versions before anything else, since a later one may have other
// members, and returns the kind of the statement.
func checkVersion(doc *canon.Value) (*kind, error) {
	if said := stringAt(doc, "_type"); said != nil && *said != StatementType {
		return nil, unknown("_type", *said, StatementType)
	}
	k := &kinds[0]
	if said := stringAt(doc, "predicateType"); said != nil {
		at := slices.IndexFunc(kinds, func(k kind) bool { return k.predicateType == *said })
		if at < 0 {
			return nil, unknown("predicateType", *said, PredicateType, PredicateTypeV2, FactsPredicateType, ContextPredicateType, BeliefPredicateType)
		}
		k = &kinds[at]
	}
	predicate := doc.Get("predicate")
	if said := stringAt(predicate, "schemaVersion"); said != nil && *said != k.schema {
		return nil, unknown("predicate.schemaVersion", *said, k.schema)
	}
	if predicate == nil {
		return k, nil
	}
	if said := stringAt(predicate.Get("policy"), "type"); said != nil && *said != k.policy.Type {
		return nil, unknown("predicate.policy.type", *said, k.policy.Type)
	}
	return k, nil
}

// stringAt returns a member that is a string. If there is none, the reader will say that it is missing.
func stringAt(in *canon.Value, key string) *string {
	if in == nil {
		return nil
	}
	if v := in.Get(key); v != nil && v.Kind == canon.String {
		return &v.Text
	}
	return nil
}

func unknown(member, found string, known ...string) error {
	return fmt.Errorf("%w: %s is %.100q, this program knows %s", ErrVersion, member, found, strings.Join(known, " and "))
}

// readPolicy reads parameters from a statement in canonical spelling. Each of them must be there, since a
// default would put words into the signer's mouth.
func (k *kind) readPolicy(c *canon.Cursor, statement []byte) policy.Parameters {
	p := k.policy.Read(c, policy.Wire)
	if v := c.Value(); c.Err() == nil && wirePolicy(p) != string(statement[v.Offset:v.End]) {
		c.Failf("not every parameter, or not in its place")
	}
	return p
}

func wirePolicy(p policy.Parameters) string {
	w := canon.NewWriter(nil)
	p.AppendWire(w)
	return string(w.Bytes)
}
