package ingest

import "strings"

// The rules for the calls and results of tools.

// commandVerbs are verbs among the first three words of a command.
var commandVerbs = map[intent]string{
	toTest:    "bench benchmark build compile dlv fmt gdb gofmt golangci-lint gotestsum jest lint mypy pytest ruff test tests tox tsc vet vitest",
	toDeliver: "add checkout cherry-pick comment commit cp create deploy edit merge mkdir mv publish push rebase release restore revert rm stash switch tag tee touch",
}

var commandWord = byIntent(commandVerbs)

// lookers are commands that only look; their other words are not verbs.
var lookers = " awk cat diff echo find grep head jq ls rg sed tail wc "

// commandIntent returns the purpose of a call's command: that of its first part that tests, else of its first part that
// delivers. Parts end at a pipe, a semicolon, an ampersand or a newline; quoted text and here-documents do not count.
func commandIntent(call string) (found intent) {
	_, command, ok := strings.Cut(call, commandMember+`:"`)
	if !ok {
		return 0
	}
	command = head(command, rulesHead)
	if end := strings.Index(command, `","`); end >= 0 {
		command = command[:end]
	}
	command, _, _ = strings.Cut(withoutQuoted(command, `\"`), "<<")
	command = strings.ReplaceAll(command, `\n`, ";")
	for _, part := range strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(";|&", r) }) {
		words := splitSpace(part)
		for i, w := range words[:min(len(words), 3)] {
			w, _, _ = strings.Cut(foldASCII(strings.Trim(w, `"'}`)), ":")
			if i == 0 && strings.Contains(lookers, " "+w+" ") {
				break
			}
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

// writesPlan reports whether a call writes a file whose path is that of a plan.
func writesPlan(call string) bool {
	_, path, ok := strings.Cut(call, pathMember+`:"`)
	path, _, _ = strings.Cut(foldASCII(head(path, 512)), `"`)
	return ok && (strings.Contains(path, "/plans/") || strings.HasSuffix(path, "plan.md"))
}

// endsFailing reports whether a result has a line FAIL, or its last line reports a failure.
func endsFailing(result string) bool {
	lines := strings.Split(strings.TrimRight(result[max(0, len(result)-rulesTail):], " \t\r\n"), "\n")
	for _, line := range lines {
		if strings.Trim(line, " \t\r\n") == "FAIL" {
			return true
		}
	}
	before := ""
	for _, w := range wordsOf(lines[len(lines)-1]) {
		switch {
		case w == "FAIL" || w == "FAILED" || w == "ERROR":
			return true
		case (w == "failed" || w == "failure" || w == "failures" || w == "errors") && before != "" && '1' <= before[0] && before[0] <= '9':
			return true
		}
		before = w
	}
	return false
}

// reportsDelivery reports whether a result is the output of git or gh after a push, a commit or a merge, or the address of
// something that was posted.
func reportsDelivery(result string) bool {
	result = strings.TrimRight(result, " \t\r\n")
	if strings.HasPrefix(result, "To ") || strings.Contains(result, "\nMerge made by") || strings.HasPrefix(result, "https://") && !strings.ContainsAny(result, " \n") {
		return true
	}
	where, _, ok := strings.Cut(result, "] ")
	commit := where[strings.LastIndexByte(where, ' ')+1:]
	return ok && strings.HasPrefix(where, "[") && len(commit) >= 7 && strings.Trim(commit, "0123456789abcdef") == ""
}
