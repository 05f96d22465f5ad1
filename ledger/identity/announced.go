package identity

import (
	"errors"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
)

// Announced are the entries that say of keys which sign, of tokens and of attestations, that they
// came or went.
func Announced() *history.Bare {
	return &history.Bare{Kind: "signing-key/1", Index: 133, Check: func(leaf []byte) (dag.Tenant, error) {
		l, err := ledger.ParseLeaf(leaf)
		if err != nil {
			return "", err
		}
		key, ok := l.(*ledger.KeyLeaf)
		if !ok || key.Purpose != ledger.PurposeToken && key.Purpose != ledger.PurposeAttestation {
			return "", errors.New("the leaf is not of a key that signs")
		}
		return key.Tenant, nil
	}}
}
