package ingest

import (
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// A voice says who speaks in a record, as far as the record alone shows.
type voice uint8

const (
	voiceUser    voice = iota + 1 // writes the agent's prompts
	voiceModel                    // the agent
	voiceTool                     // a tool, through its result
	voiceHarness                  // Claude Code itself
)

// A claudeTurn is the turn of a record, before it is joined to other turns.
type claudeTurn struct {
	draft   dag.Draft
	skip    string // not empty: why the record is not a turn
	voice   voice
	author  string        // the author of a user's record, if the record says that it is not the user
	queued  bool          // a prompt typed while the agent worked
	message string        // the API message of an assistant's record
	calls   []*claudeCall // its tool_use blocks
	results []string      // the tool_use ids of its tool_result blocks
	prompt  [32]byte      // SHA-256 of the text of a user's record
	saved   []savedResult // files that its results name
	content content

	// Parts of the record by another author; nil if there are none.
	injected *claudeTurn // text that Claude Code added to a prompt
	typed    *claudeTurn // text typed in the same message as a result
}

// bookkeeping lists the subtypes of system records that are not for anybody in the conversation.
var bookkeeping = []string{"stop_hook_summary", "turn_duration"}

// compactBoundary is the subtype of the first record of a compaction.
const compactBoundary = "compact_boundary"

// turn reads a record that has a uuid.
func (rec *claudeRecord) turn() claudeTurn {
	var t claudeTurn
	switch kind := text(rec.v, "type"); kind {
	case "user":
		rec.user(&t)
	case "assistant":
		rec.assistant(&t)
	case "system":
		rec.system(&t)
	case "attachment":
		rec.attachment(&t)
	case "progress":
		t.skip = kind
	default:
		t.skip = skipUnknownType
	}
	if t.skip != "" {
		return t
	}
	for _, of := range [...]*claudeTurn{&t, t.injected, t.typed} {
		if of != nil {
			rec.finish(of)
		}
	}
	return t
}

// finish sets the properties that every turn has.
func (rec *claudeRecord) finish(t *claudeTurn) {
	t.draft.Content = t.content.text.String()
	setAttr(&t.draft, attrBlocks, t.content.blocks(), &rec.noted)
	setAttr(&t.draft, AttrFolder, text(rec.v, "cwd"), &rec.noted)
	setAttr(&t.draft, attrGitBranch, text(rec.v, "gitBranch"), &rec.noted)
}

func (rec *claudeRecord) assistant(t *claudeTurn) {
	if _, ok := rec.message(t); !ok {
		return
	}
	t.voice, t.draft.Role = voiceModel, dag.RoleAssistant
	message := object(rec.v, "message")
	t.message = strings.Clone(text(message, "id"))
	setAttr(&t.draft, attrMessageID, t.message, &rec.noted)
	setAttr(&t.draft, attrModel, text(message, "model"), &rec.noted)
	if isTrue(rec.v, "isApiErrorMessage") {
		setAttr(&t.draft, attrIsError, "true", &rec.noted)
	}
	var tools, ids []string
	for _, c := range t.calls {
		tools, ids = append(tools, c.tool), append(ids, c.id)
	}
	setAttr(&t.draft, attrTool, strings.Join(tools, ","), &rec.noted)
	setAttr(&t.draft, attrToolUseID, strings.Join(ids, ","), &rec.noted)
}

func (rec *claudeRecord) system(t *claudeTurn) {
	subtype, said := text(rec.v, "subtype"), text(rec.v, "content")
	if said == "" || slices.Contains(bookkeeping, subtype) {
		t.skip = "system_bookkeeping"
		return
	}
	t.content.plain(said)
	t.voice, t.draft.Role = voiceHarness, dag.RoleSystem
	switch {
	case subtype == compactBoundary:
		setAttr(&t.draft, attrCompact, "boundary", &rec.noted)
	case subtype == "local_command" && strings.HasPrefix(said, "<command-name>"):
		t.voice, t.draft.Role = voiceUser, dag.RoleUser
		if isBareCommand(said) {
			t.author = authorClaudeCode
		}
	default:
		setAttr(&t.draft, attrMeta, "true", &rec.noted)
	}
}

// message reads the content of a user's or an assistant's record. said is the text if the content is a single text.
func (rec *claudeRecord) message(t *claudeTurn) (said string, ok bool) {
	message := object(rec.v, "message")
	if message == nil {
		t.skip = skipMalformed
		return "", false
	}
	return rec.body(t, message.Get("content"))
}

// body reads a content, which is a text or a list of blocks. said is as for message.
func (rec *claudeRecord) body(t *claudeTurn, body *canon.Value) (said string, ok bool) {
	switch {
	case body == nil || body.Kind != canon.String && body.Kind != canon.Array:
		t.skip = skipMalformed
		return "", false
	case body.Kind == canon.String:
		t.content.plain(body.Text)
		return body.Text, true
	}
	for i := range body.Items {
		rec.block(t, &body.Items[i])
	}
	if len(body.Items) == 1 {
		said = blockText(&body.Items[0])
	}
	return said, true
}

// blockText returns the text of a text block, or of a content that is a text.
func blockText(b *canon.Value) string {
	if b.Kind == canon.String {
		return b.Text
	}
	return text(b, "text")
}

// block adds one block of a message.
func (rec *claudeRecord) block(t *claudeTurn, b *canon.Value) {
	c := &t.content
	if b.Kind == canon.String {
		c.plain(b.Text)
		return
	}
	switch kind := text(b, "type"); kind {
	case "text":
		c.plain(text(b, "text"))
	case "thinking":
		c.titled(kind, kind, text(b, "thinking"))
		if text(b, "signature") != "" {
			c.lost.add("thinking_signature")
		}
	case "redacted_thinking":
		c.line("thinking", "thinking, redacted")
		c.lost.add(noteThinkingRedacted)
	case "tool_use", "server_tool_use", "mcp_tool_use":
		rec.toolUse(t, b)
	case blockResult:
		t.results = append(t.results, text(b, "tool_use_id"))
		isError := isTrue(b, "is_error")
		if isError {
			setAttr(&t.draft, attrIsError, "true", &rec.noted)
		}
		said := resultText(b.Get("content"), &c.lost)
		t.noteSaved(text(b, "tool_use_id"), said)
		c.result(said, isError)
	case "image", "document":
		c.line(kind, media(b, kind, &c.lost))
	default:
		c.other(kind, b)
	}
}

func (rec *claudeRecord) toolUse(t *claudeTurn, b *canon.Value) {
	call := &claudeCall{id: strings.Clone(text(b, "id")), tool: strings.Clone(text(b, "name"))}
	input := "{}"
	if v := b.Get("input"); v != nil {
		input = string(appendCompact(nil, v))
		if prompt := text(v, "prompt"); prompt != "" && (call.tool == "Task" || call.tool == "Agent") {
			call.prompt = promptSum(prompt)
		}
	}
	if call.tool == "" {
		call.tool = "unknown"
	}
	t.content.call(call.tool, input)
	t.calls = append(t.calls, call)
}

// resultText returns the text of a tool's result, which is a string or a list of blocks.
func resultText(v *canon.Value, lost *counts) string {
	switch {
	case v == nil || v.Kind == canon.Null:
		return ""
	case v.Kind == canon.String:
		return v.Text
	case v.Kind != canon.Array:
		return string(appendCompact(nil, v))
	}
	var c content
	for i := range v.Items {
		b := &v.Items[i]
		switch kind := text(b, "type"); kind {
		case "text":
			c.plain(text(b, "text"))
		case "image", "document":
			c.line(kind, media(b, kind, lost))
		default:
			c.other(kind, b)
		}
	}
	return c.text.String()
}

// media returns a line about an image or a document, without its data.
func media(b *canon.Value, kind string, lost *counts) string {
	source := object(b, "source")
	if source == nil {
		return kind + " without a source"
	}
	if text(source, "type") != "base64" {
		return kind + " at " + string(appendCompact(nil, source))
	}
	lost.add(noteImageData)
	return mediaLine(kind, text(source, "media_type"), text(source, "data"))
}
