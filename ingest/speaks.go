package ingest

import (
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// blockResult is the type of a tool's result among the blocks of a content.
const blockResult = "tool_result"

// isResult reports whether a block is a tool's result, by its type in the APIs of models: tool_result; web_search_tool_result,
// mcp_tool_result and other types with this ending, for tools that a server runs; tool-result of the AI SDK; tool_call_response
// of OpenTelemetry; function_call_output of OpenAI. Bedrock and Gemini have blocks with one member in place of a type.
func isResult(b *canon.Value) bool {
	if b.Get("toolResult") != nil || b.Get("functionResponse") != nil {
		return true
	}
	kind := strings.ReplaceAll(text(b, "type"), "-", "_")
	return strings.HasSuffix(kind, blockResult) || kind == "tool_call_response" || kind == "function_call_output"
}

// answeredID returns the id of the call that a result answers.
func answeredID(b *canon.Value) string {
	if inner := object(b, "toolResult"); inner != nil {
		b = inner
	}
	for _, key := range [...]string{"tool_use_id", "toolCallId", "toolUseId", "call_id"} {
		if id := text(b, key); id != "" {
			return id
		}
	}
	return ""
}

// speaks returns the speaker of a turn and its words. Role, author and attributes decide the speaker; the text only decides
// where the words of a rejection begin, and whether a user's turn is a command.
func (t *traits) speaks(d *dag.Draft) (speaker, string) {
	kind := authorKind(d)
	switch {
	case d.Attrs[dag.AttrBroughtBy] != "":
		return byResult, d.Content
	case t.compact == "summary":
		return bySummary, d.Content
	case t.compact != "":
		return byBoundary, d.Content
	case t.commit:
		return byCommit, d.Content
	case t.notice && (d.Role == dag.RoleUser || d.Role == dag.RoleSystem):
		return byCommand, d.Content
	}
	switch d.Role {
	case dag.RoleSystem:
		return bySystem, d.Content
	case dag.RoleAssistant:
		switch {
		case t.tool != toolNone:
			return byCall, d.Content
		case t.thinking:
			return byMind, strings.TrimPrefix(d.Content, "[thinking]\n")
		}
		return byAgent, d.Content
	case dag.RoleTool:
		switch {
		case kind == "system":
			return byNo, d.Content
		case kind != "human":
			return byResult, d.Content
		case asksPersonByName(d.Attrs[attrTool]) && !t.isError:
			return byYes, d.Content
		}
		_, said, ok := strings.Cut(d.Content, rejectedSaying)
		if !ok {
			said = d.Content
		}
		return byPerson, said
	}
	switch {
	case kind == "agent":
		return byCaller, d.Content
	case kind == "tool" || holdsResult(d):
		return byResult, d.Content
	case kind == "system":
		return bySystem, d.Content
	}
	return byPerson, d.Content
}

// asksPersonByName reports whether the first tool of an attribute is a tool of Claude Code that asks the person.
func asksPersonByName(attr string) bool {
	name, _, _ := strings.Cut(foldASCII(attr), ",")
	return name == "askuserquestion" || name == "exitplanmode"
}
