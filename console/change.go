package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/ingest/extract"
	h "github.com/graphkernel/graphkernel/internal/markup"
)

// A part is a part of a turn that changes files: either text, or the changes made by a call.
type part struct {
	Text    string
	Changes []change
}

// A change is the change of one file by a tool call, line by line: the first character of a line is + if the line is added and - if it is
// removed.
type change struct{ Path, Lines string }

// mostChanged is the number of bytes up to which a turn with edits is shown as changes.
const mostChanged = 256 << 10

// partsOf splits a turn that changes files into parts. It returns nil if the turn changes no files, or if the text that looks like a call
// may not be one.
func partsOf(t *api.Turn) (parts []part) {
	blocks, ok := extract.Blocks(t.Content, t.Attrs)
	if !ok || len(t.Content) > mostChanged {
		return nil
	}
	changes := 0
	for _, b := range blocks {
		p := part{Text: strings.TrimSpace(b.Text)}
		if b.Tool != "" {
			if p.Changes = changesOf(b.Text); p.Changes == nil {
				p.Text = "[" + b.Tool + "] " + p.Text
			}
			changes += len(p.Changes)
		}
		parts = append(parts, p)
	}
	if changes == 0 {
		return nil
	}
	return parts
}

// An edit is the input of an edit tool in the forms that agents use: one replacement, several replacements, or a patch of Codex CLI.
type edit struct {
	FilePath  string  `json:"file_path"`
	Path      string  `json:"path"`
	OldString *string `json:"old_string"`
	NewString *string `json:"new_string"`
	OldStr    *string `json:"old_str"`
	NewStr    *string `json:"new_str"`
	Edits     []edit  `json:"edits"`
	Input     string  `json:"input"`
	Patch     string  `json:"patch"`
}

const beginPatch = "*** Begin Patch"

// changesOf parses the input of a call.
func changesOf(input string) (list []change) {
	if strings.HasPrefix(input, beginPatch) {
		return patched(input)
	}
	var e edit
	if json.Unmarshal([]byte(input), &e) != nil {
		return nil
	}
	if patch := cmp.Or(e.Input, e.Patch); strings.HasPrefix(patch, beginPatch) {
		return patched(patch)
	}
	path := cmp.Or(e.FilePath, e.Path)
	for _, one := range append(e.Edits, e) {
		old, now := cmp.Or(one.OldString, one.OldStr), cmp.Or(one.NewString, one.NewStr)
		if old == nil || now == nil {
			continue
		}
		list = append(list, change{path, compared(*old, *now)})
	}
	return list
}

// compared lists the added and removed lines between two texts, with some unchanged lines around them. A separator line replaces the
// unchanged lines that are left out.
func compared(old, now string) string {
	var lines strings.Builder
	_, hunks, _ := bytes.Cut(diff.Diff("", terminated(old), "", terminated(now)), []byte("+++ \n"))
	for line := range bytes.Lines(hunks) {
		switch {
		case !bytes.HasPrefix(line, []byte("@@")):
			lines.Write(line)
		case lines.Len() > 0: // the line numbers would be those of the text, not of the file
			lines.WriteString("@@\n")
		}
	}
	return lines.String()
}

// terminated returns a text with a newline at its end.
func terminated(s string) []byte {
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return []byte(s)
}

// patched parses a patch of Codex CLI.
func patched(patch string) (list []change) {
	for line := range strings.Lines(patch) {
		heading, isHeading := strings.CutPrefix(line, "*** ")
		if kind, path, found := strings.Cut(strings.TrimSpace(heading), ": "); isHeading && found && slices.Contains([]string{"Add File", "Update File", "Delete File"}, kind) {
			list = append(list, change{Path: path})
		} else if n := len(list) - 1; n >= 0 && (!isHeading || found) {
			list[n].Lines += line
		}
	}
	return list
}

// figure shows a change, with at most the given number of bytes of its lines.
func (c change) figure(most int) h.Node {
	lines := h.Group{}
	for line := range strings.Lines(c.Lines) {
		if most -= len(line); most < 0 {
			lines = append(lines, h.Text("…"))
			break
		}
		switch shown := text(line); line[0] {
		case '+':
			lines = append(lines, h.Ins(shown))
		case '-':
			lines = append(lines, h.Del(shown))
		case '@':
			lines = append(lines, span("dim", shown))
		default:
			lines = append(lines, shown)
		}
	}
	return h.Figure(h.Class("change"), h.FigCaption(h.Text("Change of "), bdi(c.Path)), h.Pre(lines))
}

// changes shows the parts of a turn, with at most the given number of bytes of each.
func changes(parts []part, most int) h.Node {
	return h.Map(parts, func(p part) h.Node {
		if p.Changes == nil {
			return h.If(p.Text != "", said(whole8(p.Text, most)))
		}
		return h.Map(p.Changes, func(c change) h.Node { return c.figure(most) })
	})
}
