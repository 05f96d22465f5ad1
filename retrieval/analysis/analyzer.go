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
	stem func(word string) string
	stop map[string]bool
}

// The analyzers.
var (
	English = Analyzer{"english", func(w string) string { return english.Stem(w, true) }, stopWords} // Porter2 stems, without words of grammar
	None    = Analyzer{"none", func(w string) string { return w }, nil}                              // words as they are, for texts of several languages
)

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

// Terms appends the terms of a text, in its order, each as often as it occurs.
func (a Analyzer) Terms(dst []string, text string) []string {
	for chunk := range strings.FieldsFuncSeq(norm.NFC.String(text), unicode.IsSpace) {
		chunk = strings.TrimFunc(chunk, isEdge)
		if isCompound(chunk) {
			dst = a.compound(dst, chunk)
			continue
		}
		dst = a.words(dst, chunk)
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
			dst = a.term(dst, strings.ToLower(w))
		}
	}
	return dst
}

// term appends the term of a word in lower case, unless it is a word of grammar or too long.
func (a Analyzer) term(dst []string, word string) []string {
	word = strings.ReplaceAll(word, "\u2019", "'")
	if a.stop[word] || len(word) > MaxTerm {
		return dst
	}
	return append(dst, a.stem(word))
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
