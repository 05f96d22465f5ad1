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

// The schema versions. The type of its policy decides that of a bundle of turns. FactsVersion is that of
// the bundles of package facts, ContextVersion that of package contexts, and BeliefVersion that of package beliefs; their
// provenance has the same six fields.
const (
	SchemaVersion   = "gkp/1" // under slice_policy_v1
	SchemaVersionV2 = "gkp/2" // under slice_policy_v2: the reasons hold the turns' marks, too
	FactsVersion    = "gkf/2"
	ContextVersion  = "gkc/1"
	BeliefVersion   = "gkb/1"
)

// A Schema is a version of the bundles of turns, with the form of its policies.
type Schema struct {
	Version string
	Policy  policy.Form
}

// Schemas are all of them.
var Schemas = [...]Schema{{SchemaVersion, policy.SliceForm}, {SchemaVersionV2, policy.SliceFormV2}}

// IsSchema reports whether a version is one of bundles of turns.
func IsSchema(version string) bool {
	for _, s := range Schemas {
		if s.Version == version {
			return true
		}
	}
	return false
}

// schemaOf returns the schema version of the slices that are cut under a policy.
func schemaOf(p policy.SlicePolicy) string {
	for _, s := range Schemas {
		if s.Policy.Type == p.Type() {
			return s.Version
		}
	}
	panic("slice: a policy of type " + p.Type() + " has no schema")
}

// A SliceID names a slice: xxHash64 of its anchor, turns, edges and policy, as
// 16 hex digits. It names and indexes; it binds nothing.
type SliceID string

// String returns the id as it is.
func (id SliceID) String() string { return string(id) }

// ParseSliceID checks the form of a slice's id.
func ParseSliceID(s string) (SliceID, error) {
	var b [8]byte
	if err := dag.ParseHex(b[:], s); err != nil {
		return "", fmt.Errorf("slice id: %w", err)
	}
	return SliceID(s), nil
}

// Provenance is the six fields that identify a slice and that its token covers.
type Provenance struct {
	SliceID           SliceID
	Anchor            dag.TurnID
	PolicyID          policy.ID
	PolicyParamsHash  dag.Digest
	GraphSnapshotHash dag.Digest
	SchemaVersion     string
}

// TokenType is the last field of the text that a token is taken of.
const TokenType = "admissibility_token_v2_hmac"

// Canonical returns the text that a token is taken of: the six fields and the
// token's type, joined by "|". No field can contain that character, which
// Check makes sure of.
func (p *Provenance) Canonical() (string, error) {
	if err := p.Check(); err != nil {
		return "", err
	}
	return strings.Join([]string{
		string(p.SliceID), p.Anchor.String(), string(p.PolicyID), p.PolicyParamsHash.String(),
		p.GraphSnapshotHash.String(), p.SchemaVersion, TokenType,
	}, "|"), nil
}

// Check reports the first of the six fields that is absent or does not have its
// form. A schema version that nobody knows has the form of one, too: see kinds.Known.
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

// NameOf returns the id of a bundle that answers a question: xxHash64 of the object that has the anchor, the
// policy, the schema version and the ids of what the bundle holds, each sort under a key of its own.
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
