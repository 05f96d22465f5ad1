package normalize

import "unicode"

// Nearest returns the word of a list with the smallest edit distance to word: the first one if there are several, and "" if every
// distance is above three.
func Nearest(word string, list []string) string {
	var rows [3][]int
	for most := range 4 {
		for _, other := range list {
			if near([]rune(word), []rune(other), most, &rows) {
				return other
			}
		}
	}
	return ""
}

// near reports whether at most `most` edits turn a into b. An edit inserts, deletes or
// replaces a character, or exchanges two neighbours (Damerau-Levenshtein distance in the
// form of optimal string alignment). Digits are never edited: mark-1 and mark-2 are not
// spellings of one name.
//
// The cost is the length times 2·most+1. rows is reusable memory.
func near(a, b []rune, most int, rows *[3][]int) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > most {
		return false
	}
	for i := range rows {
		if len(rows[i]) <= len(b) {
			rows[i] = make([]int, 2*len(b)+1)
		}
	}
	far := most + 1 // or farther
	before, last, now := rows[0], rows[1], rows[2]
	for j := 0; j <= len(b); j++ {
		last[j] = far
	}
	last[0] = 0
	for j := 1; j <= min(most, len(b)) && !isDigit(b[j-1]); j++ {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		from, to := max(1, i-most), min(len(b), i+most)
		now[from-1] = far
		if from == 1 && last[0] < far && !isDigit(a[i-1]) {
			now[0] = last[0] + 1
		}
		best := now[from-1]
		for j := from; j <= to; j++ {
			now[j] = step(a, b, i, j, before, last, now, far)
			best = min(best, now[j])
		}
		if to < len(b) {
			now[to+1] = far
		}
		if best >= far {
			return false
		}
		before, last, now = last, now, before
	}
	return last[len(b)] < far
}

// step returns the least edits from a[:i] to b[:j].
func step(a, b []rune, i, j int, before, last, now []int, far int) int {
	x, y := a[i-1], b[j-1]
	if x == y {
		return min(last[j-1], far) // no other sequence of edits is shorter
	}
	least := far
	if !isDigit(x) {
		least = min(least, last[j]+1)
	}
	if !isDigit(y) {
		least = min(least, now[j-1]+1)
	}
	if isDigit(x) || isDigit(y) {
		return least
	}
	least = min(least, last[j-1]+1)
	if i > 1 && j > 1 && a[i-2] == y && b[j-2] == x {
		least = min(least, before[j-2]+1)
	}
	return least
}

// isDigit reports whether c is part of a number, in any script.
func isDigit(c rune) bool {
	if c < 0x80 {
		return '0' <= c && c <= '9'
	}
	return unicode.IsNumber(c)
}
