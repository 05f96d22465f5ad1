package store

import (
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/slice"
)

// IssuedLeaf is what the ledger holds of an issued slice.
func IssuedLeaf(tenant dag.Tenant, i *Issued) []byte {
	if p := &i.Provenance; p.SchemaVersion == slice.FactsVersion {
		l := ledger.FactsLeaf{Tenant: tenant, PolicyID: p.PolicyID, PolicyParamsHash: p.PolicyParamsHash, AsOf: i.AsOf, KeyID: i.KeyID, Bundle: i.Bundle, At: i.At}
		return l.Append(nil)
	}
	l := ledger.SliceLeaf{Tenant: tenant, Provenance: i.Provenance, AsOf: i.AsOf, KeyID: i.KeyID, Bundle: i.Bundle, At: i.At}
	return l.Append(nil)
}

// EventLeaf is what the ledger holds of an erasure.
func EventLeaf(tenant dag.Tenant, e *Event) []byte {
	l := ledger.ErasureLeaf{Tenant: tenant, Turn: e.Turn, Seq: e.Seq, At: e.At}
	return l.Append(nil)
}
