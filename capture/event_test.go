package capture_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/graphkernel/graphkernel/capture"
)

// forms are JSON values in which a member of an event may come some day.
var forms = []string{`null`, `true`, `7`, `-1.5e3`, `"x"`, `""`, `"C:\\Users\\me\\s.jsonl"`, `"~/s.jsonl"`, `[]`, `[{"type":"text","text":"x"}]`, `["a",[1]]`, `{}`, `{"a":{"tool_name":"Other"}}`, `{"session_id":1}`, "\"\xff\xfe\"", `"\ud800"`}

// members are names of members that events of agents have in addition to the three that a guard needs.
var members = []string{
	"session_id", "transcript_path", "cwd", "source", "prompt", "last_assistant_message", "prompt_response", "tool_use_id", "tool_response", "permission_mode",
	"model", "turn_id", "agent_id", "timestamp", "reason", "trigger", "mcp_context", "", "hook_event_names", "tool-name", "toolName", "input", "\u00e9",
}

// marked returns a text without a byte order mark, and behind each that programs of Windows write.
func marked(text string) []string {
	units := utf16.Encode([]rune("\ufeff" + text))
	var little, big []byte
	for _, u := range units {
		little, big = binary.LittleEndian.AppendUint16(little, u), binary.BigEndian.AppendUint16(big, u)
	}
	return []string{text, "\ufeff" + text, string(little), string(big)}
}

// TestForms reads an event of every agent and name that says which transcript has more, whatever form each other member has.
func TestForms(t *testing.T) {
	n := 0
	for _, agent := range capture.Agents {
		for _, name := range append(agent.Events(), capture.PreToolUse, "Future") {
			for _, member := range members {
				for _, form := range forms {
					if member == "transcript_path" {
						continue
					}
					n++
					for _, in := range marked(fmt.Sprintf(`{%q:%s,"hook_event_name":%q,"transcript_path":"/t/s.jsonl"}`, member, form, name)) {
						if e, err := capture.ReadEvent(agent, strings.NewReader(in)); err != nil || e.Transcript != "/t/s.jsonl" {
							t.Fatalf("%s: %+v, %v", in, e, err)
						}
					}
				}
			}
		}
	}
	if n == 0 {
		t.Fatal("no event was tried")
	}
	for _, form := range forms { // of the name itself
		in := fmt.Sprintf(`{"hook_event_name":%s,"transcript_path":"/t/s.jsonl"}`, form)
		if e, err := capture.ReadEvent(capture.ClaudeCode, strings.NewReader(in)); err != nil || e.Transcript != "/t/s.jsonl" {
			t.Errorf("%s: %+v, %v", in, e, err)
		}
	}
}

