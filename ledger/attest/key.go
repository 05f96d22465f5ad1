package attest

import (
	"crypto/ed25519"
	"fmt"

	"github.com/graphkernel/graphkernel/ledger"
)

// A Signer signs with one key. It must be safe for concurrent use.
type Signer interface {
	// KeyID returns the id of the key for the signature. It may be empty.
	KeyID() string
	// Sign signs a message. It must neither keep nor change the message.
	Sign(message []byte) ([]byte, error)
}

// signer signs with an attestation key.
type signer struct {
	id      string
	private ed25519.PrivateKey
}

// NewSigner returns the signer for an attestation key whose name is the origin, and the public key. It is deterministic
// (RFC 8032): the same message has the same signature.
func NewSigner(origin string, private ed25519.PrivateKey) (Signer, ledger.Key, error) {
	if len(private) != ed25519.PrivateKeySize {
		return nil, ledger.Key{}, fmt.Errorf("%w: a private key of %d bytes, want %d", ErrForm, len(private), ed25519.PrivateKeySize)
	}
	key := ledger.Key{Name: origin, Alg: ledger.AlgEd25519, Public: [32]byte(private.Public().(ed25519.PublicKey))}
	if err := key.Check(); err != nil {
		return nil, ledger.Key{}, fmt.Errorf("attest: %w", err)
	}
	return signer{key.HexID(), private}, key, nil
}

func (s signer) KeyID() string                       { return s.id }
func (s signer) Sign(message []byte) ([]byte, error) { return ed25519.Sign(s.private, message), nil }

// CheckSignature returns ledger.ErrSignature unless sig is the key's Ed25519 signature of a message (RFC 8032, section
// 5.1.7). It returns another error for a key that does not sign attestations or must not be trusted (see
// ledger.Key.Check).
func CheckSignature(key ledger.Key, message, sig []byte) error {
	if key.Alg != ledger.AlgEd25519 {
		return fmt.Errorf("%w: the key of %s signs cosignatures, not attestations", ErrForm, key.Name)
	}
	if err := key.Check(); err != nil {
		return fmt.Errorf("attest: key %s: %w", key.HexID(), err)
	}
	if !ed25519.Verify(key.Public[:], message, sig) {
		return fmt.Errorf("attest: by key %s: %w", key.HexID(), ledger.ErrSignature)
	}
	return nil
}
