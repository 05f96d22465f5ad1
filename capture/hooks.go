package capture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/internal/bom"
)

// ErrSettings is wrapped if an agent's settings have a form into which hooks cannot be merged.
var ErrSettings = errors.New("hooks cannot be added to these settings")

// HookTimeout is how long an agent waits for a hook, in seconds. A hook that captures takes milliseconds.
const HookTimeout = 10

// A Hook is a command that an agent runs at an event.
type Hook struct {
	Event, Command string
	Blocks         bool // a failure of the hook itself stops the agent, if the agent supports such hooks
}

// WithHooks returns an agent's settings with the given hooks in place of the hooks that this program added before. Everything
// else in the settings stays, in its order. If settings is empty, WithHooks makes new settings.
func WithHooks(agent Agent, settings []byte, hooks []Hook) ([]byte, error) {
	type command struct {
		Type      string `json:"type"`
		Command   string `json:"command"`
		Timeout   int    `json:"timeout"`
		OnFailure string `json:"onFailure,omitempty"` // supported by Claude Code 2.1.295 and newer
	}
	d := dialects[agent]
	hooks = slices.Clone(hooks)
	add := map[string][]json.RawMessage{}
	for i := range hooks {
		h := &hooks[i]
		h.Event = agent.called(h.Event)
		c := command{Type: "command", Command: h.Command, Timeout: HookTimeout * d.second}
		if h.Blocks && d.onFailure {
			c.OnFailure = "block"
		}
		group, err := json.Marshal(map[string][]command{"hooks": {c}})
		if err != nil {
			return nil, fmt.Errorf("capture: %w", err)
		}
		add[h.Event] = append(add[h.Event], group)
	}
	return changeHooks(settings, hooks, func(event string, groups []json.RawMessage) []json.RawMessage {
		return append(withoutOurs(groups), add[event]...)
	})
}

// WithoutHooks returns an agent's settings without the hooks that this program added.
func WithoutHooks(settings []byte) ([]byte, error) {
	return changeHooks(settings, nil, func(_ string, groups []json.RawMessage) []json.RawMessage { return withoutOurs(groups) })
}

// Installed returns the hooks in an agent's settings that this program added, and the words of each hook's command line.
func Installed(agent Agent, settings []byte) (hooks []Hook, words [][]string, err error) {
	_, err = changeHooks(settings, nil, func(event string, groups []json.RawMessage) []json.RawMessage {
		for _, g := range groups {
			if command, blocks, ok := ours(g); ok {
				hooks = append(hooks, Hook{Event: agent.named(event), Command: command, Blocks: blocks})
				words = append(words, split(command))
			}
		}
		return groups
	})
	return hooks, words, err
}

// changeHooks calls a function to change the groups of each event. The result has no byte order mark.
func changeHooks(settings []byte, added []Hook, change func(event string, groups []json.RawMessage) []json.RawMessage) ([]byte, error) {
	settings = bom.Trim(settings)
	if len(bytes.TrimSpace(settings)) == 0 {
		settings = []byte("{}")
	}
	all, err := readObject(settings)
	if err != nil {
		return nil, fmt.Errorf("capture: %w: %w", ErrSettings, err)
	}
	hooks, err := readObject(all.get("hooks", "{}"))
	if err != nil {
		return nil, fmt.Errorf("capture: %w: hooks: %w", ErrSettings, err)
	}
	var names []string
	for _, h := range added {
		names = append(names, h.Event)
	}
	for _, m := range hooks {
		names = append(names, m.name)
	}
	seen := map[string]bool{}
	names = slices.DeleteFunc(names, func(name string) bool { was := seen[name]; seen[name] = true; return was })
	for _, event := range names {
		var groups []json.RawMessage
		if err := json.Unmarshal(hooks.get(event, "[]"), &groups); err != nil {
			return nil, fmt.Errorf("capture: %w: hooks.%s: %w", ErrSettings, event, err)
		}
		groups = change(event, groups)
		if len(groups) == 0 {
			hooks.drop(event)
			continue
		}
		list, err := json.Marshal(groups)
		if err != nil {
			return nil, fmt.Errorf("capture: %w", err)
		}
		hooks.set(event, list)
	}
	if len(hooks) == 0 {
		all.drop("hooks")
	} else {
		all.set("hooks", hooks.bytes())
	}
	var out bytes.Buffer
	if err := json.Indent(&out, all.bytes(), "", "  "); err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	return append(out.Bytes(), '\n'), nil
}

