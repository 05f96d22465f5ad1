package said

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A word is a word of a text, or one of the marks , : = ( —.
type word struct {
	text   string // in lower case
	proper bool   // it is written with a capital
	indef  bool   // a or an precedes it
	def    bool   // the precedes it
	part   bool   // it was joined to others with hyphens, so it negates nothing
}

func (w *word) mark() bool {
	return w.text == "," || w.text == ":" || w.text == "=" || w.text == "(" || w.text == "—"
}

// A sentence holds the words of a whole text.
type sentence struct {
	words    []word
	several  bool // the text has several sentences
	question bool
}

// read splits a text into words. Articles, quotes and brackets are dropped, contractions are written out.
func read(text string) sentence {
	var s sentence
	ended := false
	for line := range strings.Lines(norm.NFKC.String(text)) {
		for _, field := range strings.FieldsFunc(line, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }) {
			had := len(s.words)
			ends := s.field(field)
			if ended && len(s.words) > had {
				s.several = true
			}
			ended = ends || ended && len(s.words) == had
		}
		ended = ended || len(s.words) > 0
	}
	s.words = articles(s.words)
	return s
}

const (
	opening = ",;!?\"'`“”‘«»*[{<"
	closing = "\"'`“”‘«»*]}>"
)

// field adds the words of a field, which has no white space, and reports whether a sentence ends after it.
func (s *sentence) field(field string) (ends bool) {
	field, flag := s.opened(strings.ReplaceAll(field, "’", "'"))
	field, after, ends := s.closed(field)
	switch {
	case field == "":
	case strings.Trim(field, "-–—>→|/~") == "":
		s.mark("—")
	case strings.Trim(field, "=") == "":
		s.mark("=")
	case strings.Trim(field, "&+") == "":
		s.add("and", false, false)
	default:
		s.core(field, flag)
	}
	for _, m := range slices.Backward(after) {
		s.mark(m)
	}
	return ends
}

// opened returns a field without the punctuation before it. flag reports whether a hyphen was among it, as in --no-verify.
func (s *sentence) opened(field string) (rest string, flag bool) {
	for field != "" {
		c, n := utf8.DecodeRuneInString(field)
		switch {
		case c == '(':
			s.mark("(")
		case c == '-' && len(field) > n:
			flag = true
		case !strings.ContainsRune(opening, c):
			return field, flag
		}
		field = field[n:]
	}
	return "", flag
}

// closed returns a field without the punctuation after it, the marks in it from the last to the first, and whether a sentence ends.
func (s *sentence) closed(field string) (rest string, after []string, ends bool) {
	for field != "" {
		c, n := utf8.DecodeLastRuneInString(field)
		switch {
		case c == ',' || c == ':':
			after = append(after, string(c))
		case c == ')':
			after = append(after, "(")
		case c == '.' || c == '!' || c == ';' || c == '。' || c == '?':
			ends = true
			s.question = s.question || c == '?'
		case !strings.ContainsRune(closing, c):
			return field, after, ends
		}
		field = field[:len(field)-n]
	}
	return "", after, ends
}

func (s *sentence) mark(text string) {
	if len(s.words) > 0 {
		s.words = append(s.words, word{text: text})
	}
}

func (s *sentence) add(text string, proper, part bool) {
	if text != "" {
		s.words = append(s.words, word{text: text, proper: proper, part: part})
	}
}

// core adds the words of a field without the punctuation around it.
func (s *sentence) core(field string, flag bool) {
	if strings.ContainsAny(field, "/@") {
		first, _ := utf8.DecodeRuneInString(field)
		s.add(strings.ToLower(field), unicode.IsUpper(first), false)
		return
	}
	if before, after, ok := strings.Cut(field, "="); ok && before != "" && after != "" {
		s.core(before, flag)
		s.mark("=")
		s.core(after, flag)
		return
	}
	if before, after, ok := strings.Cut(field, "—"); ok {
		s.core(before, flag)
		s.mark("—")
		s.core(after, flag)
		return
	}
	parts := hyphens(field)
	for _, p := range parts {
		first, _ := utf8.DecodeRuneInString(p)
		for _, w := range uncontracted(strings.ToLower(p)) {
			s.add(w, unicode.IsUpper(first), flag || len(parts) > 1)
		}
	}
}

