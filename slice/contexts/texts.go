package contexts

import (
	"strings"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/knowledge"
)

// FactText returns the text of a fact that is counted and shown: its names, each quoted.
func FactText(a *knowledge.Act) string {
	subject, predicate, object := a.Fact.Spelled()
	return triple(subject, predicate, object)
}

func triple(subject, predicate, object string) string {
	return strings.Join([]string{quoted(subject), quoted(predicate), quoted(object)}, " ")
}

// BeliefText returns the text of a belief that is counted and shown, in lines: the title, the text or else one line for each statement,
// and the summary. A title, a text or a summary that is empty or withheld is left out.
func BeliefText(r *journal.Revision) string {
	var lines []string
	if r.Title != "" && !r.Withheld {
		lines = append(lines, r.Title)
	}
	if r.Text != "" && !r.Withheld {
		lines = append(lines, r.Text)
	} else {
		for i := range r.Statements {
			lines = append(lines, statedText(&r.Statements[i]))
		}
	}
	if r.Summary != "" && !r.Withheld {
		lines = append(lines, r.Summary)
	}
	return strings.Join(lines, "\n")
}

// statedText returns the text of a statement: its names, the premises from which it follows and the time for which it
// holds.
func statedText(s *journal.Stated) string {
	text := literalText(&s.Literal)
	for i := range s.Premises {
		joint := " and "
		if i == 0 {
			joint = " if "
		}
		text += joint + literalText(&s.Premises[i])
	}
	if s.Span.From != 0 {
		text += " from " + s.Span.From.String()
	}
	if s.Span.Until != dag.MaxTime {
		text += " until " + s.Span.Until.String()
	}
	return text
}

func literalText(l *belief.Literal) string {
	text := triple(l.Subject, l.Predicate, l.Object)
	if l.Not {
		return "not " + text
	}
	return text
}

// quoted returns a name as a JSON string.
func quoted(s string) string {
	w := canon.NewWriter(nil)
	w.String(s)
	return string(w.Bytes)
}
