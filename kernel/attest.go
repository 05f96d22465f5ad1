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
	"github.com/graphkernel/graphkernel/token"
)

// Evidence contains what a third party needs, in addition to a bundle, to verify the bundle.
type Evidence struct {
	Statement *attest.Statement
	Envelope  []byte // DSSE, canonical
	KeyID     string // the id of the key that signed the envelope
	Proof     []byte // a tlog-proof file; nil from Sign
	Leaf      []byte
	Record    issued.Record
}

// Attest signs, for third parties, a statement about a bundle that this kernel issued, of any kind. The error
// for a bundle that was never issued here wraps store.ErrNotFound, and for a bundle of another tenant token.ErrTenant.
// The envelope is the same each time while the attestation key is the same; the proof's
// checkpoint advances with the ledger. Without an identity the error is identity.ErrNone.
func (k Ledger) Attest(ctx context.Context, tenant dag.Tenant, bundle []byte) (_ *Evidence, err error) {
	ctx, observed := k.observe(ctx, "attest")
	defer func() { observed(err) }()
	b, err := kinds.Parse(bundle)
	if err != nil {
		return nil, err
	}
	h := b.Head()
	if h.Seal.Tenant != tenant {
		return nil, fmt.Errorf("the bundle is of tenant %q, not %q: %w", h.Seal.Tenant, tenant, token.ErrTenant)
	}
	e, err := k.locate(ctx, tenant, h.Provenance.SliceID, sha256.Sum256(bundle))
	if err != nil {
		return nil, err
	}
	return e, k.attest(ctx, tenant, b, e)
}

// Sign returns the evidence of Attest without its proof, for a slice that Cut just returned. The record of
// the slice is at hand, so the store is not searched for it. Attest returns the proof
// later.
func (k Ledger) Sign(ctx context.Context, tenant dag.Tenant, i *Issued) (*Evidence, error) {
	if i.Seal.Tenant != tenant {
		return nil, fmt.Errorf("the slice is of tenant %q, not %q: %w", i.Seal.Tenant, tenant, token.ErrTenant)
	}
	e := &Evidence{Record: i.Record, Leaf: issued.Leaf(tenant, &i.Record)}
	why, err := k.why(ctx, tenant, i.redacted)
	if err != nil {
		return nil, err
	}
	s := attest.NewStatement(handed{i}, i.Record.Bundle, i.Record.At, i.Record.Leaf, "", why)
	return e, k.seal(ctx, tenant, s, e)
}

// handed is a slice that was just handed out, as a slice.Body, so that its bundle need not be parsed.
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

// attest completes the evidence of a bundle whose record is in e.
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

// why returns a function that says why a redacted turn has no text. The reason never changes: an erasure
// is permanent, and a text that never arrived cannot be erased. If a text arrived and is gone without an erasure,
// the error wraps store.ErrDamaged, and no statement is made.
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

// signer returns the key that signs for third parties, and the origin under which it signs. It first announces the key in the ledger and binds the
// identity to the history.
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

// seal signs a statement with a key that is announced in the ledger.
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

// Located returns the index in the ledger of the record of an issued bundle. The error for a bundle that was never issued wraps
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
