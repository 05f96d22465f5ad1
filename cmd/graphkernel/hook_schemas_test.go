package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/graphkernel/graphkernel/capture"
)

// A hookCase is an event that an agent sends to a hook that setup added, and how the machine fails meanwhile.
type hookCase struct {
	event   string // the agent's name
	command string // of the agent's settings
	input   []byte
	failure string
}

// guards says that the hook decides about a call, so that it must block what it cannot judge.
func (c hookCase) guards() bool { return strings.Contains(c.command, " --guard ") }

// hookFailures are what goes wrong around a hook: the start of the shell's line that calls it.
var hookFailures = map[string]string{
	"nothing fails":                  "",
	"a store that is not there":      "GRAPHKERNEL_STORE=sqlite:$HOME/absent.db ",
	"a service that is not there":    "GRAPHKERNEL_SERVER=http://127.0.0.1:1 ",
	"a service that does not answer": "GRAPHKERNEL_SERVER=$SILENT ",
	"a disk that is full":            "ulimit -f 0; ",
	"no descriptors left":            "exec 3<&-; ulimit -n 4; ",
	"no event":                       ": | ",
	"half an event":                  "head -c 20 | ",
}

// eachHook sets an agent up with a guard and with contexts for prompts, and calls every hook of its settings, in each failure, with every sample of its
// event. It checks what holds for all agents, and hands what a hook printed to judge: "" where a hook printed nothing.
func eachHook(t *testing.T, agent capture.Agent, samples func(event string) []string, judge func(c hookCase, printed string)) {
	t.Helper()
	folder := t.TempDir()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	write(t, filepath.Join(folder, "rules.json"), `{"policy_id":"deny@1","policy":{"type":"deny_rules_v1","rules":[{"tool":"Bash","reason":"no shell"}]}}`)
	write(t, filepath.Join(folder, "turns.jsonl"), `{"type":"user","uuid":"5e550000-0000-4000-8000-000000000001","parentUuid":null,"sessionId":"5e550000-0000-4000-8000-00000000000a","cwd":"/src/gateway","timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":"Use port 8443 for the gateway."}}`)
	graphkernel(t, folder, "keys", "init")
	graphkernel(t, folder, "import", filepath.Join(folder, "turns.jsonl"))
	graphkernel(t, folder, "policy", "add", filepath.Join(folder, "rules.json"))
	graphkernel(t, folder, "setup", string(agent), "--guard", "deny@1", "--each-prompt", "--yes")
	var settings struct {
		Hooks map[string][]struct{ Hooks []struct{ Command string } }
	}
	data, err := os.ReadFile(agent.SettingsFile(func(name string) string { return map[string]string{"HOME": folder}[name] }))
	if err == nil {
		err = json.Unmarshal(data, &settings)
	}
	if err != nil || len(settings.Hooks) < 7 {
		t.Fatalf("%d events in the settings, %v", len(settings.Hooks), err)
	}
	for event, groups := range settings.Hooks {
		inputs := samples(event)
		if len(inputs) == 0 {
			t.Errorf("%s: no sample", event)
		}
		for name, failure := range hookFailures {
			inputs := inputs
			if name == "a service that does not answer" {
				if event != capture.PreToolUse && event != capture.SessionStart {
					continue // a deadline takes seconds, and is the same for both kinds of contexts
				}
				inputs = inputs[:1]
			}
			for _, input := range inputs {
				c := hookCase{event, groups[0].Hooks[0].Command, []byte(input), name}
				var run *exec.Cmd
				var stdout, stderr bytes.Buffer
				for tries := 0; tries == 0 || withoutPoller(&stderr) && tries < 5; tries++ {
					stdout.Reset()
					stderr.Reset()
					run = exec.Command("sh", "-c", failure+strings.TrimPrefix(c.command, "exec "))
					run.Env = append(gkEnv(folder), "SILENT=http://"+silent.Addr().String(), "GRAPHKERNEL_KEY=gk1.default.0123456789abcdef."+strings.Repeat("0", 64))
					run.Stdin, run.Stdout, run.Stderr = bytes.NewReader(c.input), &stdout, &stderr
					_ = run.Run() // its code is looked at
				}
				code, printed := run.ProcessState.ExitCode(), stdout.String()
				switch {
				case c.guards() && name != "nothing fails" && printed == "" && code != 2:
					t.Errorf("%s, %s: let through with code %d\n%s", event, name, code, stderr.Bytes())
				case c.guards() && code == 2 && printed == "" && name != "nothing fails":
				case code != 0:
					t.Errorf("%s, %s: code %d\n%s", event, name, code, stderr.Bytes())
				}
				judge(c, printed)
			}
		}
	}
}