func withoutOurs(groups []json.RawMessage) []json.RawMessage {
	return slices.DeleteFunc(groups, func(g json.RawMessage) bool { _, _, ok := ours(g); return ok })
}

// ours returns the command of a group of hooks that this program added, and whether it blocks. Such a group has one hook, which
// runs this program.
func ours(group json.RawMessage) (command string, blocks, ok bool) {
	var g struct {
		Hooks []struct {
			Command   string `json:"command"`
			OnFailure string `json:"onFailure"`
		} `json:"hooks"`
	}
	if json.Unmarshal(group, &g) != nil || len(g.Hooks) != 1 {
		return "", false, false
	}
	h := g.Hooks[0]
	line := split(h.Command)
	if len(line) < 3 {
		return "", false, false
	}
	program := strings.TrimSuffix(line[0][strings.LastIndexAny(line[0], `/\`)+1:], ".exe")
	return h.Command, h.OnFailure == "block", program == "graphkernel-hook" || program == "graphkernel" && line[1] == "hook"
}

// CommandLine quotes words for a POSIX shell. It quotes only the words that need quotes.
func CommandLine(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		if word == "" || strings.ContainsFunc(word, func(r rune) bool {
			return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=+,@%", r)
		}) {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		quoted[i] = word
	}
	return strings.Join(quoted, " ")
}

// split reads a command line that CommandLine wrote.
func split(line string) (list []string) {
	var word strings.Builder
	quoted, begun := false, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'':
			quoted, begun = !quoted, true
		case c == ' ' && !quoted:
			if begun {
				list = append(list, word.String())
			}
			word.Reset()
			begun = false
		case c == '\\' && !quoted && i+1 < len(line) && line[i+1] == '\'':
			i++
			word.WriteByte('\'')
			begun = true
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	if begun {
		list = append(list, word.String())
	}
	return list
}

// An object is a JSON object whose members keep their order and their spelling.
type object []member

type member struct {
	name  string
	value json.RawMessage
}

// readObject reads an object. It refuses a name that comes twice, since programs differ in which one they use.
func readObject(data []byte) (object, error) {
	o, err := membersOf(data)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, m := range o {
		if seen[m.name] {
			return nil, fmt.Errorf("%q occurs twice", m.name)
		}
		seen[m.name] = true
	}
	return o, nil
}

// membersOf returns the members of an object, in their order. A name that comes twice is two members.
func membersOf(data []byte) (o object, err error) {
	if !json.Valid(data) {
		var v any
		return nil, json.Unmarshal(data, &v) // the error says where the JSON is invalid
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return nil, errors.New("want an object")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: name.(string)} // valid JSON has only strings here
		if err := d.Decode(&m.value); err != nil {
			return nil, err
		}
		o = append(o, m)
	}
	return o, nil
}

func (o object) get(name, otherwise string) json.RawMessage {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return json.RawMessage(otherwise)
}

func (o *object) set(name string, value json.RawMessage) {
	for i := range *o {
		if (*o)[i].name == name {
			(*o)[i].value = value
			return
		}
	}
	*o = append(*o, member{name, value})
}

func (o *object) drop(name string) {
	*o = slices.DeleteFunc(*o, func(m member) bool { return m.name == name })
}

func (o object) bytes() []byte {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		name, _ := json.Marshal(m.name) // marshalling a string cannot fail
		out.Write(name)
		out.WriteByte(':')
		out.Write(m.value)
	}
	out.WriteByte('}')
	return out.Bytes()
}
