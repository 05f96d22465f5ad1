package ingest

import (
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/internal/canon"
)

// mended counts the replacements that made a text readable.
type mended struct {
	surrogates int // halves of surrogate pairs, replaced by U+FFFD
	bytes      int // runs of invalid UTF-8, replaced by U+FFFD
	controls   int // unescaped control characters in strings, which JSON forbids
}

// note adds the replacements to noted.
func (m mended) note(noted *counts) {
	for range m.surrogates {
		noted.add(noteLoneSurrogate)
	}
	for range m.bytes {
		noted.add(noteInvalidUTF8)
	}
	for range m.controls {
		noted.add(noteControlCharacter)
	}
}

// parseLenient parses a record of another program. Programs cut strings in the middle of a surrogate pair or of a character,
// and write text without escaping it. Such damage inside a string is replaced and counted. Everything else that is not strict
// JSON is an error. NUL is an error too: a crash leaves a run of NUL bytes in place of unwritten text, and such a run may hide
// the end of a string.
func parseLenient(text []byte) (v *canon.Value, m mended, err error) {
	if v, err = canon.Parse(text); err == nil {
		return v, m, nil
	}
	repaired, m := mend(text)
	if m == (mended{}) {
		return nil, m, err
	}
	if v, err = canon.Parse(repaired); err != nil {
		return nil, mended{}, err
	}
	return v, m, nil
}

// mend replaces characters inside strings that JSON does not allow.
func mend(text []byte) (out []byte, m mended) {
	const hexDigits = "0123456789abcdef"
	out = make([]byte, 0, len(text)+len(text)/64)
	inString, invalid := false, false
	for i := 0; i < len(text); {
		c := text[i]
		r, size := rune(c), 1
		if c >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		broken := r == utf8.RuneError && size == 1
		switch {
		case !inString:
			inString = c == '"'
			out = append(out, c)
			size = 1
		case broken:
			if !invalid {
				out = utf8.AppendRune(out, utf8.RuneError)
				m.bytes++
			}
		case c == '"':
			inString = false
			out = append(out, c)
		case c == '\\':
			n, replaced := mendEscape(text[i:])
			if replaced {
				out = append(out, `\ufffd`...)
				m.surrogates++
			} else {
				out = append(out, text[i:i+n]...)
			}
			size = n
		case c < 0x20 && c != 0:
			out = append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			m.controls++
		default:
			out = append(out, text[i:i+size]...)
		}
		invalid = inString && broken
		i += size
	}
	return out, m
}

// mendEscape returns the length of the escape at the beginning of a text, and whether it is half of a surrogate pair. A
// complete pair counts as one escape.
func mendEscape(text []byte) (n int, half bool) {
	unit, ok := escapedUnit(text)
	if !ok {
		return min(2, len(text)), false
	}
	if unit < 0xd800 || unit > 0xdfff {
		return 6, false
	}
	if low, ok := escapedUnit(text[6:]); ok && unit < 0xdc00 && low >= 0xdc00 && low <= 0xdfff {
		return 12, false
	}
	return 6, true
}

// escapedUnit reads a backslash, a u and four hexadecimal digits at the beginning of text.
func escapedUnit(text []byte) (unit rune, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	for _, c := range text[2:6] {
		unit <<= 4
		switch {
		case '0' <= c && c <= '9':
			unit |= rune(c - '0')
		case 'a' <= c && c <= 'f':
			unit |= rune(c-'a') + 10
		case 'A' <= c && c <= 'F':
			unit |= rune(c-'A') + 10
		default:
			return 0, false
		}
	}
	return unit, true
}
