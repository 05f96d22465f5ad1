package retrieval

import (
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// Labels are the attributes of a turn by which it can be filtered, those that LabelKeys lists: a line KEY=VALUE of each, sorted by key, after
// a line feed if there are any. No value holds a line feed.
type Labels string

// LabelKeys are the attributes that labels keep, sorted. They say where and with what an agent worked, and which credential brought words that count as data, so many turns share them.
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

// Title returns the title that the first turn of a conversation has, "" if there is none.
func (l Labels) Title() string {
	title, _ := l.Value("title")
	return title
}

// match reports whether the labels have each of the attributes. A folder, cwd, also matches those below it.
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