// hyphens splits a word at its hyphens, except between digits.
func hyphens(s string) (parts []string) {
	from := 0
	for i := 0; i < len(s); i++ {
		if s[i] != '-' || i > 0 && i+1 < len(s) && digit(s[i-1]) && digit(s[i+1]) {
			continue
		}
		parts = append(parts, s[from:i])
		from = i + 1
	}
	parts = append(parts, s[from:])
	return slices.DeleteFunc(parts, func(p string) bool { return p == "" })
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// bareContractions lists contractions that are often written without an apostrophe.
var bareContractions = map[string]string{
	"dont": "do", "doesnt": "does", "didnt": "did", "isnt": "is", "arent": "are", "wasnt": "was", "shouldnt": "should",
	"mustnt": "must", "cant": "can", "cannot": "can", "wont": "will", "won't": "will", "can't": "can", "shan't": "shall",
}

// uncontracted returns the words that a contraction stands for. A possessive loses its ending.
func uncontracted(s string) []string {
	if aux := bareContractions[s]; aux != "" {
		return []string{aux, "not"}
	}
	before, after, ok := strings.Cut(s, "'")
	switch {
	case !ok:
		return []string{s}
	case after == "t" && strings.HasSuffix(before, "n"):
		return []string{strings.TrimSuffix(before, "n"), "not"}
	case after == "re":
		return []string{before, "are"}
	case after == "m":
		return []string{before, "am"}
	case after == "ll":
		return []string{before, "will"}
	case after == "ve":
		return []string{before, "have"}
	case after == "d":
		return []string{before, "would"}
	case after == "s" && before == "let":
		return []string{"let", "us"}
	case after == "s" && anaphoric[before]:
		return []string{before, "is"}
	case after == "s", after == "":
		return []string{before}
	}
	return []string{s}
}

// articles drops articles, and marks the words that follow an indefinite one.
func articles(words []word) []word {
	kept := words[:0]
	indef, def := false, false
	for _, w := range words {
		switch w.text {
		case "a", "an":
			indef = true
			continue
		case "the":
			def = true
			continue
		}
		w.indef, w.def = indef, def
		indef, def = false, false
		kept = append(kept, w)
	}
	return kept
}

// unchanged lists words that end with an s and are no plurals, or whose singular means something else.
var unchanged = set(`https tls dns aws css js ts os ios macos windows kubernetes redis jenkins rails sass less always news series
	status gps sms rss cors xs this his its yes was has does is as us thus maps ops devops axios canvas alias access process class
	business address pages actions vows nodejs news keras pandas pass miss less gas atlas vs nats sts ecs eks rds sqs sns`)

// stem removes the s of a plural, or of a verb in the third person, where that is safe.
func stem(s string) string {
	if len(s) < 4 || unchanged[s] || strings.ContainsAny(s, "./@:#_0123456789") {
		return s
	}
	for _, end := range [...]string{"ss", "us", "is", "js"} {
		if strings.HasSuffix(s, end) {
			return s
		}
	}
	for _, end := range [...]string{"shes", "ches", "xes", "sses", "zzes"} {
		if strings.HasSuffix(s, end) {
			return strings.TrimSuffix(s, "es")
		}
	}
	if strings.HasSuffix(s, "ies") && len(s) > 4 {
		return strings.TrimSuffix(s, "ies") + "y"
	}
	return strings.TrimSuffix(s, "s")
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// phrase splits a phrase of a table as read splits texts.
func phrase(s string) (words []string) {
	for _, w := range read(s).words {
		words = append(words, w.text)
	}
	return words
}

func phrases(list ...string) (all [][]string) {
	for _, s := range list {
		all = append(all, phrase(s))
	}
	return all
}

// lines splits a table of phrases, which commas separate. A word such as is|are stands for either of its parts.
func lines(s string) (all [][]string) {
	for item := range strings.SplitSeq(s, ",") {
		all = append(all, phrases(alternatives(item)...)...)
	}
	return all
}

// alternatives writes out the first a|b of a phrase, and then the rest.
func alternatives(s string) (list []string) {
	fields := strings.Fields(s)
	i := slices.IndexFunc(fields, func(f string) bool { return strings.Contains(f, "|") })
	if i < 0 {
		return []string{s}
	}
	for part := range strings.SplitSeq(fields[i], "|") {
		list = append(list, alternatives(strings.Join(slices.Concat(fields[:i], []string{part}, fields[i+1:]), " "))...)
	}
	return list
}

// plainly returns words of a phrase.
func plainly(p ...string) (words []word) {
	for _, text := range p {
		words = append(words, word{text: text})
	}
	return words
}

// base returns a form that a verb and its gerund share: "commit" and "committing", "merge" and "merging". It need not be a word.
func base(s string) string {
	if before, ok := strings.CutSuffix(s, "ing"); ok && len(before) > 2 && strings.ContainsAny(before, "aeiouy") {
		s = before
	}
	if n := len(s); n > 3 && s[n-1] == s[n-2] && !strings.ContainsRune("aeiou", rune(s[n-1])) {
		s = s[:n-1]
	}
	if len(s) > 3 {
		s = strings.TrimSuffix(s, "e")
	}
	return s
}

func begins(words []word, p []string) bool {
	if len(words) < len(p) {
		return false
	}
	for i := range p {
		if words[i].text != p[i] {
			return false
		}
	}
	return true
}

// longest returns the length of the longest phrase with which the words begin, or 0.
func longest(words []word, list [][]string) (n int) {
	for _, p := range list {
		if len(p) > n && begins(words, p) {
			n = len(p)
		}
	}
	return n
}
