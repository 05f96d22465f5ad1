package ingest

import (
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// codexItem reads a response_item. asker is the author of the session's user messages.
func codexItem(v *canon.Value, asker codexAsker) *codexTurn {
	t := &codexTurn{draft: dag.Draft{Role: dag.RoleAssistant, Author: authorCodex}}
	switch kind := text(v, "type"); kind {
	case "message":
		t.message(v, asker)
	case "agent_message":
		t.agentMessage(v)
	case "reasoning":
		t.reasoning(v)
	case "function_call":
		t.calls(text(v, "call_id"), text(v, "name"), jsonText(text(v, "arguments")))
	case "custom_tool_call":
		t.calls(text(v, "call_id"), text(v, "name"), text(v, "input"))
	case "local_shell_call":
		id := text(v, "call_id")
		if id == "" {
			id = text(v, "id")
		}
		t.calls(id, "local_shell", compactMember(v, "action"))
	case "tool_search_call":
		t.calls(text(v, "call_id"), "tool_search", compactMember(v, "arguments"))
	case "web_search_call":
		t.calls(text(v, "id"), "web_search", compactMember(v, "action"))
	case "image_generation_call":
		t.calls(text(v, "id"), "image_generation", text(v, "revised_prompt"))
		if result := text(v, "result"); result != "" {
			t.content.lost.add(noteImageData)
			t.content.line("image", mediaLine("image", "", result))
		}
	case "function_call_output", "custom_tool_call_output":
		t.output(v, v.Get("output"))
	case "tool_search_output":
		t.output(v, v.Get("tools"))
	case "compaction", "compaction_summary", "context_compaction":
		t.skip = "compaction_encrypted"
	case "ghost_snapshot":
		t.skip = "ghost_snapshot"
	case "additional_tools":
		t.skip = "additional_tools"
	default:
		t.skip = skipUnknownType
	}
	if t.skip == "" && t.content.text.Len() == 0 {
		t.skip = skipEmptyMessage
	}
	return t
}

func (t *codexTurn) message(v *canon.Value, asker codexAsker) {
	body := v.Get("content")
	if body == nil || body.Kind != canon.Array && body.Kind != canon.String {
		t.skip = skipMalformed
		return
	}
	switch text(v, "role") {
	case "assistant":
		t.parts(body)
	case "user":
		t.asked(body, asker)
	case "system", "developer":
		t.parts(body)
		t.harness()
		if isKernelContext(t.content.text.String()) {
			t.skip = skipKernelContext // the kernel has recorded it
		}
	default:
		t.skip = skipUnknownRole
	}
}

// harness turns t into a turn that Codex CLI wrote and nobody said.
func (t *codexTurn) harness() {
	t.draft.Role, t.draft.Author, t.prompt = dag.RoleSystem, "system:codex", false
	setAttr(&t.draft, attrMeta, "true", &t.noted)
}

// agentMessage reads a message between agents of a session. The author is the agent's path, such as /root/review.
func (t *codexTurn) agentMessage(v *canon.Value) {
	t.parts(v.Get("content"))
	if author := text(v, "author"); author != "" {
		t.draft.Author = authorName("agent", author, &t.noted)
	}
	if t.content.text.Len() == 0 {
		t.skip = "message_encrypted"
	}
}

// parts adds the parts of a message or of a result.
func (t *codexTurn) parts(body *canon.Value) {
	if body == nil {
		return
	}
	if body.Kind == canon.String {
		addPlain(&t.content, body.Text)
	}
	for i := range body.Items {
		t.part(&body.Items[i])
	}
}

func (t *codexTurn) part(p *canon.Value) {
	c := &t.content
	switch kind := text(p, "type"); kind {
	case "input_text", "output_text", "text":
		addPlain(c, text(p, "text"))
	case "input_image":
		c.line("image", codexImage(text(p, "image_url"), &c.lost))
	case "encrypted_content":
		c.lost.add(noteThinkingRedacted)
	default:
		c.other(kind, p)
	}
}

func addPlain(c *content, said string) {
	if said != "" {
		c.plain(said)
	}
}

// codexImage returns a line about an image, without its data.
func codexImage(url string, lost *counts) string {
	mediaType, data, ok := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
	if !ok || !strings.HasPrefix(url, "data:") {
		return "image at " + url
	}
	lost.add(noteImageData)
	return mediaLine("image", mediaType, data)
}

// reasoning adds the readable thoughts: their summary, and their text if the model shows it.
func (t *codexTurn) reasoning(v *canon.Value) {
	for _, key := range [...]string{"summary", "content"} {
		list := v.Get(key)
		if list == nil {
			continue
		}
		for i := range list.Items {
			addTitled(&t.content, "thinking", "thinking", text(&list.Items[i], "text"))
		}
	}
	encrypted := text(v, "encrypted_content") != ""
	switch {
	case t.content.text.Len() == 0:
		t.skip = "reasoning_encrypted"
	case encrypted:
		t.content.lost.add(noteThinkingRedacted)
	}
}

func (t *codexTurn) calls(id, tool, input string) {
	if tool == "" {
		tool = "unknown"
	}
	t.call, t.tool = id, tool
	t.content.call(tool, input)
}

// output reads the output of a tool: a text, a list of parts, or, in older versions, {"content":TEXT,"success":BOOL}.
func (t *codexTurn) output(v, body *canon.Value) {
	t.draft.Role, t.answers, t.given = dag.RoleTool, text(v, "call_id"), body
	failed := false
	said := ""
	switch {
	case body == nil:
	case body.Kind == canon.String:
		said = body.Text
	case body.Kind == canon.Array && text(v, "type") != "tool_search_output":
		var inner codexTurn
		inner.parts(body)
		said, t.content.lost = inner.content.text.String(), inner.content.lost
	case body.Kind == canon.Object && body.Get("content") != nil:
		said = text(body, "content")
		success := body.Get("success")
		failed = success != nil && success.Kind == canon.Bool && success.Text == "false"
	default:
		said = string(appendCompact(nil, body))
	}
	if failed {
		setAttr(&t.draft, attrIsError, "true", &t.noted)
	}
	t.content.result(said, failed)
}

// jsonText returns the JSON in a text in compact form, and any other text unchanged.
func jsonText(s string) string {
	v, _, err := parseLenient([]byte(s))
	if err != nil {
		return s
	}
	return string(appendCompact(nil, v))
}

// compactMember returns a member in compact form, or "" if there is none.
func compactMember(v *canon.Value, key string) string {
	if m := v.Get(key); m != nil {
		return string(appendCompact(nil, m))
	}
	return ""
}
