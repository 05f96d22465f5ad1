package normalize

import (
	"slices"
	"strings"
	"unicode"
)

// A Reason says why two names may belong to one entity.
type Reason string

// The reasons, the strongest first.
const (
	// SamePunctuation: the names differ only in '-' that are not between digits:
	// e-mail and email, but not go-1-1 and go-11.
	SamePunctuation Reason = "punctuation"

	// Inverted: moving the last word of one name to its front makes the other: smith-john
	// and john-smith, doe-mary-ann and mary-ann-doe.
	Inverted Reason = "inverted"

	// Initials: one name is a word of 2 to 5 letters, which are the first letters of the words
	// of the other name and of no other entity's: un and united-nations. The words and, for,
	// in, of, on, the may be skipped. u-n is a spelling of un, not its meaning.
	Initials Reason = "initials"

	// Spelling: the Damerau-Levenshtein distance is 1 for names of 5 characters or more, or
	// up to 2 for names of 10 to 40 characters. Lengths include '-'. The names do not differ in
	// a digit.
	Spelling Reason = "spelling"

	// AmbiguousInitials: like Initials, but the initials fit several entities, and all of their
	// names are returned.
	AmbiguousInitials Reason = "ambiguous_initials"
)

// Reasons returns all reasons, the strongest first.
func Reasons() []Reason {
	return []Reason{SamePunctuation, Inverted, Initials, Spelling, AmbiguousInitials}
}

// A Suggestion is a name and another name that may belong to the same entity. A person must
// decide whether they do, and which of them is canonical.
type Suggestion struct {
	Name   string
	Others []string // one name, greater than Name; or all names that the initials Name may mean, ascending
	Reason Reason
}

// SuggestOptions are the options of [Suggest].
type SuggestOptions struct {
	Reasons []Reason // the reasons to look for; nil: all
	Limit   int      // maximal number of suggestions, the strongest first; 0: all
}

// Suggest returns likely duplicates among names. The names must be as [Name] returns them; they may be in any
// order, and repeated names count once. Literals are never suggested. Names that t resolves to one entity are not
// suggested, and initials whose entity t knows are not expanded. t may be nil.
//
// A pair is suggested once, for its strongest reason among those looked for. The order is total: by reason,
// then name, then others. The cost is about that of sorting the names, except for
// Spelling: it stores a key of eight bytes for every way to leave one or two characters out of a name, up to
// 821 for a name of 40 characters, for names of three lengths at a time. If very many names differ
// only in two characters, there are as many suggestions as pairs.
func Suggest(names []string, t *Table, o SuggestOptions) []Suggestion {
	s := newSearch(names, t)
	for _, reason := range Reasons() {
		if o.Reasons != nil && !slices.Contains(o.Reasons, reason) {
			continue
		}
		switch reason {
		case SamePunctuation:
			s.punctuation()
		case Inverted:
			s.inverted()
		case Initials, AmbiguousInitials:
			s.initials(reason)
		case Spelling:
			s.spelling()
		}
	}
	if o.Limit > 0 && len(s.found) > o.Limit {
		return s.found[:o.Limit:o.Limit]
	}
	return s.found
}

// A search is one run of Suggest.
type search struct {
	names  []string // ascending, each once
	entity []string // the canonical name of names[i]
	table  *Table
	paired map[[2]int]bool // the pairs found, by index in names, the lesser first
	found  []Suggestion
}

func newSearch(names []string, t *Table) *search {
	s := &search{table: t, names: slices.Compact(slices.Sorted(slices.Values(names))), paired: map[[2]int]bool{}}
	s.names = slices.DeleteFunc(s.names, func(name string) bool { _, _, literal := Split(name); return literal })
	s.entity = make([]string, len(s.names))
	for i, name := range s.names {
		s.entity[i] = t.Resolve(name)
	}
	return s
}

