package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/dag"
)

// Sizes of a key's parts, in bytes before they are written in hex.
const (
	idBytes     = 8
	secretBytes = 32
)

// MaxNote bounds the bytes of a key's note.
const MaxNote = 200

const prefix = "gk1"

// A Key is the record of an API key. It does not hold the key itself.
type Key struct {
	Tenant    dag.Tenant
	ID        string // 16 lowercase hex digits
	Role      Role
	Note      string   // what the key is for, in the words of whoever made it; or ""
	Hash      [32]byte // SHA-256 of the key's text
	CreatedAt dag.Time
	RevokedAt dag.Time // 0: not revoked
}

// ErrKey is wrapped when what was presented is no key, or not one that stands.
var ErrKey = errors.New("no such API key")

// Mint draws a key. The text is to be shown once and not kept.
func Mint(random io.Reader, tenant dag.Tenant, role Role, note string, now dag.Time) (text string, k Key, err error) {
	var drawn [idBytes + secretBytes]byte
	if _, err := io.ReadFull(random, drawn[:]); err != nil {
		return "", Key{}, fmt.Errorf("drawing an API key: %w", err)
	}
	k = Key{Tenant: tenant, ID: hex.EncodeToString(drawn[:idBytes]), Role: role, Note: note, CreatedAt: now}
	if err := k.Check(); err != nil {
		return "", Key{}, err
	}
	text = strings.Join([]string{prefix, string(tenant), k.ID, hex.EncodeToString(drawn[idBytes:])}, ".")
	k.Hash = sha256.Sum256([]byte(text))
	return text, k, nil
}

// Check reports the first field that does not have its form.
func (k *Key) Check() error {
	if _, err := dag.ParseTenant(string(k.Tenant)); err != nil {
		return err
	}
	if err := checkID(k.ID); err != nil {
		return err
	}
	if _, err := ParseRole(string(k.Role)); err != nil {
		return err
	}
	if len(k.Note) > MaxNote || !utf8.ValidString(k.Note) {
		return fmt.Errorf("%w: the note has %d bytes, want at most %d of UTF-8", dag.ErrForm, len(k.Note), MaxNote)
	}
	return nil
}

func checkID(id string) error {
	var b [idBytes]byte
	if err := dag.ParseHex(b[:], id); err != nil {
		return fmt.Errorf("%w: API key id %.40q, want %d lowercase hex digits", dag.ErrForm, id, 2*idBytes)
	}
	return nil
}

// A Presented key is what a caller sent, taken apart. It shows its id to a
// printer, never its secret.
type Presented struct {
	Tenant dag.Tenant
	ID     string
	hash   [32]byte
}

// Parse takes a key's text apart. The error wraps ErrKey and does not hold the
// text.
func Parse(text string) (Presented, error) {
	const most = len(prefix) + 1 + 63 + 1 + 2*idBytes + 1 + 2*secretBytes
	if len(text) > most {
		return Presented{}, fmt.Errorf("%w: %d characters are too many", ErrKey, len(text))
	}
	head, rest, _ := strings.Cut(text, ".")
	tenant, rest, _ := strings.Cut(rest, ".")
	id, secret, _ := strings.Cut(rest, ".")
	var b [secretBytes]byte
	if head != prefix || !dag.IsLabel(tenant) || checkID(id) != nil || dag.ParseHex(b[:], secret) != nil {
		return Presented{}, fmt.Errorf("%w: want %s.TENANT.ID.SECRET", ErrKey, prefix)
	}
	return Presented{Tenant: dag.Tenant(tenant), ID: id, hash: sha256.Sum256([]byte(text))}, nil
}

// Opens reports, in constant time, whether what was presented is this key. A key
// that was revoked opens nothing. The zero Key is never opened; comparing with it
// takes as long as with any other, so that time does not tell which ids exist.
func (p Presented) Opens(k *Key) bool {
	same := subtle.ConstantTimeCompare(p.hash[:], k.Hash[:]) == 1
	return same && k.RevokedAt == 0 && k.Tenant == p.Tenant && k.ID == p.ID
}

// Identity says who the holder of a key is.
func (k *Key) Identity() Identity { return Identity{Tenant: k.Tenant, Role: k.Role, Subject: k.ID} }
