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
	Admits    Scope    // which turns it may bring, and which spaces are there for it; zero: the default of the role
	Note      string   // what the key is for, in the words of anyone who made it; or ""
	Hash      [32]byte // SHA-256 of the key's text
	CreatedAt dag.Time
	RevokedAt dag.Time // 0: not revoked
}

// ErrUnavailable is wrapped when it cannot be found out now whose a key is, through no
// fault of its holder.
var ErrUnavailable = errors.New("keys cannot be looked up now")

// ErrKey is wrapped when what was presented is no key, or not a valid one.
var ErrKey = errors.New("no such API key")

// Mint draws a key. The text is to be shown once and not kept.
func Mint(random io.Reader, tenant dag.Tenant, role Role, note string, now dag.Time) (text string, k Key, err error) {
	var drawn [idBytes + secretBytes]byte
	if _, err := io.ReadFull(random, drawn[:]); err != nil {
		return "", Key{}, fmt.Errorf("drawing an API key: %w", err)
	}
	k = Key{Tenant: tenant, ID: hex.EncodeToString(drawn[:idBytes]), Role: role, Note: note, CreatedAt: now}
	text = strings.Join([]string{prefix, string(tenant), k.ID, hex.EncodeToString(drawn[idBytes:])}, ".")
	k.Hash = sha256.Sum256([]byte(text))
	if err := k.Check(); err != nil {
		return "", Key{}, err
	}
	return text, k, nil
}

// Check reports the first field that does not have its form.
func (k *Key) Check() error {
	if _, err := dag.ParseTenant(string(k.Tenant)); err != nil {
		return err
	}
	if err := CheckID(k.ID); err != nil {
		return err
	}
	if _, err := ParseRole(string(k.Role)); err != nil {
		return err
	}
	if err := CheckNote(k.Note); err != nil {
		return err
	}
	if err := k.Admits.Check(); err != nil {
		return err
	}
	if err := k.Admits.CheckFor(k.Role); err != nil {
		return err
	}
	if !k.CreatedAt.Valid() || !k.RevokedAt.Valid() {
		return fmt.Errorf("%w: API key %s, created at %d, revoked at %d", dag.ErrForm, k.ID, k.CreatedAt, k.RevokedAt)
	}
	if k.Hash == ([32]byte{}) {
		return fmt.Errorf("%w: API key %s has no hash", dag.ErrForm, k.ID)
	}
	return nil
}

// CheckID reports whether an id has its form. The error does not hold what was
// given: it may be a whole key, pasted where its id belongs.
func CheckID(id string) error {
	if !isHex(id, 2*idBytes) {
		return fmt.Errorf("%w: the id of an API key has %d lowercase hex digits", dag.ErrForm, 2*idBytes)
	}
	return nil
}

// CheckNote reports whether a note has its form.
func CheckNote(note string) error {
	if len(note) > MaxNote || !utf8.ValidString(note) {
		return fmt.Errorf("%w: the note has %d bytes, want at most %d of UTF-8", dag.ErrForm, len(note), MaxNote)
	}
	return nil
}

func isHex(s string, digits int) bool {
	if len(s) != digits {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// A Presented key is what a caller sent, taken apart. It does not hold the
// secret, nor the memory that the secret is in. The zero value opens nothing.
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
	if head != prefix || !dag.IsLabel(tenant) || !isHex(id, 2*idBytes) || !isHex(secret, 2*secretBytes) {
		return Presented{}, fmt.Errorf("%w: want %s.TENANT.ID.SECRET", ErrKey, prefix)
	}
	// A part of a string keeps all of it; these parts go into maps and logs.
	names := tenant + id // a copy
	return Presented{
		Tenant: dag.Tenant(names[:len(tenant)]), ID: names[len(tenant):],
		hash: sha256.Sum256([]byte(text)),
	}, nil
}

// Opens reports, in constant time, whether what was presented is this key. A key
// that was revoked opens nothing. The zero Key is never opened, not even by the
// zero Presented; comparing with it takes as long as with any other, so that time
// does not tell which ids exist.
func (p Presented) Opens(k *Key) bool {
	same := subtle.ConstantTimeCompare(p.hash[:], k.Hash[:]) == 1
	return same && k.RevokedAt == 0 && k.ID != "" && k.Tenant == p.Tenant && k.ID == p.ID
}

// Identity says who the holder of a key is.
func (k *Key) Identity() Identity {
	return Identity{Tenant: k.Tenant, Role: k.Role, Subject: k.ID, Admits: k.Admits}
}
