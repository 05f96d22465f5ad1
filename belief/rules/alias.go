package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/normalize"
)

// An aliasTable replaces names by aliases, the longest name first.
type aliasTable []alias

type alias struct {
	words []string // of the name, folded
	key   string   // the words joined with -
	to    string
}

// newAliases makes a table. It refuses an alias that contains a name of the table, because the alias would bring that name back.
func newAliases(table map[string]string) (t aliasTable, err error) {
	seen := map[string]string{}
	names := make([]string, 0, len(table))
	for name := range table {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		to, a := table[name], aliasOf(name)
		if len(a.words) == 0 {
			return nil, fmt.Errorf("%w: the name %.80q has no letter and no digit", ErrAlias, name)
		}
		if _, err := normalize.Name(to); err != nil {
			return nil, fmt.Errorf("%w: the alias of %.80q: %w", ErrAlias, name, err)
		}
		if other, ok := seen[a.key]; ok && other != to {
			return nil, fmt.Errorf("%w: %.80q has two aliases, %.80q and %.80q; keep one", ErrAlias, a.key, other, to)
		} else if !ok {
			a.to, seen[a.key] = to, to
			t = append(t, a)
		}
	}
	t.sort()
	for _, a := range t {
		if name := t.within(a.to); name != "" {
			return nil, fmt.Errorf("%w: the alias %.80q of %.80q contains the name %.80q, which must be replaced", ErrAlias, a.to, a.key, name)
		}
	}
	return t, nil
}

func aliasOf(name string) (a alias) {
	for _, w := range wordsIn(name) {
		a.words = append(a.words, w.folded)
	}
	a.key = strings.Join(a.words, "-")
	return a
}

func (t aliasTable) sort() {
	slices.SortFunc(t, func(a, b alias) int {
		return cmp.Or(cmp.Compare(len(b.words), len(a.words)), strings.Compare(a.key, b.key))
	})
}

// lacking returns the names that the table lacks, each once.
func (t aliasTable) lacking(names []string) (list aliasTable) {
	same := func(a alias) func(alias) bool { return func(b alias) bool { return a.key == b.key } }
	for _, name := range names {
		if a := aliasOf(name); a.key != "" && !slices.ContainsFunc(t, same(a)) && !slices.ContainsFunc(list, same(a)) {
			list = append(list, a)
		}
	}
	list.sort()
	return list
}

// A word is a word of a text: letters, digits, marks and characters without width.
type word struct {
	from, to int
	folded   string
}

func wordsIn(text string) (list []word) {
	from := -1
	end := func(to int) {
		if from < 0 {
			return
		}
		folded, err := normalize.Name(text[from:to])
		if err != nil {
			folded = strings.ToLower(text[from:to])
		}
		list = append(list, word{from, to, folded})
		from = -1
	}
	for i, c := range text {
		inWord := unicode.IsLetter(c) || unicode.IsNumber(c) || unicode.IsMark(c) || unicode.Is(unicode.Cf, c)
		if inWord && from < 0 {
			from = i
		} else if !inWord {
			end(i)
		}
	}
	end(len(text))
	return list
}

// within returns a name of the table that a text contains, as words or inside a word; "" if there is none.
func (t aliasTable) within(text string) string {
	if len(t) == 0 {
		return ""
	}
	var folded []string
	for _, w := range wordsIn(text) {
		folded = append(folded, w.folded)
	}
	all := strings.Join(folded, "-")
	for _, a := range t {
		if strings.Contains(all, a.key) {
			return a.key
		}
	}
	return ""
}

// replace replaces names that are words of their own by their aliases.
func (t aliasTable) replace(text string) string {
	if len(t) == 0 || !utf8.ValidString(text) {
		return text
	}
	words := wordsIn(text)
	var b strings.Builder
	done := 0
	for i := 0; i < len(words); {
		n := 0
		for _, a := range t {
			if n = len(a.words); i+n <= len(words) && slices.EqualFunc(a.words, words[i:i+n], func(s string, w word) bool { return s == w.folded }) {
				b.WriteString(text[done:words[i].from])
				b.WriteString(a.to)
				done = words[i+n-1].to
				break
			}
			n = 0
		}
		i += max(n, 1)
	}
	b.WriteString(text[done:])
	return b.String()
}

