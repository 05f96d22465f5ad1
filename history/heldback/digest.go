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

// MinWords is the least length of a text's normal form, in bytes, by which the text alone is recognised. A shorter one, such as "go on", is said too
// often.
const MinWords = 64

// A Digest is half an HMAC-SHA-256 under a Key. Without the key it says nothing of the text, except that two digests of the same are the same.
type Digest [16]byte

func (d Digest) String() string { return hex.EncodeToString(d[:]) }

func parseDigest(s string) (d Digest, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(d) || s != hex.EncodeToString(b) {
		return d, fmt.Errorf("%w: digest %.80q, want %d lowercase hex digits", dag.ErrForm, s, 2*len(d))
	}
	return Digest(b), nil
}

// A Key is a tenant's. Each tenant has a key of its own, so that no tenant's digests match those of another.
type Key [16]byte

// KeyOf derives a tenant's key from the secret of an installation, which is never in a store.
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

// Name returns what tells the key from others, and nothing else of it.
func (k Key) Name() Digest { return k.sum("name") }

// Salt returns the salt of a turn that is held back. Being derived, it need not be kept: the same turn has the same body digest each time it comes.
func (k Key) Salt(turn dag.TurnID) dag.Salt { return dag.Salt(k.sum("salt", turn[:])) }

// A Text is a turn's text, as far as it is compared. The zero value is that of a turn without words.
type Text struct {
	Digest Digest // of the normal form
	Long   bool   // it has at least MinWords bytes
}

// None reports whether there are no words.
func (t Text) None() bool { return t.Digest == Digest{} }

// Of returns what is compared of a text.
func (k Key) Of(content string) Text {
	words := normalize.Words(content)
	if words == "" {
		return Text{}
	}
	return Text{Digest: k.sum("text", []byte(words)), Long: len(words) >= MinWords}
}

// A Rule is why a text counts as the one that was erased.
type Rule string

// The rules, in the order in which they are tried.
const (
	ByPlace Rule = "place" // the same text of the same role at the same instant: what a copy of a session keeps under whatever name
	ByReply Rule = "reply" // the same text after the same text
	ByWords Rule = "words" // the same text of at least MinWords bytes
)

// A Mark is a digest by which a text is recognised.
type Mark struct {
	Rule   Rule
	Digest Digest
}

// Marks returns the marks of a text: each mark once, in the order of the rules. At is when the turn was created; 0 is not known. Before are the texts of the turn's parents.
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
