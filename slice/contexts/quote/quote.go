// Package quote finds the lines of a brief: excerpts of the last sessions of a project for an agent that begins a new session. It reads texts and attributes of turns and
// uses no model, so the same sessions always give the same lines.
//
//	for _, l := range quote.Pick(sessions, branch) { … l.Turn, l.Excerpt … }
//
// Every line is a part of one turn's text, byte for byte; see [contexts.Excerpt].
package quote

import (
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/extract"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// A Turn is a turn of a session, with its text.
type Turn struct {
	ID   dag.TurnID
	Body *dag.Body
}

// A Session has the turns of a session in which lines are looked for, the newest first.
type Session struct {
	Prompts []Turn // of owners and members
	Said    []Turn // of the agent, with words
	Calls   []Turn // of the agent
	Failed  []Turn // results that say that their calls failed
}

// A Line is an excerpt of a turn.
type Line struct {
	Turn    dag.TurnID
	Excerpt contexts.Excerpt
	Cost    int // tokens of what is shown
}

// Limits of the numbers of lines.
const (
	mostTold      = 3 // sessions, and sessions on the branch, see Told
	mostDecided   = 4
	mostTodo      = 5
	mostCommits   = 2
	mostOpenFiles = 4
	mostPassed    = 2
	mostCommands  = 6 // of a session, among which those for all of the project are looked for
)

// Branch returns the branch on which the session ended, as far as its prompts say; "" if they do not.
func (s *Session) Branch() string {
	if len(s.Prompts) == 0 {
		return ""
	}
	return s.Prompts[0].Body.Attrs[attrBranch]
}

// Told returns the places of the sessions whose turns Pick needs besides their prompts: the three newest sessions, and the three newest on a branch. It reads only the prompts.
func Told(sessions []Session, branch string) (places []int) {
	on := 0
	for i := range sessions {
		is := sessions[i].on(branch)
		if is {
			on++
		}
		if i < mostTold || is && on <= mostTold {
			places = append(places, i)
		}
	}
	return places
}

// on reports whether the session may have been on a branch. An unknown branch, of the session or of the caller, counts as the same branch.
func (s *Session) on(branch string) bool {
	return branch == "" || s.Branch() == "" || s.Branch() == branch
}

// Pick returns the lines of sessions, the most wanted line first. sessions begins with the newest. Every session contributes decisions; the newest session, if it was on the
// branch, its end, its last question and its open work; other sessions on the branch their ends; and all sessions of Told the commands that check the whole project. No turn
// has two lines.
func Pick(sessions []Session, branch string) []Line {
	p := picker{taken: map[dag.TurnID]bool{}}
	told := Told(sessions, branch)
	var decided []Line
	for i := range sessions {
		for _, t := range sessions[i].Prompts {
			span, ok := decision(t.Body.Content)
			if ok && (!slices.Contains(told, i) || within(t.Body.Content, span)) && len(decided) < mostDecided {
				decided = append(decided, line(t, contexts.Decided, span))
			}
		}
	}
	var passed []Line
	commands := map[string]int{} // how often each passed
	texts := map[dag.TurnID]string{}
	for _, i := range told {
		c := courseOf(&sessions[i])
		on := sessions[i].on(branch)
		if on {
			p.take(c.said...)
		}
		switch {
		case i == 0 && on:
			p.take(first(c.asked, 1)...)
			p.take(c.todo...)
			p.take(c.failed...)
			p.take(decided...)
			p.take(c.open...)
			p.take(c.committed...)
		case i == 0:
			p.take(decided...)
		case on:
			p.take(first(c.committed, 1)...)
		}
		if on && len(c.said) == 0 {
			p.take(first(c.asked, 1)...)
		}
		for _, l := range c.passed {
			text := c.commands[l.Turn]
			if commands[text]++; commands[text] == 1 && !narrows.MatchString(strings.ReplaceAll(text, " ./...", "")) {
				passed = append(passed, l)
				texts[l.Turn] = text
			}
		}
	}
	slices.SortStableFunc(passed, func(a, b Line) int { return commands[texts[b.Turn]] - commands[texts[a.Turn]] })
	p.take(first(passed, mostPassed)...)
	return p.lines
}

// within reports whether the decision of a prompt is in the line of its question, or before it. Such a prompt becomes a decision, and no question.
func within(text string, decision [2]int) bool {
	span, ok := question(text)
	return !ok || decision[0] < span[1]
}

// A picker collects lines.
type picker struct {
	lines []Line
	taken map[dag.TurnID]bool
}

func (p *picker) take(lines ...Line) {
	for _, l := range lines {
		if !p.taken[l.Turn] && len(l.Excerpt.Spans) > 0 {
			p.taken[l.Turn] = true
			p.lines = append(p.lines, l)
		}
	}
}

func first(lines []Line, n int) []Line { return lines[:min(n, len(lines))] }

// line returns the line of a turn that has some spans, without those that are empty.
func line(t Turn, as contexts.Label, spans ...[2]int) Line {
	spans = slices.DeleteFunc(spans, func(s [2]int) bool { return s[1] <= s[0] })
	e := contexts.Excerpt{As: as, Spans: spans}
	return Line{t.ID, e, contexts.Tokens(strings.Join(e.Lines(t.Body.Content), "\n"))}
}

// A course has the lines of one session. Every list begins with the newest line.
type course struct {
	asked, said, committed, failed, passed, todo, open []Line
	commands                                           map[dag.TurnID]string // that passed
}

func courseOf(s *Session) (c course) {
	c.commands = map[dag.TurnID]string{}
	for _, t := range s.Prompts {
		spans := make([][2]int, 0, 2)
		if span, ok := question(t.Body.Content); ok {
			spans = append(spans, span)
			if next, ok := continued(t.Body.Content, span); ok {
				spans = append(spans, next)
			}
		}
		if span, ok := decision(t.Body.Content); ok && within(t.Body.Content, span) {
			continue // it is a decision
		} else if ok && (len(spans) == 0 || span[0] >= spans[len(spans)-1][1]) {
			spans = append(spans, span)
		}
		if len(spans) > 0 {
			c.asked = append(c.asked, line(t, contexts.Asked, spans...))
		}
	}
	for _, t := range s.Said {
		if span, ok := ending(t.Body.Content); ok && len(c.said) == 0 {
			c.said = append(c.said, line(t, contexts.Said, span))
		}
	}
	failures := map[string]bool{}
	for _, t := range s.Failed {
		for id := range strings.SplitSeq(t.Body.Attrs[attrToolUse], ",") {
			failures[id] = id != ""
		}
	}
	listed, checked, undone := false, false, false
	open := map[string]bool{}
	for _, t := range s.Calls {
		failed := slices.ContainsFunc(strings.Split(t.Body.Attrs[attrToolUse], ","), func(id string) bool { return failures[id] })
		writes := extract.Writes(t.Body)
		for _, call := range callsIn(t.Body) {
			if spans, ok := call.todo(); ok && !listed {
				if listed = true; len(spans) > 0 {
					c.todo = append(c.todo, line(t, contexts.Todo, spans[:min(len(spans), mostTodo)]...))
				}
			}
			if span, path, ok := call.file(t.Body.Attrs[attrFolder]); ok && writes && !failed {
				if len(c.committed) == 0 && !undone && !open[path] && len(open) < mostOpenFiles {
					open[path] = true
					c.open = append(c.open, line(t, contexts.Uncommitted, span))
				}
			}
			command, ok := call.command()
			if !ok {
				continue
			}
			undone = undone || !failed && undoes.MatchString(t.Body.Content[command[0]:command[1]])
			if span, ok := commitMessage(t.Body.Content, command); ok {
				if !failed && len(c.committed) < mostCommits {
					c.committed = append(c.committed, line(t, contexts.Committed, span))
				}
				continue
			}
			if !checks(t.Body.Content[command[0]:command[1]]) {
				continue
			}
			of := clipped(t.Body.Content, afterFolder(t.Body.Content, command))
			l := line(t, contexts.Passed, of)
			switch {
			case failed && !checked:
				l.Excerpt.As = contexts.Failed
				c.failed = append(c.failed, l)
			case !failed && len(c.passed) < mostCommands:
				c.passed = append(c.passed, l)
				c.commands[t.ID] = t.Body.Content[of[0]:of[1]]
			}
			checked = true
		}
	}
	return c
}
