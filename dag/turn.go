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
	MaxParents   = 10_000  // edges given with one turn: the kernel's own bound
)

// A Turn is what remains of an admitted turn for ever: everything but its text.
// All fields are under the turn's leaf hash.
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

// An Edge says that Child continues from Parent. At most one joins two turns.
type Edge struct {
	Parent, Child TurnID
	Kind          EdgeKind
}

// A Parent is an edge as it is given with the child.
type Parent struct {
	ID   TurnID
	Kind EdgeKind
}

// A Text is what a caller brings beside turns.
type Text struct {
	In   string // where it is, such as "task" or "acts[2].object"
	Name string // what it is a value of, such as the predicate of a fact; or ""
	Text string
}

// A Draft is a turn on its way in: what an importer or a client hands over
// before the kernel has filled in what may be absent.
type Draft struct {
	ID           TurnID
	Conversation ConversationID
	Parents      []Parent
	Role         Role
	Phase        Phase // zero: to be assigned by rules
	Salience     PPM   // meaningful only with HasSalience
	HasSalience  bool  // false: to be assigned by rules
	CreatedAt    Time
	Author       string
	Content      string
	Attrs        map[string]string
	Salt         *Salt // nil: to be drawn at random

	// Redacted says that the body is withheld: only its digest is given, and
	// Author, Content, Attrs and Salt are empty. So an export can carry an
	// erased turn, and its children keep their parent.
	Redacted   bool
	BodyDigest Digest // meaningful only with Redacted
}

// Check reports the first thing about the body that GKP/1 does not allow.
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

// Check reports the first thing about the turn that GKP/1 does not allow.
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
