package heldback

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/mac"
	"github.com/graphkernel/graphkernel/normalize"
)

// MinSecret is the least length of a secret, in bytes.
const MinSecret = 32

// MinWords is the least length of a text's normal form, in bytes, for the text
// alone to be recognised. Shorter texts, such as "go on", are too common.
const MinWords = 64

// A Digest is half an HMAC-SHA-256 under a Key. Without the key it reveals nothing of the text except whether another text is the same.
type Digest [16]byte

func (d Digest) String() string { return hex.EncodeToString(d[:]) }

func parseDigest(s string) (d Digest, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(d) || s != hex.EncodeToString(b) {
		return d, fmt.Errorf("%w: digest %.80q, want %d lowercase hex digits", dag.ErrForm, s, 2*len(d))
	}
	return Digest(b), nil
}

// A Key is the secret key of a tenant. Each tenant has its own, so digests of different tenants never match.
type Key [16]byte

// KeyOf derives a tenant's key from the secret of an installation, which is in no store.
func KeyOf(secret []byte, tenant dag.Tenant) (Key, error) {
	if len(secret) < MinSecret {
		return Key{}, fmt.Errorf("heldback: the secret has %d bytes, want at least %d", len(secret), MinSecret)
	}
	return Key(mac.Sum(secret, []byte("graphkernel/held-back/1 tenant\x00"+string(tenant)))), nil
}

func (k Key) sum(domain string, parts ...[]byte) Digest {
	message := append([]byte("graphkernel/held-back/1 "+domain), 0)
	for _, p := range parts {
		message = append(message, p...)
	}
	return Digest(mac.Sum(k[:], message))
}

// Name returns a digest that identifies the key and reveals nothing else of it.
func (k Key) Name() Digest { return k.sum("name") }

// Salt returns the salt of a turn that is held back. The salt is derived, so it
// need not be stored: the same turn has the same body digest each time it arrives.
func (k Key) Salt(turn dag.TurnID) dag.Salt { return dag.Salt(k.sum("salt", turn[:])) }

// A Text is the part of a turn's text that is compared. The zero value is a text without words.
type Text struct {
	Digest Digest // of the normal form
	Long   bool   // the normal form has at least MinWords bytes
}

// None reports whether the text has no words.
func (t Text) None() bool { return t.Digest == Digest{} }

// Of returns the Text of a turn's content.
func (k Key) Of(content string) Text {
	words := normalize.Words(content)
	if words == "" {
		return Text{}
	}
	return Text{Digest: k.sum("text", []byte(words)), Long: len(words) >= MinWords}
}

// A Rule is the reason why a text counts as an erased one.
type Rule string

// The rules, in the order in which they are tried.
const (
	ByPlace Rule = "place" // the same text of the same role at the same instant: a copy of a session keeps these under any name
	ByReply Rule = "reply" // the same text as a reply to the same text
	ByWords Rule = "words" // the same text of at least MinWords bytes
)

// A Mark is a digest by which a text is recognised.
type Mark struct {
	Rule   Rule
	Digest Digest
}

// Marks returns the marks of a text: each mark once, in the order of the rules. The time at is
// when the turn was created, 0 if unknown; before contains the texts of the turn's parents.
func (k Key) Marks(t Text, role dag.Role, at dag.Time, before []Text) (marks []Mark) {
	if t.None() {
		return nil
	}
	if at != 0 {
		marks = append(marks, Mark{ByPlace, k.sum("place", []byte(role.String()), []byte{0}, binary.BigEndian.AppendUint64(nil, uint64(at)), t.Digest[:])})
	}
	seen := map[Digest]bool{}
	for _, b := range before {
		if !b.None() && !seen[b.Digest] {
			seen[b.Digest] = true
			marks = append(marks, Mark{ByReply, k.sum("reply", b.Digest[:], t.Digest[:])})
		}
	}
	if t.Long {
		marks = append(marks, Mark{ByWords, k.sum("words", t.Digest[:])})
	}
	return marks
}
