package dag

import (
	"encoding/hex"
	"errors"
	"fmt"
)

// ErrForm is wrapped by every error of this package that reports a value that does not have the form GKP/1 prescribes.
// The message names the value and the rule.
var ErrForm = errors.New("malformed")

// A Digest is a SHA-256 or HMAC-SHA256 value.
type Digest [32]byte

// String writes the digest as 64 lowercase hex digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// ParseDigest reads 64 lowercase hex digits.
func ParseDigest(s string) (d Digest, err error) {
	return d, ParseHex(d[:], s)
}

// A Salt keys the digest of one turn's body, so that nobody can find a short text by trying texts against the digest.
// It is deleted with the body.
type Salt [16]byte

// String writes the salt as 32 lowercase hex digits.
func (s Salt) String() string { return hex.EncodeToString(s[:]) }

// ParseSalt reads 32 lowercase hex digits.
func ParseSalt(text string) (s Salt, err error) {
	return s, ParseHex(s[:], text)
}

// ParseHex fills dst from exactly 2*len(dst) lowercase hex digits. (encoding/hex also accepts upper case, which would
// be a second spelling.)
func ParseHex(dst []byte, s string) error {
	if len(s) != 2*len(dst) {
		return fmt.Errorf("%w: %q has %d characters, want %d lowercase hex digits", ErrForm, clip(s), len(s), 2*len(dst))
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return fmt.Errorf("%w: %q holds %q, want lowercase hex digits only", ErrForm, clip(s), c)
		}
	}
	if _, err := hex.Decode(dst, []byte(s)); err != nil {
		return fmt.Errorf("%w: %q: %v", ErrForm, clip(s), err)
	}
	return nil
}

// A Seq is a tenant's sequence number: the first turn ever admitted has 1, and the empty graph has 0.
type Seq uint64

// MaxSeq is the largest sequence number that canonical JSON can hold exactly.
const MaxSeq Seq = 1<<53 - 1

// A Tenant owns a graph, its policies and its slices; nothing is shared
// between tenants. Its form is [a-z0-9][a-z0-9-]{0,62}.
type Tenant string

// DefaultTenant is the tenant of a kernel that has only one.
const DefaultTenant Tenant = "default"

// ParseTenant checks the form of a tenant's name.
func ParseTenant(s string) (Tenant, error) {
	if !IsLabel(s) {
		return "", fmt.Errorf("%w: tenant %q, want [a-z0-9][a-z0-9-]{0,62}", ErrForm, clip(s))
	}
	return Tenant(s), nil
}

// IsLabel reports whether s has the form shared by tenants and key ids,
// [a-z0-9][a-z0-9-]{0,62}.
func IsLabel(s string) bool {
	if s == "" || len(s) > 63 || s[0] == '-' {
		return false
	}
	for i := 0; i < len(s); i++ {
		if !isLowerAlnum(s[i]) && s[i] != '-' {
			return false
		}
	}
	return true
}

func isLowerAlnum(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

// clip shortens a refused value for an error message.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
