package normalize

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// A Rule makes the canonical form of names. Names are stored together with the rule that formed them.
// The zero Rule is V1.
type Rule uint8

// The rules. The package comment describes both.
const (
	V1 Rule = 0
	V2 Rule = 1
)

// Newest is the rule that [Name] applies.
const Newest = V2

// String returns the name of the rule.
func (r Rule) String() string {
	if r == V1 {
		return "normalize/1"
	}
	return "normalize/2"
}

// ParseRule reads the name of a rule. The error wraps ErrForm.
func ParseRule(s string) (Rule, error) {
	for _, r := range [...]Rule{V1, V2} {
		if s == r.String() {
			return r, nil
		}
	}
	return 0, fmt.Errorf("%w: rule %.40q, want %s or %s", ErrForm, s, V1, V2)
}

// MaxName bounds the bytes of a name, before and after it is normalized. Only the input of [Text]
// may be longer.
const MaxName = 2048

// ErrEmpty is wrapped if a name is empty after it was normalized.
var ErrEmpty = errors.New("nothing is left of the name")

// ErrForm is wrapped if input is malformed: a name that is too long or not UTF-8, a list
// that cannot be read.
var ErrForm = errors.New("bad form")

// Name returns the canonical form of a name under the newest rule. It takes linear time, and
// returns a canonical ASCII name unchanged, without allocation. Errors wrap ErrEmpty or ErrForm
// and contain the beginning of the name.
func Name(s string) (string, error) { return Newest.Name(s) }

// Name returns the canonical form of a name under a rule, as [Name] does.
func (r Rule) Name(s string) (string, error) {
	if isFormed(s) && len(s) <= MaxName {
		return s, nil // canonical under both rules
	}
	form := formV1
	if r == V2 {
		if name, ok, err := literal(s); ok || err != nil {
			return name, err
		}
		form = formV2
	}
	if len(s) > MaxName {
		return "", fmt.Errorf("%w: a name of %d bytes, at most %d: %.40q", ErrForm, len(s), MaxName, s)
	}
	name, err := form(s)
	if err == nil && name == "" {
		err = fmt.Errorf("%w: %.80q", ErrEmpty, s)
	}
	return name, err
}

// IsName reports whether a string is canonical under the newest rule. A string that is canonical
// under an earlier rule is, too.
func IsName(s string) bool { return Newest.IsName(s) }

// IsName reports whether a string is canonical under the rule.
func (r Rule) IsName(s string) bool {
	name, err := r.Name(s)
	return err == nil && name == s
}

// formV1 applies normalize/1. The result may be empty.
func formV1(s string) (string, error) {
	if name, ascii := asciiName(s); ascii {
		return name, nil
	}
	return wideName(s)
}

// A class says how a rule treats a character.
type class uint8

const (
	separator class = iota // ends a word
	inner                  // + and #: stays, except where a word would begin with it
	mark                   // stays, except where a word would begin with it; does not end a word
	letter                 // stays; every other character
	upper                  // an ASCII capital: stays, in lower case
)

// asciiClass is the class of each ASCII character.
var asciiClass = func() (t [utf8.RuneSelf]class) {
	for c := range t {
		switch {
		case 'A' <= c && c <= 'Z':
			t[c] = upper
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '$':
			t[c] = letter
		case c == '+', c == '#':
			t[c] = inner
		}
	}
	return t
}()

// asciiName applies normalize/1 to an ASCII name. ok is false if s is not ASCII.
func asciiName(s string) (name string, ok bool) {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return "", false
		}
	}
	b := make([]byte, 0, len(s))
	begins := true // the next character begins a word
	for i := range len(s) {
		c := s[i]
		what := asciiClass[c]
		if what == separator || what == inner && begins {
			begins = true
			continue
		}
		if begins && len(b) > 0 {
			b = append(b, '-')
		}
		begins = false
		if what == upper {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return string(b), true
}

// isFormed reports whether s is ASCII and canonical under normalize/1, and so under every rule.
func isFormed(s string) bool {
	begins := true
	for i := range len(s) {
		c := s[i]
		if c >= utf8.RuneSelf {
			return false
		}
		switch what := asciiClass[c]; {
		case what == letter, what == inner && !begins:
			begins = false
		case c == '-' && !begins:
			begins = true
		default:
			return false
		}
	}
	return !begins
}

// wideName applies normalize/1 to any name.
func wideName(s string) (string, error) {
	folded, err := fold(s)
	if err != nil {
		return "", err
	}
	b := make([]byte, 0, len(folded))
	begins := true
	for _, c := range folded {
		switch what := classOf(c); {
		case what == separator, what == inner && begins:
			begins = true
			continue
		case what == mark && begins:
			continue
		}
		if begins && len(b) > 0 {
			b = append(b, '-')
		}
		begins = false
		b = utf8.AppendRune(b, c)
	}
	if len(b) > MaxName {
		return "", fmt.Errorf("%w: the normalized name has %d bytes, at most %d: %.40q", ErrForm, len(b), MaxName, s)
	}
	return string(b), nil
}

func classOf(c rune) class {
	if c < utf8.RuneSelf {
		return asciiClass[c]
	}
	switch {
	case unicode.IsSpace(c), unicode.IsPunct(c), unicode.IsControl(c):
		return separator
	case unicode.IsMark(c):
		return mark
	}
	return letter
}

// joiner is U+034F. Package norm inserts it after 30 marks in a row.
const joiner = "\u034f"

// fold applies steps 2 and 3. No text is known to need more than one round, but fold checks
// that the result is a fixed point instead of relying on the tables of other packages.
func fold(s string) (string, error) {
	const rounds = 8
	if !utf8.ValidString(s) {
		return "", fmt.Errorf("%w: the name is not UTF-8: %.80q", ErrForm, s)
	}
	caser := cases.Fold()
	for range rounds {
		next := norm.NFKC.String(strings.Map(shape, s))
		next = strings.Map(cherokee, caser.String(next))
		next = norm.NFKC.String(next)
		if strings.Contains(next, joiner) {
			return "", fmt.Errorf("%w: a character of the name has more than 30 marks: %.80q", ErrForm, s)
		}
		if next == s {
			return s, nil
		}
		s = next
	}
	return "", fmt.Errorf("%w: the name has no stable normalized form: %.80q", ErrForm, s)
}

// cherokee folds small letters to capitals, as Unicode does for this one script.
// cases.Fold exchanges the two instead.
func cherokee(c rune) rune {
	switch {
	case 0xAB70 <= c && c <= 0xABBF:
		return c - 0xAB70 + 0x13A0
	case 0x13F8 <= c && c <= 0x13FD:
		return c - 8
	}
	return c
}

// shape drops characters without a shape: the default ignorable code points of Unicode. Most
// have category Cf, but some signs of this category are visible: those before Arabic and Syriac
// numbers and those between hieroglyphs.
func shape(c rune) rune {
	switch {
	case c < 0xAD:
		return c
	case unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c), unicode.Is(unicode.Variation_Selector, c):
		return -1
	case unicode.Is(unicode.Prepended_Concatenation_Mark, c), 0x13430 <= c && c <= 0x13440:
		return c
	case unicode.Is(unicode.Cf, c):
		return -1
	}
	return c
}