// add appends suggestions for the pairs that are new and not of one entity, in order.
func (s *search) add(reason Reason, pairs [][2]int) {
	slices.SortFunc(pairs, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	for _, p := range pairs {
		if s.paired[p] || s.entity[p[0]] == s.entity[p[1]] {
			continue
		}
		s.paired[p] = true
		s.found = append(s.found, Suggestion{Name: s.names[p[0]], Others: []string{s.names[p[1]]}, Reason: reason})
	}
}

// ordered returns two indices, the lesser first.
func ordered(i, j int) [2]int { return [2]int{min(i, j), max(i, j)} }

func (s *search) punctuation() {
	same := map[string][]int{}
	for i, name := range s.names {
		key := squeeze(name)
		same[key] = append(same[key], i)
	}
	var pairs [][2]int
	for _, places := range same {
		for n, i := range places {
			for _, j := range places[n+1:] {
				pairs = append(pairs, [2]int{i, j})
			}
		}
	}
	s.add(SamePunctuation, pairs)
}

// squeeze drops each '-' that is not between digits and is not the sign of a number.
func squeeze(name string) string {
	if !strings.Contains(name, "-") {
		return name
	}
	chars := []rune(name)
	kept := make([]rune, 0, len(chars))
	for i, c := range chars {
		number := i+1 < len(chars) && (isDigit(chars[i+1]) || chars[i+1] == '.')
		if c != '-' || number && (i == 0 || isDigit(chars[i-1]) || chars[i-1] == '-') {
			kept = append(kept, c)
		}
	}
	return string(kept)
}

func (s *search) inverted() {
	var pairs [][2]int
	for i, name := range s.names {
		cut := strings.LastIndexByte(name, '-')
		if cut < 0 || strings.ContainsFunc(name, isDigit) {
			continue
		}
		turned := name[cut+1:] + "-" + name[:cut]
		if j, is := slices.BinarySearch(s.names, turned); is && i != j {
			pairs = append(pairs, ordered(i, j))
		}
	}
	s.add(Inverted, slices.Compact(pairs))
}

// initials looks for short names and the names that they may abbreviate.
func (s *search) initials(reason Reason) {
	long := s.expansions()
	var pairs [][2]int
	for i, name := range s.names {
		places := long[name]
		if len(places) == 0 || s.entity[i] != name {
			continue
		}
		single, known := true, false
		for _, j := range places {
			single = single && s.entity[j] == s.entity[places[0]]
			known = known || s.entity[j] == name
		}
		switch {
		case known:
		case single && reason == Initials:
			pairs = append(pairs, ordered(i, places[0]))
		case !single && reason == AmbiguousInitials:
			s.found = append(s.found, Suggestion{Name: name, Others: s.named(places), Reason: reason})
		}
	}
	s.add(Initials, pairs)
}

func (s *search) named(places []int) []string {
	names := make([]string, len(places))
	for i, j := range places {
		names[i] = s.names[j]
	}
	return names
}

// expansions returns, for each name that may be initials, the indices of the names with
// these initials, ascending.
func (s *search) expansions() map[string][]int {
	short := map[string]bool{}
	for _, name := range s.names {
		if isInitials(name) {
			short[name] = true
		}
	}
	long := map[string][]int{}
	for i, name := range s.names {
		words := strings.Split(name, "-")
		all, main := firsts(words, false), firsts(words, true)
		if short[all] && len(name) > len(all)+len(words)-1 {
			long[all] = append(long[all], i)
		}
		if main != all && short[main] {
			long[main] = append(long[main], i)
		}
	}
	return long
}

func isInitials(name string) bool {
	n := 0
	for _, c := range name {
		if !unicode.IsLetter(c) {
			return false
		}
		n++
	}
	return 2 <= n && n <= 5
}

// firsts returns the first characters of words; with main, the little words are skipped. A
// single word returns "", and so do more than 12.
func firsts(words []string, main bool) string {
	if len(words) < 2 || len(words) > 12 {
		return ""
	}
	var b strings.Builder
	for _, word := range words {
		if main && isLittle(word) {
			continue
		}
		for _, c := range word {
			b.WriteRune(c)
			break
		}
	}
	return b.String()
}

func isLittle(word string) bool {
	switch word {
	case "and", "for", "in", "of", "on", "the":
		return true
	}
	return false
}
