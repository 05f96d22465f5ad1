package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGuardForms calls the guard of every agent with the members that it needs and others in random forms: a harmless call passes, a denied one is
// denied, and one whose members are ambiguous is blocked.
func TestGuardForms(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	rules := filepath.Join(folder, "rules.json")
	if err := os.WriteFile(rules, []byte(`{"policy_id":"deny@1","policy":{"type":"deny_rules_v1","rules":[{"tool":"Bash","argument":"\\brm\\s+-r","reason":"deletes"}]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	graphkernel(t, folder, "policy", "add", rules)
	random := rand.New(rand.NewPCG(35, 16))
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	seen := map[string]int{}
	for i := range 45 {
		agent, event := "claude-code", "PreToolUse"
		switch i % 3 {
		case 1:
			agent = "codex"
		case 2:
			agent, event = "gemini", "BeforeTool"
		}
		kind := pick("harmless", "denied", "denied", "ambiguous", "without")
		input := `{"command":"ls"}`
		if kind == "denied" {
			input = pick(`{"command":"rm -r x"}`, `"rm -r x"`, `["rm","-r","x"]`, `{"command":["rm","-r"]}`, `"{\"command\":\"rm\\t-r x\"}"`, `{"a":{"command":"rm\u0020-r"}}`)
		}
		parts := []string{fmt.Sprintf(`"hook_event_name":%q`, event), `"tool_name":"Bash"`}
		switch kind {
		case "without":
			parts = append(parts, pick(`"tool_input":null`, `"x":0`))
		case "ambiguous":
			parts = append(parts, `"tool_input":`+input, pick(`"tool_input":{"command":"rm -r x"}`, `"Tool_Input":{}`, `"tool_name":"Read"`, `"TOOL_NAME":"Read"`))
		default:
			parts = append(parts, `"tool_input":`+input)
		}
		for range random.IntN(5) {
			parts = append(parts, fmt.Sprintf("%q:%s", pick("session_id", "prompt", "transcript_path", "cwd", "model", "last_assistant_message", "tool_use_id"), pick("7", "null", `[{"type":"text","text":"rm -r"}]`, `{"tool_name":"Read"}`, `"C:\\s.jsonl"`, "true")))
		}
		random.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		in := pick("", "\ufeff") + "{" + strings.Join(parts, ",") + "}"
		got := hooked(t, folder, in, "graphkernel", "hook", agent, "--guard", "deny@1")
		seen[kind]++
		ok := false
		switch kind {
		case "harmless":
			ok = got == outcome{}
		case "denied":
			ok = got.code == 0 && strings.Contains(got.stdout, `"deny"`) && json.Valid([]byte(got.stdout))
		default:
			ok = got.code == 2 && got.stdout == "" && strings.Contains(got.stderr, "this call is blocked")
		}
		if !ok {
			t.Errorf("%s, %s: %s: %+v", agent, kind, in, got)
		}
	}
	for _, kind := range []string{"harmless", "denied", "ambiguous", "without"} {
		if seen[kind] < 3 {
			t.Errorf("%d calls were %s", seen[kind], kind)
		}
	}
}

// TestUnreadIsSaid has hooks that get nothing, and looks at what commands say of it, until an event is read.
func TestUnreadIsSaid(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	settings := filepath.Join(folder, ".claude")
	if err := os.MkdirAll(settings, 0o700); err != nil {
		t.Fatal(err)
	}
	const said = "events that could not be read"
	for range 3 {
		hooked(t, folder, "", "graphkernel", "hook", "claude-code")
	}
	for _, command := range []string{"doctor", "status", "capture"} {
		if got := hooked(t, folder, "", "graphkernel", command); !strings.Contains(got.stdout, said+" by the capture hook of claude-code: 3 since ") || !strings.Contains(got.stdout, "nothing on standard input") || (got.code == 1) != (command == "doctor") {
			t.Errorf("%s: %+v", command, got)
		}
	}
	hooked(t, folder, `{"hook_event_name":"Stop","transcript_path":null}`, "graphkernel", "hook", "claude-code")
	for _, command := range []string{"doctor", "status", "capture"} {
		if got := hooked(t, folder, "", "graphkernel", command); strings.Contains(got.stdout, said) {
			t.Errorf("%s after an event was read: %+v", command, got)
		}
	}
}

// TestDoctorTries makes sure that doctor says that hooks are switched off, wherever the agent's settings say so, and why a context would be refused now: there is no key or no
// such policy, or the identity signed the history of another store.
func TestDoctorTries(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	session := filepath.Join(folder, "a.jsonl")
	line := `{"parentUuid":null,"isSidechain":false,"cwd":"/s","sessionId":"3f3af1ec-ebbd-4410-ab41-7ec0d27bbfcb","type":"user","message":{"role":"user","content":"hello there"},"uuid":"f64551fc-d6f0-4823-8b87-971cfb914464","timestamp":"2026-03-01T10:00:01Z"}`
	if err := os.WriteFile(session, []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := filepath.Join(folder, "settings")
	gk := func(args ...string) outcome {
		t.Helper()
		c := append([]string{"-c", `CLAUDE_CONFIG_DIR="$0" exec "$@"`, settings, "graphkernel"}, args...)
		return hooked(t, folder, "", "sh", c...)
	}
	says := func(what string, args ...string) {
		t.Helper()
		if got := gk(append(args, "doctor")...); !strings.Contains(got.stdout, what) {
			t.Errorf("%v: %s\nwant %q", args, got.stdout, what)
		}
	}
	if err := os.MkdirAll(settings, 0o700); err != nil {
		t.Fatal(err)
	}
	gk("import", session)
	gk("setup", "claude-code", "--yes", "--each-prompt", "--context", "context@2")
	says("there is no key to sign it with")
	gk("keys", "init")
	says("contexts would be given by context@2")
	gk("identity", "init", "--name", "kernel.example")
	gk("context", "hello")
	gk("log", "checkpoint")
	says("contexts would be given by context@2")
	other := "sqlite:" + filepath.Join(folder, "other.db")
	gk("--store", other, "import", session)
	says("a context would be refused now: the ledger is not the history that this identity has signed", "--store", other)
	file := filepath.Join(settings, "settings.json")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(data), "context@2", "gone@1")), 0o600); err != nil {
		t.Fatal(err)
	}
	says("a context would be refused now: ")
	if err := os.WriteFile(file, []byte(strings.Replace(string(data), "{", `{"disableAllHooks":true,`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	says("its hooks are switched off: disableAllHooks: true in " + file)
}
