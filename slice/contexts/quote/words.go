package quote

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxLine is the maximum length of a span, in bytes.
const MaxLine = 200

// leastPrompt is the minimum length of a prompt that is quoted as a question: a shorter one says little without what was said before it.
const leastPrompt = 16

// question returns the first line of a prompt with at least leastWords words.
func question(text string) (span [2]int, ok bool) {
	if !typed(text) {
		return span, false
	}
	span, _ = firstLine(text, leastPrompt)
	return span, span[1]-span[0] >= leastPrompt && len(word.FindAllString(text[span[0]:span[1]], leastWords)) >= leastWords
}

// continued returns the next line of a prompt whose first line only introduces it.
func continued(text string, first [2]int) (span [2]int, ok bool) {
	if !strings.HasSuffix(text[first[0]:first[1]], ":") {
		return span, false
	}
	rest, ok := firstLine(text[first[1]:], leastPrompt)
	return [2]int{first[1] + rest[0], first[1] + rest[1]}, ok && rest[1]-rest[0] >= leastPrompt
}

// word matches a word.
var word = regexp.MustCompile(`\pL[\pL\pN'’]*`)

// leastWords is the minimum number of words of a prompt that is quoted as a question.
const leastWords = 5

// ending returns the first sentence of an agent's message that reports a result, with the sentences after it in its line. Without such a sentence it returns the first long
// line.
func ending(text string) (span [2]int, ok bool) {
	for _, s := range sentences(text) {
		line := text[s[0]:s[1]]
		if len(line) >= leastEnding && len(word.FindAllString(line, leastWords)) >= leastWords && strings.ContainsAny(line[len(line)-1:], ".!") && !intends.MatchString(line) && !strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "#") && !numbered.MatchString(line) {
			return ended(text, s), true
		}
	}
	span, ok = firstLine(text, leastTitle)
	return span, ok && span[1]-span[0] >= leastTitle && !intends.MatchString(text[span[0]:span[1]])
}

// ended adds the next sentences of the line, up to MaxLine bytes in all.
func ended(text string, s [2]int) [2]int {
	for _, next := range sentences(text) {
		if next[0] >= s[1] && next[1]-s[0] <= MaxLine && !strings.Contains(text[s[0]:next[1]], "\n") {
			s[1] = next[1]
		}
	}
	return clipped(text, s)
}

// leastEnding is the minimum length of a sentence that is quoted as the end of a session, in bytes.
const leastEnding = 24

// leastTitle is the minimum length of a line that is quoted as the end of a session although it is no sentence, in bytes.
const leastTitle = 40

// intends matches the beginning of a sentence that announces work.
var intends = regexp.MustCompile(`^(?:Let me|I'll|I will|Now |Next,|Let's|Perfect|Great|Good|You're right|I need to|I see)\b`)

// leastIntroduction is the minimum length of a line that is quoted although it ends with a colon.
const leastIntroduction = 48

// typed reports whether a person may have typed a prompt. Commands and insertions of a client do not count.
func typed(text string) bool {
	return !strings.HasPrefix(text, "<") && !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "[") && !strings.HasPrefix(text, "Caveat:") &&
		!strings.HasPrefix(text, "This session is being continued")
}

// firstLine returns the first line that has at least a number of bytes and is no heading, table or fence, without the marks of a list; if there is none, the
// first line with a letter.
func firstLine(text string, least int) (span [2]int, ok bool) {
	var short [2]int
	for at := 0; at < len(text); {
		end := at + strings.IndexByte(text[at:]+"\n", '\n')
		from, to := trimmed(text, at, end)
		at = end + 1
		switch line := text[from:to]; {
		case !strings.ContainsFunc(line, unicode.IsLetter), strings.HasPrefix(line, "```"), strings.HasPrefix(line, "|"), strings.HasPrefix(line, "<"):
		case len(line) >= least && !strings.HasPrefix(line, "#") && !numbered.MatchString(line) && (!strings.HasSuffix(line, ":") || len(line) >= leastIntroduction):
			return clipped(text, [2]int{from, to}), true
		case short[1] == 0:
			short = [2]int{from, to}
		}
	}
	return clipped(text, short), short[1] > 0
}

