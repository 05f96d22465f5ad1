package ingest

import "strings"

// rulesHead and rulesTail are how many bytes of a content the rules read: the beginning, and the end, where failures are
// reported.
const (
	rulesHead = 4096
	rulesTail = 1024
)

// A wordCount has the sums over the words of a content. Each word counts once, however often it occurs.
type wordCount struct {
	consolidation int
	planning      int
	decisions     int
	repairs       bool
}

// A wordGroup is a list of words with one meaning. A word may be in several groups. The groups are part of the rules: they
// never change.
type wordGroup struct {
	name  string
	words string
	count func(*wordCount)
}

var wordGroups = [...]wordGroup{
	{"consolidation, counts 2", "changelog recap summarise summarised summarize summarized summary tldr",
		func(c *wordCount) { c.consolidation += 2 }},
	{"consolidation, counts 1", "altogether conclusion overall overview retrospective takeaways",
		func(c *wordCount) { c.consolidation++ }},
	{"planning, counts 2", "milestone milestones plan plans planning proposal roadmap todo todos",
		func(c *wordCount) { c.planning += 2 }},
	{"planning, counts 1", "approach design first next option options should step steps strategy then",
		func(c *wordCount) { c.planning++ }},
	{"decision", "agreed always approved avoid constraint decide decided decision important instead must never prefer rejected require required requirement requirements",
		func(c *wordCount) { c.decisions++ }},
	{"repairing, in a commit", "bug bugfix bugs fix fixed fixes fixing hotfix regression revert reverts",
		func(c *wordCount) { c.repairs = true }},
}

// A word of the vocabulary has a number, so that it counts only once, and the groups that contain it.
type word struct {
	number int
	groups []func(*wordCount)
}

// maxWord is the longest word that is looked up, in bytes.
const maxWord = 16

// vocabulary is built from wordGroups and never changed.
var vocabulary = func() map[string]*word {
	v := map[string]*word{}
	for i := range wordGroups {
		for _, s := range strings.Fields(wordGroups[i].words) {
			if v[s] == nil {
				v[s] = &word{number: len(v)}
			}
			v[s].groups = append(v[s].groups, wordGroups[i].count)
		}
	}
	return v
}()

// begins has, for each byte, the lengths of a list's words with that first byte, as a set of bits. Most words of a text are in
// no list, so few are looked up.
type begins [256]uint32

func beginsOf[T any](list map[string]T) *begins {
	var b begins
	for w := range list { // in any order
		b[w[0]] |= 1 << min(len(w), 31)
	}
	return &b
}

// may reports whether a folded word with this first byte and length may be in the list.
func (b *begins) may(first byte, length int) bool { return b[first]>>min(length, 31)&1 != 0 }

var vocabularyBegins = beginsOf(vocabulary)

// foldedWord maps each byte of a word to its folded form, and all other bytes to 0.
var foldedWord = func() (t [256]byte) {
	for c := range t {
		if isWordByte(byte(c)) {
			t[c] = fold(byte(c))
		}
	}
	return t
}()

// maxVocabulary bounds the vocabulary, so that a set of words needs no map.
const maxVocabulary = 192

// countWords adds the words of a text. Words are the longest runs of ASCII letters, digits, '_' and bytes above 0x7F, with A to
// Z folded; a run at an end where the text was cut does not count.
func (c *wordCount) countWords(seen *[maxVocabulary]bool, s string, cutBefore, cutBehind bool) {
	var folded [maxWord]byte
	for i := 0; i < len(s); {
		first := foldedWord[s[i]]
		if first == 0 {
			i++
			continue
		}
		start := i
		for i++; i < len(s) && foldedWord[s[i]] != 0; {
			i++
		}
		if i-start > maxWord || !vocabularyBegins.may(first, i-start) || cutBefore && start == 0 || cutBehind && i == len(s) {
			continue
		}
		for k := range i - start {
			folded[k] = foldedWord[s[start+k]]
		}
		w := vocabulary[string(folded[:i-start])]
		if w == nil || seen[w.number] {
			continue
		}
		seen[w.number] = true
		for _, count := range w.groups {
			count(c)
		}
	}
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c >= 0x80
}

func fold(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// foldASCII folds only A to Z, so the result does not depend on tables of Unicode.
func foldASCII(s string) string {
	for i := 0; i < len(s); i++ {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				b[i] = fold(b[i])
			}
			return string(b)
		}
	}
	return s
}
