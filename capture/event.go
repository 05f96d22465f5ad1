package capture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/graphkernel/graphkernel/internal/bom"
)

// An Event holds the members of an agent's event, read from a hook's standard input, that capture needs. Every other member is
// ignored, whatever its form, since agents add and change members with every version. A text is empty here if it comes in a
// form without words, or twice with two values.
//
// Sources: the types of Claude's Agent SDK (BaseHookInput and the types that extend it); the input schemas of Codex CLI, which
// have the same members; Gemini CLI, hooks reference.
type Event struct {
	Agent      Agent
	Name       string // hook_event_name, translated to this package's name
	Session    string // session_id
	Transcript string // transcript_path: absolute; empty if the agent writes none
	Folder     string // cwd

	Source      string // of SessionStart: startup, resume, clear, compact, fork
	Prompt      string // of UserPromptSubmit
	LastMessage string // of Stop and SubagentStop: last_assistant_message, or prompt_response of Gemini CLI
}

// The events that capture knows by name; the names are those of Claude Code. Any other event means the same as PostToolUse: the
// transcript may have more.
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

// MaxEvent is the largest event that a hook reads, in bytes. An event holds a tool's result.
const MaxEvent = 64 << 20

// ErrEvent is wrapped if a hook's input is not an event.
var ErrEvent = errors.New("not an event of an agent")

// ReadEvent reads the one event on a hook's standard input. An event needs a transcript or the name of an event. ReadEvent
// refuses a transcript_path that is not an absolute path, and a transcript_path or cwd that comes twice with two values.
func ReadEvent(agent Agent, in io.Reader) (*Event, error) {
	o, err := readMembers(in)
	if err != nil {
		return nil, err
	}
	e := &Event{
		Agent: agent, Name: agent.named(o.text("hook_event_name")), Session: o.text("session_id"), Folder: o.text("cwd"),
		Source: o.text("source"), Prompt: o.text("prompt"), LastMessage: o.text("last_assistant_message"),
	}
	if e.LastMessage == "" {
		e.LastMessage = o.text("prompt_response")
	}
	transcript, err := o.one("transcript_path")
	if err == nil {
		_, err = o.one("cwd")
	}
	if err == nil && transcript != nil && json.Unmarshal(transcript, &e.Transcript) != nil {
		err = fmt.Errorf("transcript_path %.200s is no path", transcript)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("capture: %w: %w", ErrEvent, err)
	case e.Transcript != "" && !filepath.IsAbs(e.Transcript):
		return nil, fmt.Errorf("capture: %w: transcript_path %.200q is not absolute", ErrEvent, e.Transcript)
	case e.Name == "" && e.Transcript == "":
		return nil, fmt.Errorf("capture: %w: the event has no hook_event_name", ErrEvent)
	}
	return e, nil
}

// A Call is a tool call about which an agent asks a hook at PreToolUse, before it makes the call.
type Call struct {
	Agent Agent
	Tool  string
	Input json.RawMessage // any JSON value; nil if the event has no tool_input
}

// ReadCall reads the event on a guard's standard input. It needs hook_event_name, tool_name and tool_input, and reads no other
// member. Each of the three has to come once and in its own letter case: programs differ in which of two spellings they use, so
// the guard could judge another call than the one that the agent makes.
func ReadCall(agent Agent, in io.Reader) (*Call, error) {
	o, err := readMembers(in)
	if err != nil {
		return nil, err
	}
	c := &Call{Agent: agent}
	var event string
	for _, need := range []struct {
		name string
		to   *string
	}{{"hook_event_name", &event}, {"tool_name", &c.Tool}} {
		value, err := o.only(need.name)
		switch {
		case err != nil:
			return nil, fmt.Errorf("capture: %w: %w", ErrEvent, err)
		case json.Unmarshal(value, need.to) != nil || *need.to == "":
			return nil, fmt.Errorf("capture: %w: the event has no string %s", ErrEvent, need.name)
		case need.to == &event && agent.named(event) != PreToolUse:
			return nil, fmt.Errorf("capture: the event is %.80q, but a guard judges only %s", event, agent.called(PreToolUse))
		}
	}
	if c.Input, err = o.only("tool_input"); err != nil {
		return nil, fmt.Errorf("capture: %w: %w", ErrEvent, err)
	}
	return c, nil
}

// readMembers reads the members of an event's JSON object.
func readMembers(in io.Reader) (object, error) {
	data, err := io.ReadAll(io.LimitReader(in, MaxEvent+1))
	if err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	if len(data) > MaxEvent {
		return nil, fmt.Errorf("capture: %w: more than %d bytes", ErrEvent, MaxEvent)
	}
	data = bom.Trim(data)
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf("capture: %w: there is nothing on standard input", ErrEvent)
	}
	o, err := membersOf(data)
	if err != nil {
		return nil, fmt.Errorf("capture: %w: %w", ErrEvent, err)
	}
	return o, nil
}

// one returns a member's value, or nil if there is none. A member that comes twice must have the same value both times.
func (o object) one(name string) (value json.RawMessage, err error) {
	for _, m := range o {
		if m.name != name {
			continue
		}
		if value != nil && !bytes.Equal(value, m.value) {
			return nil, fmt.Errorf("%s comes twice, with two values", name)
		}
		value = m.value
	}
	return value, nil
}

// only returns a member's value, or nil if there is none. It refuses a member that comes twice, or whose name comes in another
// letter case.
func (o object) only(name string) (value json.RawMessage, err error) {
	for _, m := range o {
		switch {
		case !strings.EqualFold(m.name, name):
		case m.name != name:
			return nil, fmt.Errorf("%.40q is the same name as %s to programs that ignore letter case", m.name, name)
		case value != nil:
			return nil, fmt.Errorf("%s comes twice", name)
		default:
			value = m.value
		}
	}
	return value, nil
}

// text returns the words of a member: a text, a number, or the joined texts of a list, whose items are texts or blocks with a
// text.
func (o object) text(name string) string {
	value, err := o.one(name)
	if err != nil {
		return ""
	}
	var s string
	var n json.Number
	var blocks []json.RawMessage
	switch {
	case json.Unmarshal(value, &s) == nil:
		return s
	case json.Unmarshal(value, &n) == nil:
		return n.String()
	case json.Unmarshal(value, &blocks) != nil:
		return ""
	}
	var words []string
	for _, b := range blocks {
		var word string
		if json.Unmarshal(b, &word) != nil {
			var block struct {
				Text string `json:"text"`
			}
			_ = json.Unmarshal(b, &block) // a block in another form has no words
			word = block.Text
		}
		if word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, "\n\n")
}
