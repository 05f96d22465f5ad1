package ingest

import (
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// A geminiDraft is the draft of a message, a call or a result, before it is joined to other turns.
type geminiDraft struct {
	draft   dag.Draft
	content content
	noted   counts
	skip    string // not empty: why it is not a turn

	files *geminiDraft // the files that Gemini CLI added to a prompt; nil if there are none
}

// geminiTurn reads a message without its calls.
func geminiTurn(v *canon.Value) *geminiDraft {
	t := &geminiDraft{}
	d := &t.draft
	switch kind := text(v, "type"); kind {
	case "user":
		d.Role, d.Author = dag.RoleUser, authorHuman
	case "gemini":
		d.Role, d.Author = dag.RoleAssistant, authorGemini
		setAttr(d, attrModel, text(v, "model"), &t.noted)
		if thoughts := v.Get("thoughts"); thoughts != nil {
			for i := range thoughts.Items {
				thought := &thoughts.Items[i]
				addTitled(&t.content, "thinking", "thinking", strings.TrimSpace(text(thought, "subject")+"\n"+text(thought, "description")))
			}
		}
	case "info", "error", "warning":
		t.harness()
		if kind == "error" {
			setAttr(d, attrIsError, "true", &t.noted)
		}
	default:
		t.skip = skipUnknownType
		return t
	}
	content := v.Get("content")
	if d.Role == dag.RoleUser {
		var lost []string
		if content, lost = geminiSaid(content); len(lost) > 0 && content == nil {
			t.skip = lost[0]
			return t
		}
		for _, what := range lost {
			t.noted.add(what)
		}
		var files *canon.Value
		if content, files = geminiFiles(content); files != nil {
			t.files = &geminiDraft{draft: dag.Draft{Role: dag.RoleTool, Author: "tool:files"}}
			addGeminiParts(&t.files.content, files)
			setAttr(&t.files.draft, attrTool, "files", &t.files.noted)
		}
	}
	addGeminiParts(&t.content, content)
	said := strings.TrimSpace(t.content.text.String())
	if d.Role == dag.RoleUser && strings.HasPrefix(said, "<session_context>") && strings.HasSuffix(said, "</session_context>") {
		t.harness()
	}
	switch {
	case said == "" && t.files != nil:
		return t.files
	case said == "":
		t.skip = skipEmptyMessage
	}
	return t
}

// geminiSaid returns a person's words in a user message, or nil if there are none. lost names the parts that Gemini CLI added:
// tool results, which are also with their calls, and texts that hooks put before the prompt, in which Gemini CLI writes < and >
// as entities.
func geminiSaid(v *canon.Value) (said *canon.Value, lost []string) {
	if v == nil || v.Kind != canon.Array {
		return v, nil
	}
	kept := *v
	kept.Items = nil
	for i := range v.Items {
		part := v.Items[i]
		if object(&part, "functionResponse") != nil {
			lost = append(lost, "tool_response")
			continue
		}
		if told, ok := strings.CutPrefix(text(&part, "text"), "<hook_context>"); ok {
			if _, rest, ok := strings.Cut(told, "</hook_context>"); ok {
				lost = append(lost, "hook_context")
				if rest = strings.TrimSpace(rest); rest == "" {
					continue
				}
				part = canon.Value{Kind: canon.String, Text: rest}
			}
		}
		kept.Items = append(kept.Items, part)
	}
	if len(kept.Items) == 0 && len(lost) > 0 {
		return nil, lost
	}
	return &kept, lost
}

// geminiReferences begins the parts of a user's message with referenced files.
const geminiReferences = "--- Content from referenced files ---"

// geminiFiles separates the words of a user's message from its files. files is nil if there are none.
func geminiFiles(v *canon.Value) (said, files *canon.Value) {
	if v == nil || v.Kind != canon.Array {
		return v, nil
	}
	for i := 1; i < len(v.Items); i++ {
		if strings.HasPrefix(strings.TrimSpace(blockText(&v.Items[i])), geminiReferences) {
			return &canon.Value{Kind: canon.Array, Items: v.Items[:i]}, &canon.Value{Kind: canon.Array, Items: v.Items[i:]}
		}
	}
	return v, nil
}

// harness turns t into a turn that Gemini CLI wrote and nobody said.
func (t *geminiDraft) harness() {
	t.draft.Role, t.draft.Author = dag.RoleSystem, "system:gemini-cli"
	setAttr(&t.draft, attrMeta, "true", &t.noted)
}

func geminiCall(v *canon.Value, id string) *geminiDraft {
	t := &geminiDraft{draft: dag.Draft{Role: dag.RoleAssistant, Author: authorGemini}}
	t.content.call(geminiTool(v), compactMember(v, "args"))
	setAttr(&t.draft, attrTool, geminiTool(v), &t.noted)
	setAttr(&t.draft, attrToolUseID, id, &t.noted)
	return t
}

func geminiResult(v, result *canon.Value, id string) *geminiDraft {
	t := &geminiDraft{draft: dag.Draft{Role: dag.RoleTool}}
	t.draft.Author = authorName("tool", geminiTool(v), &t.noted)
	failed := text(v, "status") == "error"
	if failed {
		setAttr(&t.draft, attrIsError, "true", &t.noted)
	}
	setAttr(&t.draft, attrTool, geminiTool(v), &t.noted)
	setAttr(&t.draft, attrToolUseID, id, &t.noted)
	var said content
	addGeminiParts(&said, result)
	t.content.lost = said.lost
	t.content.result(said.text.String(), failed)
	return t
}

func geminiTool(v *canon.Value) string {
	name := text(v, "name")
	if name == "" {
		name = "unknown"
	}
	return name
}

// addGeminiParts adds a PartListUnion: a text, a part, or a list of both.
func addGeminiParts(c *content, v *canon.Value) {
	switch {
	case v == nil || v.Kind == canon.Null:
	case v.Kind == canon.String:
		addPlain(c, v.Text)
	case v.Kind == canon.Array:
		for i := range v.Items {
			addGeminiParts(c, &v.Items[i])
		}
	default:
		addGeminiPart(c, v)
	}
}

func addGeminiPart(c *content, v *canon.Value) {
	data, file, response := object(v, "inlineData"), object(v, "fileData"), object(v, "functionResponse")
	switch {
	case data != nil:
		c.lost.add(noteImageData)
		c.line("image", mediaLine("data", text(data, "mimeType"), text(data, "data")))
	case file != nil:
		c.line("attachment", "file "+text(file, "fileUri"))
	case response != nil:
		said := object(response, "response")
		for _, key := range [...]string{"output", "error"} {
			if s := text(said, key); s != "" {
				c.plain(s)
				return
			}
		}
		addPlain(c, compactMember(response, "response"))
	case text(v, "text") != "" && isTrue(v, "thought"):
		c.titled("thinking", "thinking", text(v, "text"))
	case v.Get("text") != nil:
		addPlain(c, text(v, "text"))
	default:
		kind := ""
		if len(v.Members) > 0 {
			kind = v.Members[0].Key
		}
		c.other(kind, v)
	}
}
