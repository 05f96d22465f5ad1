package bm25

import (
	"slices"
	"strings"
)

// Having returns the number of turns in the view that have a term.
func (v View) Having(term string) int {
	postings, _ := v.having(term)
	return len(postings)
}

// Count returns the number of turns in the view among some turns, which ascend.
func (v View) Count(turns []int32) int {
	n, _ := slices.BinarySearch(turns, v.cut)
	return n
}

// Commonest returns the term that most turns in the view have, of those for which is returns true; of several, the first. It returns "" if there is none. It calls
// is with every term.
func (v View) Commonest(is func(term string) bool) (best string) {
	most := 0
	for _, term := range v.x.matching(is) {
		if n := v.Having(term); n > most {
			best, most = term, n
		}
	}
	return best
}

// matching returns the terms for which is returns true, ascending.
func (x *lexicon) matching(is func(string) bool) (terms []string) {
	x.lazy.RLock()
	for _, name := range x.names {
		if is(name) {
			terms = append(terms, name)
		}
	}
	x.lazy.RUnlock()
	for _, r := range x.runs {
		from := int32(0)
		for _, to := range r.ends {
			if name := r.names[from:to]; is(name) {
				terms = append(terms, strings.Clone(name))
			}
			from = to
		}
	}
	slices.Sort(terms)
	return slices.Compact(terms)
}
