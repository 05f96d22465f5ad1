package contexts

import (
	"strings"

	"github.com/graphkernel/graphkernel/render"
)

// AttrBranch is the attribute in which importers write the branch of the repository that an agent worked on.
const AttrBranch = "git_branch"

// A briefMarkup writes Markdown as a markdownMarkup does, except that an excerpt is one item of a list
// for each span, with its standing, its label and the id of its turn, and any other text of one line is one item.
type briefMarkup struct{}

func (briefMarkup) frame(note, rules string) (first, last string) {
	first, last = markdownMarkup{}.frame(note, rules)
	return strings.Replace(first, "# Context", "# Brief", 1), last
}

func (briefMarkup) heading(h heading) (first, last string) {
	switch h.section {
	case sectionConstraints:
		return "\n## Constraints\n\n", ""
	case sectionBeliefs:
		return "\n## Remembered\n\n", ""
	case sectionDecided:
		return "\n## Decided\n\n", ""
	case sectionSession:
		return "\n## Session " + short(h.conversation) + ", " + h.day + "\n\n", ""
	case sectionOpen:
		return "\n## Open\n\n", ""
	}
	first, last = markdownMarkup{}.heading(h)
	if h.section == sectionDay || h.section == sectionData {
		first += "\n"
	}
	return first, last
}

func (briefMarkup) under(p *Piece) []heading {
	if p.Excerpt == nil || p.Mandatory() || p.datum() {
		return prose{}.under(p)
	}
	switch p.Excerpt.As {
	case Decided:
		return []heading{{section: sectionDecided}}
	case Failed, Todo, Uncommitted:
		return []heading{{section: sectionOpen}}
	}
	when := day(p.Turn)
	if branch := p.Turn.Body.Attrs[AttrBranch]; branch != "" {
		when += ", " + render.Visible(quoted(branch))
	}
	return []heading{{section: sectionSession, conversation: p.Turn.Conversation, day: when}}
}

func (briefMarkup) piece(p *Piece, under section) string {
	if p.Belief != nil {
		mark := p.standing()
		if p.contested() {
			mark += " contested"
		}
		return item(mark, BeliefText(p.Belief))
	}
	if p.Turn == nil {
		return markdownMarkup{}.piece(p, under)
	}
	if p.Excerpt == nil {
		return item(p.standing()+" said "+short(p.Turn.ID), p.Turn.Body.Content)
	}
	var b strings.Builder
	for _, line := range p.Excerpt.Lines(p.Turn.Body.Content) {
		b.WriteString("- " + p.standing() + " " + p.Excerpt.As.String() + " " + short(p.Turn.ID) + ": " + render.Visible(line) + "\n")
	}
	return b.String()
}

// item returns an item of a list, or a text of several lines between fences. An LF at the end of the text does not count.
func item(head, text string) string {
	line := strings.TrimSuffix(render.Visible(text), "\n")
	if !strings.Contains(line, "\n") {
		return "- " + head + ": " + line + "\n"
	}
	var b strings.Builder
	b.WriteString("\n" + head + ":\n")
	fenced(&b, text)
	return b.String()
}
