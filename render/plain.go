package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Acts reports whether a character does more than appear: moves the cursor, begins an escape sequence, changes the writing
// direction, or hides. Text of a conversation may contain any such character. Acts is false for the two joiners, which some
// scripts and emoji need.
func Acts(r rune) bool {
	const nonJoiner, joiner = 0x200c, 0x200d
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) && r != nonJoiner && r != joiner
}

// OneLine returns text from a conversation as one line for a terminal: cut to most characters, and without the characters that
// could act on the terminal.
func OneLine(s string, most int) string {
	var b strings.Builder
	n := 0
	space := false
	for _, r := range s {
		if r == ' ' || Acts(r) {
			space = b.Len() > 0
			continue
		}
		if n >= most {
			b.WriteRune('…')
			break
		}
		if space {
			b.WriteByte(' ')
			n++
			space = false
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// Visible returns text of several lines for a terminal: characters that would act on the terminal become visible signs.
func Visible(s string) string {
	if isPlain(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		const pictures, deletePicture = 0x2400, 0x2421
		switch {
		case r == '\n' || r == '\t' || !Acts(r):
			return r
		case r < ' ':
			return pictures + r
		case r == 0x7f:
			return deletePicture
		}
		return unicode.ReplacementChar
	}, strings.ReplaceAll(s, "\r\n", "\n"))
}

// isPlain reports whether a text consists of visible ASCII characters, newlines and tabs. Most texts do.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// EscapeJSON escapes the characters of a JSON text that would act on a terminal. In a valid text they occur only inside
// strings, so the meaning stays the same.
func EscapeJSON(text []byte) []byte {
	if !strings.ContainsFunc(string(text), hidesInJSON) {
		return text
	}
	var b strings.Builder
	for _, r := range string(text) {
		switch {
		case !hidesInJSON(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return []byte(b.String())
}

// hidesInJSON is false for newlines and tabs, which format a JSON text; inside strings both are escaped already.
func hidesInJSON(r rune) bool { return r != '\n' && r != '\t' && Acts(r) }
