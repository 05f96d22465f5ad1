package normalize

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A Type is the type of a literal. A literal is a name TYPE:VALUE in which every byte counts.
type Type string

// The types of literals.
const (
	Branch       Type = "branch"       // of git
	Command      Type = "cmd"          // the command as it was typed
	Commit       Type = "commit"       // a hash, or its known beginning
	Conversation Type = "conversation" // its id
	File         Type = "file"         // its path
	Package      Type = "pkg"          // ECOSYSTEM:NAME
	Test         Type = "test"         // the name that its runner uses
	TextType     Type = "text"         // see Text
	Turn         Type = "turn"         // its id
	URL          Type = "url"
	Version      Type = "version" // a version as it was written
)

var types = [...]Type{Branch, Command, Commit, Conversation, File, Package, Test, TextType, Turn, URL, Version}

// Types returns all types, ascending.
func Types() []Type { return slices.Clone(types[:]) }

// MaxText bounds the bytes of the input of [Text].
const MaxText = 64 << 10

// EmptyText is the name of the empty text.
const EmptyText = "text:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// Text returns the name of a text: "text:" and the SHA-256 of the text in NFC, without the
// white space around it. Two texts have the same name only if they do not differ otherwise. A
// text may be empty, and has at most MaxText bytes. The error wraps ErrForm.
func Text(s string) (string, error) {
	if len(s) > MaxText {
		return "", fmt.Errorf("%w: a text of %d bytes, at most %d: %.40q", ErrForm, len(s), MaxText, s)
	}
	if !utf8.ValidString(s) {
		return "", fmt.Errorf("%w: the text is not UTF-8: %.80q", ErrForm, s)
	}
	digest := sha256.Sum256([]byte(norm.NFC.String(strings.TrimSpace(s))))
	return string(TextType) + ":" + hex.EncodeToString(digest[:]), nil
}

// IsText reports whether a canonical name is the name of a text.
func IsText(name string) bool { return strings.HasPrefix(name, string(TextType)+":") }

// Literal returns the name TYPE:VALUE. The error wraps ErrForm if there is no such literal.
func Literal(t Type, value string) (string, error) {
	name, ok, err := literal(string(t) + ":" + value)
	if err == nil && !ok {
		err = fmt.Errorf("%w: %.80q is not a literal of the type %s", ErrForm, value, t)
	}
	return name, err
}

// Split splits a literal into its type and value. ok is false for every other name.
func Split(name string) (t Type, value string, ok bool) {
	before, value, found := strings.Cut(name, ":")
	t = Type(before)
	if !found || !slices.Contains(types[:], t) {
		return "", "", false
	}
	if first, _ := utf8.DecodeRuneInString(value); t != TextType && (value == "" || unicode.IsSpace(first)) {
		return "", "", false
	}
	return t, value, true
}

// literal returns the canonical form of a name that is written as a literal, or that looks
// like a path or a URL. ok is false for every other name.
func literal(s string) (name string, ok bool, err error) {
	t, value, ok := Split(s)
	switch {
	case ok && t == TextType:
		if !isDigest(value) {
			s, err = Text(value)
		}
		return s, err == nil, err
	case !ok:
		s = strings.TrimSpace(s)
		switch {
		case strings.ContainsFunc(s, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }):
			return "", false, nil
		case looksLikeURL(s):
			s = string(URL) + ":" + s
		case looksLikePath(s):
			s = string(File) + ":" + s
		default:
			return "", false, nil
		}
	}
	switch {
	case len(s) > MaxName:
		return "", false, fmt.Errorf("%w: a literal of %d bytes, at most %d: %.40q", ErrForm, len(s), MaxName, s)
	case !utf8.ValidString(s):
		return "", false, fmt.Errorf("%w: the literal is not UTF-8: %.80q", ErrForm, s)
	case strings.ContainsRune(s, 0):
		return "", false, fmt.Errorf("%w: the literal contains U+0000: %.80q", ErrForm, s)
	}
	return s, true, nil
}

// looksLikePath reports whether a name without white space begins as only a path does.
func looksLikePath(s string) bool {
	for _, prefix := range [...]string{"/", "./", "../", "~/"} {
		if len(s) > len(prefix) && strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return len(s) > 3 && isASCIILetter(s[0]) && s[1] == ':' && (s[2] == '\\' || s[2] == '/') && s[3] != '/' // a path of Windows
}

// looksLikeURL reports whether a name without white space begins with SCHEME:// and has
// more after it.
func looksLikeURL(s string) bool {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || rest == "" || len(scheme) < 2 || !isASCIILetter(scheme[0]) {
		return false
	}
	return !strings.ContainsFunc(scheme, func(c rune) bool {
		return c >= utf8.RuneSelf || !isASCIILetter(byte(c)) && !isDigit(c) && !strings.ContainsRune("+-.", c)
	})
}

func isASCIILetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigest(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}
