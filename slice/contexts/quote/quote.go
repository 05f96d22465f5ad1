// Package quote finds the lines of a brief: the parts of what was said and done in the last sessions of a project that tell a new session most. It reads texts and
// attributes of turns and no model, so the same sessions always give the same lines.
//
//	for _, l := range quote.Pick(sessions, 3) { … l.Turn, l.Excerpt … }
//
// Every line is a part of one turn's text, byte for byte; see [contexts.Excerpt].
package quote

import (
	"cmp"
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
	Conversation dag.ConversationID
	Prompts      []Turn // of owners and members
	Said         []Turn // of the agent, with words
	Calls        []Turn // of the agent
	Failed       []Turn // results that say that their calls failed
}

// A Line is an excerpt of a turn.
type Line struct {
	Turn    dag.TurnID
	Excerpt contexts.Excerpt
	Cost    int // tokens of what is shown
}

// Limits of the numbers of lines.
const (
	mostDecided   = 6
	mostTodo      = 5
	mostCommits   = 3
	mostOpenFiles = 4
	mostChanged   = 3
	leastChanges  = 3 // of a file that counts as changed much
)

// Pick returns the lines of sessions, the newest session first, in the order in which a brief wants them. Of the first whole sessions it tells what they were asked, how
// they ended and what is open; of all, what people decided. No turn has two lines.
func Pick(sessions []Session, whole int) []Line {
	p := picker{taken: map[dag.TurnID]bool{}}
	var decided []Line
	var told []course
	for i := range sessions {
		if i < whole {
			told = append(told, courseOf(&sessions[i]))
		}
		for _, t := range sessions[i].Prompts {
			span, ok := decision(t.Body.Content)
			if ok && (i >= whole || within(t.Body.Content, span)) && len(decided) < mostDecided {
				decided = append(decided, line(t, contexts.Decided, span))
			}
		}
	}
	for n, c := range told {
		p.take(c.said...)
		if n == 0 {
			p.take(first(c.asked, 1)...)
			p.take(c.todo...)
			p.take(c.failed...)
			p.take(first(decided, mostDecided/2)...)
			p.take(c.open...)
			p.take(first(c.passed, 1)...)
		}
		p.take(last(c.asked, 1)...)
		p.take(first(c.committed, 2-n)...)
	}
	p.take(decided...)
	p.take(changed(told)...)
	return p.lines
}

// within reports whether a decision is in the line by which its prompt is quoted as a question, or before it, so that the prompt is quoted as a decision.
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
func last(lines []Line, n int) []Line  { return lines[max(0, len(lines)-n):] }

// line returns the line of a turn that has some spans, without those that are empty.
func line(t Turn, as contexts.Label, spans ...[2]int) Line {
	spans = slices.DeleteFunc(spans, func(s [2]int) bool { return s[1] <= s[0] })
	e := contexts.Excerpt{As: as, Spans: spans}
	return Line{t.ID, e, contexts.Tokens(strings.Join(e.Lines(t.Body.Content), "\n"))}
}

// A course is what is told of a session. Every list begins with the newest line.
type course struct {
	asked, said, committed, failed, passed, todo, open []Line
	written                                            []written
}

// A written is a file that a call wrote.
type written struct {
	path string
	line Line
}

func courseOf(s *Session) (c course) {
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
					c.todo = append(c.todo, line(t, contexts.Todo, first2(spans, mostTodo)...))
				}
			}
			if span, path, ok := call.file(t.Body.Attrs[attrFolder]); ok && writes && !failed {
				l := line(t, contexts.Changed, span)
				c.written = append(c.written, written{path, l})
				if len(c.committed) == 0 && !undone && !open[path] && len(open) < mostOpenFiles {
					open[path] = true
					l.Excerpt.As = contexts.Uncommitted
					c.open = append(c.open, l)
				}
			}
			command, ok := call.command()
			if !ok {
				continue
			}
			undone = undone || !failed && undoes.MatchString(t.Body.Content[command[0]:command[1]])
			if span, ok := commitMessage(t.Body.Content, command); ok {
				if !failed {
					c.committed = append(first(c.committed, mostCommits-1), line(t, contexts.Committed, span))
				}
				continue
			}
			if !checks(t.Body.Content[command[0]:command[1]]) {
				continue
			}
			l := line(t, contexts.Passed, clipped(t.Body.Content, afterFolder(t.Body.Content, command)))
			switch {
			case failed && !checked:
				l.Excerpt.As = contexts.Failed
				c.failed = append(c.failed, l)
			case !failed && len(c.passed) == 0:
				c.passed = append(c.passed, l)
			}
			checked = true
		}
	}
	return c
}

func first2(spans [][2]int, n int) [][2]int { return spans[:min(n, len(spans), contexts.MaxSpans)] }

// changed returns the files that were written most, each with the newest turn that wrote it.
func changed(told []course) (lines []Line) {
	type file struct {
		times  int
		newest Line
	}
	files := map[string]*file{}
	var paths []string
	for _, c := range told {
		for _, w := range c.written {
			if files[w.path] == nil {
				files[w.path] = &file{newest: w.line}
				paths = append(paths, w.path)
			}
			files[w.path].times++
		}
	}
	slices.SortStableFunc(paths, func(a, b string) int { return cmp.Compare(files[b].times, files[a].times) })
	for _, path := range paths {
		if f := files[path]; f.times >= leastChanges && len(lines) < mostChanged {
			lines = append(lines, f.newest)
		}
	}
	return lines
}
