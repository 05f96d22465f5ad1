package kernel

import (
	"context"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/token"
)

// keptAnnounced is the maximum number of tenants in cache.announced and in cache.markKeys.
const keptAnnounced = 10_000

// signers identifies the keys in use: it counts how often the keyring and the identity were
// replaced.
type signers struct{ ring, identity uint64 }

// announce ensures that the ledger of a tenant contains every key that signs for the tenant, and
// every retired key, before anything that one of them signed is recorded. It asks
// the store once for each tenant and change of keys. It returns the identity whose keys the ledger
// contains; a caller that signs with another identity must call announce again. Keys that exist for one run only
// (Config.Fleeting) are not announced.
func (c *cache) announce(ctx context.Context, tenant dag.Tenant) (identity.Identity, error) {
	id, version := c.k.identity.get()
	if c.k.config.Fleeting {
		return id, nil
	}
	if err := c.k.continues(ctx, tenant); err != nil {
		return id, err
	}
	now := signers{ring: c.k.authority.Replaced(), identity: version}
	if known, ok := c.announced.Get(tenant); ok && known == now {
		return id, nil
	}
	leaves := keyLeaves(tenant, c.k.authority.Keyring(), id)
	if len(leaves) > 0 {
		if _, err := identity.Announced().Put(ctx, c.store, tenant, leaves); err != nil {
			return id, err
		}
	}
	c.announced.Put(tenant, now, 1)
	return id, nil
}

func keyLeaves(tenant dag.Tenant, ring token.Keyring, id identity.Identity) (leaves [][]byte) {
	add := func(l ledger.KeyLeaf, created dag.Time, retired *dag.Time) {
		l.Tenant, l.Event, l.At = tenant, ledger.KeyCreated, created
		leaves = append(leaves, l.Append(nil))
		if retired != nil {
			l.Event, l.At = ledger.KeyRetired, *retired
			leaves = append(leaves, l.Append(nil))
		}
	}
	for _, k := range ring.Keys() {
		var retired *dag.Time
		if k.State == token.Retired {
			retired = &k.RetiredAt
		}
		add(ledger.KeyLeaf{Purpose: ledger.PurposeToken, KeyID: string(k.ID)}, k.CreatedAt, retired)
	}
	for _, k := range id.Attestations(tenant) {
		add(ledger.KeyLeaf{Purpose: ledger.PurposeAttestation, KeyID: k.Key.HexID(), PublicKey: k.Key.Public[:]}, k.CreatedAt, k.RetiredAt)
	}
	return leaves
}
