package ingest

import "strings"

// politeOpenings begin a request to an agent in the form of a question.
var politeOpenings = []string{"can you ", "could you ", "would you ", "will you "}

// politeFillers may be between such an opening and its verb, and leadingWords before the opening.
var (
	politeFillers = " help kindly maybe me perhaps please us" + intentFillers
	leadingWords  = " alright also and but great hey hi next no now ok okay please so then well yes "
)

// answerVerbs ask for an answer: a question with one of them is not a request.
var answerVerbs = " analyze answer be believe check clarify compare confirm describe double double-check elaborate estimate evaluate examine explain explore feel figure find guess hear identify imagine inspect investigate know list look outline read recall reckon remember remind research review say search see show spot summarize tell think trace understand validate verify walk watch "

// requests reports whether a question asks for an action: with a verb of requestVerbs, or, if the question begins with one of
// politeOpenings, with any verb that does not ask for an answer.
func requests(said string) bool {
	folded := foldASCII(said)
	for _, o := range requestOpenings {
		if _, after, ok := strings.Cut(folded, o); ok && firstVerb(head(after, 64), intentFillers, isRequestVerb) != "" {
			return true
		}
	}
	for _, o := range politeOpenings {
		for from := 0; ; {
			i := strings.Index(folded[from:], o)
			if i < 0 {
				break
			}
			at := from + i
			from = at + len(o)
			isVerb := func(w string) bool { return isLowWord(w) && !strings.Contains(politeFillers, " "+w+" ") }
			if verb := firstVerb(head(folded[from:], 64), politeFillers, isVerb); beginsSentence(folded[:at]) && verb != "" && !strings.Contains(answerVerbs, " "+verb+" ") {
				return true
			}
		}
	}
	return false
}

// beginsSentence reports whether a sentence may begin after a text: the text is empty, or ends with a punctuation mark or one
// of leadingWords.
func beginsSentence(before string) bool {
	before = strings.TrimRight(before, " \t")
	if before == "" || !isLowWord(before[len(before)-1:]) {
		return true
	}
	word := before[strings.LastIndexFunc(before, func(r rune) bool { return r > 'z' || !isLowWord(string(r)) })+1:]
	return strings.Contains(leadingWords, " "+word+" ")
}

// isLowWord reports whether a text has only lowercase letters and dashes.
func isLowWord(s string) bool { return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz-") == "" }
