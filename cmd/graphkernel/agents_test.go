package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/internal/modeltest"
)

// A codingAgent is a real agent, with a model that stands in.
type codingAgent struct {
	name    capture.Agent
	program string         // names the variable that has its path
	calls   map[string]any // the tools with which it runs a command
	env     func(url string) []string
	config  func(t *testing.T, home, url string)
	args    func(prompt string) []string
	plugin  bool // setup finds the agent's program, and makes a plugin
}

// marker is a file that the agent's command would make.
const marker = "made-by-the-agent"

// claudeCode is Claude Code with hooks in its settings.
var claudeCode = codingAgent{
	name: capture.ClaudeCode, program: "GKTEST_CLAUDE",
	calls: map[string]any{"Bash": map[string]any{"command": "touch " + marker, "description": "make a file"}},
	env: func(url string) []string {
		return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"}
	},
	args: func(prompt string) []string { return []string{"-p", prompt, "--allowedTools", "Bash"} },
}

func withPlugin(agent codingAgent) codingAgent {
	agent.plugin = true
	return agent
}

var codingAgents = []codingAgent{
	claudeCode,
	withPlugin(claudeCode),
	{
		name: capture.Codex, program: "GKTEST_CODEX",
		calls: map[string]any{"exec_command": map[string]any{"cmd": "touch " + marker}, "shell_command": map[string]any{"command": "touch " + marker}},
		env:   func(string) []string { return []string{"STAND_IN_KEY=none"} },
		config: func(t *testing.T, home, url string) {
			write(t, filepath.Join(home, ".codex", "config.toml"), "model = \"stand-in\"\nmodel_provider = \"here\"\n[model_providers.here]\nname = \"here\"\nbase_url = \""+url+"/v1\"\nwire_api = \"responses\"\nenv_key = \"STAND_IN_KEY\"\n")
		},
		// Hooks are trusted for this run, as a person does it with /hooks. Nothing confines commands, so that only the guard stops them.
		args: func(prompt string) []string {
			return []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox", prompt}
		},
	},
	{
		name: capture.Gemini, program: "GKTEST_GEMINI",
		calls: map[string]any{"run_shell_command": map[string]any{"command": "touch " + marker}},
		env:   func(url string) []string { return []string{"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + url} },
		config: func(t *testing.T, home, _ string) {
			write(t, filepath.Join(home, ".gemini", "settings.json"), `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`)
		},
		args: func(prompt string) []string {
			return []string{"-m", "gemini-2.5-pro", "--yolo", "--skip-trust", "-p", prompt}
		},
	},
}

func write(t *testing.T, path, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestCodingAgents has real agents call the hooks that setup adds: the guard keeps a command from running, the session is captured with the turns that an import of the
// transcript has, and the next session in the same folder is told what was said in the first.
func TestCodingAgents(t *testing.T) {
	t.Parallel()
	for _, agent := range codingAgents {
		name := string(agent.name)
		if agent.plugin {
			name += " with the plugin"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := os.Getenv(agent.program)
			if program == "" {
				if os.Getenv("GKTEST_CLIENTS") == "required" {
					t.Fatalf("%s does not name the agent's program", agent.program)
				}
				t.Skip("the agent is not installed: run make clients")
			}
			home := t.TempDir()
			work := filepath.Join(home, "project")
			if err := os.Mkdir(work, 0o700); err != nil {
				t.Fatal(err)
			}
			const answer = "The gateway listens on port 8443."
			model := &modeltest.Model{Says: answer, Calls: agent.calls}
			web := httptest.NewServer(model)
			defer web.Close()
			if agent.config != nil {
				agent.config(t, home, web.URL)
			}
			write(t, filepath.Join(home, "rules.json"), `{"policy_id":"deny@1","policy":{"type":"deny_rules_v1","rules":[{"tool":".*","argument":"`+marker+`","reason":"nobody asked for that file"}]}}`)
			graphkernel(t, home, "keys", "init")
			graphkernel(t, home, "policy", "add", filepath.Join(home, "rules.json"))
			env := gkEnv(home)
			if agent.plugin {
				env = append(env, "PATH="+filepath.Dir(program)+string(filepath.ListSeparator)+os.Getenv("PATH"))
			}
			graphkernelWith(t, env, "setup", string(agent.name), "--guard", "deny@1", "--yes")
			if _, err := os.Stat(agent.name.SettingsFile(func(name string) string { return map[string]string{"HOME": home}[name] })); agent.plugin && err == nil {
				t.Error("setup wrote settings, and a plugin was to have the hooks")
			}

			say := func(prompt string) string {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				c := exec.CommandContext(ctx, program, agent.args(prompt)...)
				c.Dir, c.WaitDelay = work, time.Second
				c.Env = append(append(gkEnv(home), "XDG_DATA_HOME="+home, "TERM=dumb", "NO_PROXY=127.0.0.1"), agent.env(web.URL)...)
				out, err := c.CombinedOutput()
				if err != nil || !strings.Contains(string(out), answer) {
					t.Fatalf("%v\n%s", err, out)
				}
				return string(out)
			}
			out := say("Which port has the gateway?")
			if _, err := os.Stat(filepath.Join(work, marker)); err == nil {
				t.Errorf("the command ran, which a rule denies:\n%s", out)
			}
			if asked := model.Asked(); !strings.Contains(asked[len(asked)-1], "nobody asked for that file") {
				t.Error("the agent was not told why")
			}
			var waiting struct {
				Sessions []struct{ Transcript string }
			}
			if err := json.Unmarshal(graphkernel(t, home, "--output", "json", "capture"), &waiting); err != nil || len(waiting.Sessions) != 1 {
				t.Fatalf("%d sessions wait, %v", len(waiting.Sessions), err)
			}
			first := waiting.Sessions[0].Transcript

			if said := strings.Join(model.Asked(), "\n"); agent.plugin && !(strings.Contains(said, "mcp__plugin_graphkernel_graphkernel__recall_memories") && strings.Contains(said, "graphkernel:memory")) {
				t.Error("the model was not told of the plugin's tools and its skill")
			}

			model.Calls = nil
			say("Is that port open?")
			asked := model.Asked()
			if last := asked[len(asked)-1]; !strings.Contains(last, "graphkernel-context") || !strings.Contains(last, "8443") {
				t.Error("the second session was not told what was said in the first")
			}
			var found struct {
				Conversations []struct{ ID string }
			}
			if err := json.Unmarshal(graphkernel(t, home, "--output", "json", "show"), &found); err != nil || len(found.Conversations) != 2 {
				t.Fatalf("%d conversations are captured, %v", len(found.Conversations), err)
			}
			other := "sqlite:" + filepath.Join(home, "other.db")
			graphkernel(t, home, "--store", other, "import", first)
			imported := turnsOf(t, graphkernel(t, home, "--store", other, "export"))
			captured := turnsOf(t, graphkernel(t, home, "export"))
			if slices.ContainsFunc(captured, func(line string) bool { return strings.Contains(line, "graphkernel-context") }) {
				t.Errorf("a context that the agent was told is a turn:\n%s", strings.Join(captured, "\n"))
			}
			captured = slices.DeleteFunc(captured, func(line string) bool { return !slices.Contains(imported, line) })
			if len(imported) < 3 || !slices.Equal(captured, imported) {
				t.Errorf("captured are %d of the %d turns that the transcript has", len(captured), len(imported))
			}
		})
	}
}

// turnsOf returns the lines of an export, sorted, without the salts, which are drawn at each admission.
func turnsOf(t *testing.T, export []byte) (list []string) {
	t.Helper()
	for line := range bytes.Lines(export) {
		var turn map[string]json.RawMessage
		if err := json.Unmarshal(line, &turn); err != nil {
			t.Fatal(err)
		}
		delete(turn, "salt")
		text, err := json.Marshal(turn)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(text))
	}
	slices.Sort(list)
	return list
}