// replaceName is like replace, but for a canonical name, and returns a canonical name.
func (t aliasTable) replaceName(name string) (string, error) {
	to := t.replace(name)
	if to == name {
		return name, nil
	}
	return normalize.Name(to)
}

func (t aliasTable) literal(l belief.Literal) (_ belief.Literal, err error) {
	for _, name := range []*string{&l.Subject, &l.Predicate, &l.Object} {
		if *name, err = t.replaceName(*name); err != nil {
			return l, err
		}
	}
	return l, nil
}

// replaced returns an item with its names replaced. Statements that become equal are merged.
func (item *PersonaItem) replaced(t aliasTable) (PersonaItem, error) {
	out := PersonaItem{Kind: item.Kind, Shared: item.Shared}
	for _, s := range item.Statements {
		to := PersonaStatement{Span: s.Span}
		var err error
		if to.Literal, err = t.literal(s.Literal); err != nil {
			return out, err
		}
		for _, p := range s.Premises {
			if p, err = t.literal(p); err != nil {
				return out, err
			}
			to.Premises = append(to.Premises, p)
		}
		slices.SortFunc(to.Premises, belief.Literal.Compare)
		to.Premises = slices.Compact(to.Premises)
		if !slices.ContainsFunc(out.Statements, func(o PersonaStatement) bool {
			return o.Literal == to.Literal && o.Span == to.Span && slices.Equal(o.Premises, to.Premises)
		}) {
			out.Statements = append(out.Statements, to)
		}
	}
	for _, text := range item.Texts {
		out.Texts = append(out.Texts, t.replace(text))
	}
	return out, nil
}

// holds returns the first name that find finds in the kind, texts and statements of an item; "" if there is none.
func (item *PersonaItem) holds(find func(text string) string) string {
	texts := append([]string{item.Kind}, item.Texts...)
	for _, s := range item.Statements {
		for _, l := range append([]belief.Literal{s.Literal}, s.Premises...) {
			texts = append(texts, l.Subject, l.Predicate, l.Object)
		}
	}
	for _, text := range texts {
		if name := find(text); name != "" {
			return name
		}
	}
	return ""
}

// names returns the name if a text contains it as words of their own, and "" otherwise.
func (a alias) names(text string) string {
	if (aliasTable{a}).replace(text) != text {
		return a.key
	}
	return ""
}

// suspects returns words in the texts of an item that may be names: capitalized words within a sentence, and two or more in a row anywhere.
// It leaves out words of aliases, words of persons, who are listed anyway, and words all in capitals. Each is returned once, ascending.
func (item *PersonaItem) suspects(aliases, persons aliasTable) (list []string) {
	known := map[string]bool{}
	for _, a := range aliases {
		for _, w := range wordsIn(a.to) {
			known[w.folded] = true
		}
	}
	for _, a := range persons {
		for _, w := range a.words {
			known[w] = true
		}
	}
	for _, text := range item.Texts {
		list = append(list, capitals(text, known)...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// capitals returns runs of capitalized words as they are written, except single words that begin a sentence.
func capitals(text string, known map[string]bool) (runs []string) {
	words := wordsIn(text)
	for i := 0; i < len(words); i++ {
		if known[words[i].folded] || !capital(text[words[i].from:words[i].to]) {
			continue
		}
		last := i
		for last+1 < len(words) && text[words[last].to:words[last+1].from] == " " && !known[words[last+1].folded] && capital(text[words[last+1].from:words[last+1].to]) {
			last++
		}
		if last > i || !begins(text[:words[i].from]) {
			runs = append(runs, text[words[i].from:words[last].to])
		}
		i = last
	}
	return runs
}

// capital reports whether a word begins with a capital and has a lower-case letter after it.
func capital(word string) bool {
	first, n := utf8.DecodeRuneInString(word)
	return (unicode.IsUpper(first) || unicode.IsTitle(first)) && strings.ContainsFunc(word[n:], unicode.IsLower)
}

// begins reports whether the text after before begins a sentence.
func begins(before string) bool {
	before = strings.TrimRightFunc(before, func(c rune) bool {
		return c == ' ' || c == '\t' || unicode.Is(unicode.Ps, c) || unicode.Is(unicode.Quotation_Mark, c)
	})
	last, _ := utf8.DecodeLastRuneInString(before)
	return before == "" || strings.ContainsRune(".!?:\n\r…", last)
}
