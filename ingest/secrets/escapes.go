package secrets

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// escapedLevels is how deep texts are looked for in the strings of JSON and of programs: a call's arguments hold a program, which holds a string.
const escapedLevels = 3

// A view is a text without the escapes of its strings, as who reads the strings sees it.
type view struct {
	text string
	at   []int32 // by byte of text and one after them: where it comes from
}

// views returns a text without one level of escapes, without two, and so on, as long as there are some.
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

// unescape reads each escape of JSON, wherever it is: what is no string can only be read for what it is not, and a rule has to match it still. It reports false if there is none.
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

// from returns where a byte of the view comes from.
func (v *view) from(i int) int32 {
	if v.at == nil {
		return int32(i)
	}
	return v.at[i]
}

// escapes are the characters that escapes of one letter stand for.
var escapes = [256]string{'n': "\n", 'r': "\r", 't': "\t", '"': `"`, '\\': `\`, '/': "/"}

// escape reads the escape that a text begins with: what it stands for, and how long it is; 0 if it is none.
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
	return string(utf8.AppendRune(nil, rune(n))), 6 // half of a pair is U+FFFD, which is in no secret
}

// came puts candidates of the view where they come from.
func (v *view) came(list []candidate) []candidate {
	for i := range list {
		list[i].start, list[i].end = int(v.at[list[i].start]), int(v.at[list[i].end])
	}
	return list
}
