package extract

import "strings"

// fileTools says what the tools do that are given a file's path. The names are
// those of Claude Code first, then those of other programs.
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

// editorCommands says what the editors do that take a command.
var editorCommands = map[string]string{
	"view":        ReadFile,
	"create":      WroteFile,
	"str_replace": EditedFile,
	"insert":      EditedFile,
	"undo_edit":   EditedFile,
}

// createdText begins what Claude Code answers where the file was not there before.
const createdText = "File created successfully at: "

// files takes a call that succeeded. Paths stay as they were written: the folder
// that a relative one is relative to is not in the trace's turns.
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
