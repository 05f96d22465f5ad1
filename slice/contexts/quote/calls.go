package quote

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/extract"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// The attributes of turns that are read.
const (
	attrToolUse = extract.AttrToolUse
	attrFolder  = ingest.AttrFolder
	attrBranch  = contexts.AttrBranch
)

// A call is one tool call of a turn.
type call struct {
	text    string // of the turn
	members []member
}

// A member is a string in the input of a call.
type member struct {
	path []string // the names that lead to it; "#" stands for a place in an array
	item int      // the place in the innermost array
	span [2]int   // of its spelling in the text of the turn, without the quotation marks
}

// callsIn returns the calls of a turn, in their order. A call whose input is not JSON has no members.
func callsIn(b *dag.Body) (calls []call) {
	blocks, ok := extract.Blocks(b.Content, b.Attrs)
	if !ok {
		return nil
	}
	at := 0
	for _, block := range blocks {
		from := strings.Index(b.Content[at:], block.Text)
		if from < 0 {
			return nil
		}
		at += from
		if block.Tool != "" {
			calls = append(calls, call{b.Content, membersOf(block.Text, at)})
		}
		at += len(block.Text)
	}
	return calls
}

// membersOf returns the strings of a JSON value that begins at a place of a text.
func membersOf(input string, at int) (found []member) {
	type level struct {
		array bool
		n     int
		key   string
		named bool
	}
	var levels []level
	d := json.NewDecoder(strings.NewReader(input))
	place := func() (m member) {
		for _, l := range levels {
			if l.array {
				m.path, m.item = append(m.path, "#"), l.n
			} else {
				m.path = append(m.path, l.key)
			}
		}
		return m
	}
	done := func() {
		if n := len(levels); n > 0 {
			levels[n-1].n++
			levels[n-1].named = false
		}
	}
	for {
		before := int(d.InputOffset())
		token, err := d.Token()
		if err != nil {
			return found
		}
		switch v := token.(type) {
		case json.Delim:
			switch v {
			case '{', '[':
				levels = append(levels, level{array: v == '['})
			default:
				levels = levels[:len(levels)-1]
				done()
			}
		case string:
			if n := len(levels); n > 0 && !levels[n-1].array && !levels[n-1].named {
				levels[n-1].key, levels[n-1].named = v, true
				continue
			}
			from := before + strings.IndexByte(input[before:], '"') + 1
			m := place()
			m.span = [2]int{at + from, at + int(d.InputOffset()) - 1}
			found = append(found, m)
			done()
		default:
			done()
		}
		if len(levels) == 0 {
			return found
		}
	}
}

func (c *call) spelled(m *member) string { return c.text[m.span[0]:m.span[1]] }

// is reports whether the names that lead to a member are some names.
func (m *member) is(names ...string) bool { return slices.Equal(m.path, names) }

// command returns the command that the call runs, as it is spelled in JSON.
func (c *call) command() (span [2]int, ok bool) {
	for i := range c.members {
		if m := &c.members[i]; m.is("command") || m.is("command", "#") || m.is("cmd") {
			span, ok = m.span, m.span[1] > m.span[0]
		}
	}
	return span, ok
}

// file returns the file in the agent's folder that the call writes, from that folder on.
func (c *call) file(folder string) (span [2]int, path string, ok bool) {
	for i := range c.members {
		m := &c.members[i]
		if m.is("file_path") || m.is("path") || m.is("notebook_path") || m.is("absolute_path") {
			span, ok = m.span, m.span[1] > m.span[0]
			break
		}
	}
	if !ok {
		return span, "", false
	}
	path = c.text[span[0]:span[1]]
	if strings.HasPrefix(path, "/") {
		inside := strings.TrimSuffix(folder, "/") + "/"
		if !strings.HasPrefix(path, inside) || len(path) == len(inside) {
			return span, "", false
		}
		span[0] += len(inside)
	}
	return span, c.text[span[0]:span[1]], span[1]-span[0] <= MaxLine
}

