package capture

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Context returns what a hook prints so that the agent is told a text. The event is SessionStart or UserPromptSubmit.
//
// Sources: the type SyncHookJSONOutput of Claude's Agent SDK; the output schemas of Codex CLI, which take no other members; Gemini
// CLI, hooks reference.
func (e *Event) Context(text string) ([]byte, error) {
	return marshal(map[string]any{"hookSpecificOutput": map[string]string{"hookEventName": e.Agent.called(e.Name), "additionalContext": text}})
}

// Denial returns what a hook prints so that a tool call does not run. The agent reads the reason, which
// must not be empty. To let a call pass a hook prints nothing: the agents' word for "allow" would skip their own questions.
func (c *Call) Denial(reason string) ([]byte, error) {
	if c.Agent == Gemini {
		return marshal(map[string]string{"decision": "deny", "reason": reason})
	}
	return marshal(map[string]any{"hookSpecificOutput": map[string]string{"hookEventName": c.Agent.called(PreToolUse), "permissionDecision": "deny", "permissionDecisionReason": reason}})
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // a person who looks at it can read it
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	return b.Bytes(), nil
}
