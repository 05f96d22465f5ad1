package normalize

import (
	"slices"
	"strings"
	"unicode"
)

// A Reason says why two names may be those of one entity.
type Reason string

// The reasons, the strongest first.
const (
	// SamePunctuation: the names differ in no more than '-', but not between digits:
	// e-mail and email, but not go-1-1 and go-11.
	SamePunctuation Reason = "punctuation"

	// Inverted: the last word of one is the first of the other: smith-john and
	// john-smith, doe-mary-ann and mary-ann-doe.
	Inverted Reason = "inverted"

	// Initials: one name is a word of 2 to 5 letters, the first letters of the other's
	// words, and of no other entity's: un and united-nations. The words and, for, in,
	// of, on, the may be passed over. u-n is not what un means but how it is written.
	Initials Reason = "initials"

	// Spelling: the distance of Damerau and Levenshtein is 1, for names of 5 characters
	// or more, or 2, from 10 to 40 characters. It takes the shorter name's length, and
	// counts '-'. The difference is not in a digit.
	Spelling Reason = "spelling"

	// AmbiguousInitials: as Initials, but there are several entities, and all of their
	// names are given.
	AmbiguousInitials Reason = "ambiguous_initials"
)

// Reasons returns all reasons, the strongest first.
func Reasons() []Reason {
	return []Reason{SamePunctuation, Inverted, Initials, Spelling, AmbiguousInitials}
}

// A Suggestion is a name and what may be another name of the same entity. Which of them
// is canonical, and whether they are one at all, is for a person to say.
type Suggestion struct {
	Name   string
	Others []string // one, greater than Name; or what the initials Name may mean, ascending
	Reason Reason
}

// SuggestOptions are the options of [Suggest].
type SuggestOptions struct {
	Reasons []Reason // which to look for; nil: all
	Limit   int      // how many suggestions at most, the strongest first; 0: all
}

// Suggest looks for likely duplicates among names, which have the form of [Name]; any
// order, and repeated names count once. Literals are never suggested. Names that t resolves to one entity are not
// suggested, and initials whose entity t knows are not expanded. t may be nil.
//
// A pair is suggested once, for its strongest reason of those that are looked for. The order is total: by reason,
// then name, then others. The cost is about that of sorting the names, except for
// Spelling: it writes down every name without any one, or two, of its characters, up to
// 821 for a name of 40, eight bytes each, for names of three lengths at a time. Where very many names differ
// in two characters only, there are as many suggestions as pairs.
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
	entity []string // what names[i] stands for
	table  *Table
	paired map[[2]int]bool // what was found, by place in names, the lesser first
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

// add keeps pairs that are new and not of one entity, as suggestions in order.
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

// ordered returns the places of two names, the lesser first.
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

// squeeze drops each '-' that is not between digits and is no sign of a number.
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

// initials looks for short names and what they may mean.
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

// expansions returns, for each name that may be initials, the places of the names with
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

// firsts returns the first characters of words, with or without the little ones. One word
// has none.
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
