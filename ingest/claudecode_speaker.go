package ingest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// The author of a user's record follows from its structure: the types of its blocks, and the fields that Claude Code adds to
// the message. Files and tools can imitate any text, so no text makes a person the author. Where the structure does not decide,
// a text can only exclude a person.

const authorClaudeCode = "system:claude-code"

// harnessTags begin the texts that Claude Code itself writes into user records.
var harnessTags = []string{
	"<local-command-stdout>", "<local-command-stderr>", "<local-command-caveat>", "<bash-stdout>", "<bash-stderr>",
	"<task-notification>", "<system-reminder>", "<channel ", "<teammate-message", "<cross-session-message",
	"<ide_selection>", "<ide_opened_file>", "<ide_diagnostics>",
}

// editorTag begins the harnessTags that older versions put before a prompt in the same text.
const editorTag = "<ide_"

// isHarnessText reports whether Claude Code itself wrote a text.
func isHarnessText(said string) bool { return hasAnyPrefix(said, harnessTags) }

// interruptions are the texts of Claude Code that are the only block of a record when a person stops the agent.
var interruptions = []string{interrupted + "]", interrupted + " for tool use]"}

// user reads a user's record. Each author in it gets a turn.
func (rec *claudeRecord) user(t *claudeTurn) {
	blocks, ok := rec.userBlocks()
	if !ok {
		t.skip = skipMalformed
		return
	}
	switch {
	case isTrue(rec.v, "isCompactSummary"):
		t.voice, t.draft.Role = voiceModel, dag.RoleAssistant
		setAttr(&t.draft, attrCompact, "summary", &rec.noted)
		rec.blocks(t, blocks)
	case slices.ContainsFunc(blocks, isResult):
		rec.result(t, blocks)
	default:
		rec.asked(t, blocks)
	}
}

// userBlocks returns the blocks of a message. A message that is a text has one block.
func (rec *claudeRecord) userBlocks() (blocks []*canon.Value, ok bool) {
	message := object(rec.v, "message")
	if message == nil {
		return nil, false
	}
	body := message.Get("content")
	switch {
	case body != nil && body.Kind == canon.String:
		return []*canon.Value{body}, true
	case body != nil && body.Kind == canon.Array:
		return items(message, "content"), true
	}
	return nil, false
}

func (rec *claudeRecord) blocks(t *claudeTurn, blocks []*canon.Value) {
	for _, b := range blocks {
		rec.block(t, b)
	}
}

// result reads a record with tool results. A person typed the texts in it, and pasted the images if the record says so; all
// other blocks stay with the results.
func (rec *claudeRecord) result(t *claudeTurn, blocks []*canon.Value) {
	kind, author := rec.origin()
	var own, typed []*canon.Value
	for _, b := range blocks {
		said := text(b, "type") == "text" && !isHarnessText(blockText(b)) && strings.TrimSpace(blockText(b)) != ""
		pasted := text(b, "type") == "image" && rec.v.Get("imagePasteIds") != nil
		if (said || pasted) && !rec.isProgram(kind, author) {
			typed = append(typed, b)
			continue
		}
		own = append(own, b)
		if isResult(b) && text(b, "type") != blockResult { // rec.block adds the id of a blockResult itself
			t.results = append(t.results, answeredID(b))
		}
	}
	t.voice, t.draft.Role = voiceTool, dag.RoleTool
	rec.blocks(t, own)
	setAttr(&t.draft, attrToolUseID, strings.Join(t.results, ","), &rec.noted)
	if rec.v.Get("toolUseResult") != nil {
		rec.noted.add("structured_result")
		t.noteSavedPath(object(rec.v, "toolUseResult"))
	}
	if len(typed) > 0 {
		t.typed = &claudeTurn{}
		rec.said(t.typed, typed)
	}
}

