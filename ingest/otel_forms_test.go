package ingest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// otlpSpan writes a span with attributes, given as keys and values in turn, and events, each a name and keys and values.
func otlpSpan(attrs []string, events ...[]string) string {
	list := func(pairs []string) string {
		var out []string
		for i := 0; i+1 < len(pairs); i += 2 {
			out = append(out, fmt.Sprintf(`{"key":%s,"value":{"stringValue":%s}}`, quoted(pairs[i]), quoted(pairs[i+1])))
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	var evs []string
	for _, e := range events {
		evs = append(evs, fmt.Sprintf(`{"name":%s,"timeUnixNano":"1772359200000000000","attributes":%s}`, quoted(e[0]), list(e[1:])))
	}
	return `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0af7","spanId":"01","startTimeUnixNano":"1772359200000000000","endTimeUnixNano":"1772359201000000000","attributes":` +
		list(attrs) + `,"events":[` + strings.Join(evs, ",") + `]}]}]}]}` + "\n"
}

// TestOTelForms has one conversation in every form that instrumentations record: the turns, who says them, and how they are joined, are the same.
func TestOTelForms(t *testing.T) {
	const asked, called, answered, done = "What is the weather?", `{"city":"Oslo"}`, "rain", "It rains."
	forms := map[string]string{
		"conventions": otlpSpan([]string{
			"gen_ai.input.messages", `[{"role":"system","parts":[{"type":"text","content":"Be brief."}]},{"role":"user","parts":[{"type":"text","content":"` + asked + `"}]},{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"weather","arguments":{"city":"Oslo"}}]},{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":"rain"}]}]`,
			"gen_ai.output.messages", `[{"role":"assistant","parts":[{"type":"text","content":"` + done + `"}]}]`}),
		"text for content": otlpSpan([]string{
			"gen_ai.input.messages", `[{"role":"system","parts":[{"type":"text","text":"Be brief."}]},{"role":"user","parts":[{"type":"text","text":"` + asked + `"}]},{"role":"assistant","parts":[{"type":"tool_use","id":"c1","name":"weather","input":{"city":"Oslo"}}]},{"role":"user","parts":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"rain"}]}]}]`,
			"gen_ai.output.messages", `[{"role":"assistant","parts":[{"type":"text","text":"` + done + `"}]}]`}),
		"content for parts": otlpSpan([]string{
			"gen_ai.input.messages", `[{"role":"system","content":"Be brief."},{"role":"user","content":"` + asked + `"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]},{"role":"tool","tool_call_id":"c1","content":"rain"}]`,
			"gen_ai.output.messages", `[{"role":"assistant","content":"` + done + `"}]`}),
		"gen_ai.prompt": otlpSpan(nil,
			[]string{"gen_ai.content.prompt", "gen_ai.prompt", `[{"role":"system","content":"Be brief."},{"role":"user","content":"` + asked + `"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]},{"role":"tool","tool_call_id":"c1","content":"rain"}]`},
			[]string{"gen_ai.content.completion", "gen_ai.completion", `[{"role":"assistant","content":"` + done + `"}]`}),
		"events": otlpSpan([]string{"gen_ai.system", "openai"},
			[]string{"gen_ai.system.message", "content", "Be brief."},
			[]string{"gen_ai.user.message", "content", asked, "role", "user"},
			[]string{"gen_ai.assistant.message", "tool_calls", `[{"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]`},
			[]string{"gen_ai.tool.message", "id", "c1", "content", answered},
			[]string{"gen_ai.choice", "index", "0", "finish_reason", "stop", "message", `{"content":"` + done + `"}`}),
		"OpenLLMetry": otlpSpan([]string{
			"gen_ai.prompt.0.role", "system", "gen_ai.prompt.0.content", "Be brief.", "gen_ai.prompt.1.role", "user", "gen_ai.prompt.1.content", asked,
			"gen_ai.prompt.2.role", "assistant", "gen_ai.prompt.2.tool_calls.0.id", "c1", "gen_ai.prompt.2.tool_calls.0.name", "weather", "gen_ai.prompt.2.tool_calls.0.arguments", called,
			"gen_ai.prompt.3.role", "tool", "gen_ai.prompt.3.tool_call_id", "c1", "gen_ai.prompt.3.content", answered,
			"gen_ai.completion.0.role", "assistant", "gen_ai.completion.0.content", done, "gen_ai.completion.0.finish_reason", "stop"}),
		"OpenLLMetry, blocks": otlpSpan([]string{
			"gen_ai.prompt.0.role", "system", "gen_ai.prompt.0.content", "Be brief.", "gen_ai.prompt.1.role", "user", "gen_ai.prompt.1.content", `[{"type":"text","text":"` + asked + `"}]`,
			"gen_ai.prompt.2.role", "assistant", "gen_ai.prompt.2.tool_calls.0.id", "c1", "gen_ai.prompt.2.tool_calls.0.name", "weather", "gen_ai.prompt.2.tool_calls.0.arguments", called,
			"gen_ai.prompt.3.role", "user", "gen_ai.prompt.3.content", `[{"type":"tool_result","tool_use_id":"c1","content":"rain"}]`,
			"gen_ai.completion.0.role", "assistant", "gen_ai.completion.0.content", done}),
		"OpenInference": otlpSpan([]string{
			"openinference.span.kind", "LLM", "llm.model_name", "m", "llm.input_messages.0.message.role", "system", "llm.input_messages.0.message.content", "Be brief.",
			"llm.input_messages.1.message.role", "user", "llm.input_messages.1.message.contents.0.message_content.type", "text", "llm.input_messages.1.message.contents.0.message_content.text", asked,
			"llm.input_messages.2.message.role", "assistant", "llm.input_messages.2.message.tool_calls.0.tool_call.id", "c1",
			"llm.input_messages.2.message.tool_calls.0.tool_call.function.name", "weather", "llm.input_messages.2.message.tool_calls.0.tool_call.function.arguments", called,
			"llm.input_messages.3.message.role", "tool", "llm.input_messages.3.message.tool_call_id", "c1", "llm.input_messages.3.message.content", answered,
			"llm.output_messages.0.message.role", "assistant", "llm.output_messages.0.message.content", done}),
	}
	want := []string{"system system:otel Be brief.", "user human:user " + asked, "assistant agent:assistant [tool_use weather]\n" + called, "tool tool:weather [tool_result]\nrain", "assistant agent:assistant " + done}
	for name, text := range forms {
		drafts, report := collect(t, write(t, "t.jsonl", text), Options{})
		var got []string
		for i := range drafts {
			d := &drafts[i]
			got = append(got, fmt.Sprintf("%s %s %s", d.Role, d.Author, d.Content))
			if i > 0 && !slices.Contains(d.Parents, dag.Parent{ID: drafts[i-1].ID, Kind: dag.Reply}) {
				t.Errorf("%s: %q does not hang on what precedes it", name, d.Content)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, skipped %v", name, got, report.Skipped)
		}
	}
	for name, attrs := range map[string][]string{
		"agent_span": {"openinference.span.kind", "CHAIN", "llm.input_messages.0.message.role", "user", "llm.input_messages.0.message.content", "x"},
		"no_content": {"gen_ai.system", "x"}, "other_span": {"http.method", "GET"},
	} {
		drafts, report, err := tryCollect(t, write(t, "t.jsonl", otlpSpan(attrs)), Options{Format: OTel})
		if err != nil || len(drafts) > 0 || report.Skipped[name] != 1 {
			t.Errorf("%s: %d turns, %v, %v", name, len(drafts), report.Skipped, err)
		}
	}
}

// TestOTelCut cuts an attribute at every byte, as exporters do at their limit: what is before the cut is the same turns, the last of them is marked if it
// was cut, and the answer hangs on it. No cut gives a person words that are not.
func TestOTelCut(t *testing.T) {
	messages := `[{"role":"user","parts":[{"type":"text","content":"Rename the \"cart\" \ud83d\ude00 module"}]},{"role":"assistant","parts":[{"type":"tool_call","id":"c","name":"put","arguments":{"n":12,"ok":true,"record":{"role":"user","content":"` +
		hostileWords + `"}}}]},{"role":"user","parts":[{"type":"tool_call_response","id":"c","response":"[{\"role\":\"user\",\"content\":\"` + hostileWords + `\"}]"}]}]`
	if !json.Valid([]byte(messages)) {
		t.Fatal("no JSON")
	}
	read, marked := 0, 0
	for n := 1; n <= len(messages); n++ {
		drafts, report := collect(t, write(t, "t.jsonl", otlpSpan([]string{"gen_ai.input.messages", messages[:n], "gen_ai.output.messages", `[{"role":"assistant","content":"Renamed"}]`})), Options{Format: OTel})
		for i := range drafts {
			d := &drafts[i]
			if VoiceOf(d) == dag.VoicePerson && !strings.HasPrefix("Rename the \"cart\" 😀 module", strings.TrimRight(d.Content, "\ufffd")) {
				t.Errorf("cut at %d: a person says %q", n, d.Content)
			}
			if d.Attrs[attrCut] == "true" {
				marked++
				if n == len(messages) || i != len(drafts)-2 || report.Noted[noteAttributeCut] != 1 {
					t.Errorf("cut at %d: turn %d of %d is marked as cut, %v", n, i, len(drafts), report.Noted)
				}
			}
		}
		if last := drafts[len(drafts)-1]; len(drafts) > 1 {
			read++
			if last.Content != "Renamed" || !slices.Contains(last.Parents, dag.Parent{ID: drafts[len(drafts)-2].ID, Kind: dag.Reply}) {
				t.Errorf("cut at %d: the answer is %q, of %d turns", n, last.Content, len(drafts))
			}
		}
	}
	if read < len(messages)-60 || marked < len(messages)/3 {
		t.Errorf("of %d cuts, %d could be read, %d were marked", len(messages), read, marked)
	}
	result := `[{"type":"text","text":"Here: é"},{"type":"tool_result","tool_use_id":"c","content":"` + hostileWords + `"}]`
	for name, attrs := range map[string]func(string) string{
		"OpenLLMetry": func(text string) string {
			return otlpSpan([]string{"gen_ai.prompt.0.role", "user", "gen_ai.prompt.0.content", text})
		},
		"OpenInference": func(text string) string {
			return otlpSpan([]string{"openinference.span.kind", "LLM", "llm.input_messages.0.message.role", "user", "llm.input_messages.0.message.content", text})
		},
		"events": func(text string) string {
			return otlpSpan([]string{"gen_ai.system", "x"}, []string{"gen_ai.user.message", "content", text})
		},
	} {
		for n := strings.Index(result, "Here"); n < len(result); n++ {
			drafts, report, err := tryCollect(t, write(t, "t.jsonl", attrs(result[:n])), Options{Format: OTel})
			if err != nil || report.Noted[noteAttributeCut] != 1 && n > strings.Index(result, "Here") {
				t.Errorf("%s, cut at %d: %v, %v", name, n, report.Noted, err)
			}
			for i := range drafts {
				if d := &drafts[i]; VoiceOf(d) == dag.VoicePerson && !strings.HasPrefix("Here: é", strings.TrimRight(d.Content, "\ufffd")) {
					t.Errorf("%s, cut at %d: a person says %q", name, n, d.Content)
				}
			}
		}
	}
	for _, event := range []string{`{"content":"Rename the`, `{"content":"Rename the"`, `{"content":[{"type":"text","text":"Rename the`} {
		log := `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1","eventName":"gen_ai.user.message","traceId":"aa","spanId":"bb","body":{"stringValue":` + quoted(event) + `}}]}]}]}`
		drafts, _ := collect(t, write(t, "t.jsonl", log), Options{Format: OTel})
		if len(drafts) != 1 || drafts[0].Content != "Rename the" || drafts[0].Attrs[attrCut] != "true" {
			t.Errorf("a body of %s: turns %s", event, dump(drafts))
		}
	}
	said := `[{"role":"user","parts":[{"type":"text","content":"Rename`
	for after, want := range map[string]string{"": "Rename", " ": "Rename ", ` the ca`: "Rename the ca", `é`: "Renameé", `…`: "Rename…", `😀`: "Rename😀", `\n`: "Rename\n", `\`: "Rename", `\u00e`: "Rename", `\u00e9`: "Renameé", `"`: "Rename", `\"`: `Rename"`} {
		drafts, _ := collect(t, write(t, "t.jsonl", otlpSpan([]string{"gen_ai.input.messages", said + after})), Options{Format: OTel})
		if len(drafts) != 1 || drafts[0].Content != want || drafts[0].Attrs[attrCut] != "true" {
			t.Errorf("cut behind %q: turns %s, want %q", after, dump(drafts), want)
		}
	}
}
