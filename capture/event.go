package capture

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
)

// An Event is what an agent tells a hook on standard input, as far as capture needs it. Members that are not listed are
// ignored: agents add some with every version.
//
// Sources: the types of Claude's Agent SDK (BaseHookInput and those that extend it); the input schemas of Codex CLI, which have
// the same members; Gemini CLI, hooks reference.
type Event struct {
	Agent      Agent  `json:"-"`
	Name       string `json:"hook_event_name"` // as this package calls it, whatever the agent does
	Session    string `json:"session_id"`
	Transcript string `json:"transcript_path"` // absolute; empty if the agent writes none
	Folder     string `json:"cwd"`

	Source      string `json:"source"`                 // of SessionStart: startup, resume, clear, compact, fork
	Prompt      string `json:"prompt"`                 // of UserPromptSubmit
	LastMessage string `json:"last_assistant_message"` // of Stop and SubagentStop
	Response    string `json:"prompt_response"`        // Gemini CLI's name of LastMessage; empty after ReadEvent

	Tool      string          `json:"tool_name"`
	ToolInput json.RawMessage `json:"tool_input"`
	ToolUse   string          `json:"tool_use_id"`
}

// The events that capture knows by name, which are those of Claude Code. Any other one says as much as PostToolUse: that the transcript
// may have more.
const (
	SessionStart     = "SessionStart"
	UserPromptSubmit = "UserPromptSubmit"
	PreToolUse       = "PreToolUse"
	PostToolUse      = "PostToolUse"
	Stop             = "Stop"
	SubagentStop     = "SubagentStop"
	SessionEnd       = "SessionEnd"
	PreCompact       = "PreCompact"
)

// MaxEvent bounds what a hook reads, in bytes. An event holds a tool's result.
const MaxEvent = 64 << 20

// ErrEvent is wrapped if a hook was told something that is no event.
var ErrEvent = errors.New("not an event of an agent")

// ReadEvent reads the one event that a hook of an agent is given.
func ReadEvent(agent Agent, in io.Reader) (*Event, error) {
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
	e.Agent, e.Name = agent, agent.named(e.Name)
	e.LastMessage, e.Response = cmp.Or(e.LastMessage, e.Response), ""
	return &e, nil
}
