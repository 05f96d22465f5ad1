package issued

import (
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// The kinds of the leaves.
const (
	LeafSlice   ledger.Kind = "slice"
	LeafFacts   ledger.Kind = "facts"
	LeafContext ledger.Kind = "context"
	LeafBelief  ledger.Kind = "belief"
)

// Forms are the forms of the leaves: *SliceLeaf, *FactsLeaf, *ContextLeaf and *BeliefLeaf.
func Forms() []ledger.Form {
	return []ledger.Form{
		{Kind: LeafSlice, Read: readSlice, Version: func(doc *canon.Value) error {
			return ledger.CheckVersion(doc.Get("provenance"), "schema_version", slice.SchemaVersion, slice.SchemaVersionV2)
		}},
		{Kind: LeafFacts, Read: func(c *canon.Cursor) ledger.Leaf { return readFacts(c) }},
		{Kind: LeafContext, Read: func(c *canon.Cursor) ledger.Leaf { return &ContextLeaf{*readFacts(c)} }},
		{Kind: LeafBelief, Read: func(c *canon.Cursor) ledger.Leaf { return &BeliefLeaf{*readFacts(c)} }},
	}
}

// A SliceLeaf says that a bundle was handed out.
type SliceLeaf struct {
	Tenant     dag.Tenant
	Provenance slice.Provenance
	AsOf       dag.Seq
	KeyID      string     // of the token; the token itself is not public
	Bundle     dag.Digest // SHA-256 of the bundle's bytes
	At         dag.Time   // when it was first issued
}

// Append appends the leaf's canonical form.
func (l *SliceLeaf) Append(dst []byte) []byte {
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("as_of")
	w.Uint(uint64(l.AsOf))
	w.Key("at")
	w.String(l.At.String())
	w.Key("bundle")
	w.String(l.Bundle.String())
	w.Key("key_id")
	w.String(l.KeyID)
	w.Key("provenance")
	l.Provenance.AppendWire(w)
	ledger.EndLeaf(w, l.Tenant, LeafSlice)
	return w.Bytes
}

// A FactsLeaf says that a bundle of facts was handed out. Beside the bundle's digest it has
// nothing that follows from what was asked: entities may be people, a ledger forgets nothing,
// and a hash of the question would let anyone try out names against it. The digest is of the
// token too, which nobody guesses.
type FactsLeaf struct {
	Tenant           dag.Tenant
	PolicyID         policy.ID
	PolicyParamsHash dag.Digest
	AsOf             dag.Seq
	KeyID            string     // of the token
	Bundle           dag.Digest // SHA-256 of the bundle's bytes
	At               dag.Time   // when it was first issued
}

// A ContextLeaf says that a context was handed out. It has what a FactsLeaf has, and for the same reason nothing of the
// task and of the turns that were shown.
type ContextLeaf struct{ FactsLeaf }

// A BeliefLeaf says that evidence of a belief was handed out. It has what a FactsLeaf has, and for the same reason nothing of what is believed.
type BeliefLeaf struct{ FactsLeaf }

// Append appends the leaf's canonical form.
func (l *BeliefLeaf) Append(dst []byte) []byte { return l.append(dst, LeafBelief) }

// Append appends the leaf's canonical form.
func (l *FactsLeaf) Append(dst []byte) []byte { return l.append(dst, LeafFacts) }

// Append appends the leaf's canonical form.
func (l *ContextLeaf) Append(dst []byte) []byte { return l.append(dst, LeafContext) }

func (l *FactsLeaf) append(dst []byte, kind ledger.Kind) []byte {
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("as_of")
	w.Uint(uint64(l.AsOf))
	w.Key("at")
	w.String(l.At.String())
	w.Key("bundle")
	w.String(l.Bundle.String())
	w.Key("key_id")
	w.String(l.KeyID)
	w.Key("policy_id")
	w.String(string(l.PolicyID))
	w.Key("policy_params_hash")
	w.String(l.PolicyParamsHash.String())
	ledger.EndLeaf(w, l.Tenant, kind)
	return w.Bytes
}

func readTenant(c *canon.Cursor) dag.Tenant { return canon.Parsed(c.Field("tenant"), dag.ParseTenant) }

func readSlice(c *canon.Cursor) ledger.Leaf {
	return &SliceLeaf{
		Tenant: readTenant(c), AsOf: dag.Seq(c.Field("as_of").Uint(uint64(dag.MaxSeq))), KeyID: readKeyID(c),
		Bundle: canon.Parsed(c.Field("bundle"), dag.ParseDigest), At: canon.Parsed(c.Field("at"), dag.ParseTime),
		Provenance: slice.ReadProvenance(c.Field("provenance")),
	}
}

func readFacts(c *canon.Cursor) *FactsLeaf {
	return &FactsLeaf{
		Tenant: readTenant(c), AsOf: dag.Seq(c.Field("as_of").Uint(uint64(dag.MaxSeq))), KeyID: readKeyID(c),
		Bundle: canon.Parsed(c.Field("bundle"), dag.ParseDigest), At: canon.Parsed(c.Field("at"), dag.ParseTime),
		PolicyID: canon.Parsed(c.Field("policy_id"), policy.ParseID), PolicyParamsHash: canon.Parsed(c.Field("policy_params_hash"), dag.ParseDigest),
	}
}

// readKeyID reads the id of a token's key.
func readKeyID(c *canon.Cursor) string {
	f := c.Field("key_id")
	if id := f.String(); dag.IsLabel(id) {
		return id
	}
	f.Failf("want [a-z0-9][a-z0-9-]{0,62}")
	return ""
}