// asked reads a record without results: a prompt, or a message of Claude Code.
func (rec *claudeRecord) asked(t *claudeTurn, blocks []*canon.Value) {
	if kind, author := rec.origin(); rec.isProgram(kind, author) {
		rec.wrote(t, blocks)
		setAttr(&t.draft, attrOrigin, kind, &rec.noted)
		return
	} else if kind != "" {
		rec.said(t, blocks)
		return
	}
	var program, said []*canon.Value
	for _, b := range blocks {
		before, rest := b, b
		if b.Kind == canon.String && strings.HasPrefix(b.Text, editorTag) {
			before, rest = editorPart(b)
		}
		if isHarnessText(blockText(before)) {
			program = append(program, before)
			if rest == before {
				continue
			}
		}
		said = append(said, rest)
	}
	switch {
	case len(said) == 0 && len(program) > 0:
		rec.wrote(t, program)
		return
	case len(program) > 0:
		t.injected = &claudeTurn{}
		rec.wrote(t.injected, program)
	}
	rec.said(t, said)
	if body := object(rec.v, "message").Get("content"); body.Kind == canon.Array && len(blocks) == 1 && slices.Contains(interruptions, blockText(blocks[0])) {
		t.author = authorClaudeCode
	}
	if len(blocks) == 1 && isBareCommand(blockText(blocks[0])) {
		t.author = authorClaudeCode
	}
}

// commandTags begin the texts in which Claude Code records a slash command.
var commandTags = []string{"<command-message>", "<command-name>"}

// isBareCommand reports whether a text records a slash command without arguments. Arguments are a person's words, so the record
// then stays the person's.
func isBareCommand(said string) bool {
	if !hasAnyPrefix(strings.TrimSpace(said), commandTags) {
		return false
	}
	_, args, ok := strings.Cut(said, "<command-args>")
	args, _, _ = strings.Cut(args, "</command-args>")
	return !ok || strings.TrimSpace(args) == ""
}

// editorPart splits a text that begins with an editor's message into the message and the words after it. The message ends at
// its last closing tag, so that an open file cannot end it. If no words follow, both results are the whole text.
func editorPart(b *canon.Value) (before, rest *canon.Value) {
	end := 0
	for _, tag := range harnessTags {
		if name, ok := strings.CutPrefix(tag, "<"); ok && strings.HasPrefix(tag, editorTag) {
			if i := strings.LastIndex(b.Text, "</"+name); i >= 0 {
				end = max(end, i+len("</")+len(name))
			}
		}
	}
	if end == 0 || strings.TrimSpace(b.Text[end:]) == "" {
		return b, b
	}
	return &canon.Value{Kind: canon.String, Text: b.Text[:end]}, &canon.Value{Kind: canon.String, Text: strings.TrimSpace(b.Text[end:])}
}

// said makes a turn of a message to the agent. Its author is a person unless the record names another author.
func (rec *claudeRecord) said(t *claudeTurn, blocks []*canon.Value) {
	t.voice, t.draft.Role = voiceUser, dag.RoleUser
	rec.blocks(t, blocks)
	if len(blocks) == 1 {
		t.prompt = promptSum(blockText(blocks[0]))
	}
	kind, author := rec.origin()
	t.author = author
	setAttr(&t.draft, attrOrigin, kind, &rec.noted)
}

// wrote makes a turn of a message by Claude Code.
func (rec *claudeRecord) wrote(t *claudeTurn, blocks []*canon.Value) {
	t.voice, t.draft.Role = voiceHarness, dag.RoleSystem
	setAttr(&t.draft, attrMeta, "true", &rec.noted)
	rec.blocks(t, blocks)
}

// isProgram reports whether Claude Code is the author of a record, apart from its tool results: the record says so, belongs to
// a call, or has an origin without a known author.
func (rec *claudeRecord) isProgram(kind, author string) bool {
	v := rec.v
	results := slices.ContainsFunc(items(object(v, "message"), "content"), isResult)
	ofCall := text(v, "sourceToolUseID") != "" || !results && (v.Get("toolUseResult") != nil || text(v, "sourceToolAssistantUUID") != "")
	return author == "" && (kind != "" || isTrue(v, "isMeta") || isTrue(v, "isSynthetic") || ofCall || text(v, "promptSource") == "system")
}

// originUnknown replaces an origin that the record does not name.
const originUnknown = "unknown"

// origin returns the kind of a record's origin and its author. The kind is "" for the person at the terminal; the author is ""
// if the origin names none.
func (rec *claudeRecord) origin() (kind, author string) {
	return claudeOrigin(rec.v.Get("origin"), &rec.noted)
}

