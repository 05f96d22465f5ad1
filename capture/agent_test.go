package capture_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/capture"
)

// TestDialects merges hooks into each agent's settings, in its own words, and finds them again.
func TestDialects(t *testing.T) {
	for agent, want := range map[capture.Agent]struct {
		guard  string // the agent's name of PreToolUse
		events string // all names
		hook   string // how the guard's hook looks
	}{
		capture.ClaudeCode: {"PreToolUse", "SessionStart UserPromptSubmit PostToolUse PostToolUseFailure Stop SubagentStop PreCompact SessionEnd",
			`{"type":"command","command":"/bin/graphkernel hook x --guard d","timeout":10,"onFailure":"block"}`},
		capture.Codex: {"PreToolUse", "SessionStart UserPromptSubmit PostToolUse Stop SubagentStop PreCompact SessionEnd",
			`{"type":"command","command":"/bin/graphkernel hook x --guard d","timeout":10}`},
		capture.Gemini: {"BeforeTool", "SessionStart BeforeAgent AfterTool AfterAgent PreCompress SessionEnd",
			`{"type":"command","command":"/bin/graphkernel hook x --guard d","timeout":10000}`},
	} {
		ours := []capture.Hook{{Event: capture.PreToolUse, Command: "/bin/graphkernel hook x --guard d", Blocks: true}}
		for _, event := range agent.Events() {
			ours = append(ours, capture.Hook{Event: event, Command: "/bin/graphkernel-hook x /spool"})
		}
		with, err := capture.WithHooks(agent, nil, ours)
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Hooks map[string][]json.RawMessage }
		if err := json.Unmarshal(with, &got); err != nil {
			t.Fatal(err)
		}
		names := append(strings.Fields(want.events), want.guard)
		for _, name := range names {
			if len(got.Hooks[name]) != 1 {
				t.Errorf("%s: %d hooks at %s", agent, len(got.Hooks[name]), name)
			}
		}
		if len(got.Hooks) != len(names) {
			t.Errorf("%s: hooks at %d events, want %d", agent, len(got.Hooks), len(names))
		}
		if group := compact(t, got.Hooks[want.guard][0]); group != `{"hooks":[`+want.hook+`]}` {
			t.Errorf("%s: the guard is %s, want %s", agent, group, want.hook)
		}
		there, _, err := capture.Installed(agent, with)
		if err != nil || len(there) != len(ours) {
			t.Errorf("%s: %d hooks are found of %d, %v", agent, len(there), len(ours), err)
		}
		for _, h := range there {
			h.Blocks = h.Event == capture.PreToolUse // not every agent says so
			if !slices.Contains(ours, h) {
				t.Errorf("%s: found is %+v", agent, h)
			}
		}
		if without, err := capture.WithoutHooks(with); err != nil || compact(t, without) != "{}" {
			t.Errorf("%s: undone it is %s, %v", agent, without, err)
		}
	}
}

// TestAnswers writes what each agent reads, and nothing else: Codex takes an answer with a member that it does not know for a failure.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		agent           capture.Agent
		event           string
		context, denial string
	}{
		{capture.ClaudeCode, "SessionStart", `{"hookSpecificOutput":{"additionalContext":"<a>","hookEventName":"SessionStart"}}`, ""},
		{capture.Codex, "UserPromptSubmit", `{"hookSpecificOutput":{"additionalContext":"<a>","hookEventName":"UserPromptSubmit"}}`, ""},
		{capture.Gemini, "BeforeAgent", `{"hookSpecificOutput":{"additionalContext":"<a>","hookEventName":"BeforeAgent"}}`, ""},
		{capture.ClaudeCode, "PreToolUse", "", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"<a>"}}`},
		{capture.Codex, "PreToolUse", "", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"<a>"}}`},
		{capture.Gemini, "BeforeTool", "", `{"decision":"deny","reason":"<a>"}`},
	} {
		in := `{"hook_event_name":"` + c.event + `","tool_name":"t"}`
		e, err := capture.ReadEvent(c.agent, strings.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		want, answer := c.context, e.Context
		if c.denial != "" {
			call, err := capture.ReadCall(c.agent, strings.NewReader(in))
			if err != nil {
				t.Fatal(err)
			}
			want, answer = c.denial, call.Denial
		}
		if got, err := answer("<a>"); err != nil || string(got) != want+"\n" {
			t.Errorf("%s, %s: %s, %v, want %s", c.agent, c.event, got, err, want)
		}
	}
}

