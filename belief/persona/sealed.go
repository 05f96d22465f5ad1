package persona

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
)

// Seal signs a persona, and returns the envelope's canonical bytes and the digest of the document. Open reads the envelope.
func Seal(d *Document, signer attest.Signer) (envelope []byte, digest dag.Digest, _ error) {
	payload := d.Append(nil)
	if len(payload) > MaxBytes || len(d.Items) > MaxItems || len(d.Links) > MaxLinks {
		return nil, digest, fmt.Errorf("%w: it has %d items and %d links in %d bytes, at most %d items and %d links in %d bytes", ErrTooLarge, len(d.Items), len(d.Links), len(payload), MaxItems, MaxLinks, MaxBytes)
	}
	envelope, err := attest.SealAs(attest.PersonaType, payload, signer)
	return envelope, sha256.Sum256(payload), err
}

// Open returns the persona in an envelope that one of the keys signers signed, and the digest of the document. The key must belong to the
// kernel that the persona names as its origin, and that kernel must sign for the persona's tenant; otherwise the error is
// attest.ErrKeyUnknown. A signature that does not verify is ledger.ErrSignature, and a second signature of the same key is attest.ErrForm.
func Open(envelope []byte, signers []ledger.Key) (*Document, dag.Digest, error) {
	e, err := attest.ParseEnvelopeOf(attest.PersonaType, envelope)
	if err != nil {
		return nil, dag.Digest{}, err
	}
	for i, s := range e.Signatures() {
		if slices.ContainsFunc(e.Signatures()[:i], func(o attest.Signature) bool { return o.KeyID == s.KeyID }) {
			return nil, dag.Digest{}, fmt.Errorf("%w: signatures[%d]: it is the second signature by the key %.80q", attest.ErrForm, i, s.KeyID)
		}
	}
	find := func(id string) (ledger.Key, bool) {
		at := slices.IndexFunc(signers, func(k ledger.Key) bool { return k.HexID() == id })
		if at < 0 {
			return ledger.Key{}, false
		}
		return signers[at], true
	}
	payload, ids, err := e.Verify(find)
	if err != nil {
		return nil, dag.Digest{}, err
	}
	d, err := Parse(payload)
	if err != nil {
		return nil, dag.Digest{}, err
	}
	its := func(id string) bool { k, _ := find(id); return k.Name == d.Origin.Kernel }
	if ledger.Origin(d.Origin.Kernel).Tenant() != d.Origin.Tenant || !slices.ContainsFunc(ids, its) {
		return nil, dag.Digest{}, fmt.Errorf("%w: origin.kernel: none of the keys belongs to %.200q and tenant %s", attest.ErrKeyUnknown, d.Origin.Kernel, d.Origin.Tenant)
	}
	return d, sha256.Sum256(payload), nil
}
