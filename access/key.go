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

// Sizes of the parts of a key, in bytes before hex encoding.
const (
	idBytes     = 8
	secretBytes = 32
)

// MaxNote is the maximum length of a key's note, in bytes.
const MaxNote = 200

const prefix = "gk1"

// A Key is the record of an API key. It does not contain the key itself.
type Key struct {
	Tenant    dag.Tenant
	ID        string // 16 lowercase hex digits
	Role      Role
	Admits    Scope    // which turns the key may admit, and which spaces it sees; zero: the default of the role
	Note      string   // the purpose of the key, as its creator described it; or ""
	Hash      [32]byte // SHA-256 of the key's text
	CreatedAt dag.Time
	RevokedAt dag.Time // 0: not revoked
}

// ErrUnavailable is wrapped when API keys cannot be looked up at the moment, for a reason that is not the caller's
// fault.
var ErrUnavailable = errors.New("keys cannot be looked up now")

// ErrKey is wrapped when the presented text is not a valid key.
var ErrKey = errors.New("no such API key")

// Mint draws a key. The text must be shown once and not be stored.
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

// Check returns an error for the first field that is malformed.
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
		return fmt.Errorf("%w: API key %s has the time of creation %d and of revocation %d; want times from 1970 to 9999", dag.ErrForm, k.ID, k.CreatedAt, k.RevokedAt)
	}
	if k.Hash == ([32]byte{}) {
		return fmt.Errorf("%w: API key %s has no hash", dag.ErrForm, k.ID)
	}
	return nil
}

// CheckID returns an error if an id is malformed. The error does not contain the id: it may be a whole key, pasted in
// the place of its id.
func CheckID(id string) error {
	if !isHex(id, 2*idBytes) {
		return fmt.Errorf("%w: the id of an API key has %d lowercase hex digits", dag.ErrForm, 2*idBytes)
	}
	return nil
}

// CheckNote returns an error if a note is malformed.
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

// A Presented key is a parsed key as a caller sent it. It contains neither the secret nor a reference to the memory of
// the secret. The zero value opens nothing.
type Presented struct {
	Tenant dag.Tenant
	ID     string
	hash   [32]byte
}

// Parse parses a key's text. The error wraps ErrKey and does not contain the text.
func Parse(text string) (Presented, error) {
	const most = len(prefix) + 1 + 63 + 1 + 2*idBytes + 1 + 2*secretBytes
	if len(text) > most {
		return Presented{}, fmt.Errorf("%w: it has %d characters, which is too long", ErrKey, len(text))
	}
	head, rest, _ := strings.Cut(text, ".")
	tenant, rest, _ := strings.Cut(rest, ".")
	id, secret, _ := strings.Cut(rest, ".")
	if head != prefix || !dag.IsLabel(tenant) || !isHex(id, 2*idBytes) || !isHex(secret, 2*secretBytes) {
		return Presented{}, fmt.Errorf("%w: want %s.TENANT.ID.SECRET", ErrKey, prefix)
	}
	// A substring keeps the whole string in memory; these parts are kept in maps and logs.
	names := tenant + id // a copy
	return Presented{
		Tenant: dag.Tenant(names[:len(tenant)]), ID: names[len(tenant):],
		hash: sha256.Sum256([]byte(text)),
	}, nil
}

// Opens reports, in constant time, whether the presented key is k. A revoked key opens nothing. The zero Key is never
// opened, not even by the zero Presented; the comparison with the zero Key takes as long as with any other key, so that
// timing does not reveal which ids exist.
func (p Presented) Opens(k *Key) bool {
	same := subtle.ConstantTimeCompare(p.hash[:], k.Hash[:]) == 1
	return same && k.RevokedAt == 0 && k.ID != "" && k.Tenant == p.Tenant && k.ID == p.ID
}

// Identity returns the identity of the key's holder.
func (k *Key) Identity() Identity {
	return Identity{Tenant: k.Tenant, Role: k.Role, Subject: k.ID, Admits: k.Admits}
}
