package secrets

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// A Finding is a part of a text that a rule considers a secret.
type Finding struct {
	Rule       string
	Start, End int // byte offsets
}

// A Scanner finds secrets. It may be used by several goroutines at once.
type Scanner struct {
	rules []*rule
	words *words
	users []users // by index of the word
}

// users are the rules that use a word.
type users struct {
	keyword []int32 // rules with the word as a keyword
	begins  []int32 // rules with matches that begin with the word
}

// Standard returns the scanner with all rules. The first call reads the rule file.
var Standard = sync.OnceValue(func() *Scanner {
	rules, err := standardRules()
	if err != nil {
		panic(err) // the file is part of the program
	}
	return newScanner(rules)
})

func newScanner(rules []*rule) *Scanner {
	s := &Scanner{rules: rules}
	ids := map[string]int{}
	var list []string
	of := func(word string) *users {
		word = strings.ToLower(word)
		id, ok := ids[word]
		if !ok {
			id = len(list)
			ids[word] = id
			list = append(list, word)
			s.users = append(s.users, users{})
		}
		return &s.users[id]
	}
	add := func(list []int32, rule int32) []int32 {
		if slices.Contains(list, rule) {
			return list
		}
		return append(list, rule)
	}
	for i, r := range rules {
		for _, word := range r.Keywords {
			u := of(word)
			u.keyword = add(u.keyword, int32(i))
		}
		for _, word := range r.begins {
			u := of(word)
			u.begins = add(u.begins, int32(i))
		}
	}
	s.words = newWords(list)
	return s
}

// Rules returns the names of all rules.
func (s *Scanner) Rules() []string {
	names := make([]string, len(s.rules))
	for i, r := range s.rules {
		names[i] = r.ID
	}
	return names
}

// Scan returns the secrets in a text in ascending position, without overlaps. Text inside tokens does not count as a secret.
// Scan also searches the text with the escapes of strings removed: the input of a call is JSON, and its secrets are in strings.
func (s *Scanner) Scan(text string) []Finding {
	all := s.candidates(nil, text)
	for _, v := range views(text) {
		all = append(all, v.came(s.candidates(nil, v.text))...)
	}
	return choose(text, all)
}

// candidates appends the candidates of all rules in a text.
func (s *Scanner) candidates(all []candidate, text string) []candidate {
	h := s.look(text)
	if h == nil {
		return all
	}
	plain := isPlain(text)
	for i, r := range s.rules {
		if !h.keyword[i] {
			continue
		}
		if start := r.start(); start != nil && plain {
			if windows, ok := start.windows(text, h.begins[i]); ok {
				all = r.inWindows(all, text, windows)
				continue
			}
		}
		all = r.inAll(all, text)
	}
	return all
}

// hits are the words of rules in a text, by rule.
type hits struct {
	keyword []bool    // whether the text has a keyword
	begins  [][]int32 // where the words are that begin matches
}

// look returns the hits in a text, or nil if it has no keyword of any rule.
func (s *Scanner) look(text string) (h *hits) {
	if len(text) > math.MaxInt32 {
		panic("secrets: a text of 2 GiB")
	}
	s.words.each(text, func(word int32, start int) bool {
		if h == nil {
			h = &hits{make([]bool, len(s.rules)), make([][]int32, len(s.rules))}
		}
		for _, i := range s.users[word].keyword {
			h.keyword[i] = true
		}
		for _, i := range s.users[word].begins {
			h.begins[i] = append(h.begins[i], int32(start))
		}
		return true
	})
	return h
}

// isPlain reports whether an expression matches in a text as its starter assumes: the text is valid UTF-8, without the two
// characters beyond ASCII that are case variants of ASCII letters (the Kelvin sign and the long s).
func isPlain(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsRune(text, kelvin) && !strings.ContainsRune(text, longS)
}

// A candidate is a possible finding of one rule, independent of other rules.
type candidate struct {
	rule       *rule
	start, end int
}

