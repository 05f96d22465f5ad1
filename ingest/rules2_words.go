package ingest

import (
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// The lists of rules/2 beside those it shares with rules/1. They never change.

// An intent is what an agent says that it does next, or what a command is for.
type intent uint8

const (
	toExplore intent = iota + 1
	toTest
	toMake
	toDeliver
	toPlan
)

func (i intent) phase() dag.Phase {
	switch i {
	case toTest:
		return dag.Debugging
	case toMake, toDeliver:
		return dag.Synthesis
	case toPlan:
		return dag.Planning
	}
	return dag.Exploration
}

// intentVerbs are what follows "let me" and the like.
var intentVerbs = map[intent]string{
	toExplore: "analyze browse check compare confirm examine explore fetch find follow get inspect investigate list look read reading research review search see show trace understand view",
	toTest:    "build compile debug format lint reproduce rerun run test validate verify",
	toMake:    "add address apply change clean convert correct create delete do edit extract fix handle implement make modify move proceed refactor remove rename replace resolve restore revert rewrite simplify undo update write",
	toDeliver: "commit merge publish push rebase release stage",
	toPlan:    "ask design outline plan propose suggest think track",
}

// commandVerbs are words among the first three of a command.
var commandVerbs = map[intent]string{
	toTest:    "bench benchmark build compile dlv fmt gdb gofmt golangci-lint gotestsum jest lint mypy pytest ruff test tests tox tsc vet vitest",
	toDeliver: "add cherry-pick comment commit cp create deploy edit merge mkdir mv publish push rebase release restore revert rm tag tee touch",
}

// intentOpenings stand before a verb of intentVerbs. Those of the second list count
// where there is none of the first.
var intentOpenings = [2][]string{{"let me ", "let's ", "i'll ", "i will ", "i'm going to "}, {"i need to ", "i should ", "now i "}}

// intentFillers may stand between an opening and its verb.
var intentFillers = " a actually ahead also and by can first go just need now now, quickly start take the then to try "

var intentWord, commandWord = byIntent(intentVerbs), byIntent(commandVerbs)

func byIntent(table map[intent]string) map[string]intent {
	m := map[string]intent{}
	for i, words := range table { // in any order: no word is in two lists
		for _, w := range strings.Fields(words) {
			m[w] = i
		}
	}
	return m
}

// intentOf finds the last opening and the first verb after it.
func intentOf(said string) intent {
	folded := foldASCII(said)
	at := -1
	for _, openings := range intentOpenings {
		for _, o := range openings {
			if i := strings.LastIndex(folded, o); i >= 0 {
				at = max(at, i+len(o))
			}
		}
		if at >= 0 {
			break
		}
	}
	if at < 0 {
		return 0
	}
	for _, w := range strings.Fields(head(folded[at:], 64)) {
		if i := intentWord[strings.Trim(w, ".,:;!?`\"'()")]; i != 0 {
			return i
		}
		if !strings.Contains(intentFillers, " "+w+" ") {
			return 0
		}
	}
	return 0
}

// commandIntent reads what a call's command is for: the first part of it that
// tests decides, else the first that delivers. Parts end at a pipe, a semicolon, an ampersand or a line.
func commandIntent(call string) (found intent) {
	_, command, ok := strings.Cut(call, commandMember+`:"`)
	if !ok {
		return 0
	}
	command = head(command, rulesHead)
	if end := strings.Index(command, `","`); end >= 0 {
		command = command[:end]
	}
	command = strings.ReplaceAll(command, `\n`, ";")
	for _, part := range strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(";|&", r) }) {
		words := strings.Fields(part)
		for _, w := range words[:min(len(words), 3)] {
			w, _, _ = strings.Cut(foldASCII(strings.Trim(w, `"'}`)), ":")
			switch commandWord[w] {
			case toTest:
				return toTest
			case toDeliver:
				found = toDeliver
			}
		}
	}
	return found
}

// farewells begin what stands at the end of a session.
var farewells = []string{"<command-name>/exit", "<command-name>/quit", "<local-command-caveat>", "<local-command-stdout>bye!", "<local-command-stdout>goodbye!",
	"<local-command-stdout>see ya!", "<local-command-stdout>catch you later!", "caveat: "}

// userVerbs follow "the user" in a thought about what was asked.
var userVerbs = strings.Fields("wants asks asked is said says approved rejected agreed agrees chose confirmed wanted")

// regardsUser reports whether a thought is about what was asked.
func regardsUser(said string) bool {
	folded := foldASCII(said)
	for _, verb := range userVerbs {
		if strings.Contains(folded, "the user "+verb+" ") {
			return true
		}
	}
	return false
}

// finished begin what is said when something is done.
var finished = []string{"all ", "done", "committed", "pushed", "tests pass", "the tests pass", "perfect", "great", "everything ", "here's a summary", "here's what", "both ",
	"excellent", "that's done", "good, all", "the implementation is complete", "now all"}

// requestVerbs follow "can you" and the like in a question that asks for something to be done.
var requestVerbs = " add address apply change clean combine commit convert create delete do drop edit extract fix have implement include keep make merge modify move open push put rebase refactor " +
	"remove rename replace revert rewrite run set simplify skip split squash start stop switch tackle try update use write "

// requestOpenings stand before a verb of requestVerbs.
var requestOpenings = []string{"can we ", "can you ", "could we ", "could you ", "shall we ", "should we ", "would you ", "will you ", "please "}

// requests reports whether a question asks for something to be done.
func requests(said string) bool {
	folded := foldASCII(said)
	for _, o := range requestOpenings {
		_, after, ok := strings.Cut(folded, o)
		if !ok {
			continue
		}
		for _, w := range strings.Fields(head(after, 64)) {
			if strings.Contains(requestVerbs, " "+w+" ") {
				return true
			}
			if !strings.Contains(intentFillers, " "+w+" ") {
				break
			}
		}
	}
	return false
}

// troubles are words that tell of something wrong. The words of a row count once.
var troubles = []struct {
	words  string
	weight int
}{
	{"bug bugs buggy", 2},
	{"crash crashed crashes crashing panic panics", 2},
	{"broken breaks broke", 2},
	{"regression regressed flake flaky deadlock segfault stacktrace traceback", 2},
	{"fail fails failed failing failure failures", 2},
	{"debug debugging", 2},
	{"error errors exception exceptions", 1},
	{"fix fixed fixes fixing", 1},
	{"issue issues problem problems", 1},
	{"wrong incorrect incorrectly unexpected unexpectedly mismatch", 1},
	{"root cause culprit", 1},
	{"reproduce workaround", 1},
}

var troubleWord = func() map[string]int {
	m := map[string]int{}
	for row := range troubles {
		for _, w := range strings.Fields(troubles[row].words) {
			m[w] = row
		}
	}
	return m
}()

// troubleIn adds up the weights of the rows that have a word in a text.
func troubleIn(said string) (sum int) {
	var seen [16]bool
	for _, w := range strings.FieldsFunc(foldASCII(said), func(r rune) bool { return r < 0x80 && !isWordByte(byte(r)) }) {
		if row, ok := troubleWord[w]; ok && !seen[row] {
			seen[row] = true
			sum += troubles[row].weight
		}
	}
	return sum
}
