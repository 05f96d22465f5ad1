package retrieval

import (
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// Labels are the attributes of a turn by which it can be filtered; LabelKeys lists them. Each is a line KEY=VALUE, sorted by key, and a
// line feed comes before the first. No value contains a line feed. Without attributes, labels are "".
type Labels string

// LabelKeys lists the attributes in labels, sorted. They say where and with what an agent worked, and which credential brought words
// that count as data. Many turns share the same labels.
var LabelKeys = [...]string{dag.AttrBroughtBy, "cwd", "git_branch", "model", "project_hash", "title"}

// AreLabelKeys reports whether turns can be filtered by all of these attributes.
func AreLabelKeys(attrs map[string]string) bool {
	for key := range attrs {
		if !slices.Contains(LabelKeys[:], key) {
			return false
		}
	}
	return true
}

// LabelsOf returns the labels of a turn's attributes.
func LabelsOf(attrs map[string]string) Labels {
	var b strings.Builder
	for _, key := range LabelKeys {
		if value, ok := attrs[key]; ok {
			if b.Len() == 0 {
				b.WriteByte('\n')
			}
			b.WriteString(key)
			b.WriteByte('=')
			b.WriteString(value)
			b.WriteByte('\n')
		}
	}
	return Labels(b.String())
}

// Value returns the value of one of LabelKeys, and whether the turn has it.
func (l Labels) Value(key string) (string, bool) {
	_, rest, ok := strings.Cut(string(l), "\n"+key+"=")
	value, _, _ := strings.Cut(rest, "\n")
	return value, ok
}

// Brought reports whether the turn is marked as brought by a credential that does not speak for its author, see [dag.AttrBroughtBy].
func (l Labels) Brought() bool {
	by, _ := l.Value(dag.AttrBroughtBy)
	return by != ""
}

// Title returns the title, which the first turn of a conversation may have; "" if there is none.
func (l Labels) Title() string {
	title, _ := l.Value("title")
	return title
}

// match reports whether the labels have each of the attributes. The folder cwd also matches folders below it.
func (l Labels) match(want map[string]string) bool {
	for key, value := range want {
		line := "\n" + key + "=" + value
		at := strings.Index(string(l), line)
		if at < 0 {
			return false
		}
		switch next := l[at+len(line)]; { // a line feed ends each line
		case next == '\n':
		case key == "cwd" && (next == '/' || next == '\\' || strings.HasSuffix(value, "/")):
		default:
			return false
		}
	}
	return true
}