func claudeOrigin(v *canon.Value, noted *counts) (kind, author string) {
	if v == nil || v.Kind == canon.Null {
		return "", ""
	}
	kind = text(v, "kind")
	if v.Kind == canon.String {
		kind = v.Text
	}
	named := func(keys ...string) string {
		for _, key := range keys {
			if name := text(v, key); name != "" {
				return name
			}
		}
		return kind
	}
	switch kind {
	case "human":
		return "", ""
	case "":
		return originUnknown, ""
	case "channel":
		return kind, authorName("tool", named("server"), noted)
	case "coordinator":
		return kind, authorName("agent", kind, noted)
	case "peer", "peer-send-message", "teammate":
		return kind, authorName("agent", named("teammate", "name", "from"), noted)
	}
	return kind, ""
}

// answeredBy returns the author of a result that is not the tool, or "".
//
// A person rejects a call, approves a plan or stops a tool. Newer versions record a denial in
// toolDenialKind. In older versions toolUseResult is rejectionMark, where a tool's own error would begin with "Error: "; or the
// error of a built-in tool is exactly Claude Code's sentence. MCP servers (mcp__SERVER__NAME) choose the text of their errors,
// and so did commands before version 2: for them only the mark counts.
func (rec *claudeRecord) answeredBy(tool string) string {
	v := rec.v
	result := onlyResult(v)
	if result == nil {
		return ""
	}
	if !isTrue(result, "is_error") {
		given := object(v, "toolUseResult")
		switch {
		case tool == "ExitPlanMode" && given != nil && given.Get("plan") != nil && !isTrue(given, "isAgent") && !isTrue(given, "awaitingLeaderApproval"):
			return authorHuman
		}
		return ""
	}
	said, structured := text(result, "content"), text(v, "toolUseResult")
	denied := text(v, "toolDenialKind")
	switch {
	case denied != "":
		if denied != "user-rejected" && denied != "interrupted" && denied != "cancelled" {
			return ""
		}
	case structured == "" || namesDenials(text(v, "version")):
		return ""
	case structured == rejectionMark:
	case structured != "Error: "+said || tool == "" || strings.HasPrefix(tool, "mcp__") || !tellsExitCodes(text(v, "version")):
		return ""
	case !strings.HasPrefix(said, rejectedWith) && said != rejectedAlone && !slices.Contains(interruptions, said):
		return ""
	}
	if words, ok := strings.CutPrefix(said, rejectedWith); ok && denied != "interrupted" && denied != "cancelled" && strings.TrimSpace(words) != "" {
		return authorHuman
	}
	return authorClaudeCode
}

// onlyResult returns the result of a record that has one, or nil.
func onlyResult(record *canon.Value) (result *canon.Value) {
	for _, b := range items(object(record, "message"), "content") {
		if text(b, "type") == blockResult {
			if result != nil {
				return nil
			}
			result = b
		}
	}
	return result
}

// answers returns a person's answers to the questions of a call, a line each, or "". The result of the call repeats the questions, which are the agent's words, so
// it stays the tool's.
func (rec *claudeRecord) answers(tool string) string {
	given := object(object(rec.v, "toolUseResult"), "answers")
	if result := onlyResult(rec.v); result == nil || isTrue(result, "is_error") || tool != "AskUserQuestion" || given == nil {
		return ""
	}
	var said []string
	for i := range given.Members {
		said = append(said, texts(&given.Members[i].Value)...)
	}
	return strings.TrimSpace(strings.Join(said, "\n"))
}

// The texts of a rejected call: the mark in the structured result, and the results with and without a person's words.
const (
	rejectionMark = "User rejected tool use"
	rejectedTo    = rejected + " The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). "
	rejectedWith  = rejectedTo + "To tell you how to proceed, " + rejectedSaying
	rejectedAlone = rejectedTo + "STOP what you are doing and wait for the user to tell you how to proceed."
)

// namesDenials reports whether a version of Claude Code writes toolDenialKind.
func namesDenials(version string) bool {
	return slices.Compare(versionOf(version), []int{2, 1, 205}) >= 0
}

// tellsExitCodes reports whether, in a version, the result of a failed command begins with its exit code.
func tellsExitCodes(version string) bool { return slices.Compare(versionOf(version), []int{2}) >= 0 }

// versionOf returns the numbers of a version, or nil if it is not a version.
func versionOf(version string) (numbers []int) {
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil
		}
		numbers = append(numbers, n)
	}
	return numbers
}
