package kernel

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

// ErrErasedSince is wrapped when a bundle cannot be made again because some of its text
// was erased after it was issued. Anyone who holds the bundle can have it attested.
var ErrErasedSince = errors.New("text of the slice was erased since")

// AttestRecorded is Attest for anyone who does not hold the bundle: the one with a digest, or
// if that is nil the newest, that was issued under a slice id. It is cut again, and
// attested only if the bytes are those that were issued: else it is ErrErasedSince. A
// bundle that was never issued is store.ErrNotFound.
func (k Ledger) AttestRecorded(ctx context.Context, tenant dag.Tenant, id slice.SliceID, digest *dag.Digest) (_ *Evidence, err error) {
	ctx, observed := k.observe(ctx, "attest")
	defer func() { observed(err) }()
	if k.ledger().Identity().Name() == "" { // before the work
		return nil, identity.ErrNone
	}
	records, err := k.slices().Issued(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	at := len(records) - 1
	if digest != nil {
		at = slices.IndexFunc(records, func(i issued.Record) bool { return i.Bundle == *digest })
	}
	if at < 0 {
		return nil, fmt.Errorf("bundle %s of slice %s, tenant %s: %w: it was never issued here", digest, id, tenant, store.ErrNotFound)
	}
	i := &records[at]
	if i.OfFacts() {
		return nil, fmt.Errorf("slice %s of tenant %s: %w", id, tenant, ErrNoAttestation)
	}
	seal := slice.Seal{Tenant: tenant, KeyID: i.KeyID, Token: i.Token}
	again, err := steady(k.engine, func(c *cache) (*recut, error) { return c.cutAgain(ctx, tenant, &i.Provenance, i.AsOf, seal) })
	if err != nil {
		return nil, err
	}
	bundle := again.bundle
	b, err := slice.ParseBundle(bundle)
	if err != nil {
		return nil, fmt.Errorf("%w: what was cut again: %w", ErrDamaged, err)
	}
	if dag.Digest(sha256.Sum256(bundle)) != i.Bundle {
		if b.Provenance != i.Provenance || len(b.Redacted()) == 0 {
			return nil, fmt.Errorf("%w: slice %s of tenant %s, cut again, is not what was issued", ErrDamaged, id, tenant)
		}
		for _, id := range b.Redacted() {
			if again.gone[id] == textLost {
				return nil, fmt.Errorf("%w: the text of turn %s is gone, and no erasure is on record", ErrDamaged, id)
			}
		}
		return nil, fmt.Errorf("bundle %s of slice %s, tenant %s: %w, so its bytes cannot be made again; have the bundle itself attested", i.Bundle, id, tenant, ErrErasedSince)
	}
	e := &Evidence{Record: *i, Leaf: issued.Leaf(tenant, i)}
	return e, k.attest(ctx, tenant, b, e)
}
