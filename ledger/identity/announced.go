package identity

import (
	"errors"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
)

// Announced returns the kind of the entries that record the creation and retirement of signing keys, for tokens and for
// attestations.
func Announced() *history.Bare {
	return &history.Bare{Kind: "signing-key/1", Index: 133, Check: func(leaf []byte) (dag.Tenant, error) {
		l, err := ledger.ParseLeaf(leaf)
		if err != nil {
			return "", err
		}
		key, ok := l.(*ledger.KeyLeaf)
		if !ok || key.Purpose != ledger.PurposeToken && key.Purpose != ledger.PurposeAttestation {
			return "", errors.New("the leaf is not the leaf of a signing key")
		}
		return key.Tenant, nil
	}}
}
