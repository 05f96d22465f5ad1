package ingest

import (
	"bytes"

	"github.com/graphkernel/graphkernel/internal/canon"
)

// parseLenient parses a record of another program. Programs written in
// JavaScript cut strings in the middle of a surrogate pair and write the half as
// an escape, which is no Unicode: each such half is read as U+FFFD, and how many
// there were is returned. Everything else that is not strict JSON is an error.
func parseLenient(text []byte) (v *canon.Value, replaced int, err error) {
	v, err = canon.Parse(text)
	if err == nil || !bytes.Contains(text, []byte(`\u`)) {
		return v, 0, err
	}
	repaired, replaced := replaceLoneSurrogates(text)
	if replaced == 0 {
		return nil, 0, err
	}
	if v, err = canon.Parse(repaired); err != nil {
		return nil, 0, err
	}
	return v, replaced, nil
}

// replaceLoneSurrogates writes \ufffd over each \uD800 to \uDFFF that is not
// half of a pair. Offsets stay what they were.
func replaceLoneSurrogates(text []byte) (repaired []byte, replaced int) {
	repaired = bytes.Clone(text)
	for i := 0; i+1 < len(repaired); i++ {
		if repaired[i] != '\\' {
			continue
		}
		unit, ok := escapedUnit(repaired[i:])
		switch {
		case !ok:
			i++ // the escaped character
		case unit < 0xd800 || unit > 0xdfff:
			i += 5
		default:
			low, ok := escapedUnit(repaired[i+6:])
			if unit < 0xdc00 && ok && low >= 0xdc00 && low <= 0xdfff {
				i += 11
				continue
			}
			copy(repaired[i+2:], "fffd")
			replaced++
			i += 5
		}
	}
	return repaired, replaced
}

// escapedUnit reads a backslash, u and four hexadecimal digits at the beginning of text.
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
