package analysis

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// A Nearness says how long a word must be, in characters, so that it is recognised with one wrong letter.
type Nearness struct {
	Exchanged int // two adjacent letters are exchanged
	Other     int // a letter is more, less or another
}

// The nearness of names and of other words. Short words often differ from others by one letter, but there are few names.
var (
	NearNames = Nearness{5, 5}
	NearWords = Nearness{5, 7}
)

// Possible reports whether a word is long enough for any wrong letter.
func (l Nearness) Possible(word string) bool {
	return utf8.RuneCountInString(word) >= min(l.Exchanged, l.Other)
}

// Near reports whether a word differs from another by one letter. Characters other than letters
// must be the same, because versions and numbers that differ in a digit are different things.
func (l Nearness) Near(word, other string) bool {
	a, b := word, other
	if len(a)-len(b) > utf8.UTFMax || len(b)-len(a) > utf8.UTFMax {
		return false
	}
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	for from > 0 && (from < len(a) && !utf8.RuneStart(a[from]) || from < len(b) && !utf8.RuneStart(b[from])) {
		from--
	}
	a, b = a[from:], b[from:]
	for len(a) > 0 && len(b) > 0 {
		last, n := utf8.DecodeLastRuneInString(a)
		other, m := utf8.DecodeLastRuneInString(b)
		if last != other || n != m {
			break
		}
		a, b = a[:len(a)-n], b[:len(b)-m]
	}
	if len(a) > 2*utf8.UTFMax || len(b) > 2*utf8.UTFMax {
		return false
	}
	x, y := []rune(a), []rune(b)
	switch {
	case len(x) == 2 && len(y) == 2:
		return x[0] == y[1] && x[1] == y[0] && utf8.RuneCountInString(word) >= l.Exchanged && unicode.IsLetter(x[0]) && unicode.IsLetter(x[1])
	case len(x) <= 1 && len(y) <= 1 && len(x)+len(y) > 0:
		return utf8.RuneCountInString(word) >= l.Other && !slices.ContainsFunc(x, notLetter) && !slices.ContainsFunc(y, notLetter)
	}
	return false
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) }
