package ingest

import (
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// The word lists of the rules. They never change.

// An intent is what an agent announces as its next action, or the purpose of a command.
type intent uint8

const (
	toExplore intent = iota + 1
	toTest
	toMake
	toDeliver
	toPlan
	toSum
)

// phaseOr returns the phase of an intent, or none if there is no intent.
func (i intent) phaseOr(none dag.Phase) dag.Phase {
	switch i {
	case toExplore:
		return dag.Exploration
	case toTest:
		return dag.Debugging
	case toMake, toDeliver:
		return dag.Synthesis
	case toPlan:
		return dag.Planning
	case toSum:
		return dag.Consolidation
	}
	return none
}

// intentVerbs are the verbs after "let me" and similar openings.
var intentVerbs = map[intent]string{
	toExplore: "analyze browse check compare confirm dig double-check ensure examine explore fetch figure find follow get grep identify inspect investigate list look pull re-read read reading reread research review search see show trace understand verify view",
	toTest:    "build compile debug format lint reproduce rerun run test validate",
	toMake:    "add address adjust apply change clean close combine convert correct create delete disable do draft drop edit extract finish fix handle implement insert install make mark modify move proceed put redo refactor remove rename replace resolve restore revert rewrite set simplify switch take undo update use wire write",
	toDeliver: "comment commit link merge post publish push rebase release reply stage",
	toPlan:    "ask clarify design outline plan propose suggest think track",
	toSum:     "recap summarize",
}

// intentOpenings precede a verb of intentVerbs. Those of the second list count only if there is none of the first.
var intentOpenings = [2][]string{{"let me ", "let's ", "i'll ", "i will ", "i'm going to "}, {"i need to ", "i should ", "now "}}

// intentFillers may be between an opening and its verb.
var intentFillers = " a actually ahead also and by can first go i just need now quickly start the then to try "

var intentWord = byIntent(intentVerbs)

func byIntent(table map[intent]string) map[string]intent {
	m := map[string]intent{}
	for i, words := range table { // in any order: no word is in two lists
		for _, w := range strings.Fields(words) {
			m[w] = i
		}
	}
	return m
}

// plannable are verbs that mean planning if their object is a plan.
var plannable = " create make update write "

// checkable are verbs that mean testing if a part of testable follows.
var (
	checkable = " confirm ensure verify "
	testable  = strings.Fields("build compil lint pass test work")
)

// nearEnd is the distance from the end of the words up to which an intent announces the next action, in bytes.
const nearEnd = 240

// intentOf returns the intent of the last opening that a verb follows; next reports whether it is near the end.
func intentOf(said string) (found intent, next bool) {
	folded := foldASCII(said)
	for _, openings := range intentOpenings {
		for end := len(folded); end > 0; {
			start, after := -1, 0
			for _, o := range openings {
				if !strings.Contains(folded[start+1:end], o) { // a quick check that usually suffices
					continue
				}
				if i := strings.LastIndex(folded[:end], o); i > start {
					start, after = i, i+len(o)
				}
			}
			if start < 0 {
				break
			}
			if found = verbIntent(head(folded[after:], 64)); found != 0 {
				return found, after+nearEnd > len(folded)
			}
			end = start
		}
	}
	return 0, false
}

// verbIntent returns the intent of the first verb after an opening.
func verbIntent(after string) intent {
	verb := firstVerb(after, intentFillers, func(w string) bool { return intentWord[w] != 0 })
	switch {
	case strings.Contains(plannable, " "+verb+" ") && strings.Contains(head(after, 40), " plan"):
		return toPlan
	case strings.Contains(checkable, " "+verb+" ") && hasAnyPart(after, testable):
		return toTest
	}
	return intentWord[verb]
}

// firstVerb returns the first word that is a verb, or "" if words other than fillers precede it.
func firstVerb(s, fillers string, isVerb func(string) bool) string {
	for _, w := range splitSpace(s) {
		w = strings.Trim(w, ".,:;!?-`\"'()")
		switch {
		case isVerb(w):
			return w
		case !strings.Contains(fillers, " "+w+" "):
			return ""
		}
	}
	return ""
}

// splitSpace is like strings.Fields, without the tables of Unicode.
func splitSpace(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t\r\n", r) })
}

func hasAnyPart(s string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// withoutQuoted removes the text between pairs of a quote.
func withoutQuoted(s, quote string) string {
	if !strings.Contains(s, quote) {
		return s
	}
	var kept strings.Builder
	for i, part := range strings.Split(s, quote) {
		if i%2 == 0 {
			kept.WriteString(part)
			kept.WriteByte(' ')
		}
	}
	return kept.String()
}

// withoutCode removes code blocks and text in backquotes.
func withoutCode(said string) string { return withoutQuoted(withoutQuoted(said, "```"), "`") }

// farewells begin the notices at the end of a session.
var farewells = []string{"<command-name>/exit", "<command-name>/quit", "<local-command-stdout>bye!", "<local-command-stdout>goodbye!",
	"<local-command-stdout>see ya!", "<local-command-stdout>catch you later!"}

// reminder begins texts that Claude Code inserts for the agent.
const reminder = "<system-reminder>"

// A regard is what a thought says about the person at its beginning.
type regard uint8

const (
	regardWish   regard = iota + 1 // what the person wants
	regardLook                     // that the person wants something to be explored
	regardReport                   // what the person says
)

// userWishes and userReports follow "the user" in a thought about a prompt.
var (
	userWishes  = strings.Fields("wants asks asking asked wanted approved rejected agreed agrees chose confirmed prefers needs would")
	userReports = strings.Fields("says said has reports reported saying reporting showing pointing noting seeing getting having facing right")
)

// regardHead is how many bytes of a thought are searched for a regard.
const regardHead = 256

// regardOf returns the regard of a thought.
func regardOf(said string) regard {
	_, after, ok := strings.Cut(foldASCII(head(said, regardHead)), "the user ")
	words := splitSpace(after)
	if len(words) > 1 && words[0] == "is" {
		words = words[1:]
	}
	switch {
	case !ok || len(words) == 0:
		return 0
	case slices.Contains(userWishes, words[0]):
		if len(words) > 3 && words[1] == "me" && intentWord[words[3]] == toExplore {
			return regardLook
		}
		return regardWish
	case strings.Contains(after, "they want "):
		return regardWish
	case slices.Contains(userReports, words[0]):
		return regardReport
	}
	return 0
}

// finished begin a report that something is done, and successes are parts of such a beginning.
var (
	finished = []string{"done", "committed", "pushed", "merged", "perfect", "great, ", "here's a summary", "here's what", "excellent", "that's done", "rolled back", "implementation complete", "<analysis>"}

	successes = []string{" pass.", " pass,", " pass:", " passes.", " passing", " pass -", " pass —", "all green", "all clean", " looks good", " look good", "works correctly", " is correct", " is complete", "was successful", "all gone", "both pass", " are done", " are fixed", "all good", "all done", "all pushed"}
)

// stepWords occur in a line that ends with a colon, before a list of future steps.
var stepWords = []string{"let me:", "need to", "should", "plan", "steps", "i'll", "i will"}

// laysOutSteps reports whether a list follows a line with one of stepWords.
func laysOutSteps(said string) bool {
	colon := false
	for line := range strings.Lines(foldASCII(said)) {
		line = strings.Trim(line, " \t\r\n")
		switch {
		case line == "":
		case colon && ('1' <= line[0] && line[0] <= '9' || line[0] == '-' || line[0] == '*'):
			return true
		default:
			colon = line[len(line)-1] == ':' && hasAnyPart(line, stepWords)
		}
	}
	return false
}

// addresses are parts of the end of a question that the person has to decide.
var addresses = []string{" you", "want ", "should i ", "should we ", "shall ", "which "}

// asksPerson reports whether an agent's question is for the person to decide.
func asksPerson(said string) bool {
	return hasAnyPart(foldASCII(said[max(0, len(said)-160):]), addresses)
}

// requestVerbs follow "can you" and similar openings in a question that asks for an action.
var requestVerbs = " add address apply change clean combine comment commit continue convert create delete do drop edit extract fix have implement include keep link make merge modify move open propose push put " +
	"rebase refactor reference remove rename replace reply revert rewrite run set simplify skip split squash start stop suggest switch tackle update use work write "

// requestOpenings precede a verb of requestVerbs.
var requestOpenings = []string{"can we ", "can you ", "could we ", "could you ", "shall we ", "should we ", "would you ", "will you ", "please "}

func isRequestVerb(w string) bool { return strings.Contains(requestVerbs, " "+w+" ") }

// commandFillers may precede the verb of a command, in addition to those of an intent.
var commandFillers = " alright great let let's nah okay ok please so us yeah yes" + intentFillers

// commands reports whether a person's words begin with a request, except a request to fix something.
func commands(said string) bool {
	verb := firstVerb(foldASCII(head(said, 64)), commandFillers, isRequestVerb)
	return verb != "" && verb != "fix"
}

// interrogatives begin a grammatical question; other questions are statements with a question mark.
var interrogatives = []string{"is ", "are ", "do ", "does ", "did ", "was ", "were ", "have ", "has ", "can ", "could ", "should ", "would ", "will ",
	"what ", "why ", "how ", "where ", "when ", "who ", "which "}

// endsAsking reports whether no letter or digit follows the last question mark, which must be near the end.
func endsAsking(s string) bool {
	i := strings.LastIndexByte(s, '?')
	if i < 0 || len(s)-i > 64 {
		return false
	}
	for _, c := range []byte(s[i:]) {
		if isWordByte(c) && c < 0x80 {
			return false
		}
	}
	return true
}

// pastesLog reports whether a text has two times of day, as in the lines of a log, or a line that is a JSON object.
func pastesLog(said string) bool {
	if strings.Contains(said, "\n{"+`"`) {
		return true
	}
	times := 0
	for i := 0; i+8 <= len(said); i++ {
		if said[i+2] == ':' && said[i+5] == ':' && isDigits(said[i:i+2]) && isDigits(said[i+3:i+5]) && isDigits(said[i+6:i+8]) {
			times++
			i += 7
		}
	}
	return times >= 2
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// troubles are words about something wrong. The words of a row count once.
var troubles = []struct {
	words  string
	weight int
	person bool // they count only in a person's words, or in a report of them
}{
	{"bug bugs buggy", 2, false},
	{"crash crashed crashes crashing panic panics", 2, false},
	{"broken breaks broke", 2, false},
	{"regression regressed flake flaky deadlock segfault stacktrace traceback", 2, false},
	{"fail fails failed failing failure failures", 2, false},
	{"debug debugging", 2, false},
	{"diagnostic diagnostics", 2, false},
	{"error errors exception exceptions", 1, false},
	{"fix fixed fixes fixing", 1, false},
	{"issue issues problem problems trouble", 1, false},
	{"wrong incorrect incorrectly unexpected unexpectedly mismatch", 1, false},
	{"root cause culprit", 1, false},
	{"reproduce workaround", 1, false},
	{"conflict conflicts", 2, true},
	{"still", 1, true},
	{"didn didnt doesn doesnt isn isnt wasn wasnt won wont cannot", 1, true},
	{"seem seems appear appears", 1, true},
	{"anymore", 1, true},
	{"huh crap weird strange odd oops", 1, true},
	{"log logs console output", 1, true},
	{"leak leaks leaking", 1, true},
}

// troublePhrases are also about something wrong. Together they weigh 2, however many there are.
var troublePhrases = []string{"the issue is", "the problem is", "the real issue", "the real problem", "i see the issue", "i see the problem", "can see the issue", "can see the problem",
	"was supposed to", "were supposed to", "try again", "not work", "doesn't work", "doesnt work"}

var troubleWord = func() map[string]int {
	m := map[string]int{}
	for row := range troubles {
		for _, w := range strings.Fields(troubles[row].words) {
			m[w] = row
		}
	}
	return m
}()

var troubleBegins = beginsOf(troubleWord)

// troubleIn adds the weights of the rows that have a word in a text.
func troubleIn(said string, person bool) (sum int) {
	folded := strings.ReplaceAll(foldASCII(said), "\u00a0", " ") // text pasted from terminals has non-breaking spaces
	if hasAnyPart(folded, troublePhrases) {
		sum = 2
	}
	var seen [32]bool
	for i := 0; i < len(folded); {
		if foldedWord[folded[i]] == 0 {
			i++
			continue
		}
		start := i
		for i++; i < len(folded) && foldedWord[folded[i]] != 0; {
			i++
		}
		w := folded[start:i]
		if !troubleBegins.may(w[0], len(w)) {
			continue
		}
		if row, ok := troubleWord[w]; ok && !seen[row] && (person || !troubles[row].person) {
			seen[row] = true
			sum += troubles[row].weight
		}
	}
	return sum
}

func wordsOf(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r < 0x80 && !isWordByte(byte(r)) })
}
