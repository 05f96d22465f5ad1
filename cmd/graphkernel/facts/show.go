package facts

import (
	"fmt"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/render"
)

// does describes an act in a line.
func does(a *api.KnowledgeAct) string {
	if a.Erased {
		return "erased with turn " + a.Turn.String()
	}
	switch knowledge.Kind(a.Kind) {
	case knowledge.Assert:
		w := a.Written
		line := arrow(shown(a.Subject, w.Subject), shown(a.Predicate, w.Predicate), shown(a.Object, w.Object)) + said(a)
		for _, id := range a.Supersedes {
			line += ", supersedes " + id.String()
		}
		return line
	case knowledge.Retract:
		line := a.Statement.String()
		if a.Reason != "" {
			line += ": " + render.OneLine(a.Reason, 200)
		}
		return line
	}
	return fmt.Sprintf("%s for %s", shown(a.Alias, ""), shown(a.Canonical, ""))
}

// said returns the confidence of an assertion and what it rests on.
func said(a *api.KnowledgeAct) string {
	line := fmt.Sprintf(", confidence %s, by %s", a.Confidence, a.Source)
	if a.Turn != (dag.TurnID{}) {
		line += ", turn " + a.Turn.String()[:8]
	}
	if a.Slice != "" {
		line += ", slice " + string(a.Slice)
	}
	if a.ValidFrom != 0 {
		line += ", from " + a.ValidFrom.String()
	}
	if a.ValidUntil == 0 {
		return line
	}
	if a.ValidFrom == 0 {
		line += ","
	}
	return line + " until " + a.ValidUntil.String()
}

// widestName is the most characters of a name in a line.
const widestName = 60

// shown returns a name, followed by its spelling if that differs.
func shown(name, written string) string {
	text := clipped(name)
	if written != "" && written != name {
		text += " (" + clipped(written) + ")"
	}
	return text
}

// clipped returns a name in one line. A long name is cut in the middle: the end of the name of a file or a test distinguishes it from others.
func clipped(name string) string {
	chars := []rune(render.OneLine(name, len(name)))
	if len(chars) <= widestName {
		return string(chars)
	}
	const end = widestName * 2 / 3
	return string(chars[:widestName-end-1]) + "…" + string(chars[len(chars)-end:])
}

// arrow draws a relation as an arrow.
func arrow(subject, predicate, object string) string {
	return subject + " —" + predicate + "→ " + object
}
