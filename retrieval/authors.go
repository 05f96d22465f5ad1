package retrieval

import (
	"slices"
	"strings"
	"unicode"

	"github.com/graphkernel/graphkernel/retrieval/bm25"
)

// authors has the turns by each author: by a word of the author's name, in lower case, the places of the turns, ascending.
type authors map[string][]int32

// add adds the last turn to the turns of its author, by the words of the author's name.
func (a authors) add(n int32, words []string) {
	for _, w := range words {
		if list := a[w]; len(list) == 0 || list[len(list)-1] != n {
			a[w] = append(list, n)
		}
	}
}

// erase removes a turn from the turns of its author.
func (a authors) erase(n int32, words []string) {
	for _, w := range words {
		list := a[w]
		if at, ok := slices.BinarySearch(list, n); ok {
			a[w] = slices.Delete(list, at, at+1)
		}
		if len(a[w]) == 0 {
			delete(a, w)
		}
	}
}

// without returns a query without authors' names, and the name if it has exactly one.
func (a authors) without(query string, view bm25.View) (bare, named string) {
	var rest []string
	names := map[string]bool{}
	for _, w := range strings.Fields(query) {
		bare := strings.ToLower(strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }))
		bare = strings.TrimSuffix(strings.TrimSuffix(bare, "'s"), "\u2019s")
		if list := a[bare]; len(list) > 0 && view.Has(list[0]) {
			names[bare] = true
			continue
		}
		rest = append(rest, w)
	}
	if len(names) == 1 {
		for n := range names {
			named = n
		}
	}
	return strings.Join(rest, " "), named
}

// nameWords returns the words of an author's name in lower case: human:Anna is anna.
func nameWords(author string) []string {
	if at := strings.LastIndexByte(author, ':'); at >= 0 {
		author = author[at+1:]
	}
	return plainWords(author)
}
