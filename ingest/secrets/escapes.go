package secrets

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// escapedLevels is how many levels of strings are unescaped: a call's arguments may contain a program, which contains a string.
const escapedLevels = 3

// A view is a text after its strings were unescaped.
type view struct {
	text string
	at   []int32 // the position in the original text, for each byte of text and for its end
}

// views returns a text with one level of escapes removed, with two levels, and so on, up to escapedLevels, as long as there are
// escapes.
func views(text string) (list []view) {
	now := view{text: text}
	for range escapedLevels {
		next, ok := now.unescape()
		if !ok {
			break
		}
		list = append(list, next)
		now = next
	}
	return list
}

// unescape replaces each JSON escape, also outside of strings: text outside of strings may then be misread, but a finding still
// needs a rule that matches. It returns false if there is no escape.
func (v *view) unescape() (next view, ok bool) {
	first := strings.IndexByte(v.text, '\\')
	if first < 0 {
		return next, false
	}
	var b strings.Builder
	b.Grow(len(v.text))
	next.at = make([]int32, 0, len(v.text)+1)
	for i := 0; i < len(v.text); {
		if plain := strings.IndexByte(v.text[i:], '\\'); plain != 0 {
			if plain < 0 {
				plain = len(v.text) - i
			}
			b.WriteString(v.text[i : i+plain])
			for range plain {
				next.at = append(next.at, v.from(i))
				i++
			}
			continue
		}
		char, n := v.text[i:i+1], 1
		if c, length := escape(v.text[i:]); length > 0 {
			char, n, ok = c, length, true
		}
		b.WriteString(char)
		for range len(char) {
			next.at = append(next.at, v.from(i))
		}
		i += n
	}
	next.at = append(next.at, v.from(len(v.text)))
	next.text = b.String()
	return next, ok
}

// from returns the position of a byte of the view in the original text.
func (v *view) from(i int) int32 {
	if v.at == nil {
		return int32(i)
	}
	return v.at[i]
}

// escapes maps the letter of an escape to its character.
var escapes = [256]string{'n': "\n", 'r': "\r", 't': "\t", '"': `"`, '\\': `\`, '/': "/"}

// escape reads the escape at the start of a text. It returns the character and the length of the escape; the length is 0 if
// there is none.
func escape(text string) (char string, length int) {
	if len(text) < 2 {
		return "", 0
	}
	if char := escapes[text[1]]; char != "" {
		return char, 2
	}
	if text[1] != 'u' || len(text) < 6 {
		return "", 0
	}
	n, err := strconv.ParseUint(text[2:6], 16, 16)
	if err != nil {
		return "", 0
	}
	return string(utf8.AppendRune(nil, rune(n))), 6 // half of a surrogate pair becomes U+FFFD, which occurs in no secret
}

// came converts the positions of candidates in the view to positions in the original text.
func (v *view) came(list []candidate) []candidate {
	for i := range list {
		list[i].start, list[i].end = int(v.at[list[i].start]), int(v.at[list[i].end])
	}
	return list
}