// TestTexts reads the words of a member, in each form that has some.
func TestTexts(t *testing.T) {
	for form, want := range map[string]string{
		`"a"`: "a", `7`: "7", `["a","b"]`: "a\n\nb", `[{"type":"text","text":"a"},null,{"type":"image"},"b",[1]]`: "a\n\nb",
		`null`: "", `{}`: "", `true`: "", `"a","prompt":"a"`: "a", `"a","prompt":"b"`: "", `"a","Prompt":"b"`: "a",
	} {
		e, err := capture.ReadEvent(capture.Codex, strings.NewReader(`{"hook_event_name":"UserPromptSubmit","prompt":`+form+`}`))
		if err != nil || e.Prompt != want {
			t.Errorf("%s: %+v, %v, want %q", form, e, err, want)
		}
	}
	for in, want := range map[string]string{
		`"transcript_path":7`:                                     "7 is no path",
		`"transcript_path":["/t/s.jsonl"]`:                        "is no path",
		`"transcript_path":"~/s.jsonl"`:                           "is not absolute",
		`"transcript_path":"/t/a.jsonl","transcript_path":"/t/b"`: "transcript_path comes twice",
		`"cwd":"/a","transcript_path":"/t/a.jsonl","cwd":"/b"`:    "cwd comes twice",
	} {
		if _, err := capture.ReadEvent(capture.ClaudeCode, strings.NewReader(`{"hook_event_name":"Stop",`+in+`}`)); !errors.Is(err, capture.ErrEvent) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
	same := `{"hook_event_name":"Stop","transcript_path":"/t/a.jsonl","cwd":"/a","transcript_path":"/t/a.jsonl","cwd":"/a"}`
	if e, err := capture.ReadEvent(capture.ClaudeCode, strings.NewReader(same)); err != nil || e.Folder != "/a" {
		t.Errorf("the same twice: %+v, %v", e, err)
	}
}

// TestCall makes sure that a guard reads the call that the agent makes, or none.
func TestCall(t *testing.T) {
	const event, tool, input = `"hook_event_name":"PreToolUse"`, `"tool_name":"Bash"`, `"tool_input":{"command":"ls"}`
	for _, c := range []struct{ in, tool, input, want string }{
		{event + "," + tool + "," + input, "Bash", `{"command":"ls"}`, ""},
		{input + "," + event + "," + `"tool\u005fname":"B\u0061sh"`, "Bash", `{"command":"ls"}`, ""},
		{event + "," + tool, "Bash", "", ""},
		{event + "," + tool + `,"tool_input":null`, "Bash", "null", ""},
		{event + "," + tool + `,"tool_input":"ls"`, "Bash", `"ls"`, ""},
		{event + "," + input, "", "", "no string tool_name"},
		{event + `,"tool_name":["Bash"],` + input, "", "", "no string tool_name"},
		{event + `,"tool_name":null,` + input, "", "", "no string tool_name"},
		{event + `,"Tool_Name":"Bash",` + input, "", "", `"Tool_Name" is the same name as tool_name to programs`},
		{tool + "," + input, "", "", "no string hook_event_name"},
		{`"hook_event_name":7,` + tool + "," + input, "", "", "no string hook_event_name"},
		{`"hook_event_name":"Stop",` + tool + "," + input, "", "", `the event is "Stop"`},
		{event + "," + tool + "," + input + `,"tool_input":{"command":"rm"}`, "", "", "tool_input comes twice"},
		{event + "," + tool + "," + input + "," + tool, "", "", "tool_name comes twice"},
		{event + "," + tool + "," + input + "," + event, "", "", "hook_event_name comes twice"},
		{event + "," + tool + "," + input + `,"TOOL_INPUT":{"command":"rm"}`, "", "", `"TOOL_INPUT" is the same name as tool_input`},
		{event + "," + tool + "," + input + `,"hoo\u212a_event_name":"x"`, "", "", "is the same name as hook_event_name"},
		{event + "," + tool + "," + input + `} {`, "", "", "invalid character"},
	} {
		for _, in := range marked("{" + c.in + "}") {
			got, err := capture.ReadCall(capture.ClaudeCode, strings.NewReader(in))
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: %+v, %v, want %s", c.in, got, err, c.want)
				}
			} else if err != nil || got.Tool != c.tool || string(got.Input) != c.input {
				t.Errorf("%s: %+v, %v", c.in, got, err)
			}
		}
	}
	if c, err := capture.ReadCall(capture.Gemini, strings.NewReader(`{"hook_event_name":"BeforeTool","tool_name":"t","tool_input":{}}`)); err != nil || c.Tool != "t" {
		t.Errorf("%+v, %v", c, err)
	}
}

// FuzzCall mixes members in random forms with the three that a guard needs. A call that is read is the call that every reader of JSON takes, whichever of two members the reader prefers
// and whether the reader heeds letter case; a call whose members come once is read.
func FuzzCall(f *testing.F) {
	for i := range uint64(64) {
		f.Add(i)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 1))
		pick := func(list ...string) string { return list[random.IntN(len(list))] }
		parts := []string{`"hook_event_name":"PreToolUse"`, `"tool_name":"Bash"`, `"tool_input":{"command":"ls"}`}
		plain := random.IntN(2) == 0
		if !plain {
			for range 1 + random.IntN(2) {
				name := pick("hook_event_name", "tool_name", "tool_input", "Tool_Name", "tool_Input", "HOOK_EVENT_NAME", `tool\u005finput`)
				parts = append(parts, `"`+name+`":`+pick(append(forms, `"PreToolUse"`, `{"command":"rm -r x"}`)...))
			}
		}
		for range random.IntN(6) {
			name, _ := json.Marshal(pick(members...))
			parts = append(parts, string(name)+":"+pick(forms...))
		}
		random.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		in := pick("", "\ufeff") + "{" + strings.Join(parts, pick(",", " ,\n")) + "}"
		c, err := capture.ReadCall(capture.ClaudeCode, strings.NewReader(in))
		switch {
		case plain && (err != nil || c.Tool != "Bash" || string(c.Input) != `{"command":"ls"}`):
			t.Errorf("%s: %+v, %v", in, c, err)
		case !plain && err == nil:
			t.Errorf("%s: read is %+v", in, c)
		}
	})
}