// TestLastMessage reads it under each agent's name.
func TestLastMessage(t *testing.T) {
	for agent, in := range map[capture.Agent]string{
		capture.ClaudeCode: `{"hook_event_name":"Stop","last_assistant_message":"Done."}`,
		capture.Codex:      `{"hook_event_name":"Stop","last_assistant_message":"Done.","transcript_path":null}`,
		capture.Gemini:     `{"hook_event_name":"AfterAgent","prompt_response":"Done."}`,
	} {
		e, err := capture.ReadEvent(agent, strings.NewReader(in))
		if err != nil || e.Name != capture.Stop || e.LastMessage != "Done." {
			t.Errorf("%s: %+v, %v", agent, e, err)
		}
	}
}

// TestSettingsFile finds each agent's settings, where its own variable names a folder and where none does.
func TestSettingsFile(t *testing.T) {
	for agent, want := range map[capture.Agent][3]string{
		capture.ClaudeCode: {"CLAUDE_CONFIG_DIR", "/c/settings.json", "/h/.claude/settings.json"},
		capture.Codex:      {"CODEX_HOME", "/c/hooks.json", "/h/.codex/hooks.json"},
		capture.Gemini:     {"GEMINI_CLI_HOME", "/c/.gemini/settings.json", "/h/.gemini/settings.json"},
	} {
		env := map[string]string{"HOME": "/h"}
		get := func(name string) string { return env[name] }
		if got := agent.SettingsFile(get); got != want[2] {
			t.Errorf("%s: %s, want %s", agent, got, want[2])
		}
		env[want[0]] = "/c"
		if got := agent.SettingsFile(get); got != want[1] {
			t.Errorf("%s with %s: %s, want %s", agent, want[0], got, want[1])
		}
		clear(env)
		if got := agent.SettingsFile(get); got != "" {
			t.Errorf("%s without a home: %s", agent, got)
		}
	}
}

// TestHooksOff finds the switch by which each agent calls no hooks.
func TestHooksOff(t *testing.T) {
	for _, c := range []struct {
		agent          capture.Agent
		settings, want string
	}{
		{capture.ClaudeCode, `{"disableAllHooks":true}`, "disableAllHooks: true"},
		{capture.ClaudeCode, `{"disableAllHooks":false}`, ""},
		{capture.ClaudeCode, `{"disableAllHooks":null}`, ""},
		{capture.ClaudeCode, `{"disableAllHooks":"true"}`, ""},
		{capture.ClaudeCode, `{`, ""},
		{capture.ClaudeCode, ``, ""},
		{capture.Gemini, `{"hooksConfig":{"enabled":false}}`, "hooksConfig.enabled: false"},
		{capture.Gemini, `{"tools":{"enableHooks":false}}`, "tools.enableHooks: false"},
		{capture.Gemini, `{"hooksConfig":{"enabled":true},"tools":[]}`, ""},
		{capture.Gemini, `{"disableAllHooks":true}`, ""},
		{capture.Codex, "[features]\nhooks = false\n", "features.hooks = false"},
		{capture.Codex, "model = \"x\"\n[ features ]\n  codex_hooks=false # for now\n", "features.codex_hooks = false"},
		{capture.Codex, "features.hooks = false\n[tui]\n", "features.hooks = false"},
		{capture.Codex, "[features]\nhooks = true\n", ""},
		{capture.Codex, "hooks = false\n", ""},
		{capture.Codex, "[tui]\nhooks = false\nfeatures.hooks = false\n", ""},
		{capture.Codex, "# hooks = false\n[features]\nhooks_ui = false\n", ""},
		{capture.ClaudeCode, `{"allowManagedHooksOnly":true}`, ""},
	} {
		for _, settings := range marked(c.settings) {
			if got := capture.HooksOff(c.agent, []byte(settings), false); got != c.want {
				t.Errorf("%s %q: %q, want %q", c.agent, settings, got, c.want)
			}
		}
	}
	if got := capture.HooksOff(capture.ClaudeCode, []byte(`{"allowManagedHooksOnly":true}`), true); got != "allowManagedHooksOnly: true" {
		t.Errorf("of an administrator: %q", got)
	}
}

// TestIsSmallTalk compares IsSmallTalk with lists of prompts.
func TestIsSmallTalk(t *testing.T) {
	for _, prompt := range []string{"", "  \n", "hi", "Hello!", "thanks", "Thank you very much.", "ok", "yes, please", "Yes, go on", "lgtm", "Danke schön!", "👍", "/exit", "...", "Good morning", "do it again"} {
		if !capture.IsSmallTalk(prompt) {
			t.Errorf("%q asks for nothing", prompt)
		}
	}
	for _, prompt := range []string{"fix it", "why", "what did we decide", "no, use tabs", "yes, but deploy on Tuesday", "ok now the tests", "thanks, and the invoice?", "hi, where were we", "继续", "1", "go on with the migration", "yes yes yes yes yes yes yes"} {
		if capture.IsSmallTalk(prompt) {
			t.Errorf("%q may be about something", prompt)
		}
	}
}