// inAll searches the whole text.
func (r *rule) inAll(all []candidate, text string) []candidate {
	for _, m := range r.regex().FindAllStringIndex(text, -1) {
		all = r.take(all, text, m[0], m[1])
	}
	return all
}

// inWindows searches the parts of a text that can contain matches.
func (r *rule) inWindows(all []candidate, text string, windows []window) []candidate {
	for _, w := range windows {
		for _, m := range r.regex().FindAllStringIndex(text[w.start:w.end], -1) {
			all = r.take(all, text, w.start+m[0], w.start+m[1])
		}
	}
	return all
}

// take appends the candidate of a match of the rule's expression, unless the rule rejects it. It searches for the secret in the
// match alone, without line feeds at its ends.
func (r *rule) take(all []candidate, text string, start, end int) []candidate {
	for end > start && text[end-1] == '\n' {
		end--
	}
	for start < end && text[start] == '\n' {
		start++
	}
	match := text[start:end]
	from, to := start, end
	if groups := r.regex().FindStringSubmatchIndex(match); len(groups) > 2 {
		for i := 1; i < len(groups)/2; i++ {
			if a, b := groups[2*i], groups[2*i+1]; i == r.Group || r.Group == 0 && b > a {
				from, to = start+a, start+b
				break
			}
		}
	}
	if from < start || from == to {
		return all
	}
	if r.letters && from > 0 && text[from-1] == '\\' {
		from++
	}
	secret := text[from:to]
	if r.Entropy > 0 && !exceeds(secret, int64(math.Round(r.Entropy*1000))) || r.check != nil && !r.check(secret) {
		return all
	}
	line := text[strings.LastIndexByte(text[:start], '\n')+1 : end+lineRest(text[end:])]
	for _, list := range [...][]*allowance{r.general, r.Allow} {
		for _, a := range list {
			if a.allows(secret, match, line) {
				return all
			}
		}
	}
	return append(all, candidate{r, from, to})
}

func lineRest(text string) int {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return i
	}
	return len(text)
}

// choose drops candidates inside tokens and resolves overlaps: a rule for one kind of secret takes precedence over a generic
// one, then the candidate that begins first, then the longer one.
func choose(text string, all []candidate) []Finding {
	if len(all) == 0 {
		return nil
	}
	all = besideTokens(all, tokensIn(text))
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(a.rule.ID, b.rule.ID))
	})
	var out []Finding
	for _, generic := range [...]bool{false, true} {
		earlier := out // findings that overlap with no later addition
		for _, c := range all {
			if c.rule.generic != generic {
				continue
			}
			for len(earlier) > 0 && earlier[0].End <= c.start {
				earlier = earlier[1:]
			}
			if len(earlier) > 0 && earlier[0].Start < c.end {
				continue
			}
			if last := len(out) - 1; last >= 0 && out[last].Start <= c.start && c.start < out[last].End {
				continue
			}
			out = append(out, Finding{c.rule.ID, c.start, c.end})
		}
	}
	slices.SortFunc(out, func(a, b Finding) int { return cmp.Compare(a.Start, b.Start) })
	return out
}

// besideTokens drops candidates inside a token, and extends candidates that overlap a token to include all of it.
func besideTokens(all []candidate, tokens []window) []candidate {
	if len(tokens) == 0 {
		return all
	}
	kept := all[:0]
	for _, c := range all {
		at, _ := slices.BinarySearchFunc(tokens, c.start, func(t window, start int) int { return cmp.Compare(t.end, start+1) })
		if at < len(tokens) && tokens[at].start <= c.start {
			if c.end <= tokens[at].end {
				continue
			}
			c.start = tokens[at].start
		}
		for ; at < len(tokens) && tokens[at].start < c.end; at++ {
			c.end = max(c.end, tokens[at].end)
		}
		kept = append(kept, c)
	}
	return kept
}
