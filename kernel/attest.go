package kernel

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/slice/kinds"
	"github.com/graphkernel/graphkernel/store"
)

// Evidence is what convinces a third party of a bundle, beside the bundle.
type Evidence struct {
	Statement *attest.Statement
	Envelope  []byte // DSSE, canonical
	KeyID     string // of the key that signed it
	Proof     []byte // a tlog-proof file; nil from Sign
	Leaf      []byte
	Record    issued.Record
}

// Attest signs for third parties what this kernel issued: the bundle of turns or of facts with these bytes. One
// that was never issued here is store.ErrNotFound, and another tenant's ErrTenant.
// The envelope is the same each time as long as the attestation key is; the proof's
// checkpoint moves on with the ledger. Without an identity it is identity.ErrNone.
func (k Ledger) Attest(ctx context.Context, tenant dag.Tenant, bundle []byte) (_ *Evidence, err error) {
	ctx, observed := k.observe(ctx, "attest")
	defer func() { observed(err) }()
	b, err := kinds.Parse(bundle)
	if err != nil {
		return nil, err
	}
	h := b.Head()
	if h.Seal.Tenant != tenant {
		return nil, fmt.Errorf("the bundle is of tenant %q, not %q: %w", h.Seal.Tenant, tenant, ErrTenant)
	}
	e, err := k.locate(ctx, tenant, h.Provenance.SliceID, sha256.Sum256(bundle))
	if err != nil {
		return nil, err
	}
	return e, k.attest(ctx, tenant, b, e)
}

// Sign is the envelope of Attest, for a slice that Slice just gave: what is stated of it is
// known already, so the store is not asked again. The proof can be had
// later, by anyone who asks for it.
func (k Ledger) Sign(ctx context.Context, tenant dag.Tenant, i *Issued) (*Evidence, error) {
	if i.Seal.Tenant != tenant {
		return nil, fmt.Errorf("the slice is of tenant %q, not %q: %w", i.Seal.Tenant, tenant, ErrTenant)
	}
	e := &Evidence{Record: i.Record, Leaf: issued.Leaf(tenant, &i.Record)}
	why, err := k.why(ctx, tenant, i.redacted)
	if err != nil {
		return nil, err
	}
	s := attest.NewStatement(handed{i}, i.Record.Bundle, i.Record.At, i.Record.Leaf, "", why)
	return e, k.seal(ctx, tenant, s, e)
}

// handed is a slice that was just handed out, as a body: its bundle need not be read.
type handed struct{ *Issued }

func (h handed) Head() slice.Head       { return h.Slice.Head(h.Seal) }
func (h handed) Redacted() []dag.TurnID { return h.redacted }

// locate finds the record of a bundle.
func (k *engine) locate(ctx context.Context, tenant dag.Tenant, id slice.SliceID, digest dag.Digest) (*Evidence, error) {
	records, err := k.bundles().ByID(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(records, func(i issued.Record) bool { return i.Bundle == digest })
	if at < 0 {
		return nil, fmt.Errorf("bundle %s of slice %s, tenant %s: %w: it was never issued here", digest, id, tenant, store.ErrNotFound)
	}
	return &Evidence{Record: records[at], Leaf: issued.Leaf(tenant, &records[at])}, nil
}

// attest completes the evidence of a bundle whose record was found.
func (k *engine) attest(ctx context.Context, tenant dag.Tenant, b slice.Body, e *Evidence) error {
	if k.ledger().Identity().Name() == "" { // before the work
		return identity.ErrNone
	}
	proof, err := k.ledger().Prove(ctx, tenant, e.Record.Leaf)
	if err != nil {
		return err
	}
	if !bytes.Equal(proof.Leaf, e.Leaf) {
		return fmt.Errorf("issued slice %d of tenant %s leads to leaf %d of its ledger, which is of another act; the store is damaged: run graphkernel fsck", e.Record.Number, tenant, e.Record.Leaf)
	}
	why, err := k.why(ctx, tenant, b.Redacted())
	if err != nil {
		return err
	}
	e.Proof = proof.Append(nil)
	return k.seal(ctx, tenant, attest.NewStatement(b, e.Record.Bundle, e.Record.At, e.Record.Leaf, "", why), e)
}

// why says of redacted turns why they have no text. Which it is never changes: an erasure
// is for ever, and what never came cannot be erased. Text that came and is gone without an erasure
// is store.ErrDamaged: nothing is stated of it.
func (k *engine) why(ctx context.Context, tenant dag.Tenant, redacted []dag.TurnID) (func(dag.TurnID) attest.Why, error) {
	erased, err := k.erasures().Among(ctx, tenant, redacted)
	if err != nil {
		return nil, err
	}
	if len(erased) < len(redacted) {
		records, err := k.store.Turns(ctx, tenant, store.IDs(redacted))
		if err != nil {
			return nil, err
		}
		for i := range records {
			r := &records[i]
			if erased[r.Turn.ID] == 0 && r.Body == nil && !r.Withheld {
				return nil, fmt.Errorf("%w: the text of turn %s is gone, and no erasure is on record", store.ErrDamaged, r.Turn.ID)
			}
		}
	}
	return func(t dag.TurnID) attest.Why {
		if erased[t] != 0 {
			return attest.Erased
		}
		return attest.Withheld
	}, nil
}

// signer returns the key that signs for third parties, and the origin that it signs as. The ledger knows the key, and the history is bound to it.
func (k *engine) signer(ctx context.Context, tenant dag.Tenant) (origin string, _ attest.Signer, _ error) {
	id, err := k.announceKeys(ctx, tenant)
	if err != nil {
		return "", nil, err
	}
	signer, err := id.Attestor(tenant)
	if err != nil {
		return "", nil, err
	}
	return string(id.Origin(tenant)), signer, k.bind(ctx, tenant)
}

// seal signs a statement with a key that the ledger knows.
func (k *engine) seal(ctx context.Context, tenant dag.Tenant, s *attest.Statement, e *Evidence) error {
	origin, signer, err := k.signer(ctx, tenant)
	if err != nil {
		return err
	}
	s.Origin = origin
	e.Statement = s
	e.KeyID = signer.KeyID()
	e.Envelope, err = attest.Seal(s.Append(nil), signer)
	return err
}

// Located returns the index in the ledger of a bundle that was issued, of turns or of facts. One that never was is
// store.ErrNotFound.
func (k Ledger) Located(ctx context.Context, tenant dag.Tenant, bundle []byte) (uint64, error) {
	b, err := kinds.Parse(bundle)
	if err != nil {
		return 0, err
	}
	e, err := k.locate(ctx, tenant, b.Head().Provenance.SliceID, sha256.Sum256(bundle))
	if err != nil {
		return 0, err
	}
	return e.Record.Leaf, nil
}
