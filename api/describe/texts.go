package describe

import (
	_ "embed"
	"strings"

	"github.com/graphkernel/graphkernel/api"
)

//go:embed operations.md
var operationsMD string

// A text is the description of an operation in operations.md.
type text struct {
	summary, text, curl string
	answers             map[string]string // by status
}

// A tag is a group of operations.
type tag struct{ name, text string }

type texts struct {
	about      string
	tags       []tag
	operations map[string]*text
}

// readTexts reads operations.md. A group is "# GROUP" and its description. An operation is "## ID", a summary, a text, lines ">
// STATUS: meaning of the answer", and indented shell commands.
func readTexts() texts {
	t := texts{operations: map[string]*text{}}
	groups := strings.Split("\n"+operationsMD, "\n# ")
	_, t.about, _ = strings.Cut(groups[1], "\n")
	t.about = strings.TrimSpace(t.about)
	for _, group := range groups[2:] {
		sections := strings.Split(group, "\n## ")
		name, about, _ := strings.Cut(sections[0], "\n")
		t.tags = append(t.tags, tag{name, strings.TrimSpace(about)})
		for _, section := range sections[1:] {
			id, rest, _ := strings.Cut(section, "\n")
			t.operations[id] = readText(rest)
		}
	}
	return t
}

// of returns the text of an operation, from its declaration or from operations.md; nil if neither has one, or both have.
func (t *texts) of(spec *api.Spec) *text {
	written := t.operations[spec.ID]
	if (written != nil) == (spec.Says != "") {
		return nil
	}
	if written == nil {
		summary, more, _ := strings.Cut(spec.Says, "\n\n")
		return &text{summary: summary, text: more, curl: spec.Curl + "\n", answers: map[string]string{"200": "The answer."}}
	}
	return written
}

func readText(section string) *text {
	t := &text{answers: map[string]string{}}
	var said, curl []string
	for _, line := range strings.Split(strings.TrimSpace(section), "\n") {
		code, isCode := strings.CutPrefix(line, "    ")
		answer, isAnswer := strings.CutPrefix(line, "> ")
		switch {
		case isCode:
			curl = append(curl, code)
		case isAnswer:
			status, means, _ := strings.Cut(answer, ": ")
			t.answers[status] = means
		default:
			said = append(said, line)
		}
	}
	t.summary, t.text, _ = strings.Cut(strings.TrimSpace(strings.Join(said, "\n")), "\n")
	t.text, t.curl = strings.TrimSpace(t.text), strings.Join(curl, "\n")+"\n"
	return t
}
