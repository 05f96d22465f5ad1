package slice

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
)

// The schema versions. The type of its policy decides the version of a bundle of turns. FactsVersion, ContextVersion
// and BeliefVersion are the versions of the bundles of packages facts, contexts and beliefs; their provenance has the
// same six fields.
const (
	SchemaVersion    = "gkp/1" // under slice_policy_v1
	SchemaVersionV2  = "gkp/2" // under slice_policy_v2: the reasons include the turns' marks
	SchemaVersionV3  = "gkp/3" // under slice_policy_v3: the reasons also include what the turns count for
	FactsVersion     = "gkf/2"
	ContextVersion   = "gkc/1"
	ContextVersionV2 = "gkc/2" // the candidates include standings, and the budget bounds the prompt
	BeliefVersion    = "gkb/1"
)

// A Schema is a version of the bundles of turns, with the form of its policies. Each version has what the versions before it have.
type Schema struct {
	Version string
	Policy  policy.Form
	Marked  bool // the reasons include the turns' marks
	Counted bool // the reasons include the turns' standings
}

// Schemas lists the versions of bundles of turns.
var Schemas = [...]Schema{
	{SchemaVersion, policy.SliceForm, false, false}, {SchemaVersionV2, policy.SliceFormV2, true, false}, {SchemaVersionV3, policy.SliceFormV3, true, true},
}

// schemaNamed returns the schema with a version, or the first schema if none has it.
func schemaNamed(version string) *Schema {
	for i := range Schemas {
		if Schemas[i].Version == version {
			return &Schemas[i]
		}
	}
	return &Schemas[0]
}

// IsContext reports whether a version is a version of contexts.
func IsContext(version string) bool { return version == ContextVersion || version == ContextVersionV2 }

// IsSchema reports whether a version is a version of bundles of turns.
func IsSchema(version string) bool {
	for _, s := range Schemas {
		if s.Version == version {
			return true
		}
	}
	return false
}

// schemaOf returns the schema of slices under a policy.
func schemaOf(p policy.SlicePolicy) *Schema {
	for i := range Schemas {
		if Schemas[i].Policy.Type == p.Type() {
			return &Schemas[i]
		}
	}
	panic("slice: a policy of type " + p.Type() + " has no schema")
}

// A SliceID names a slice: xxHash64 of its anchor, turns, edges and policy, as 16 hex digits. It is a name and an index
// key, but not a cryptographic commitment.
type SliceID string

// String returns the id unchanged.
func (id SliceID) String() string { return string(id) }

// ParseSliceID checks the form of a slice's id.
func ParseSliceID(s string) (SliceID, error) {
	var b [8]byte
	if err := dag.ParseHex(b[:], s); err != nil {
		return "", fmt.Errorf("slice id: %w", err)
	}
	return SliceID(s), nil
}

// A Provenance has the six fields that identify a slice and that its token covers.
type Provenance struct {
	SliceID           SliceID
	Anchor            dag.TurnID
	PolicyID          policy.ID
	PolicyParamsHash  dag.Digest
	GraphSnapshotHash dag.Digest
	SchemaVersion     string
}

// TokenType is the last field of the text over which a token is computed.
const TokenType = "admissibility_token_v2_hmac"

// Canonical returns the text over which a token is computed: the six fields and the token's type, joined by "|". No
// field can contain that character; Check guarantees it.
func (p *Provenance) Canonical() (string, error) {
	if err := p.Check(); err != nil {
		return "", err
	}
	return strings.Join([]string{
		string(p.SliceID), p.Anchor.String(), string(p.PolicyID), p.PolicyParamsHash.String(),
		p.GraphSnapshotHash.String(), p.SchemaVersion, TokenType,
	}, "|"), nil
}

// Check returns an error for the first of the six fields that is absent or malformed. It accepts an unknown schema
// version if its form is right: see kinds.Known.
func (p *Provenance) Check() error {
	if _, err := ParseSliceID(string(p.SliceID)); err != nil {
		return err
	}
	if p.Anchor == (dag.TurnID{}) {
		return fmt.Errorf("%w: no anchor", dag.ErrForm)
	}
	if _, err := policy.ParseID(string(p.PolicyID)); err != nil {
		return err
	}
	if p.PolicyParamsHash == (dag.Digest{}) || p.GraphSnapshotHash == (dag.Digest{}) {
		return fmt.Errorf("%w: no policy_params_hash or no graph_snapshot_hash", dag.ErrForm)
	}
	_, err := parseVersion(p.SchemaVersion)
	return err
}

// NameOf returns the id of a bundle that answers a question: xxHash64 of an object with the anchor, the policy, the
// schema version and the ids of the bundle's contents, each kind of content under its own key.
func NameOf(p *Provenance, holds map[string][]string) SliceID {
	texts := map[string]string{
		"anchor": p.Anchor.String(), "policy_id": string(p.PolicyID), "policy_params_hash": p.PolicyParamsHash.String(), "schema_version": p.SchemaVersion,
	}
	w := canon.NewWriter(nil)
	w.BeginObject()
	keys := slices.AppendSeq(slices.Collect(maps.Keys(texts)), maps.Keys(holds))
	slices.Sort(keys)
	for _, key := range keys {
		w.Key(key)
		if text, ok := texts[key]; ok {
			w.String(text)
			continue
		}
		w.BeginArray()
		for _, id := range holds[key] {
			w.String(id)
		}
		w.EndArray()
	}
	w.EndObject()
	return SliceID(fmt.Sprintf("%016x", xxhash.Sum64(w.Bytes)))
}
