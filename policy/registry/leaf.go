package registry

import (
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/policy"
)

// LeafKind is the kind of the leaves.
const LeafKind ledger.Kind = "policy"

// A Leaf says that a policy was registered.
type Leaf struct {
	Tenant dag.Tenant
	ID     policy.ID
	Hash   dag.Digest
}

// Append appends the leaf's canonical form.
func (l *Leaf) Append(dst []byte) []byte {
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("policy_id")
	w.String(string(l.ID))
	w.Key("policy_params_hash")
	w.String(l.Hash.String())
	ledger.EndLeaf(w, l.Tenant, LeafKind)
	return w.Bytes
}

// Form returns the form of the leaves, which reads a *Leaf.
func Form() ledger.Form {
	return ledger.Form{Kind: LeafKind, Read: func(c *canon.Cursor) ledger.Leaf {
		return &Leaf{
			Tenant: canon.Parsed(c.Field("tenant"), dag.ParseTenant), ID: canon.Parsed(c.Field("policy_id"), policy.ParseID),
			Hash: canon.Parsed(c.Field("policy_params_hash"), dag.ParseDigest),
		}
	}}
}
