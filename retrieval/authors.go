package retrieval

import (
	"slices"
	"strings"
	"unicode"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
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

// without returns a query without the words that are names, and the name if it has exactly one. is reports whether a word is a name, and which.
func without(query string, is func(word string) (string, bool)) (bare, named string) {
	var rest []string
	names := map[string]bool{}
	for _, w := range strings.Fields(query) {
		bare := strings.ToLower(strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }))
		bare = strings.TrimSuffix(strings.TrimSuffix(bare, "'s"), "\u2019s")
		if name, ok := is(bare); ok {
			names[name] = true
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

// nameless returns a query without authors' names, and the name if it has exactly one.
func (x *Index) nameless(p *Policy, query string, view bm25.View) (rest, named string) {
	if !p.NamesByUse {
		return without(query, func(w string) (string, bool) {
			list := x.authors[w]
			return w, len(list) > 0 && view.Has(list[0])
		})
	}
	rest, named = without(query, func(w string) (string, bool) { return x.nameByUse(p, w, view) })
	if rest == "" { // only names: they are what is looked for
		rest = query
	}
	return rest, named
}

// nameByUse reports whether at least as many turns in a view are by a person or an agent with a name as have the word. Under a policy with NearTerms, a
// word that no turn has may be a name that differs by one letter.
func (x *Index) nameByUse(p *Policy, word string, view bm25.View) (name string, ok bool) {
	having := 0
	for _, term := range x.analyzer.Terms(nil, word) {
		having = max(having, view.Having(term))
	}
	list := x.authors[word]
	if len(list) == 0 && having == 0 && p.NearTerms && analysis.NearNames.Possible(word) {
		most := 0
		for other, of := range x.authors {
			if n := view.Count(of); n > 0 && analysis.NearNames.Near(word, other) && (n > most || n == most && other < name) {
				name, most, list = other, n, of
			}
		}
	} else {
		name = word
	}
	by := 0
	for _, n := range list {
		if !view.Has(n) || by > 0 && by >= having {
			break
		}
		if r := x.turns.at(n).Role; r == dag.RoleUser || r == dag.RoleAssistant {
			by++
		}
	}
	return name, by > 0 && by >= having
}

// nameWords returns the words of an author's name in lower case: human:Anna is anna.
func nameWords(author string) []string {
	if at := strings.LastIndexByte(author, ':'); at >= 0 {
		author = author[at+1:]
	}
	return plainWords(author)
}
