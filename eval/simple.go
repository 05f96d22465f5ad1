package main

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// The simple rules are what anybody would write in an afternoon. The strategies of the kernel must not fall below the best of them.

// ordered returns a strategy that prefers the turns up to the anchor by class, 0 first, and within a class the newest.
func ordered(classify func(*Corpus, Question) func(*Turn) int) func(context.Context, *Corpus, Question) ([]dag.TurnID, error) {
	return func(_ context.Context, c *Corpus, q Question) ([]dag.TurnID, error) {
		class := classify(c, q)
		var classes [][]dag.TurnID
		for _, t := range slices.Backward(c.until(q.AsOf)) {
			k := class(&t)
			for len(classes) <= k {
				classes = append(classes, nil)
			}
			classes[k] = append(classes[k], t.ID)
		}
		return slices.Concat(classes...), nil
	}
}

// isOwn reports whether a turn is of the conversation in which the question is asked. One that is asked from nowhere owns all.
func isOwn(c *Corpus, q Question) func(*Turn) bool {
	if q.Anchor == (dag.TurnID{}) {
		return func(*Turn) bool { return true }
	}
	conversation := c.turn(q.Anchor).Conversation
	return func(t *Turn) bool { return t.Conversation == conversation }
}

// prompted reports whether a person wrote a turn.
func (t *Turn) prompted() bool { return t.Role == dag.RoleUser && isPrompt(t.Content) }

// handled reports whether a turn is a call that changed or read a file.
func (t *Turn) handled() bool {
	if t.Role != dag.RoleAssistant {
		return false
	}
	for _, tool := range strings.Split(t.Attrs["tool"], ",") {
		switch tool {
		case "Edit", "MultiEdit", "Write", "NotebookEdit", "Read":
			return true
		}
	}
	return false
}

// promptsAndLast prefers prompts, then the last turns.
func promptsAndLast(c *Corpus, q Question) func(*Turn) int {
	own := isOwn(c, q)
	return func(t *Turn) int {
		if own(t) && t.prompted() {
			return 0
		}
		return 1
	}
}

// promptsAndCalls prefers prompts, then the calls of the session that changed or read a file, then the last turns.
func promptsAndCalls(c *Corpus, q Question) func(*Turn) int {
	own := isOwn(c, q)
	return func(t *Turn) int {
		switch {
		case own(t) && t.prompted():
			return 0
		case own(t) && t.handled():
			return 1
		}
		return 2
	}
}

// fileNames finds names of files in a text: words with a dot and letters after it.
var fileNames = regexp.MustCompile(`[\w./-]*\w\.[A-Za-z]\w*`)

// filesOfTask prefers turns that name a file which the task names, then prompts, then the last turns.
func filesOfTask(c *Corpus, q Question) func(*Turn) int {
	own := isOwn(c, q)
	var files []string
	for _, name := range fileNames.FindAllString(q.Text, -1) {
		files = append(files, path.Base(name))
	}
	return func(t *Turn) int {
		switch {
		case slices.ContainsFunc(files, func(file string) bool { return strings.Contains(t.Content, file) }):
			return 0
		case own(t) && t.prompted():
			return 1
		}
		return 2
	}
}
