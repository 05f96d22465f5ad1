// Package said turns a text that somebody wants remembered into the statement that decides what gives way to it. It is pure.
//
// A text becomes one belief.Literal in one of three ways:
//
//	with a key     said#deploy-day said-key text:…        texts with the same key replace each other
//	by a slot      said#makefile said-indentation tabs    "use tabs in Makefiles" replaces "use spaces in Makefiles"
//	otherwise      said#<hash> said-so yes                only the negation of the same words replaces it: "never rebase", and then
//	                                                      "rebase" or "rebasing is fine"
//
// A slot is an attribute of which a thing has one value at a time; the table slots lists all of them. The words of a text that belong
// neither to the slot nor to its value are its topic, and texts with different topics never replace each other. A text that can be read
// in two ways, or whose words are not all understood, has no slot: a missed replacement costs a person one command, and a wrong one
// loses a memory.
//
// Texts are understood in English. A text in another language is replaced by the negation of its words at most, or by its key.
package said

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/normalize"
)

// MaxKey bounds the bytes of a key.
const MaxKey = 64

// maxText bounds the bytes of a text.
const maxText = 8 << 10

// The names of statements. The name of a slot follows the prefix of predicates.
const (
	subject   = "said"
	topical   = subject + "#" // and the topic, a key or a hash
	prefix    = "said-"
	soPred    = prefix + "so"
	keyPred   = prefix + "key"
	soObject  = "yes"
	hashStart = "sha256-" // of a hash that stands for a name that is not canonical
)

// Of returns the statement of a text. key, if not "", is the slot that the caller names, such as deploy-day: texts with the same key
// replace each other. The error wraps belief.ErrForm.
func Of(text, key string) (belief.Literal, error) {
	if err := check(text, key); err != nil {
		return belief.Literal{}, err
	}
	if key != "" {
		object, err := normalize.Text(text)
		if err != nil {
			return belief.Literal{}, fmt.Errorf("%w: %w", belief.ErrForm, err)
		}
		return belief.Literal{Subject: name(topical, key), Predicate: keyPred, Object: object}, nil
	}
	s := read(text)
	if l, ok := slotted(s); ok && !opens.MatchString(text) {
		return l, nil
	}
	bare := opens.ReplaceAllString(text, "")
	if l, ok := slotted(read(bare)); ok {
		return l, nil
	}
	if l, ok := corrected(bare); ok {
		return l, nil
	}
	return plain(s, text), nil
}

// Is reports whether a literal is the statement of a text, as Of returns it.
func Is(l belief.Literal) bool {
	return (l.Subject == subject || strings.HasPrefix(l.Subject, topical)) && strings.HasPrefix(l.Predicate, prefix)
}

// Functional returns the predicates, ascending, that allow one object for each subject. They belong into the constraints of every
// space that keeps statements of texts.
func Functional() []string {
	list := []string{keyPred}
	for i := range slots {
		list = append(list, prefix+slots[i].name)
	}
	slices.Sort(list)
	return list
}

func check(text, key string) error {
	switch {
	case len(text) > maxText:
		return fmt.Errorf("%w: a text of %d bytes, want at most %d: %.40q", belief.ErrForm, len(text), maxText, text)
	case !utf8.ValidString(text):
		return fmt.Errorf("%w: the text is not UTF-8: %.80q", belief.ErrForm, text)
	case strings.TrimSpace(text) == "":
		return fmt.Errorf("%w: the text is blank: %.40q", belief.ErrForm, text)
	case key != "" && !isKey(key):
		return fmt.Errorf("%w: key %.80q, want [a-z0-9][a-z0-9._-]{0,%d}", belief.ErrForm, key, MaxKey-1)
	}
	return nil
}

func isKey(s string) bool {
	for i := range len(s) {
		c := s[i]
		alphanumeric := 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
		if !alphanumeric && (i == 0 || c != '.' && c != '_' && c != '-') {
			return false
		}
	}
	return 0 < len(s) && len(s) <= MaxKey
}

// name returns start+s if it is a canonical name, and otherwise start and a hash of s, so that different strings have different names.
func name(start, s string) string {
	if n := start + s; len(s) <= 2*MaxKey && normalize.IsName(n) {
		return n
	}
	return start + hashStart + hash(s)
}

// object returns the name of a value. Spellings that differ in punctuation only, such as en-US and en_US, have the same name.
func object(value string) string {
	if n, err := normalize.Name(value); err == nil {
		return n
	}
	return hashStart + hash(value)
}

func hash(s string) string {
	digest := sha256.Sum256([]byte("said\x00" + s))
	return hex.EncodeToString(digest[:])
}
