package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/internal/bom"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/internal/project"
)

// lookBytes and lookLines bound how much of a file is read to find its format.
const (
	lookBytes = 1 << 20
	lookLines = 50
)

// A look summarizes the beginning of a file.
type look struct {
	seen    map[Format]int // how many of the values have the marks of each format
	other   int            // values without marks, and broken JSON
	json    bool           // the file begins like JSON
	empty   bool           // only white space
	archive bool           // a zip or gzip file
}

func (l look) String() string {
	switch {
	case l.empty:
		return "an empty file"
	case l.archive:
		return "an archive, to be given by itself"
	case !l.json:
		return "not JSON"
	}
	var parts []string
	for _, f := range Formats {
		if n := l.seen[f]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d like %s", n, f))
		}
	}
	if l.other > 0 {
		parts = append(parts, fmt.Sprintf("%d like none", l.other))
	}
	return "its first values: " + strings.Join(parts, ", ")
}

// decide returns the only format that was seen, "" if there was none, and an error if there were several.
func (l look) decide(path string) (Format, error) {
	var found Format
	for _, f := range Formats {
		if l.seen[f] == 0 {
			continue
		}
		if found != "" {
			return "", fmt.Errorf("ingest: %w: %s could be %s or %s (%s); say which with --format", ErrFormat, path, found, f, l)
		}
		found = f
	}
	return found, nil
}

// lookAt returns the look of a file.
func (t *tree) lookAt(path string) (look, error) {
	kept := t.kept(path)
	if kept.look != nil {
		return *kept.look, nil
	}
	head, err := t.beginning(path)
	if err != nil {
		return look{}, err
	}
	l := lookInto(head)
	kept.look = &l
	return l, nil
}

// Looks caches the looks of files of this machine. Only one reading at a time may use it.
type Looks struct{ files map[string]*looked }

// A looked is the cached state of a file.
type looked struct {
	size     int64
	modified time.Time
	look     *look // nil: unknown
	subagent *bool // whether it is a file of a sub-agent of Claude Code; nil: unknown
}

// kept returns the cached state of a file, to which the caller may add. The state is empty if the file has changed.
func (t *tree) kept(path string) *looked {
	if t.looks == nil || t.members[path] != nil || path == Stdin {
		return &looked{}
	}
	info, err := os.Stat(path)
	if err != nil {
		return &looked{}
	}
	if known := t.looks.files[path]; known != nil && known.size == info.Size() && known.modified.Equal(info.ModTime()) {
		return known
	}
	if t.looks.files == nil {
		t.looks.files = map[string]*looked{}
	}
	fresh := &looked{size: info.Size(), modified: info.ModTime()}
	t.looks.files[path] = fresh
	return fresh
}

