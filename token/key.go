package token

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/mac"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/kinds"
)

// MinSecret is the minimum length of a secret, in bytes.
const MinSecret = 32

// A KeyID names a key of a keyring: [a-z0-9][a-z0-9-]{0,62}.
type KeyID string

// ParseKeyID checks the form of a key's id.
func ParseKeyID(s string) (KeyID, error) {
	if !dag.IsLabel(s) {
		return "", fmt.Errorf("%w: key id %.80q, want [a-z0-9][a-z0-9-]{0,62}", dag.ErrForm, s)
	}
	return KeyID(s), nil
}

// A Secret is the secret from which keys are derived. Printers, loggers and encoders do not show it; only Reveal does.
// The bytes are kept in a function because package fmt calls no methods on unexported fields, such as a Keyring's; it
// would print bytes there, also through a pointer.
type Secret struct{ held func() []byte }

// hold returns a secret that takes ownership of the bytes.
func hold(b []byte) Secret { return Secret{func() []byte { return b }} }

// bytes returns the bytes of the secret, or nil for the zero value.
func (s Secret) bytes() []byte {
	if s.held == nil {
		return nil
	}
	return s.held()
}

// ErrSecret is wrapped when a secret is too short or not hex.
var ErrSecret = errors.New("unusable secret")

// NewSecret copies a secret of at least MinSecret bytes.
func NewSecret(b []byte) (Secret, error) {
	if len(b) < MinSecret {
		return Secret{}, fmt.Errorf("%w: %d bytes, want at least %d", ErrSecret, len(b), MinSecret)
	}
	return hold(append([]byte(nil), b...)), nil
}

// ParseSecret reads a secret written in lowercase hex. The error never contains the text.
func ParseSecret(s string) (Secret, error) {
	if len(s) < 2*MinSecret {
		return Secret{}, fmt.Errorf("%w: %d characters, want at least %d lowercase hex digits", ErrSecret, len(s), 2*MinSecret)
	}
	b := make([]byte, len(s)/2)
	if err := dag.ParseHex(b, s); err != nil {
		return Secret{}, fmt.Errorf("%w: want an even number of lowercase hex digits", ErrSecret)
	}
	return hold(b), nil
}

// DrawSecret draws MinSecret bytes from a source of randomness; nil means the system's.
func DrawSecret(random io.Reader) (Secret, error) {
	if random == nil {
		random = rand.Reader
	}
	b := make([]byte, MinSecret)
	if _, err := io.ReadFull(random, b); err != nil {
		return Secret{}, fmt.Errorf("token: drawing a secret: %w", err)
	}
	return hold(b), nil
}

// Reveal returns the secret in hex, for the keyring's file.
func (s Secret) Reveal() string { return hex.EncodeToString(s.bytes()) }

const hidden = "[secret]"

// String, GoString, LogValue, MarshalText and Format hide the secret.
func (s Secret) String() string               { return hidden }
func (s Secret) GoString() string             { return hidden }
func (s Secret) LogValue() slog.Value         { return slog.StringValue(hidden) }
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }
func (s Secret) Format(f fmt.State, _ rune)   { _, _ = io.WriteString(f, hidden) }

// A derivedKey signs for one tenant under one key id.
type derivedKey [32]byte

// derive computes HKDF-SHA256(secret, no salt, "graphkernel:token:v2:TENANT:KEY_ID"). The fixed length also prevents
// HMAC's padding from making two different keys equal.
func derive(s Secret, tenant dag.Tenant, id KeyID) (k derivedKey, err error) {
	b, err := hkdf.Key(sha256.New, s.bytes(), nil, "graphkernel:token:v2:"+string(tenant)+":"+string(id), len(k))
	if err != nil {
		return k, fmt.Errorf("token: deriving a key: %w", err)
	}
	copy(k[:], b)
	return k, nil
}

// A Token is a MAC of 16 bytes that proves who cut a slice.
type Token [16]byte

// String writes the token as 32 lowercase hex digits.
func (t Token) String() string { return hex.EncodeToString(t[:]) }

// ParseToken reads 32 lowercase hex digits.
func ParseToken(s string) (t Token, err error) {
	if err := dag.ParseHex(t[:], s); err != nil {
		return t, fmt.Errorf("token: %w", err)
	}
	return t, nil
}

// textOf returns the text over which a token is computed, from the six fields. It returns an error if no kind has the
// fields' version.
func textOf(p *slice.Provenance) (string, error) {
	text, err := p.Canonical()
	if err == nil {
		err = kinds.Known(p.SchemaVersion)
	}
	return text, err
}

func (k *derivedKey) sign(p *slice.Provenance) (t Token, err error) {
	text, err := textOf(p)
	if err != nil {
		return t, err
	}
	return Token(mac.Sum(k[:], []byte(text))), nil
}

// equal compares tokens in constant time.
func (t Token) equal(other Token) bool { return mac.Tag(t).Equal(mac.Tag(other)) }