// withoutPoller reports whether Go's runtime ended a program, because its own timers wanted descriptors where none were left. That can happen to every
// program of Go, and depends on when the runtime collects garbage.
func withoutPoller(stderr *bytes.Buffer) bool {
	return bytes.Contains(stderr.Bytes(), []byte("runtime: netpollinit failed"))
}

// answered reports whether a hook must print something: nothing fails, and an event of today's version asks for a context or a decision.
func (c hookCase) answered() bool {
	return c.failure == "nothing fails" && bytes.Contains(c.input, []byte("transcript_path")) &&
		(c.event == capture.PreToolUse || c.event == capture.SessionStart || c.event == capture.UserPromptSubmit)
}

var hookSchemaTitle = regexp.MustCompile(`"title": "([a-z-]+)\.command\.(input|output)"`)

// codexSchemas returns the schemas of Codex CLI's hooks, by event and direction. Its repository publishes them as codex-rs/hooks/schema/generated, and its
// program has them within, so these are those of the version that is installed.
func codexSchemas(t *testing.T, program string) map[[2]string]*jsonschema.Schema {
	t.Helper()
	packages, err := filepath.EvalSymlinks(program)
	if err != nil {
		t.Fatal(err)
	}
	var found map[[2]string]*jsonschema.Schema
	binaries, _ := filepath.Glob(filepath.Join(filepath.Dir(packages), "../../codex-*/vendor/*/bin/codex")) // the pattern is well-formed
	for _, binary := range binaries {
		data, err := os.ReadFile(binary)
		if err != nil {
			t.Fatal(err)
		}
		found = map[[2]string]*jsonschema.Schema{}
		for _, at := range hookSchemaTitle.FindAllSubmatchIndex(data, -1) {
			begin := bytes.LastIndex(data[:at[0]], []byte("{\n  \"$schema\""))
			if begin < 0 {
				t.Fatalf("the schema of %s has no beginning", data[at[2]:at[3]])
			}
			s := new(jsonschema.Schema)
			if err := json.NewDecoder(bytes.NewReader(data[begin:])).Decode(s); err != nil {
				t.Fatalf("%s: %v", data[at[2]:at[3]], err)
			}
			event := ""
			for _, part := range strings.Split(string(data[at[2]:at[3]]), "-") {
				event += strings.ToUpper(part[:1]) + part[1:]
			}
			found[[2]string{event, string(data[at[4]:at[5]])}] = s
		}
	}
	if len(found) == 0 {
		t.Fatalf("no schema is found in %q", binaries)
	}
	return found
}

// sample returns a value that a schema allows: with every property, or with the required ones alone.
func sample(root, s *jsonschema.Schema, all bool) any {
	if name, ok := strings.CutPrefix(s.Ref, "#/definitions/"); ok {
		return sample(root, root.Definitions[name], all)
	}
	switch {
	case s.Const != nil:
		return *s.Const
	case len(s.Enum) > 0:
		return s.Enum[0]
	case len(s.AllOf) > 0:
		return sample(root, s.AllOf[0], all)
	}
	kind := s.Type
	if len(s.Types) > 0 {
		kind = s.Types[0]
	}
	switch kind {
	case "string":
		return "/src/gateway" // an absolute path too
	case "boolean":
		return true
	case "integer", "number":
		return 1
	case "object":
		o := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if all || slices.Contains(s.Required, name) {
				o[name] = sample(root, s.Properties[name], all)
			}
		}
		return o
	}
	return map[string]any{"command": "ls"}
}