// beginning returns the first lookBytes of a file; the result is valid until the next call. It ignores damage further back in a
// packed file of a folder, which the file's reader reports.
func (t *tree) beginning(path string) ([]byte, error) {
	if path == t.headPath && path != "" {
		return t.head, nil
	}
	file, err := t.openText(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	t.headPath = ""
	if t.head == nil {
		t.head = make([]byte, lookBytes)
	}
	n, err := io.ReadFull(file, t.head[:lookBytes])
	head := t.head[:n]
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	if m := t.members[path]; m != nil && m.packed && len(head) > 0 && errors.Is(err, ErrArchive) {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("ingest: %s: %w", path, err)
	}
	t.head, t.headPath = head, path
	return head, nil
}

func lookInto(head []byte) look {
	l := look{seen: map[Format]int{}}
	l.archive = isArchive(head)
	head = trimNothing(head)
	l.empty = len(head) == 0
	if len(head) == 0 || l.archive {
		return l
	}
	if head[0] != '{' && head[0] != '[' {
		// A file that begins in the middle of a record has only records after its first line. A text that quotes records has
		// other lines too.
		_, rest, _ := bytes.Cut(head, []byte{'\n'})
		below := look{seen: map[Format]int{}}
		if len(rest) > 0 && below.lines(rest) && below.other == 0 {
			l.json, l.seen, l.other = true, below.seen, 1
		}
		return l
	}
	l.json = true
	if l.lines(head) {
		return l
	}
	// This is one document, or a line longer than lookBytes: the keys of the first visible object decide.
	l.count(marksOf(firstKeys(head)))
	return l
}

// lines reads each line as a JSON value and reports whether any line is one. If the first line is not a value, either it is
// damaged, or the text is one document and lines returns false.
func (l *look) lines(head []byte) bool {
	text, bounded := head, len(head) >= lookBytes-len(bom.Mark)
	parsed := false
	looked := 0
	for len(head) > 0 && looked < lookLines {
		line, rest, ended := bytes.Cut(head, []byte{'\n'})
		if !ended && bounded && looked > 0 {
			break // cut off by lookBytes
		}
		head = rest
		if len(trimNothing(line)) == 0 {
			continue
		}
		looked++
		v := firstOf(line)
		if v == nil {
			if looked == 1 && !isDamaged(text) {
				return false
			}
			l.other++
			continue
		}
		parsed = true
		if v.Kind == canon.Array && len(v.Items) > 0 {
			v = &v.Items[0]
		}
		l.count(marksOf(stringMembers(v)))
	}
	return parsed
}

// firstOf returns the first object or array of a line, or nil.
func firstOf(line []byte) *canon.Value {
	for _, rec := range recordsOf(line) {
		if v := rec.value; v != nil && (v.Kind == canon.Object || v.Kind == canon.Array) {
			return v
		}
	}
	return nil
}

func (l *look) count(marks []Format) {
	if len(marks) == 0 {
		l.other++
	}
	for _, f := range marks {
		l.seen[f]++
	}
}

func stringMembers(v *canon.Value) map[string]string {
	keys := make(map[string]string, len(v.Members))
	for i := range v.Members {
		m := &v.Members[i]
		keys[m.Key] = ""
		if m.Value.Kind == canon.String {
			keys[m.Key] = m.Value.Text
		}
	}
	return keys
}

// recordsWithoutUUID are types of Claude Code's records without a uuid.
var recordsWithoutUUID = []string{"file-history-snapshot", "queue-operation", "summary", "ai-title", "custom-title"}

// codexTypes are the types of Codex CLI's lines.
var codexTypes = []string{
	"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state",
	"inter_agent_communication", "inter_agent_communication_metadata", "security_risk_score", "realtime_item",
}

// geminiTypes are the types of Gemini CLI's messages.
var geminiTypes = []string{"user", "gemini", "info", "error", "warning"}

// marksOf returns the formats of which an object with these keys could be. The map has the values of members that are strings.
func marksOf(keys map[string]string) (marks []Format) {
	has := func(names ...string) bool {
		for _, name := range names {
			if _, ok := keys[name]; !ok {
				return false
			}
		}
		return true
	}
	// The second set of keys of each format is for a long first line, of which only the beginning is visible.
	if has("id", "conversation", "role", "created_at") || has("attrs", "author", "content") {
		marks = append(marks, JSONL)
	}
	switch {
	case has("type", "uuid", "sessionId"), has("parentUuid", "sessionId"):
		marks = append(marks, ClaudeCode)
	case has("type") && !has("role") && slices.Contains(recordsWithoutUUID, keys["type"]):
		marks = append(marks, ClaudeCode)
	}
	if has("timestamp", "type", "payload") && slices.Contains(codexTypes, keys["type"]) {
		marks = append(marks, Codex)
	}
	if has("chat_messages") {
		marks = append(marks, ClaudeAI)
	}
	if has("sessionId", "projectHash") || has("$set") || has("$rewindTo") ||
		has("id", "timestamp", "content") && slices.Contains(geminiTypes, keys["type"]) {
		marks = append(marks, Gemini)
	}
	if has("resourceSpans") || has("resourceLogs") {
		marks = append(marks, OTel)
	}
	if has("mapping") {
		marks = append(marks, ChatGPT)
	}
	if has("messages") && !has("projectHash") || has("traj") || has("role", "content") && !has("conversation") && !has("attrs") {
		marks = append(marks, OpenAI)
	}
	if has("id", "parents", "time", "author", "text") && project.IsHash(keys["id"]) {
		marks = append(marks, Git)
	}
	return marks
}

// firstKeys returns the keys of the first object in a text, which may be in an array. The text may be cut off anywhere.
func firstKeys(text []byte) map[string]string {
	keys := map[string]string{}
	depth, object := 0, 0 // object: the depth inside the first object
	key, wantKey := "", false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '{', '[':
			depth++
			if c == '{' && object == 0 {
				object, wantKey = depth, true
			}
		case '}', ']':
			if depth == object {
				return keys
			}
			depth--
		case ',':
			wantKey = depth == object
		case ':':
			if depth == object {
				wantKey = false
			}
		case '"':
			end := stringEnd(text, i)
			if depth != object || object == 0 {
				i = end
				continue
			}
			s := ""
			if v, err := canon.Parse(text[i:min(end+1, len(text))]); err == nil {
				s = v.Text
			}
			if wantKey {
				key = s
				keys[key] = ""
			} else {
				keys[key] = s
			}
			i = end
		}
	}
	return keys
}

// stringEnd returns the index of the closing quote of the string opened at i, or the length of the text if there is none.
func stringEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}
