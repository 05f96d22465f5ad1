package contexts

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// A Label says what an excerpt is.
type Label int

// The labels. labels lists their names in the same order.
const (
	Asked       Label = iota // of a person
	Committed                // the message of a commit
	Decided                  // of a person: a rule or a correction
	Failed                   // a command that failed
	Passed                   // a command that succeeded
	Said                     // of an agent
	Todo                     // of a list of an agent: not done
	Uncommitted              // a file that was written and not committed
	Labels                   // the number of labels
)

var labels = [Labels]string{"asked", "committed", "decided", "failed", "passed", "said", "todo", "uncommitted"}

// String returns the name of the label.
func (l Label) String() string { return labels[l] }

// byPerson reports whether the label is of what a person said; else it is of what an agent said or did.
func (l Label) byPerson() bool { return l == Asked || l == Decided }

// MaxSpans is the maximum number of spans of an excerpt.
const MaxSpans = 16

// An Excerpt is a part of a turn's text: one or more lines, or parts of lines.
type Excerpt struct {
	As    Label
	Spans [][2]int // the first byte of each and the one after its last, ascending. No span is empty, contains a line feed or divides a character
}

// ellipsis follows a span that does not reach the end of its line or string.
const ellipsis = "…"

// Lines returns the spans of a text. An ellipsis follows each, unless it ends with a sentence, or before a line feed, a quotation mark or the end of the text. Of an
// excerpt that cannot be of the text, which is no evidence, it returns the text.
func (e *Excerpt) Lines(text string) []string {
	if e.misfit(text) != "" {
		return []string{text}
	}
	lines := make([]string, len(e.Spans))
	for i, s := range e.Spans {
		from, to := s[0], s[1]
		lines[i] = text[from:to]
		if to < len(text) && text[to] != '\n' && text[to] != '"' && !strings.ContainsAny(lines[i][max(0, len(lines[i])-1):], ".!?") {
			lines[i] += ellipsis
		}
	}
	return lines
}

// misfit returns why the excerpt cannot be of a text, or "".
func (e *Excerpt) misfit(text string) string {
	for i, s := range e.Spans {
		switch from, to := s[0], s[1]; {
		case to > len(text):
			return fmt.Sprintf("spans[%d] ends at byte %d, and the text has %d", i, to, len(text))
		case !utf8.RuneStart(text[from]) || to < len(text) && !utf8.RuneStart(text[to]):
			return fmt.Sprintf("spans[%d] divides a character", i)
		case strings.Contains(text[from:to], "\n"):
			return fmt.Sprintf("spans[%d] contains a line feed", i)
		}
	}
	return ""
}

func (e *Excerpt) write(w *canon.Writer) {
	w.BeginObject()
	w.Key("as")
	w.String(e.As.String())
	w.Key("spans")
	w.BeginArray()
	for _, s := range e.Spans {
		w.BeginArray()
		w.Uint(uint64(s[0]))
		w.Uint(uint64(s[1]))
		w.EndArray()
	}
	w.EndArray()
	w.EndObject()
}

func readExcerpt(c *canon.Cursor) *Excerpt {
	e := &Excerpt{As: canon.Parsed(c.Field("as"), parseLabel)}
	spans := c.Field("spans")
	last := 0
	for _, s := range spans.Items() {
		ends := s.Items()
		if len(ends) != 2 {
			s.Failf("want two numbers of bytes")
			break
		}
		from, to := int(ends[0].Uint(dag.MaxContent)), int(ends[1].Uint(dag.MaxContent))
		if from < last || to <= from {
			s.Failf("want a span that is not empty and begins after the one before it")
		}
		e.Spans, last = append(e.Spans, [2]int{from, to}), to
	}
	if len(e.Spans) == 0 || len(e.Spans) > MaxSpans {
		spans.Failf("%d spans, want 1 to %d", len(e.Spans), MaxSpans)
	}
	c.Close()
	return e
}

func parseLabel(s string) (Label, error) {
	if i := slices.Index(labels[:], s); i >= 0 {
		return Label(i), nil
	}
	return 0, fmt.Errorf("%.40q is not a label", s)
}