// TestCodexSchemas holds what hooks print against the schemas of Codex CLI, for each event and each failure, with events that those schemas allow.
func TestCodexSchemas(t *testing.T) {
	t.Parallel()
	program := os.Getenv("GKTEST_CODEX")
	if program == "" {
		if os.Getenv("GKTEST_CLIENTS") == "required" {
			t.Fatal("GKTEST_CODEX does not name the agent's program")
		}
		t.Skip("Codex CLI is not installed: run make clients")
	}
	schemas := codexSchemas(t, program)
	resolved := func(event, direction string) *jsonschema.Resolved {
		s := schemas[[2]string{event, direction}]
		if s == nil {
			return nil
		}
		r, err := s.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	judged, outputs := 0, 0
	eachHook(t, capture.Codex, func(event string) (list []string) {
		s := schemas[[2]string{event, "input"}]
		if s == nil {
			t.Errorf("%s is not an event of this Codex", event)
			return nil
		}
		for _, all := range []bool{true, false} {
			v := sample(s, s, all).(map[string]any) // it is an object
			if _, ok := v["tool_name"]; ok {
				v["tool_name"] = "Bash"
			}
			if err := resolved(event, "input").Validate(v); err != nil {
				t.Fatalf("%s: the sample: %v", event, err)
			}
			text, _ := json.Marshal(v) // it came from JSON
			list = append(list, string(text))
		}
		// An older version: less is said.
		return append(list, fmt.Sprintf(`{"hook_event_name":%q,"session_id":"s","cwd":"/src/gateway","tool_name":"Bash","tool_input":{"command":"ls"}}`, event))
	}, func(c hookCase, printed string) {
		judged++
		if printed == "" {
			if c.answered() {
				t.Errorf("%s: nothing is printed for %s", c.event, c.input)
			}
			return
		}
		outputs++
		var v any
		if err := json.Unmarshal([]byte(printed), &v); err != nil {
			t.Errorf("%s, %s: %v in %s", c.event, c.failure, err, printed)
			return
		}
		if r := resolved(c.event, "output"); r == nil {
			t.Errorf("%s has no output, and the hook printed %s", c.event, printed)
		} else if err := r.Validate(v); err != nil {
			t.Errorf("%s, %s: %v in %s", c.event, c.failure, err, printed)
		}
	})
	if outputs < 9 {
		t.Errorf("%d outputs of %d calls were held against a schema", outputs, judged)
	}
}

// claudeEvents are events of Claude Code with every required member of their types.
var claudeEvents = map[string]string{
	"SessionStart":       `"source":"startup"`,
	"UserPromptSubmit":   `"prompt":"Which port has the gateway?"`,
	"PreToolUse":         `"tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t1"`,
	"PostToolUse":        `"tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{"stdout":"a"},"tool_use_id":"t1"`,
	"PostToolUseFailure": `"tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t1","error":"exit status 1"`,
	"Stop":               `"stop_hook_active":false,"last_assistant_message":"Done."`,
	"SubagentStop":       `"stop_hook_active":false,"agent_id":"a1","agent_transcript_path":"/t/a1.jsonl","agent_type":"Explore"`,
	"PreCompact":         `"trigger":"auto","custom_instructions":null`,
	"SessionEnd":         `"reason":"other"`,
}

// TestClaudeTypes holds what hooks print against the types of Claude's Agent SDK, for each event and each failure: the compiler of TypeScript reads the
// events and the answers as literals of those types.
func TestClaudeTypes(t *testing.T) {
	t.Parallel()
	sdk, tsc, node := os.Getenv("GKTEST_CLAUDE_SDK"), os.Getenv("GKTEST_TSC"), os.Getenv("GKTEST_NODE")
	if sdk == "" || tsc == "" || node == "" {
		if os.Getenv("GKTEST_CLIENTS") == "required" {
			t.Fatal("GKTEST_CLAUDE_SDK, GKTEST_TSC and GKTEST_NODE do not name the SDK's folder of packages, the compiler and Node.js")
		}
		t.Skip("the SDK is not installed: run make clients")
	}
	var source strings.Builder
	source.WriteString("import type * as sdk from \"@anthropic-ai/claude-agent-sdk\";\n")
	n, outputs := 0, map[string]bool{}
	eachHook(t, capture.ClaudeCode, func(event string) []string {
		if claudeEvents[event] == "" {
			return nil
		}
		input := `{"hook_event_name":"` + event + `","session_id":"s","transcript_path":"/t/s.jsonl","cwd":"/src/gateway",` + claudeEvents[event] + `}`
		fmt.Fprintf(&source, "export const input%s: sdk.%sHookInput = %s;\n", event, event, input)
		// An older version says less.
		return []string{input, `{"hook_event_name":"` + event + `","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}`}
	}, func(c hookCase, printed string) {
		if printed == "" {
			if c.answered() {
				t.Errorf("%s: nothing is printed for %s", c.event, c.input)
			}
			return
		}
		n++
		outputs[c.event] = true
		fmt.Fprintf(&source, "export const output%d: Omit<sdk.SyncHookJSONOutput, \"hookSpecificOutput\"> & { hookSpecificOutput?: sdk.%sHookSpecificOutput } = %s; // %s, %s\n", n, c.event, strings.TrimSpace(printed), c.event, c.failure)
	})
	if len(outputs) != 3 {
		t.Errorf("there are answers to %d events: %v", len(outputs), outputs)
	}
	folder := t.TempDir()
	if err := os.Symlink(filepath.Join(sdk, "node_modules"), filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	check := func(name, text string) (string, error) {
		file := filepath.Join(folder, name)
		write(t, file, text)
		out, err := exec.Command(node, tsc, "--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "nodenext", file).CombinedOutput()
		return string(out), err
	}
	if out, err := check("hooks.mts", source.String()); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, source.String())
	}
	// The compiler does see a member that the type has not.
	if out, err := check("wrong.mts", strings.Replace(source.String(), `"permissionDecision":"deny"`, `"permissionDecision":"refuse"`, 1)); err == nil || !strings.Contains(out, "refuse") {
		t.Errorf("a decision that there is not is let through: %v %s", err, out)
	}
}
