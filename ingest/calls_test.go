package ingest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// claudeLine is a record of Claude Code that hangs on another one.
func claudeLine(n, parent int, kind, message string) string {
	uuid := func(n int) string {
		if n == 0 {
			return "null"
		}
		return fmt.Sprintf(`"5e560000-0000-4000-8000-%012d"`, n)
	}
	return fmt.Sprintf(`{"uuid":%s,"parentUuid":%s,"isSidechain":false,"sessionId":"5e56","type":%q,"timestamp":"2026-03-01T10:00:%02dZ","message":%s}`, uuid(n), uuid(parent), kind, n, message)
}

// TestCallsUsedAgain has providers that number the calls of each message anew: two calls of two tools have one id. Each result is by the tool of the call before it, and hangs on it.
func TestCallsUsedAgain(t *testing.T) {
	call := func(name string) string {
		return fmt.Sprintf(`{"id":"m-%s","content":[{"type":"tool_use","id":"call_0","name":%q,"input":{}}]}`, name, name)
	}
	result := func(text string) string {
		return fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_0","content":%q}]}`, text)
	}
	codex := func(payload string) string {
		return `{"timestamp":"2026-03-01T10:00:00Z","type":"response_item","payload":` + payload + `}`
	}
	gemini := func(id, calls string) string {
		return `{"id":"` + id + `","timestamp":"2026-03-01T10:00:00Z","type":"gemini","content":"","toolCalls":[` + calls + `]}`
	}
	geminiCalled := func(name string) string {
		return fmt.Sprintf(`"name":%q,"args":{},"status":"success","result":[{"functionResponse":{"response":{"output":"result of %s"}}}]}`, name, name)
	}
	prompt := claudeLine(1, 0, "user", `{"role":"user","content":"go"}`)
	for name, c := range map[string]struct {
		file  string
		lines []string
	}{
		"claude code": {"s.jsonl", []string{
			prompt, claudeLine(2, 1, "assistant", call("alpha")), claudeLine(3, 2, "user", result("result of alpha")), claudeLine(4, 3, "assistant", call("beta")), claudeLine(5, 4, "user", result("result of beta")),
		}},
		"claude code, branches": {"s.jsonl", []string{ // the results come behind both calls
			prompt, claudeLine(2, 1, "assistant", call("alpha")), claudeLine(3, 1, "assistant", call("beta")), claudeLine(4, 2, "user", result("result of alpha")), claudeLine(5, 3, "user", result("result of beta")),
		}},
		"codex": {"rollout-2026-03-01T10-00-00-5e560000-0000-4000-8000-000000000001.jsonl", []string{
			`{"timestamp":"2026-03-01T10:00:00Z","type":"session_meta","payload":{"id":"5e560000-0000-4000-8000-000000000001","timestamp":"2026-03-01T10:00:00Z","cwd":"/srv","originator":"codex_cli_rs","cli_version":"0.1"}}`,
			codex(`{"type":"function_call","name":"alpha","arguments":"{}","call_id":"call_0"}`), codex(`{"type":"function_call_output","call_id":"call_0","output":"result of alpha"}`),
			codex(`{"type":"function_call","name":"beta","arguments":"{}","call_id":"call_0"}`), codex(`{"type":"function_call_output","call_id":"call_0","output":"result of beta"}`),
		}},
		"openai": {"chat.json", []string{
			`[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_0","type":"function","function":{"name":"alpha","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_0","content":"result of alpha"},`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"call_0","type":"function","function":{"name":"beta","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_0","content":"result of beta"}]`,
		}},
		"openai, anthropic's form": {"chat.json", []string{
			`[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"call_0","name":"alpha","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_0","content":"result of alpha"}]},`,
			`{"role":"assistant","content":[{"type":"tool_use","id":"call_0","name":"beta","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_0","content":"result of beta"}]}]`,
		}},
		"openai, one message": {"chat.json", []string{
			`[{"role":"assistant","content":null,"tool_calls":[{"id":"call_0","type":"function","function":{"name":"alpha","arguments":"{}"}},{"id":"call_0","type":"function","function":{"name":"beta","arguments":"{}"}}]},`,
			`{"role":"tool","tool_call_id":"call_0","content":"result of alpha"},{"role":"tool","tool_call_id":"call_0","content":"result of beta"}]`,
		}},
		"spans, one message": {"spans.json", []string{otlpSpan([]string{
			"gen_ai.input.messages", `[{"role":"assistant","parts":[{"type":"tool_call","id":"call_0","name":"alpha"},{"type":"tool_call","id":"call_0","name":"beta"}]},` +
				`{"role":"tool","parts":[{"type":"tool_call_response","id":"call_0","response":"result of alpha"}]},{"role":"tool","parts":[{"type":"tool_call_response","id":"call_0","response":"result of beta"}]}]`,
		})}},
		"gemini": {"session-1.jsonl", []string{
			`{"sessionId":"5e560000-0000-4000-8000-000000000001","projectHash":"p","kind":"main"}`, gemini("m1", `{"id":"call_0",`+geminiCalled("alpha")), gemini("m2", `{"id":"call_0",`+geminiCalled("beta")),
		}},
		"gemini, one message": {"session-1.jsonl", []string{
			`{"sessionId":"5e560000-0000-4000-8000-000000000001","projectHash":"p","kind":"main"}`, gemini("m1", `{"id":"call_0",`+geminiCalled("alpha")), gemini("m1", `{"id":"call_0",`+geminiCalled("alpha")+`,{"id":"call_0",`+geminiCalled("beta")),
		}},
		"spans": {"spans.json", []string{otlpSpan([]string{
			"gen_ai.input.messages", `[{"role":"assistant","parts":[{"type":"tool_call","id":"call_0","name":"alpha"}]},{"role":"tool","parts":[{"type":"tool_call_response","id":"call_0","response":"result of alpha"}]},` +
				`{"role":"assistant","parts":[{"type":"tool_call","id":"call_0","name":"beta"}]},{"role":"tool","parts":[{"type":"tool_call_response","id":"call_0","response":"result of beta"}]}]`,
		})}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.file)
			if err := os.WriteFile(path, []byte(strings.Join(c.lines, "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			drafts, _ := collect(t, path, Options{})
			at := map[dag.TurnID]*dag.Draft{}
			for i := range drafts {
				at[drafts[i].ID] = &drafts[i]
			}
			found := 0
			for _, d := range drafts {
				_, tool, ok := strings.Cut(d.Content, "result of ")
				if !ok {
					continue
				}
				found++
				if d.Author != "tool:"+tool || d.Attrs["tool"] != tool {
					t.Errorf("%q is by %s, of the tool %q", d.Content, d.Author, d.Attrs["tool"])
				}
				call := d.Parents[len(d.Parents)-1] // behind the message before, if that is another
				if len(d.Parents) != 1 && !strings.HasSuffix(name, "one message") || !strings.Contains(at[call.ID].Content, tool) {
					t.Errorf("%q hangs on %+v", d.Content, d.Parents)
				}
			}
			if found != 2 {
				t.Errorf("%d results", found)
			}
		})
	}
}

// claudeAgentFile is the file of a sub-agent of Claude Code: what it was asked, and its answer.
func claudeAgentFile(id string, n int) string {
	in := func(line string) string {
		return strings.Replace(line, `"isSidechain":false`, fmt.Sprintf(`"isSidechain":true,"agentId":%q`, id), 1)
	}
	return in(claudeLine(n, 0, "user", fmt.Sprintf(`{"role":"user","content":"asked of %s"}`, id))) + "\n" +
		in(claudeLine(n+1, n, "assistant", fmt.Sprintf(`{"id":"n-%s","content":[{"type":"text","text":"answer of %s"}]}`, id, id))) + "\n"
}

// TestCallsUsedAgainByAgents has two calls with one id that start sub-agents, which name it. Each sub-agent hangs on the call before it, and its work comes back with that call's result alone.
func TestCallsUsedAgainByAgents(t *testing.T) {
	call := func(prompt string) string {
		return fmt.Sprintf(`{"id":"m-%s","content":[{"type":"tool_use","id":"call_0","name":"Task","input":{"prompt":"work of %s"}}]}`, prompt, prompt)
	}
	result := func(text string) string {
		return fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_0","content":%q}]}`, text)
	}
	folder := "5e560000-0000-4000-8000-00000000000a/subagents/"
	drafts, _ := collect(t, layOut(t, map[string]string{
		"5e560000-0000-4000-8000-00000000000a.jsonl": strings.Join([]string{
			claudeLine(1, 0, "user", `{"role":"user","content":"go"}`), claudeLine(2, 1, "assistant", call("alpha")), claudeLine(5, 2, "user", result("result of alpha")),
			claudeLine(6, 5, "assistant", call("beta")), claudeLine(9, 6, "user", result("result of beta")),
		}, "\n") + "\n",
		folder + "agent-alpha.jsonl": claudeAgentFile("alpha", 3), folder + "agent-alpha.meta.json": `{"toolUseId":"call_0"}`,
		folder + "agent-beta.jsonl": claudeAgentFile("beta", 7), folder + "agent-beta.meta.json": `{"toolUseId":"call_0"}`,
	}), Options{})
	at := byID(drafts)
	for _, tool := range []string{"alpha", "beta"} {
		asked, back := turnWith(t, drafts, "asked of "+tool), turnWith(t, drafts, "[tool_result]\nresult of "+tool)
		if len(asked.Parents) != 1 || asked.Parents[0].Kind != dag.Spawn || !strings.Contains(at[asked.Parents[0].ID].Content, "work of "+tool) {
			t.Errorf("the sub-agent %s hangs on %+v", tool, asked.Parents)
		}
		var merged []string
		for _, p := range back.Parents {
			if p.Kind == dag.Merge {
				merged = append(merged, at[p.ID].Content)
			}
		}
		if len(merged) != 1 || merged[0] != "answer of "+tool {
			t.Errorf("the result of %s brings back %q", tool, merged)
		}
	}
}

// TestParallelAgents has a message that starts two sub-agents. What the second one says does not follow from the result of the first, which came later.
func TestParallelAgents(t *testing.T) {
	result := func(id string) string {
		return fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"done"}]}`, id)
	}
	folder := "5e560000-0000-4000-8000-00000000000a/subagents/"
	drafts, _ := collect(t, layOut(t, map[string]string{
		"5e560000-0000-4000-8000-00000000000a.jsonl": strings.Join([]string{
			claudeLine(1, 0, "user", `{"role":"user","content":"go"}`),
			claudeLine(2, 1, "assistant", `{"id":"m","content":[{"type":"tool_use","id":"t1","name":"Task","input":{}},{"type":"tool_use","id":"t2","name":"Task","input":{}}]}`),
			claudeLine(7, 2, "user", result("t1")), claudeLine(8, 2, "user", result("t2")),
		}, "\n") + "\n",
		folder + "agent-one.jsonl": claudeAgentFile("one", 3), folder + "agent-one.meta.json": `{"toolUseId":"t1"}`,
		folder + "agent-two.jsonl": claudeAgentFile("two", 5), folder + "agent-two.meta.json": `{"toolUseId":"t2"}`,
	}), Options{})
	for _, id := range []string{"one", "two"} {
		if d := turnWith(t, drafts, "answer of "+id); d == nil || len(d.Parents) != 1 || d.Parents[0].ID != turnWith(t, drafts, "asked of "+id).ID {
			t.Errorf("the sub-agent %s: turns %s", id, dump(drafts))
		}
	}
}
