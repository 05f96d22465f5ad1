package extract

import "strings"

// fileTools maps tools with a file path as input to what they do. The names of Claude Code come first, then those of other
// programs.
var fileTools = map[string]string{
	"Read":         ReadFile,
	"NotebookRead": ReadFile,
	"Write":        WroteFile,
	"Edit":         EditedFile,
	"MultiEdit":    EditedFile,
	"NotebookEdit": EditedFile,
	"read_file":    ReadFile,
	"write_file":   WroteFile,
	"edit_file":    EditedFile,
	"create_file":  CreatedFile,
}

// editorCommands maps the commands of editor tools to what they do.
var editorCommands = map[string]string{
	"view":        ReadFile,
	"create":      WroteFile,
	"str_replace": EditedFile,
	"insert":      EditedFile,
	"undo_edit":   EditedFile,
}

// createdText begins Claude Code's result for a file that did not exist before.
const createdText = "File created successfully at: "

// files finds the facts about files in a successful call. Paths stay as they are written, since a trace's turns do not contain
// the folder of a relative path.
func (x *extraction) files(c *call, r *result) {
	predicate := fileTools[c.tool]
	if c.tool == "str_replace_based_edit_tool" || c.tool == "str_replace_editor" {
		predicate = editorCommands[c.text("command")]
	}
	if predicate == "" {
		return
	}
	path := c.text("file_path", "notebook_path", "path", "target_file", "absolute_path")
	x.add(&c.by, predicate, path, c.sure())
	if predicate == WroteFile && c.marked && strings.HasPrefix(r.text, createdText) {
		x.add(&c.by, CreatedFile, path, c.sure())
	}
}
