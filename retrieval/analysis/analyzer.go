package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
	"github.com/kljensen/snowball/english"
	"golang.org/x/text/unicode/norm"
)

// MaxTerm bounds the bytes of a term. A longer word or identifier is no term; its parts are.
const MaxTerm = 64

// An Analyzer makes terms of texts. The zero Analyzer is not one.
type Analyzer struct {
	name string
	stem func(word string) string // of a word in lower case; "" if it is none
}

// The analyzers.
var (
	English = Analyzer{"english", stemEnglish}                           // Porter2 stems, without words of grammar
	None    = Analyzer{"none", func(word string) string { return word }} // words as they are, for texts of several languages
)

func stemEnglish(word string) string {
	if stopWords[word] {
		return ""
	}
	return english.Stem(word, true)
}

// All returns the analyzers.
func All() []Analyzer { return []Analyzer{English, None} }

// Names returns the names of the analyzers.
func Names() (names []string) {
	for _, a := range All() {
		names = append(names, a.name)
	}
	return names
}

// String returns the name.
func (a Analyzer) String() string { return a.name }

const maxRemembered = 1 << 16

// Remembering returns the same analyzer with a memory for the terms of words, which take most of the time. The memory holds words of
// the texts that the analyzer was given, and up to 65 536 of them. The analyzer must not be used by two goroutines at once.
func (a Analyzer) Remembering(memory map[string]string) Analyzer {
	stem := a.stem
	a.stem = func(word string) string {
		s, ok := memory[word]
		if !ok {
			if len(memory) >= maxRemembered {
				clear(memory)
			}
			word = strings.Clone(word) // which may be a part of a text
			s = stem(word)
			memory[word] = s
		}
		return s
	}
	return a
}

// Terms appends the terms of a text, in its order, each as often as it occurs.
func (a Analyzer) Terms(dst []string, text string) []string {
	for chunk := range strings.FieldsFuncSeq(norm.NFC.String(text), unicode.IsSpace) {
		chunk = strings.TrimFunc(chunk, isEdge)
		switch {
		case isPlain(chunk):
			dst = a.term(dst, strings.ToLower(chunk))
		case isCompound(chunk):
			dst = a.compound(dst, chunk)
		default:
			dst = a.words(dst, chunk)
		}
	}
	return dst
}

// A Span is where a word is in a text, in bytes.
type Span struct{ From, To int }

// Words returns where the words of a text are (UAX 29).
func Words(text string) (spans []Span) {
	for cut := words.FromString(text); cut.Next(); {
		if isWord(cut.Value()) {
			spans = append(spans, Span{cut.Start(), cut.End()})
		}
	}
	return spans
}

// words appends the words of a piece of text.
func (a Analyzer) words(dst []string, text string) []string {
	for cut := words.FromString(text); cut.Next(); {
		if w := cut.Value(); isWord(w) {
			dst = a.term(dst, strings.ReplaceAll(strings.ToLower(w), "\u2019", "'"))
		}
	}
	return dst
}

// term appends the term of a word in lower case, unless it has none or is too long.
func (a Analyzer) term(dst []string, word string) []string {
	if len(word) > MaxTerm {
		return dst
	}
	if stem := a.stem(word); stem != "" {
		dst = append(dst, stem)
	}
	return dst
}

// compound appends what is written in one piece as a whole, and its parts.
func (a Analyzer) compound(dst []string, chunk string) []string {
	if len(chunk) <= MaxTerm {
		dst = append(dst, strings.ToLower(chunk))
	}
	for part := range strings.FieldsFuncSeq(chunk, isJoint) {
		for _, w := range humps(part) {
			dst = a.words(dst, w)
		}
	}
	return dst
}

// isPlain reports whether a piece of text is one word of ASCII letters, of which the first alone may be a capital. Most are, and need not be looked at
// more closely.
func isPlain(chunk string) bool {
	for i := range len(chunk) {
		if c := chunk[i]; (c < 'a' || c > 'z') && (i > 0 || c < 'A' || c > 'Z') {
			return false
		}
	}
	return chunk != ""
}

// isEdge reports whether a character does not count at either end of a piece of text.
func isEdge(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }

// isJoint reports whether a character joins the parts of an identifier, a path or a version.
func isJoint(r rune) bool { return strings.ContainsRune("/\\._-:@#=+", r) }

// isCompound reports whether a piece of text is one thing that has parts: joints between letters or digits, or
// capitals within a word.
func isCompound(chunk string) bool {
	if strings.ContainsFunc(chunk, isJoint) {
		return !strings.ContainsFunc(chunk, func(r rune) bool { return isEdge(r) && !isJoint(r) })
	}
	return len(humps(chunk)) > 1
}

// humps cuts a word where a small letter is followed by a capital, and where capitals end in a word of their
// own: HTTPServer is HTTP and Server.
func humps(word string) (parts []string) {
	from := 0
	runes := []rune(word)
	at := 0
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || unicode.IsUpper(runes[i-1]) && i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			parts = append(parts, word[from:at])
			from = at
		}
		at += utf8.RuneLen(r)
	}
	return append(parts, word[from:])
}

// isWord reports whether a piece between two boundaries has a letter or a digit.
func isWord(w string) bool {
	return strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}
