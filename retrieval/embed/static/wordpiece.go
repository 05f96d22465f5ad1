package static

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// longestWord bounds the characters of a word that is cut into pieces. A longer word has no pieces.
const longestWord = 100

// A vocabulary maps pieces to rows of the table.
type vocabulary struct {
	first, later map[string]int32 // pieces that begin a word, and other pieces without "##"
}

func newVocabulary(lines []string) *vocabulary {
	v := &vocabulary{first: make(map[string]int32, len(lines)), later: map[string]int32{}}
	for row, piece := range lines {
		if rest, ok := strings.CutPrefix(piece, "##"); ok {
			v.later[rest] = int32(row)
		} else {
			v.first[piece] = int32(row)
		}
	}
	return v
}

// rows calls fn with the row of each piece of a text, in order. A word that does not consist of known pieces has none.
//
// Source: Devlin et al., BERT, 2018: the uncased tokenizer, without its special tokens.
func (v *vocabulary) rows(text string, fn func(row int32)) {
	var pieces []int32
	for _, word := range words(text) {
		pieces = v.cut(pieces[:0], word)
		for _, row := range pieces {
			fn(row)
		}
	}
}

// cut appends the rows of a word's pieces. Each piece is the longest that fits. It appends none if part of the word is not a known piece.
func (v *vocabulary) cut(dst []int32, word string) []int32 {
	if len(word) > longestWord && utf8.RuneCountInString(word) > longestWord {
		return dst
	}
	known := v.first
	for begin := len(dst); word != ""; known = v.later {
		end := len(word)
		row, ok := known[word]
		for !ok && end > 0 {
			_, size := utf8.DecodeLastRuneInString(word[:end])
			end -= size
			row, ok = known[word[:end]]
		}
		if !ok {
			return dst[:begin]
		}
		dst, word = append(dst, row), word[end:]
	}
	return dst
}

// words returns a text's words in lower case and without accents. Each mark of punctuation and each Chinese character is a word.
func words(text string) []string {
	var found []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			found = append(found, word.String())
			word.Reset()
		}
	}
	for _, r := range norm.NFD.String(text) {
		switch {
		case unicode.IsSpace(r):
			end()
		case r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Mn):
		case isPunctuation(r) || isChinese(r):
			end()
			word.WriteRune(r)
			end()
		default:
			word.WriteRune(unicode.ToLower(r))
		}
	}
	end()
	return found
}

func isPunctuation(r rune) bool {
	return '!' <= r && r <= '/' || ':' <= r && r <= '@' || '[' <= r && r <= '`' || '{' <= r && r <= '~' || unicode.In(r, unicode.P)
}

func isChinese(r rune) bool {
	for _, block := range [...][2]rune{
		{0x4E00, 0x9FFF}, {0x3400, 0x4DBF}, {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF}, {0xF900, 0xFAFF}, {0x2F800, 0x2FA1F},
	} {
		if block[0] <= r && r <= block[1] {
			return true
		}
	}
	return false
}
