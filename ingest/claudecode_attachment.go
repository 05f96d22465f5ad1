package ingest

import (
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// kindHook and kindAttachment are kinds of blocks. Claude Code gives the model attachments in addition to messages: the text of
// a hook, a file that a prompt names, the state of an editor. The types are those of Attachment in its source; a type that is
// missing here only reminds the model of text that is elsewhere, and is not a turn. A program provides an attachment, and
// nobody said it.
const (
	kindHook       = "hook"
	kindAttachment = "attachment"
)

// promptEvents are the events at which the model is given a hook's output.
var promptEvents = []string{"SessionStart", "UserPromptSubmit"}

// attachment reads an attachment into a turn.
func (rec *claudeRecord) attachment(t *claudeTurn) {
	a := object(rec.v, "attachment")
	switch kind := text(a, "type"); kind {
	case "queued_command":
		rec.queuedCommand(t, a)
		return
	case "hook_additional_context":
		rec.hookSaid(t, a, texts(a.Get("content")))
	case "hook_success":
		if slices.Contains(promptEvents, text(a, "hookEvent")) {
			rec.hookSaid(t, a, texts(a.Get("content")))
		}
	case "async_hook_response":
		rec.hookSaid(t, a, texts(object(object(a, "response"), "hookSpecificOutput").Get("additionalContext")))
	case "hook_blocking_error":
		rec.hookSaid(t, a, []string{text(object(a, "blockingError"), "blockingError")})
	case "hook_stopped_continuation":
		rec.hookSaid(t, a, []string{text(a, "message")})
	case "file":
		rec.fileGiven(t, a)
	case "edited_text_file":
		rec.given(t, text(a, "filename"), text(a, "snippet"))
	case "directory":
		rec.given(t, text(a, "path"), text(a, "content"))
	case "selected_lines_in_ide", "selected_lines_in_diff":
		rec.given(t, text(a, "filename"), text(a, "content"))
	case "plan_file_reference":
		rec.given(t, text(a, "planFilePath"), text(a, "planContent"))
	case "nested_memory":
		rec.given(t, text(a, "path"), contentOf(a))
	case "relevant_memories":
		for _, m := range items(a, "memories") {
			rec.given(t, text(m, "path"), contentOf(m))
		}
	case "invoked_skills":
		for _, skill := range items(a, "skills") {
			rec.given(t, text(skill, "name"), contentOf(skill))
		}
	case "mcp_resource":
		for _, part := range items(object(a, "content"), "contents") {
			rec.given(t, text(a, "uri"), text(part, "text"))
		}
	}
	switch {
	case t.content.text.Len() > 0:
		t.voice, t.draft.Role = voiceTool, dag.RoleTool
	case t.skip == "":
		t.skip = kindAttachment
	}
}

// hookSaid adds a hook's texts for the model.
func (rec *claudeRecord) hookSaid(t *claudeTurn, a *canon.Value, said []string) {
	name := text(a, "hookName")
	if name == "" {
		name = text(a, "hookEvent")
	}
	for _, text := range said {
		switch {
		case strings.TrimSpace(text) == "":
		case isKernelContext(text):
			t.skip = skipKernelContext // the kernel has recorded it
		default:
			t.author = "tool:hook"
			t.content.titled(kindHook, strings.TrimSpace(kindHook+" "+oneLine(name)), text)
			t.noteSaved("", text)
		}
	}
	if t.content.text.Len() > 0 {
		t.skip = ""
	}
}

// given adds a named text.
func (rec *claudeRecord) given(t *claudeTurn, name, said string) {
	if strings.TrimSpace(said) == "" {
		return
	}
	t.author = "tool:attachment"
	t.content.titled(kindAttachment, strings.TrimSpace(kindAttachment+" "+oneLine(name)), said)
}

// fileGiven adds a file that a prompt names.
func (rec *claudeRecord) fileGiven(t *claudeTurn, a *canon.Value) {
	name, file := text(a, "filename"), object(object(a, "content"), "file")
	if said := text(file, "content"); said != "" {
		rec.given(t, name, said)
		return
	}
	if data := text(file, "base64"); data != "" {
		t.author = "tool:attachment"
		t.content.lost.add(noteImageData)
		t.content.line(kindAttachment, kindAttachment+" "+name+": "+mediaLine("file", text(file, "type"), data))
	}
}

// contentOf returns a content that is a text, or the text in a content that is an object.
func contentOf(v *canon.Value) string {
	if said := text(v, "content"); said != "" {
		return said
	}
	return text(object(v, "content"), "content")
}

// texts returns a text, or the texts of a list.
func texts(v *canon.Value) (list []string) {
	switch {
	case v == nil:
	case v.Kind == canon.String:
		list = append(list, v.Text)
	case v.Kind == canon.Array:
		for i := range v.Items {
			list = append(list, blockText(&v.Items[i]))
		}
	}
	return list
}
