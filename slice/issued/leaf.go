package issued

import (
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/kinds"
)

// leafSlice is the kind of the leaves of slices of turns.
const leafSlice ledger.Kind = "slice"

// asked maps the schema versions of bundles that answer a question, all except slices of turns, to the kinds of their
// leaves.
var asked = func() map[string]ledger.Kind {
	all := map[string]ledger.Kind{}
	for _, k := range kinds.All {
		for i := range k.Forms {
			if k != slice.Bundles {
				all[k.Forms[i].Schema] = ledger.Kind(k.Name)
			}
		}
	}
	return all
}()

// oldest maps the kinds of leaves to the first schema versions of their bundles.
var oldest = func() map[ledger.Kind]string {
	first := map[ledger.Kind]string{}
	for _, k := range kinds.All {
		first[ledger.Kind(k.Name)] = k.Forms[0].Schema
	}
	return first
}()

// Forms returns the forms of the leaves: *SliceLeaf, and *AskedLeaf for each of the other kinds.
func Forms() []ledger.Form {
	var versions []string
	for i := range slice.Schemas {
		versions = append(versions, slice.Schemas[i].Version)
	}
	forms := []ledger.Form{{Kind: leafSlice, Read: readSlice, Version: func(doc *canon.Value) error {
		return ledger.CheckVersion(doc.Get("provenance"), "schema_version", versions...)
	}}}
	for _, kind := range slices.Compact(slices.Sorted(maps.Values(asked))) {
		forms = append(forms, ledger.Form{Kind: kind, Read: func(c *canon.Cursor) ledger.Leaf { return readAsked(c, kind) }})
	}
	return forms
}

// A SliceLeaf records that a bundle of turns was handed out.
type SliceLeaf struct {
	Tenant     dag.Tenant
	Provenance slice.Provenance
	AsOf       dag.Seq
	KeyID      string     // the key of the token; the token itself is not public
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
	ledger.EndLeaf(w, l.Tenant, leafSlice)
	return w.Bytes
}

// An AskedLeaf records that a bundle that answers a question was handed out: facts, a context or evidence of a belief.
// Apart from the bundle's digest it contains nothing derived from the question: entities may be people, a ledger
// forgets nothing, and with a hash of the question anyone could try out names. The digest also covers the token, which
// nobody can guess.
type AskedLeaf struct {
	Kind             ledger.Kind
	Tenant           dag.Tenant
	PolicyID         policy.ID
	PolicyParamsHash dag.Digest
	AsOf             dag.Seq
	KeyID            string     // the key of the token
	Bundle           dag.Digest // SHA-256 of the bundle's bytes
	At               dag.Time   // when it was first issued
}

// Append appends the leaf's canonical form.
func (l *AskedLeaf) Append(dst []byte) []byte {
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
	ledger.EndLeaf(w, l.Tenant, l.Kind)
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

func readAsked(c *canon.Cursor, kind ledger.Kind) *AskedLeaf {
	return &AskedLeaf{
		Kind: kind, Tenant: readTenant(c), AsOf: dag.Seq(c.Field("as_of").Uint(uint64(dag.MaxSeq))), KeyID: readKeyID(c),
		Bundle: canon.Parsed(c.Field("bundle"), dag.ParseDigest), At: canon.Parsed(c.Field("at"), dag.ParseTime),
		PolicyID: canon.Parsed(c.Field("policy_id"), policy.ParseID), PolicyParamsHash: canon.Parsed(c.Field("policy_params_hash"), dag.ParseDigest),
	}
}

// readKeyID reads the id of the key of a token.
func readKeyID(c *canon.Cursor) string {
	f := c.Field("key_id")
	if id := f.String(); dag.IsLabel(id) {
		return id
	}
	f.Failf("want [a-z0-9][a-z0-9-]{0,62}")
	return ""
}
