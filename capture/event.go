package capture

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
)

// An Agent is a program whose hooks are known, or whose transcripts are followed.
type Agent string

// The agents.
const (
	ClaudeCode Agent = "claude-code"
	Codex      Agent = "codex"
	Gemini     Agent = "gemini"
)

// Agents lists all of them.
var Agents = []Agent{ClaudeCode, Codex, Gemini}

// ParseAgent reads an agent's name.
func ParseAgent(s string) (Agent, error) {
	if a := Agent(s); slices.Contains(Agents, a) {
		return a, nil
	}
	return "", fmt.Errorf("capture: agent %q, want one of %q", s, Agents)
}

// An Event is what an agent tells a hook on standard input, as far as capture needs it. Members that are not listed are
// ignored: agents add some with every version.
//
// Source: the types of Claude's Agent SDK (BaseHookInput and those that extend it), and the schemas of Codex CLI, which has
// the same members.
type Event struct {
	Name       string `json:"hook_event_name"`
	Session    string `json:"session_id"`
	Transcript string `json:"transcript_path"` // absolute; empty if the agent writes none
	Folder     string `json:"cwd"`

	Source      string `json:"source"`                 // of SessionStart: startup, resume, clear, compact, fork
	Prompt      string `json:"prompt"`                 // of UserPromptSubmit
	LastMessage string `json:"last_assistant_message"` // of Stop and SubagentStop

	Tool      string          `json:"tool_name"`
	ToolInput json.RawMessage `json:"tool_input"`
	ToolUse   string          `json:"tool_use_id"`
}

// The events that capture knows by name. Any other one says as much as PostToolUse: that the transcript may have more.
const (
	SessionStart     = "SessionStart"
	UserPromptSubmit = "UserPromptSubmit"
	PreToolUse       = "PreToolUse"
	Stop             = "Stop"
	SubagentStop     = "SubagentStop"
	SessionEnd       = "SessionEnd"
	PreCompact       = "PreCompact"
)

// MaxEvent bounds what a hook reads, in bytes. An event holds a tool's result.
const MaxEvent = 64 << 20

// ErrEvent is wrapped if a hook was told something that is no event.
var ErrEvent = errors.New("not an event of an agent")

// ReadEvent reads the one event that a hook is given.
func ReadEvent(in io.Reader) (*Event, error) {
	data, err := io.ReadAll(io.LimitReader(in, MaxEvent+1))
	if err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	if len(data) > MaxEvent {
		return nil, fmt.Errorf("capture: %w: more than %d bytes", ErrEvent, MaxEvent)
	}
	var e Event
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, fmt.Errorf("capture: %w: %w", ErrEvent, err)
	}
	switch {
	case e.Name == "":
		return nil, fmt.Errorf("capture: %w: it has no hook_event_name", ErrEvent)
	case e.Transcript != "" && !filepath.IsAbs(e.Transcript):
		return nil, fmt.Errorf("capture: %w: transcript_path %.200q is not absolute", ErrEvent, e.Transcript)
	}
	return &e, nil
}
