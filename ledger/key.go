package ledger

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// An Algorithm says how a key signs and what it signs, with the numbers of C2SP signed-note.
type Algorithm byte

// The algorithms.
const (
	AlgEd25519     Algorithm = 0x01 // keys of logs, and of attestations
	AlgCosignature Algorithm = 0x04 // keys of witnesses: cosignature/v1 with Ed25519
)

// A Key is a public key with the name of its owner and its algorithm. Two Keys are the same key if they are equal.
type Key struct {
	Name   string
	Alg    Algorithm
	Public [ed25519.PublicKeySize]byte
}

// ID returns the hash that identifies the key: SHA-256 of the name, a newline, the algorithm and the public key.
func (k Key) ID() [32]byte {
	b := append([]byte(k.Name), '\n', byte(k.Alg))
	return sha256.Sum256(append(b, k.Public[:]...))
}

// Hash returns the first four bytes of ID, which identify the key in signature lines.
func (k Key) Hash() uint32 {
	id := k.ID()
	return binary.BigEndian.Uint32(id[:])
}

// HexID returns ID in hex, as in attestations.
func (k Key) HexID() string {
	id := k.ID()
	return hex.EncodeToString(id[:])
}

// String returns the key as a vkey, NAME+HASH+BASE64. ParseKey reads it.
func (k Key) String() string {
	return fmt.Sprintf("%s+%08x+%s", k.Name, k.Hash(), base64.StdEncoding.EncodeToString(append([]byte{byte(k.Alg)}, k.Public[:]...)))
}

// ParseKey reads a vkey. The hash must match the key, the name must have the form of a signed note's key name, and the
// point must not have low order.
func ParseKey(s string) (Key, error) {
	name, rest, _ := strings.Cut(s, "+")
	hash, text, ok := strings.Cut(rest, "+")
	if !ok {
		return Key{}, fmt.Errorf("%w: vkey %.200q, want NAME+HASH+BASE64", ErrForm, s)
	}
	if !IsName(name) {
		return Key{}, fmt.Errorf("%w: vkey with name %.200q; a name has 1 to 255 bytes, no spaces and no +", ErrForm, name)
	}
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != 1+ed25519.PublicKeySize || strings.ContainsAny(text, "\r\n") {
		return Key{}, fmt.Errorf("%w: vkey of %s: want 33 bytes of base64 after the hash", ErrForm, name)
	}
	k := Key{Name: name, Alg: Algorithm(b[0]), Public: [ed25519.PublicKeySize]byte(b[1:])}
	if k.Alg != AlgEd25519 && k.Alg != AlgCosignature {
		return Key{}, fmt.Errorf("%w: vkey of %s is of type %#02x, want 0x01 (Ed25519) or 0x04 (cosignature/v1)", ErrForm, name, b[0])
	}
	if want := fmt.Sprintf("%08x", k.Hash()); hash != want {
		return Key{}, fmt.Errorf("%w: vkey of %s has the hash %.20q, but the hash of its key is %s", ErrForm, name, hash, want)
	}
	return k, k.Check()
}

// Check returns ErrForm if the name is malformed, or if the public key encodes a point of low order. With some of those
// keys, anyone can make a signature that verifies for every message.
func (k Key) Check() error {
	if !IsName(k.Name) {
		return fmt.Errorf("%w: key name %.200q; a name has 1 to 255 bytes, no spaces and no +", ErrForm, k.Name)
	}
	if lowOrder(k.Public[:]) || !reduced(k.Public[:]) {
		return fmt.Errorf("%w: the public key of %s is a point of low order, or another encoding of such a point, %x", ErrForm, k.Name, k.Public)
	}
	return nil
}

// IsName reports whether s can name a key or a log: 1 to 255 bytes of printable ASCII without spaces and +. C2SP allows
// more; a name of this form never needs escaping.
func IsName(s string) bool {
	if s == "" || len(s) > 255 {
		return false
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' || s[i] == '+' {
			return false
		}
	}
	return true
}

// lowOrder reports whether a key is one of the fourteen encodings of the eight points whose order divides 8, with
// either sign bit: lenient decoders ignore a wrong one. The table lists the points by y. For y = ±1, x is 0 and both
// signs decode; y = p and y = p+1 are other encodings of 0 and 1. (C2SP/CCTV, ed25519.)
func lowOrder(key []byte) bool {
	y := [32]byte(key)
	y[31] &= 0x7f
	for _, bad := range &lowOrderY {
		if bytes.Equal(y[:], bad[:]) {
			return true
		}
	}
	return false
}

var lowOrderY = [7][32]byte{
	{},  // y = 0, order 4
	{1}, // y = 1, the identity
	{ // order 8
		0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f,
		0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a,
	},
	{ // order 8: the negative of the point above
		0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
		0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
	},
	nearP(0xec), // y = p-1 = -1, order 2
	nearP(0xed), // y = p, another encoding of 0
	nearP(0xee), // y = p+1, another encoding of 1
}

// nearP returns 2^255 - 256 + first. p is 2^255 - 19.
func nearP(first byte) (y [32]byte) {
	for i := range y {
		y[i] = 0xff
	}
	y[0], y[31] = first, 0x7f
	return y
}

// reduced reports whether y is below p, so that each point has one encoding.
func reduced(key []byte) bool {
	y := [32]byte(key)
	y[31] &= 0x7f
	p := nearP(0xed)
	for i := len(y) - 1; i >= 0; i-- {
		if y[i] != p[i] {
			return y[i] < p[i]
		}
	}
	return false
}

// An Origin is the name of a tenant's log, TENANT.NAME.
type Origin string

// NewOrigin returns the origin of a tenant's log on a kernel.
func NewOrigin(tenant dag.Tenant, name string) Origin { return Origin(string(tenant) + "." + name) }

// Tenant returns the tenant of the log: the first label.
func (o Origin) Tenant() dag.Tenant {
	tenant, _, _ := strings.Cut(string(o), ".")
	return dag.Tenant(tenant)
}

// maxKernelName leaves room for a tenant of 63 bytes in the name of a key, and in a host name.
const maxKernelName = 180

// ParseKernelName checks the name of a kernel: a host name in lowercase, of labels of a-z, 0-9 and dashes, joined by
// dots.
func ParseKernelName(s string) (string, error) {
	ok := len(s) <= maxKernelName
	for label := range strings.SplitSeq(s, ".") {
		ok = ok && dag.IsLabel(label) && !strings.HasSuffix(label, "-")
	}
	if !ok {
		return "", fmt.Errorf("%w: kernel name %.200q, want a host name in lowercase such as kernel.example, at most %s bytes", ErrForm, s, strconv.Itoa(maxKernelName))
	}
	return s, nil
}
