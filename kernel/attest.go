package kernel

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/attest"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// Evidence is what convinces a third party of a bundle, beside the bundle.
type Evidence struct {
	Statement *attest.Statement
	Envelope  []byte // DSSE, canonical
	Proof     []byte // a tlog-proof file
	Leaf      []byte
	Record    store.Issued
}

// Attest signs for third parties what this kernel issued: the bundle with these bytes. One
// that was never issued here is store.ErrNotFound, and another tenant's ErrTenant.
// The envelope is the same each time as long as the attestation key is; the proof's
// checkpoint moves on with the ledger. Without an identity it is identity.ErrNone.
func (k *Kernel) Attest(ctx context.Context, tenant dag.Tenant, bundle []byte) (_ *Evidence, err error) {
	ctx, observed := k.observe(ctx, "attest")
	defer func() { observed(err) }()
	b, err := slice.ParseBundle(bundle)
	if err != nil {
		return nil, err
	}
	if b.Seal.Tenant != tenant {
		return nil, fmt.Errorf("the bundle is of tenant %q, not %q: %w", b.Seal.Tenant, tenant, ErrTenant)
	}
	e, err := k.locate(ctx, tenant, b.Provenance.SliceID, sha256.Sum256(bundle))
	if err != nil {
		return nil, err
	}
	return e, k.attest(ctx, tenant, b, e)
}

// AttestIssued is Attest for a slice that Slice just gave. It takes the bundle's word for
// what this kernel has just put into it.
func (k *Kernel) AttestIssued(ctx context.Context, tenant dag.Tenant, i *Issued) (*Evidence, error) {
	leaf := store.IssuedLeaf(tenant, &i.Record)
	e := &Evidence{Record: i.Record, Leaf: leaf}
	b, err := slice.ParseBundle(i.Bundle)
	if err != nil {
		return nil, err
	}
	return e, k.attest(ctx, tenant, b, e)
}

// locate finds the record of a bundle.
func (k *Kernel) locate(ctx context.Context, tenant dag.Tenant, id slice.SliceID, digest dag.Digest) (*Evidence, error) {
	records, err := k.store.IssuedByID(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(records, func(i store.Issued) bool { return i.Bundle == digest })
	if at < 0 {
		return nil, fmt.Errorf("bundle %s of slice %s, tenant %s: %w: it was never issued here", digest, id, tenant, store.ErrNotFound)
	}
	return &Evidence{Record: records[at], Leaf: store.IssuedLeaf(tenant, &records[at])}, nil
}

// attest completes the evidence of a bundle whose record was found.
func (k *Kernel) attest(ctx context.Context, tenant dag.Tenant, b *slice.Bundle, e *Evidence) error {
	id := k.Identity()
	signer, err := id.Attestor(tenant)
	if err != nil {
		return err
	}
	index, err := k.Find(ctx, tenant, e.Leaf)
	if err != nil {
		return err
	}
	proof, err := k.Prove(ctx, tenant, index)
	if err != nil {
		return err
	}
	redacted := b.Redacted()
	var erased []dag.TurnID
	if len(redacted) > 0 {
		if erased, err = k.erasedAmong(ctx, tenant, redacted); err != nil {
			return err
		}
	}
	e.Statement = attest.NewStatement(b, e.Record.Bundle, e.Record.At, index, string(id.Origin(tenant)), func(t dag.TurnID) attest.Why {
		if _, ok := slices.BinarySearchFunc(erased, t, dag.TurnID.Compare); ok {
			return attest.Erased
		}
		return attest.Withheld
	})
	if e.Envelope, err = attest.Seal(e.Statement.Append(nil), signer); err != nil {
		return err
	}
	e.Proof = proof.Append(nil)
	return nil
}

// Located gives the index in the ledger of a bundle that was issued. One that never was is
// store.ErrNotFound.
func (k *Kernel) Located(ctx context.Context, tenant dag.Tenant, bundle []byte) (uint64, error) {
	b, err := slice.ParseBundle(bundle)
	if err != nil {
		return 0, err
	}
	e, err := k.locate(ctx, tenant, b.Provenance.SliceID, sha256.Sum256(bundle))
	if err != nil {
		return 0, err
	}
	return k.Find(ctx, tenant, e.Leaf)
}
