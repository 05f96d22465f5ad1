package capture

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Context returns the output by which a hook adds a text to the agent's context. The event is SessionStart or UserPromptSubmit.
//
// Sources: the type SyncHookJSONOutput of Claude's Agent SDK; the output schemas of Codex CLI, which accept no other members;
// Gemini CLI, hooks reference.
func (e *Event) Context(text string) ([]byte, error) {
	return marshal(map[string]any{"hookSpecificOutput": map[string]string{"hookEventName": e.Agent.called(e.Name), "additionalContext": text}})
}

// Denial returns the output by which a hook prevents a tool call. The agent reads the reason, which must not be empty. To let a
// call pass, a hook prints nothing: the agents' word "allow" would skip their own questions.
func (c *Call) Denial(reason string) ([]byte, error) {
	if c.Agent == Gemini {
		return marshal(map[string]string{"decision": "deny", "reason": reason})
	}
	return marshal(map[string]any{"hookSpecificOutput": map[string]string{"hookEventName": c.Agent.called(PreToolUse), "permissionDecision": "deny", "permissionDecisionReason": reason}})
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // so that people can read it
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	return b.Bytes(), nil
}