// todo returns the items of a list of tasks that are not done. ok reports whether the call writes such a list.
func (c *call) todo() (spans [][2]int, ok bool) {
	for i := range c.members {
		m := &c.members[i]
		if !m.is("todos", "#", "content") && !m.is("plan", "#", "step") {
			continue
		}
		ok = true
		done := slices.ContainsFunc(c.members, func(o member) bool {
			return o.item == m.item && o.is(m.path[0], "#", "status") && slices.Contains(doneStates, c.spelled(&o))
		})
		if !done {
			spans = append(spans, clipped(c.text, firstOf(c.text, m.span)))
		}
	}
	return spans, ok
}

// doneStates are the states of tasks that need no more work.
var doneStates = []string{"completed", "cancelled", "deleted"}

// firstOf shortens a span to the first line of the string that it spells.
func firstOf(text string, s [2]int) [2]int {
	if at := strings.Index(text[s[0]:s[1]], `\n`); at > 0 {
		s[1] = s[0] + at
	}
	return s
}

// checking matches a command that checks or builds something.
var checking = regexp.MustCompile(`(?:^|[\s:;&|(/])(?:tests?|check|lint|build|vet|typecheck|compile|tsc|pytest|py\.test|jest|vitest|mypy|ruff|eslint|clippy|credo|dialyzer|gotestsum|ci)(?:$|[\s:;&|)"\\])`)

// looking matches a command that only looks at files.
var looking = regexp.MustCompile(`^(?:grep|rg|cat|ls|find|sed|awk|echo|head|tail|git|cd|mkdir|rm|cp|mv|which|ps|wc|tree|gh|curl)\b`)

// checks reports whether a command checks or builds something, judging by its words.
func checks(command string) bool {
	command = command[afterFolder(command, [2]int{0, len(command)})[0]:]
	return !looking.MatchString(command) && checking.MatchString(command[:min(len(command), 300)])
}

// narrows matches a command that checks a part of a project, such as one test, or one folder.
var narrows = regexp.MustCompile(`\s-+(?:run|k|t|grep|filter)\b|\s(?:\./)?[\w.-]+/[\w./-]*(?:\.\.\.)?(?:\s|$)|\s[\w-]+\.\w+(?:\s|$|:)|::`)

// undoes matches a command that takes changes of files back, or puts them aside.
var undoes = regexp.MustCompile(`\bgit (?:checkout|restore|stash|reset --hard|rebase|merge|pull)\b`)

// afterFolder narrows a command to its first line, without a change of folder before it, and without what cuts its output behind it.
func afterFolder(text string, s [2]int) [2]int {
	for _, behind := range [...]string{" 2>&1", " | tail", " | head"} {
		if at := strings.Index(text[s[0]:s[1]], behind); at > 0 {
			s[1] = s[0] + at
		}
	}
	if strings.HasPrefix(text[s[0]:s[1]], "cd ") {
		if at := strings.Index(text[s[0]:s[1]], " && "); at > 0 {
			s[0] += at + len(" && ")
		}
	}
	return firstOf(text, s)
}

// commitMessage returns the first line of the message of the commit that a command makes. Quotation marks and line feeds of the command are escaped, since it is spelled in JSON.
func commitMessage(text string, s [2]int) (span [2]int, ok bool) {
	command := text[s[0]:s[1]]
	at := strings.Index(command, "git commit")
	if at < 0 {
		return span, false
	}
	from := strings.Index(command[at:], " -m ")
	if from < 0 {
		return span, false
	}
	from += at + len(" -m ")
	end := ""
	switch {
	case strings.HasPrefix(command[from:], `\"$(cat <<`):
		skip := strings.Index(command[from:], `\n`)
		if skip < 0 {
			return span, false
		}
		from, end = from+skip+len(`\n`), `\n`
	case strings.HasPrefix(command[from:], `\"`):
		from, end = from+len(`\"`), `\"`
	case strings.HasPrefix(command[from:], `'`):
		from, end = from+1, `'`
	default:
		return span, false
	}
	to := len(command)
	for _, e := range [...]string{end, `\n`} {
		if n := strings.Index(command[from:], e); n >= 0 {
			to = min(to, from+n)
		}
	}
	if to <= from {
		return span, false
	}
	return clipped(text, [2]int{s[0] + from, s[0] + to}), true
}
