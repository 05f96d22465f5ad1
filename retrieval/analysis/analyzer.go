package analysis

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
	"github.com/kljensen/snowball/english"
	"golang.org/x/text/unicode/norm"
)

// MaxTerm bounds the bytes of a term. A longer word or identifier is not a term, but its parts may be.
const MaxTerm = 64

// An Analyzer makes terms from texts. The zero Analyzer is not valid.
type Analyzer struct {
	name string
	stem func(word string) string // returns the term of a word in lower case; "" if it has none
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

// Of returns the analyzer with a name. It panics if the name is not in Names.
func Of(name string) Analyzer {
	for _, a := range All() {
		if a.name == name {
			return a
		}
	}
	panic("analysis: there is no analyzer " + name)
}

// String returns the name.
func (a Analyzer) String() string { return a.name }

// A Piece is a word of a text, or a whole with parts, such as a path, in lower case.
type Piece struct {
	Text  string // at most MaxTerm bytes; it may share the memory of the text
	Whole bool
}

// Terms appends the terms of a text in order, each as often as it occurs.
func (a Analyzer) Terms(dst []string, text string) []string {
	for p := range Pieces(text) {
		if term := a.Term(p); term != "" {
			dst = append(dst, term)
		}
	}
	return dst
}

// Term returns the term of a piece; "" if it has none.
func (a Analyzer) Term(p Piece) string {
	if p.Whole {
		return p.Text
	}
	return a.stem(p.Text)
}

// Pieces yields the pieces of a text in order, each as often as it occurs.
func Pieces(text string) iter.Seq[Piece] {
	return func(yield func(Piece) bool) {
		for chunk := range strings.FieldsFuncSeq(norm.NFC.String(text), unicode.IsSpace) {
			chunk = strings.TrimFunc(chunk, isEdge)
			more := true
			switch {
			case isPlain(chunk):
				more = one(Piece{strings.ToLower(chunk), false}, yield)
			case isCompound(chunk):
				more = compound(chunk, yield)
			default:
				more = wordsOf(chunk, yield)
			}
			if !more {
				return
			}
		}
	}
}

// one yields a piece unless it is too long, and reports whether to go on.
func one(p Piece, yield func(Piece) bool) bool { return len(p.Text) > MaxTerm || yield(p) }

// A Span is the position of a word in a text, in bytes.
type Span struct{ From, To int }

// Words returns the positions of the words of a text (UAX 29).
func Words(text string) (spans []Span) {
	for cut := words.FromString(text); cut.Next(); {
		if isWord(cut.Value()) {
			spans = append(spans, Span{cut.Start(), cut.End()})
		}
	}
	return spans
}

// wordsOf yields the words of a part of a text, and reports whether to go on.
func wordsOf(text string, yield func(Piece) bool) bool {
	for cut := words.FromString(text); cut.Next(); {
		if w := cut.Value(); isWord(w) && !one(Piece{strings.ReplaceAll(strings.ToLower(w), "\u2019", "'"), false}, yield) {
			return false
		}
	}
	return true
}

// compound yields an identifier, a path or a version as a whole and then its parts, and reports whether to go on.
func compound(chunk string, yield func(Piece) bool) bool {
	if len(chunk) <= MaxTerm && !yield(Piece{strings.ToLower(chunk), true}) {
		return false
	}
	for part := range strings.FieldsFuncSeq(chunk, isJoint) {
		for _, w := range humps(part) {
			if !wordsOf(w, yield) {
				return false
			}
		}
	}
	return true
}

// isPlain reports whether a piece of text is one word of ASCII letters with no capital except perhaps the first. Most pieces are, and need no
// further examination.
func isPlain(chunk string) bool {
	for i := range len(chunk) {
		if c := chunk[i]; (c < 'a' || c > 'z') && (i > 0 || c < 'A' || c > 'Z') {
			return false
		}
	}
	return chunk != ""
}

// isEdge reports whether a character is ignored at either end of a piece of text.
func isEdge(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }

// isJoint reports whether a character joins the parts of an identifier, a path or a version.
func isJoint(r rune) bool { return strings.ContainsRune("/\\._-:@#=+", r) }

// isCompound reports whether a piece of text is a whole with parts: it has joints between letters or digits, or
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
