package store

import (
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
)

// EventLeaf is what the ledger holds of an erasure.
func EventLeaf(tenant dag.Tenant, e *Event) []byte {
	l := ledger.ErasureLeaf{Tenant: tenant, Turn: e.Turn, Seq: e.Seq, At: e.At}
	return l.Append(nil)
}
