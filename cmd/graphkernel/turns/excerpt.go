package turns

import (
	"strings"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/retrieval/analysis"
)

// excerpt returns a text from shortly before the position at which the next most bytes contain the most different words of a query; if no word occurs, from
// its beginning. Of equally good positions, the first is used.
func excerpt(text, query string, most int) string {
	var words []string
	for _, at := range analysis.Words(query) {
		if word := strings.ToLower(query[at.From:at.To]); len(analysis.English.Terms(nil, word)) > 0 {
			words = append(words, stemmed(word))
		}
	}
	lower := strings.ToLower(text)
	if len(lower) != len(text) || len(words) == 0 { // some letters change their length in lower case
		return text
	}
	best, place := 0, 0
	for _, word := range words {
		for from := 0; ; {
			at := strings.Index(lower[from:], word)
			if at < 0 {
				break
			}
			at += from
			window := lower[at:min(at+most, len(lower))]
			n := 0
			for _, other := range words {
				if strings.Contains(window, other) {
					n++
				}
			}
			if n > best || n == best && at < place {
				best, place = n, at
			}
			from = at + len(word)
		}
	}
	const before = 24 // bytes before the position that are also shown
	if place <= before {
		return text
	}
	from := place - before
	if space := strings.IndexAny(text[from:place], " \t\n"); space >= 0 {
		from += space + 1
	} else {
		from = place
	}
	for !utf8.RuneStart(text[from]) {
		from++
	}
	return "… " + text[from:]
}

// stemmed returns the beginning that the forms of a word share, roughly: the part that the word shares with its stem.
func stemmed(word string) string {
	stem := analysis.English.Terms(nil, word)[0]
	n := 0
	for n < len(word) && n < len(stem) && word[n] == stem[n] {
		n++
	}
	if n < 3 {
		return word
	}
	return word[:n]
}
