package dag

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
)

// Limits on a turn's body (GKP/1, section 2.2).
const (
	MaxAuthor    = 128     // bytes
	MaxContent   = 8 << 20 // bytes
	MaxAttrs     = 32      // pairs
	MaxAttrValue = 1024    // bytes
	MaxParents   = 10_000  // edges of one turn; this limit is the kernel's own
)

// A Turn is the part of an admitted turn that is kept for ever: everything except its text. The turn's leaf hash covers
// all fields.
type Turn struct {
	ID           TurnID
	Conversation ConversationID
	Role         Role
	Phase        Phase
	Salience     PPM
	CreatedAt    Time
	BodyDigest   Digest // of the Body, keyed with its salt
}

// A Body is the part of a turn that can be withheld or erased. BodyDigest
// covers all of it; the salt is the key.
type Body struct {
	Author  string            // who spoke: up to 128 bytes of printable ASCII
	Content string            // any valid UTF-8, never normalised, up to 8 MiB
	Attrs   map[string]string // up to 32 pairs
	Salt    Salt
}

// An Edge says that Child continues from Parent. At most one edge joins two turns.
type Edge struct {
	Parent, Child TurnID
	Kind          EdgeKind
}

// A Parent is an edge as the child's draft lists it.
type Parent struct {
	ID   TurnID
	Kind EdgeKind
}

// A Text is a text that a caller submits in something other than a turn.
type Text struct {
	In   string // the place of the text, such as "task" or "acts[2].object"
	Name string // the name of the thing whose value the text is, such as a fact's predicate; or ""
	Text string
	Told bool // agents will be told the text without asking for it: it is remembered
}

// A Draft is a turn before admission: an importer or a client submits it, and the kernel fills in the fields that may
// be absent.
type Draft struct {
	ID           TurnID
	Conversation ConversationID
	Parents      []Parent
	Role         Role
	Phase        Phase // zero: the rules assign it
	Salience     PPM   // meaningful only with HasSalience
	HasSalience  bool  // false: the rules assign the salience
	CreatedAt    Time
	Author       string
	Content      string
	Attrs        map[string]string
	Salt         *Salt // nil: drawn at random

	// Channel is the channel by which the turn comes in; 0: that of the caller who admits it. What a credential admits keeps the credential's
	// channel, unless this is ChannelAgent. Nothing that is parsed sets it.
	Channel Channel

	// Redacted says that the body is withheld: the draft has only its digest, and Author, Content, Attrs and Salt are
	// empty. Thus an export can include an erased turn, and its children keep their parent.
	Redacted   bool
	BodyDigest Digest // meaningful only with Redacted
}

// Check returns an error for the first part of the body that GKP/1 does not allow.
func (b *Body) Check() error {
	if len(b.Author) > MaxAuthor {
		return fmt.Errorf("%w: author has %d bytes, at most %d", ErrForm, len(b.Author), MaxAuthor)
	}
	for i := 0; i < len(b.Author); i++ {
		if c := b.Author[i]; c < 0x20 || c > 0x7e {
			return fmt.Errorf("%w: author %q holds a character that is not printable ASCII", ErrForm, clip(b.Author))
		}
	}
	if len(b.Content) > MaxContent {
		return fmt.Errorf("%w: content has %d bytes, at most %d", ErrForm, len(b.Content), MaxContent)
	}
	if !utf8.ValidString(b.Content) {
		return fmt.Errorf("%w: content is not valid UTF-8", ErrForm)
	}
	if len(b.Attrs) > MaxAttrs {
		return fmt.Errorf("%w: %d attrs, at most %d", ErrForm, len(b.Attrs), MaxAttrs)
	}
	for _, key := range slices.Sorted(maps.Keys(b.Attrs)) {
		if err := checkAttr(key, b.Attrs[key]); err != nil {
			return err
		}
	}
	return nil
}

// IsAttrKey reports whether s has the form [a-z0-9][a-z0-9_.-]{0,63}.
func IsAttrKey(s string) bool {
	if s == "" || len(s) > 64 || !isLowerAlnum(s[0]) {
		return false
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; !isLowerAlnum(c) && c != '_' && c != '.' && c != '-' {
			return false
		}
	}
	return true
}

func checkAttr(key, value string) error {
	if !IsAttrKey(key) {
		return fmt.Errorf("%w: attr key %q, want [a-z0-9][a-z0-9_.-]{0,63}", ErrForm, clip(key))
	}
	if len(value) > MaxAttrValue {
		return fmt.Errorf("%w: attr %q has %d bytes, at most %d", ErrForm, key, len(value), MaxAttrValue)
	}
	if !utf8.ValidString(value) {
		return fmt.Errorf("%w: attr %q is not valid UTF-8", ErrForm, key)
	}
	for i := 0; i < len(value); i++ {
		if value[i] < 0x20 {
			return fmt.Errorf("%w: attr %q holds a control character %q", ErrForm, key, value[i])
		}
	}
	return nil
}

// Check returns an error for the first part of the turn that GKP/1 does not allow.
func (t *Turn) Check() error {
	switch {
	case t.Role.String() == "":
		return fmt.Errorf("%w: turn %s has no role", ErrForm, t.ID)
	case t.Phase.String() == "":
		return fmt.Errorf("%w: turn %s has no phase", ErrForm, t.ID)
	case t.Salience > One:
		return fmt.Errorf("%w: turn %s has salience above 1", ErrForm, t.ID)
	case !t.CreatedAt.Valid():
		return fmt.Errorf("%w: turn %s was created outside the years 1970 to 9999", ErrForm, t.ID)
	}
	return nil
}
