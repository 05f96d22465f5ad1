package notary

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/projection"
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

// Answer returns the evidence in the form of the service's answers.
func (e *Evidence) Answer() api.Evidence {
	s := e.Statement
	return api.Evidence{
		Attestation: e.Envelope, Proof: string(e.Proof), Index: s.Index, Origin: s.Origin, BundleSHA256: s.Subject,
		SliceID: s.Provenance.SliceID, KeyID: e.KeyID, IssuedAt: s.IssuedAt,
	}
}

// An Attestor signs statements about the bundles that a kernel issued, for third parties.
type Attestor struct {
	kernel    Kernel
	store     projection.Checked
	signatory *Signatory
	roots     *Roots
	log       *Log
}

// Attest signs, for third parties, a statement about a bundle that this kernel issued, of any kind. The error
// for a bundle that was never issued here wraps store.ErrNotFound, and for a bundle of another tenant token.ErrTenant.
// The envelope is the same each time while the attestation key is the same; the proof's
// checkpoint advances with the ledger. Without an identity the error is identity.ErrNone.
func (k Attestor) Attest(ctx context.Context, tenant dag.Tenant, bundle []byte) (_ *Evidence, err error) {
	ctx, observed := k.kernel.Observe(ctx, "attest")
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

// AttestRecorded is like Attest, for a caller without the bundle. It attests the bundle with a slice id and a digest, or
// the newest with the slice id if digest is nil. The bundle is cut again, and
// attested only if the bytes are the same; if erasures changed them, the error wraps issued.ErrErasedSince. The error for a bundle that was never issued wraps
// store.ErrNotFound.
func (k Attestor) AttestRecorded(ctx context.Context, tenant dag.Tenant, id slice.SliceID, digest *dag.Digest) (_ *Evidence, err error) {
	ctx, observed := k.kernel.Observe(ctx, "attest")
	defer func() { observed(err) }()
	if k.signatory.Identity().Name() == "" { // before the work
		return nil, identity.ErrNone
	}
	i, b, err := k.kernel.Remade(ctx, tenant, id, digest)
	if err != nil {
		return nil, err
	}
	e := &Evidence{Record: *i, Leaf: issued.Leaf(tenant, i)}
	return e, k.attest(ctx, tenant, b, e)
}

// Sign returns the evidence of Attest without its proof, for a bundle that was just handed out with a record. The store is not searched for the record.
// Attest returns the proof later.
func (k Attestor) Sign(ctx context.Context, tenant dag.Tenant, b slice.Outline, r issued.Record) (*Evidence, error) {
	if of := b.Head().Seal.Tenant; of != tenant {
		return nil, fmt.Errorf("the slice is of tenant %q, not %q: %w", of, tenant, token.ErrTenant)
	}
	e := &Evidence{Record: r, Leaf: issued.Leaf(tenant, &r)}
	why, err := k.why(ctx, tenant, b.Redacted())
	if err != nil {
		return nil, err
	}
	return e, k.seal(ctx, tenant, attest.NewStatement(b, r.Bundle, r.At, r.Leaf, "", why), e)
}

// locate finds the record of a bundle.
func (k Attestor) locate(ctx context.Context, tenant dag.Tenant, id slice.SliceID, digest dag.Digest) (*Evidence, error) {
	r, err := issued.Base{History: k.store}.ByDigest(ctx, tenant, id, digest)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, fmt.Errorf("bundle %s of slice %s, tenant %s: %w: it was never issued here", digest, id, tenant, store.ErrNotFound)
	}
	return &Evidence{Record: *r, Leaf: issued.Leaf(tenant, r)}, nil
}

// attest completes the evidence of a bundle whose record is in e.
func (k Attestor) attest(ctx context.Context, tenant dag.Tenant, b slice.Body, e *Evidence) error {
	if k.signatory.Identity().Name() == "" { // before the work
		return identity.ErrNone
	}
	proof, err := k.log.Prove(ctx, tenant, e.Record.Leaf)
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
func (k Attestor) why(ctx context.Context, tenant dag.Tenant, redacted []dag.TurnID) (func(dag.TurnID) attest.Why, error) {
	erased, err := erasures.Base{History: k.store}.Among(ctx, tenant, redacted)
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

// Signer returns the key that signs for third parties, and the origin under which it signs. It first announces the key in the ledger and binds the
// identity to the history.
func (k Attestor) Signer(ctx context.Context, tenant dag.Tenant) (origin string, _ attest.Signer, _ error) {
	id, err := k.signatory.announce(ctx, tenant)
	if err != nil {
		return "", nil, err
	}
	signer, err := id.Attestor(tenant)
	if err != nil {
		return "", nil, err
	}
	return string(id.Origin(tenant)), signer, k.roots.bind(ctx, tenant)
}

// seal signs a statement with a key that is announced in the ledger.
func (k Attestor) seal(ctx context.Context, tenant dag.Tenant, s *attest.Statement, e *Evidence) error {
	origin, signer, err := k.Signer(ctx, tenant)
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
func (k Attestor) Located(ctx context.Context, tenant dag.Tenant, bundle []byte) (uint64, error) {
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
