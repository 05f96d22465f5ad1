package notary

import (
	"context"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/bytelru"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/token"
)

// keptAnnounced is the maximum number of tenants in an Announced, and of kept checkpoints.
const keptAnnounced = 10_000

// signers identifies the keys in use: it counts how often the keyring and the identity were
// replaced.
type signers struct{ ring, identity uint64 }

// An Announced has the tenants whose ledgers contain the keys in use, during one epoch of a store.
type Announced struct {
	store     projection.Store
	signatory *Signatory
	roots     *Roots
	tenants   *bytelru.Cache[dag.Tenant, signers]
}

// NewAnnounced returns an empty Announced.
func (n *Notary) NewAnnounced(s projection.Store) *Announced {
	return &Announced{s, n.Signatory, n.Roots, bytelru.New[dag.Tenant, signers](keptAnnounced)}
}

// Announce ensures that the ledger of a tenant contains every key that signs for the tenant, and
// every retired key, before anything that one of them signed is recorded. It asks
// the store once for each tenant and change of keys. It returns the identity whose keys the ledger
// contains; a caller that signs with another identity must call Announce again. Keys that exist for one run only
// (Config.Fleeting) are not announced.
func (a *Announced) Announce(ctx context.Context, tenant dag.Tenant) (identity.Identity, error) {
	id, version := a.signatory.current()
	if a.signatory.fleeting {
		return id, nil
	}
	if err := a.roots.continues(ctx, tenant); err != nil {
		return id, err
	}
	authority := a.signatory.authority
	now := signers{ring: authority.Replaced(), identity: version}
	if known, ok := a.tenants.Get(tenant); ok && known == now {
		return id, nil
	}
	leaves := keyLeaves(tenant, authority.Keyring(), id)
	if len(leaves) > 0 {
		if _, err := identity.Announced().Put(ctx, a.store, tenant, leaves); err != nil {
			return id, err
		}
	}
	a.tenants.Put(tenant, now, 1)
	return id, nil
}

// announce calls Announce for a signature outside of a slice. Without an identity it returns identity.ErrNone.
func (s *Signatory) announce(ctx context.Context, tenant dag.Tenant) (id identity.Identity, err error) {
	if s.Identity().Name() == "" {
		return id, identity.ErrNone
	}
	err = s.kernel.Reading(func(a *Announced) (err error) {
		id, err = a.Announce(ctx, tenant)
		return err
	})
	return id, err
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