// numbered matches an item of a numbered list.
var numbered = regexp.MustCompile(`^\**\d+[.)]\s`)

// trimmed narrows a line to its words: without white space, quotation marks and marks of lists before it.
func trimmed(text string, from, to int) (int, int) {
	for from < to {
		r, size := utf8.DecodeRuneInString(text[from:to])
		if !unicode.IsSpace(r) && !strings.ContainsRune("-*•>", r) {
			break
		}
		from += size
	}
	for from < to {
		r, size := utf8.DecodeLastRuneInString(text[from:to])
		if !unicode.IsSpace(r) {
			break
		}
		to -= size
	}
	return from, to
}

// clipped shortens a span to MaxLine bytes, at the end of a word if there is one.
func clipped(text string, s [2]int) [2]int {
	if s[1]-s[0] <= MaxLine {
		return s
	}
	end := s[0] + MaxLine
	for !utf8.RuneStart(text[end]) {
		end--
	}
	if at := strings.LastIndexByte(text[s[0]:end], ' '); at > MaxLine/2 {
		end = s[0] + at
	}
	return [2]int{s[0], end}
}

// decides matches a sentence by which a person decides or corrects something.
var decides = regexp.MustCompile(`(?i)^(?:please |and |but |also |so |ok,? |no,? |well,? )*(?:don['’]?t|do not|never|always|stop (?:using|doing|adding)|make sure|remember (?:that|to)|avoid|only use|use \S+(?: \S+)? (?:instead|rather))\b|\b(?:instead of|rather than|from now on|should(?: always| never)|must (?:not|always|never)|no longer|not any ?more|we (?:always|never|use|decided|prefer|don['’]t)|i(?:['’]d)? prefer|i (?:always|never) want|let['’]?s (?:use|not use|go with|stick (?:to|with)))\b`)

// doubts matches sentences that only ask or tell.
var doubts = regexp.MustCompile(`(?i)\?\s*$|^(?:why|what|how|can you|could you|is there|does|do we|did|where|which|when|if i|i (?:don['’]?t (?:know|think|see|understand)|can['’]?t))\b`)

// The lengths of a sentence that is quoted as a decision, in bytes.
const (
	leastDecision = 14
	mostDecision  = 240
)

// mostTyped is the length of a prompt, in bytes, beyond which only its beginning counts as typed.
const mostTyped = 1600

// decision returns the first sentence of a prompt by which a person decides or corrects something.
func decision(text string) (span [2]int, ok bool) {
	if !typed(text) {
		return span, false
	}
	for _, s := range sentences(text) {
		if len(text) > mostTyped && s[1] > mostTyped/4 { // the rest was pasted
			break
		}
		if line := text[s[0]:s[1]]; !strings.Contains(line, "**") && !strings.ContainsAny(line[:1], "\"`|#<") && len(line) >= leastDecision && len(line) <= mostDecision && decides.MatchString(line) && !doubts.MatchString(line) {
			return clipped(text, s), true
		}
	}
	return span, false
}

// sentences returns the sentences of a text. A sentence ends with its line, or with a full stop, an exclamation mark or a question mark before white space.
func sentences(text string) (all [][2]int) {
	from := 0
	for at := 0; at <= len(text); at++ {
		ends := at == len(text) || text[at] == '\n'
		if !ends {
			ends = at > from && strings.IndexByte(".!?", text[at-1]) >= 0 && text[at] == ' ' && !isNumber(text[from:at-1])
		}
		if ends {
			if a, b := trimmed(text, from, at); a < b {
				all = append(all, [2]int{a, b})
			}
			from = at + 1
		}
	}
	return all
}

// isNumber reports whether a text is the number before an item of a list: its full stop ends no sentence.
func isNumber(text string) bool {
	text = strings.TrimLeft(text, " \t*>")
	return text != "" && strings.Trim(text, "0123456789") == ""
}
