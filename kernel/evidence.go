package kernel

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger/notary"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/slice/kinds"
	"github.com/graphkernel/graphkernel/store"
)

// A registrar implements [notary.Kernel] with an engine.
type registrar struct{ desk }

// Reading implements [notary.Kernel].
func (k registrar) Reading(fn func(*notary.Announced) error) error {
	return k.reading(func(c *cache) error { return fn(c.announced) })
}

// Remade implements [notary.Kernel].
func (k registrar) Remade(ctx context.Context, tenant dag.Tenant, id slice.SliceID, digest *dag.Digest) (*issued.Record, slice.Body, error) {
	i, b, _, err := k.slices().again(ctx, tenant, id, digest)
	return i, b, err
}

// Bundle makes the bytes of a recorded bundle again: the newest with a slice id, or the one with a SHA-256 if digest is not nil. If that is impossible because
// texts were erased since, the error wraps issued.ErrErasedSince; for a bundle that was never issued, it wraps store.ErrNotFound.
func (k Replays) Bundle(ctx context.Context, tenant dag.Tenant, id slice.SliceID, digest *dag.Digest) (_ []byte, err error) {
	ctx, observed := k.observe(ctx, "bundle")
	defer func() { observed(err) }()
	_, _, bundle, err := k.again(ctx, tenant, id, digest)
	return bundle, err
}

// again finds the record of a bundle, and makes the bundle again.
func (k Replays) again(ctx context.Context, tenant dag.Tenant, id slice.SliceID, digest *dag.Digest) (*issued.Record, slice.Body, []byte, error) {
	records, err := k.records.Issued(ctx, tenant, id)
	if err != nil {
		return nil, nil, nil, err
	}
	at := len(records) - 1
	if digest != nil {
		at = slices.IndexFunc(records, func(i issued.Record) bool { return i.Bundle == *digest })
	}
	if at < 0 {
		return nil, nil, nil, fmt.Errorf("bundle %s of slice %s, tenant %s: %w: it was never issued here", digest, id, tenant, store.ErrNotFound)
	}
	i := &records[at]
	again, err := steady(k.engine, func(c *cache) (*recut, error) { return c.cutRecorded(ctx, tenant, i) })
	var b slice.Body
	if err == nil {
		if b, err = kinds.Parse(again.bundle); err != nil {
			err = fmt.Errorf("%w: what was cut again: %w", store.ErrDamaged, err)
		}
	}
	if err == nil && dag.Digest(sha256.Sum256(again.bundle)) == i.Bundle {
		return i, b, again.bundle, nil
	}
	asked := k.remaker(kindOf(i))
	switch {
	case asked != nil:
		instead, err := asked.instead(ctx, tenant, i, err)
		if err != nil {
			return nil, nil, nil, err
		}
		b, err = kinds.Parse(instead)
		return i, b, instead, err
	case err == nil:
		err = notTheTurns(tenant, i, b, again)
	}
	return nil, nil, nil, err
}

// notTheTurns returns an error that says why a slice of turns, cut again, differs from the issued one.
func notTheTurns(tenant dag.Tenant, i *issued.Record, b slice.Body, again *recut) error {
	if b.Head().Provenance != i.Provenance || len(b.Redacted()) == 0 {
		return notIssued(tenant, i)
	}
	for _, id := range b.Redacted() {
		if again.gone[id] == projection.TextLost {
			return fmt.Errorf("%w: the text of turn %s is gone, and no erasure is on record", store.ErrDamaged, id)
		}
	}
	return erasedSince(tenant, i)
}

// instead implements remaker. If only facts beyond the slice's cut were erased since, it returns the issued bytes.
func (k Facts) instead(ctx context.Context, tenant dag.Tenant, i *issued.Record, err error) ([]byte, error) {
	before, wrong := k.beforeErasures(ctx, tenant, i)
	if before != nil || wrong != nil {
		return before, wrong
	}
	gone, wrong := k.gone(ctx, tenant, i)
	return nil, notRemade(tenant, i, wrong == nil && gone.any(), cmp.Or(wrong, err))
}

// notRemade returns an error that says why a recorded bundle could not be made again: data on which it rests was erased since, err occurred, or the new
// bytes differ from the issued ones.
func notRemade(tenant dag.Tenant, i *issued.Record, erased bool, err error) error {
	switch {
	case erased:
		return erasedSince(tenant, i)
	case err != nil:
		return err
	}
	return notIssued(tenant, i)
}

func notIssued(tenant dag.Tenant, i *issued.Record) error {
	return fmt.Errorf("%w: slice %s of tenant %s, cut again, is not what was issued", store.ErrDamaged, i.Provenance.SliceID, tenant)
}

func erasedSince(tenant dag.Tenant, i *issued.Record) error {
	return fmt.Errorf("bundle %s of slice %s, tenant %s: %w, so its bytes cannot be made again; have the bundle itself attested", i.Bundle, i.Provenance.SliceID, tenant, issued.ErrErasedSince)
}
