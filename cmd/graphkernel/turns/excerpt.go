package turns

import (
	"strings"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/retrieval/analysis"
)

// excerpt returns a text from shortly before the place on in which the next most bytes have the most different words of a query, from its beginning
// if none is there. Of equal places the first counts.
func excerpt(text, query string, most int) string {
	var words []string
	for _, at := range analysis.Words(query) {
		if word := strings.ToLower(query[at.From:at.To]); len(analysis.English.Terms(nil, word)) > 0 {
			words = append(words, stemmed(word))
		}
	}
	lower := strings.ToLower(text)
	if len(lower) != len(text) || len(words) == 0 { // letters whose small forms have other lengths
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
	const before = 24 // bytes that are shown of what comes before
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

// stemmed returns the beginning that the forms of a word have in common, roughly: what it shares with its stem.
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
