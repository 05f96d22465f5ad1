package said

import (
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/normalize"
)

// maxWords bounds the words of a text in which a negation or a slot is looked for.
const maxWords = 200

// connecting lists words that join clauses. A negation beside one of them may deny one clause only.
var connecting = set(`and but or because so however although though while whereas then instead rather since unless except if when yet
	until otherwise which who that`)

// plain returns the statement of a text without a slot.
func plain(s sentence, text string) belief.Literal {
	l := belief.Literal{Predicate: soPred, Object: soObject}
	words := softened(s.words)
	if s.oneClause(words) {
		if c, negated := claim(words); c != "" {
			l.Subject, l.Not = topical+hash(c), negated
			return l
		}
	}
	c := content(words)
	if c == "" {
		c = "\x00" + normalize.Words(text)
	}
	l.Subject = topical + hash(c)
	return l
}

// oneClause reports whether the softened words of the sentence are one clause.
func (s *sentence) oneClause(words []word) bool {
	if s.several || s.question || len(s.words) > maxWords {
		return false
	}
	return !slices.ContainsFunc(words, func(w word) bool { return w.mark() || connecting[w.text] })
}

// Wordings of plain texts that allow something, or that ask for leave.
var (
	allowing   = lines("is|are fine|okay|ok|allowed|permitted|acceptable|welcome")
	permitting = lines("can, may, feel free to, are free|allowed|welcome to, it is fine|okay|ok to")
	unasked    = lines("without asking, without asking me|us|first, without asking me|us first, without asking for permission")
	asking     = lines("ask before, ask me|us|first before, ask me|us first before, check with me|us before")
	passives   = map[string]string{"supported": "support", "required": "require"}
	adding     = set("add ad include includ") // verbs that a thing needs no more than the verb to use, and their bases
	skipping   = set("skip omit")
)

// claim returns the content of a clause, and whether the clause denies it. "X is fine" and "skip X" affirm and deny X, and "do X without
// asking" denies "ask before doing X". c is "" if its negations are not understood.
func claim(words []word) (c string, negated bool) {
	if from := len(words) - suffixed(words, unasked); from < len(words) {
		r, ok := affirm(words[:from])
		if !ok || from == 0 {
			return "", false
		}
		return "ask before " + content(permitted(r.words)), !r.negated
	}
	r, ok := affirm(words)
	if !ok {
		return "", false
	}
	words = permitted(r.words)
	if n := longest(words, asking); n > 0 && n < len(words) {
		action := slices.Clone(words[n:])
		action[0].text = base(action[0].text)
		return "ask before " + content(action), r.negated
	}
	if n := len(words); n > 2 && passives[words[n-1].text] != "" && (words[n-2].text == "is" || words[n-2].text == "are") {
		words = slices.Concat(plainly(passives[words[n-1].text]), words[:n-2])
	}
	if len(words) < 2 || limiting[words[1].text] || words[1].text == "to" {
		return content(words), r.negated
	}
	switch {
	case skipping[words[0].text]:
		return content(words[1:]), !r.negated
	case adding[words[0].text]:
		return content(words[1:]), r.negated
	}
	return content(words), r.negated
}

// permitted removes the words that allow what the others say. "The build is fine" allows nothing.
func permitted(words []word) []word {
	if n := longest(words, permitting); n > 0 && n < len(words) {
		return words[n:]
	}
	for i := 1; i < len(words); i++ {
		n := longest(words[i:], allowing)
		if n == 0 {
			continue
		}
		doing := words[i].text == "is" && strings.HasSuffix(words[0].text, "ing") && (heads(words, 0) || strings.HasSuffix(words[i-1].text, "s"))
		if i+n < len(words) && (!prepositions[words[i+n].text] || words[i+n].text == "to") || words[0].def && !doing {
			return words
		}
		rest := slices.Concat(words[:i], words[i+n:])
		if doing {
			rest[0].text = base(rest[0].text)
		}
		return rest
	}
	return words
}

// suffixed returns the length of the longest phrase with which the words end, or 0.
func suffixed(words []word, list [][]string) (n int) {
	for _, p := range list {
		if k := len(words) - len(p); k >= 0 && len(p) > n && begins(words[k:], p) {
			n = len(p)
		}
	}
	return n
}

// unsaid lists words that a plain text does not need: forms of to be, and of to use.
var unsaid = set("is are am be use uses using")

// content returns the content words of a plain text, in their order.
func content(words []word) string {
	var list []string
	for i := range words {
		w := &words[i]
		switch {
		case w.mark(), unsaid[w.text]:
		case len(list) == 0 && heads(words, i), len(list) == 1 && w.part && words[i-1].part:
			list = append(list, base(verb(w.text)))
		case w.text == "straight" && i+1 < len(words) && words[i+1].text == "to":
			list = append(list, "directly")
		default:
			list = append(list, verb(w.text))
		}
	}
	return strings.Join(list, " ")
}

// heads reports whether the first word is a verb or a gerund with an object of its own, and no participle: "blocking calls" are calls.
func heads(words []word, i int) bool {
	if !strings.HasSuffix(words[i].text, "ing") || i+1 == len(words) {
		return true
	}
	next := &words[i+1]
	return next.def || next.indef || prepositions[next.text] || next.text == "directly" || next.text == "straight"
}

// verb returns the stem of a word that may be a verb.
func verb(s string) string {
	switch s {
	case "has":
		return "have"
	case "does":
		return "do"
	case "goes":
		return "go"
	}
	return stem(s)
}

// softeners lists phrases without a meaning of their own, in every place of a text.
var softeners = lines(`always, please, we, i, you, my, our, your, now, currently, from now on, going forward, henceforth, really,
	simply, strictly, definitely, make sure to, be sure to, remember to, remember that, note that, for me, for us, let us,
	from this sprint|week|month|release on, from today|here on, as of this sprint|week|month|release`)

// tails lists clauses at the end of a text that only repeat what it says, without their softeners.
var tails = lines("keep it that way, keep it so, leave it that way, do not want|need them|it, thanks, thank you, no exceptions, without exception, no exception")

// leads lists phrases that are dropped at the beginning of a text, where the modal verbs are addressed to everybody.
var leads = lines(`user, must, should, shall, will, has to, have to, need to, needs to, just, ok, okay, note:, remember:,
	preference:, rule:, do use`)

// softened drops softeners and leads. Words stay if nothing else would.
func softened(words []word) []word {
	var kept []word
	for i := 0; i < len(words); {
		if i > 0 && words[i-1].text == "not" && partly[words[i].text] {
			kept = append(kept, words[i])
			i++
			continue
		}
		if n := longest(words[i:], softeners); n > 0 && !words[i].part {
			i += n
			continue
		}
		if n := longest(words[i:], leads); n > 0 && len(kept) == 0 && !words[i].part && i+n < len(words) {
			if words[i].text == "do" {
				n-- // do use: use stays
			}
			i += n
			continue
		}
		if len(kept) == 0 && words[i].mark() {
			i++
			continue
		}
		kept = append(kept, words[i])
		i++
	}
	if n := suffixed(kept, tails); n > 0 && n+1 < len(kept) && kept[len(kept)-n-1].mark() {
		kept = kept[:len(kept)-n-1]
	}
	if len(kept) == 0 {
		return words
	}
	return kept
}
