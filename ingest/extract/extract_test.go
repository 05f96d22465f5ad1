package extract_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/extract"
)

var (
	conversation = dag.ExternalConversationID("test", "conversation")
	callID       = dag.ExternalTurnID("test", "call")
	resultID     = dag.ExternalTurnID("test", "result")
)

// An exchange is a call of a tool and its result, as Claude Code's importer
// renders them.
type exchange struct {
	tool   string
	input  map[string]any
	result string
	failed bool
}

func compact(t testing.TB, input map[string]any) string {
	t.Helper()
	text, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (e *exchange) drafts(t testing.TB) (call, result *dag.Draft) {
	head := "[tool_result]\n"
	if e.failed {
		head = "[tool_result error]\n"
	}
	call = &dag.Draft{
		ID: callID, Conversation: conversation, Role: dag.RoleAssistant, Author: "agent:claude",
		Content: "[tool_use " + e.tool + "]\n" + compact(t, e.input),
		Attrs:   map[string]string{"blocks": "tool_use", "tool": e.tool, "tool_use_id": "toolu_1", "message_id": "msg_1"},
	}
	result = &dag.Draft{
		ID: resultID, Conversation: conversation, Role: dag.RoleTool, Author: "tool:" + e.tool,
		Parents: []dag.Parent{{ID: callID, Kind: dag.Reply}}, Content: head + e.result,
		Attrs: map[string]string{"blocks": "tool_result", "tool": e.tool, "tool_use_id": "toolu_1"},
	}
	return call, result
}

// findings returns what is found in a turn whose parents are given, and writes it
// as "PREDICATE OBJECT CONFIDENCE". What joins a turn to its conversation is checked
// and left out.
func findings(t testing.TB, d *dag.Draft, parents ...*dag.Draft) ([]string, extract.Skipped) {
	t.Helper()
	found, skipped := extract.OfDraft(d, func(id dag.TurnID) *dag.Draft {
		i := slices.IndexFunc(parents, func(p *dag.Draft) bool { return p.ID == id })
		if i < 0 {
			return nil
		}
		return parents[i]
	})
	var list []string
	joined := false
	for i, f := range found {
		if f.Turn != d.ID || len(f.Object) > extract.MaxObject || f.Object == "" || !slices.Contains(extract.Predicates[:], f.Predicate) {
			t.Errorf("bad finding %+v", f)
		}
		if i > 0 && found[i-1].Predicate+"\x00"+found[i-1].Object+"\x00"+found[i-1].Subject >= f.Predicate+"\x00"+f.Object+"\x00"+f.Subject {
			t.Errorf("%v stands behind %v", f, found[i-1])
		}
		if f.Predicate == extract.PartOf {
			joined = joined || f.Object == extract.ObjectOf(conversation)
			continue
		}
		list = append(list, fmt.Sprintf("%s %s %s", f.Predicate, f.Object, f.Confidence))
	}
	if len(list) > 0 && !joined {
		t.Errorf("%v is not joined to its conversation", list)
	}
	return list, skipped
}

func check(t *testing.T, got []string, want string) {
	t.Helper()
	var lines []string
	for line := range strings.Lines(want) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if !slices.Equal(got, lines) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(lines, "\n\t"))
	}
}

func TestTools(t *testing.T) {
	path := map[string]any{"file_path": "/src/a.go"}
	for _, c := range []struct {
		name string
		exchange
		want string
	}{
		{"read", exchange{"Read", path, "1→package a", false}, "read-file file:/src/a.go 1"},
		{"read of what is not there", exchange{"Read", path, "<tool_use_error>File does not exist.</tool_use_error>", true}, ""},
		{"new file", exchange{"Write", path, "File created successfully at: /src/a.go", false}, "created-file file:/src/a.go 1\nwrote-file file:/src/a.go 1"},
		{"old file", exchange{"Write", path, "The file /src/a.go has been updated.", false}, "wrote-file file:/src/a.go 1"},
		{"edit", exchange{"Edit", path, "The file /src/a.go has been updated successfully.", false}, "edited-file file:/src/a.go 1"},
		{"refused edit", exchange{"Edit", path, "The user doesn't want to proceed with this tool use.", true}, ""},
		{"several edits", exchange{"MultiEdit", path, "ok", false}, "edited-file file:/src/a.go 1"},
		{"notebook", exchange{"NotebookEdit", map[string]any{"notebook_path": "/n.ipynb"}, "ok", false}, "edited-file file:/n.ipynb 1"},
		{"relative path", exchange{"Read", map[string]any{"file_path": "a b/../c.go"}, "", false}, "read-file file:a b/../c.go 1"},
		{"editor", exchange{"str_replace_based_edit_tool", map[string]any{"command": "create", "path": "/a"}, "", false}, "wrote-file file:/a 1"},
		{"editor that only looks", exchange{"str_replace_editor", map[string]any{"command": "view", "path": "/a"}, "", false}, "read-file file:/a 1"},
		{"no path", exchange{"Read", map[string]any{"file_path": ""}, "", false}, ""},
		{"path that is no text", exchange{"Read", map[string]any{"file_path": 7}, "", false}, ""},
		{"search", exchange{"Grep", map[string]any{"path": "/src", "pattern": "x"}, "/src/a.go", false}, ""},
		{"command", exchange{"Bash", map[string]any{"command": "ls -l"}, "a", false}, "ran-command cmd:ls -l 1"},
		{"command that failed", exchange{"Bash", map[string]any{"command": "false"}, "Exit code 1", true}, "ran-command cmd:false 1"},
		{"command that was refused", exchange{"Bash", map[string]any{"command": "rm -rf /"}, "The user doesn't want to proceed", true}, ""},
		{"result that quotes a result", exchange{"Bash", map[string]any{"command": "cat log"}, "x\n\n[tool_result error]\ny", false}, "ran-command cmd:cat log 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			call, result := c.drafts(t)
			got, skipped := findings(t, result, call)
			check(t, got, c.want)
			if skipped != (extract.Skipped{}) {
				t.Errorf("skipped %+v", skipped)
			}
			if got, _ := findings(t, call); len(got) > 0 {
				t.Errorf("the call alone gives %v", got)
			}
		})
	}
}

// TestSubject checks who did what: the call, and in which turn that is written.
func TestSubject(t *testing.T) {
	call, result := (&exchange{"Read", map[string]any{"file_path": "/a"}, "", false}).drafts(t)
	call.Attrs["git_branch"] = "topic"
	found, _ := extract.OfDraft(result, func(dag.TurnID) *dag.Draft { return call })
	want := []extract.Finding{
		{Turn: resultID, Subject: "turn:" + callID.String(), Predicate: "on-branch", Object: "branch:topic", Confidence: dag.One},
		{Turn: resultID, Subject: "turn:" + callID.String(), Predicate: "part-of", Object: "conversation:" + conversation.String(), Confidence: dag.One},
		{Turn: resultID, Subject: "turn:" + callID.String(), Predicate: "read-file", Object: "file:/a", Confidence: dag.One},
	}
	if !slices.Equal(found, want) {
		t.Errorf("got %v, want %v", found, want)
	}
	call.Attrs["git_branch"] = "HEAD"
	if found, _ := extract.OfDraft(result, func(dag.TurnID) *dag.Draft { return call }); !slices.Equal(found, want[1:]) {
		t.Errorf("without a branch got %v, want %v", found, want[1:])
	}
}

func TestUnmarkedTrace(t *testing.T) {
	call, result := (&exchange{"write_file", map[string]any{"path": "/a"}, "File created successfully at: /a", false}).drafts(t)
	delete(call.Attrs, "message_id") // chat messages do not mark errors
	got, _ := findings(t, result, call)
	check(t, got, "wrote-file file:/a 0.9")
}

// TestForged puts into content what looks like a call or a result. Nothing may
// be found in it.
func TestForged(t *testing.T) {
	forged := "[tool_use Write]\n{\"file_path\":\"/etc/passwd\"}"
	call, result := (&exchange{"Read", map[string]any{"file_path": "/a"}, "", false}).drafts(t)
	call.Content = forged + "\n\n" + call.Content
	got, skipped := findings(t, result, call)
	check(t, got, "")
	if skipped.UnclearCall != 1 {
		t.Errorf("forged call: skipped %+v", skipped)
	}
	call.Content = forged
	if got, skipped = findings(t, result, call); len(got) != 0 || skipped.UnclearCall != 1 {
		t.Errorf("another name: %v, skipped %+v", got, skipped)
	}
	call.Content = "[tool_use Read]\n{\"file_path\":\"/a\"}\n\n[tool_use Read]\n{\"file_path\":\"/b\"}"
	if got, skipped = findings(t, result, call); len(got) != 0 || skipped.UnclearCall != 1 {
		t.Errorf("one too many: %v, skipped %+v", got, skipped)
	}
	call.Attrs["tool"] = "Read,Read,Read"
	if got, skipped = findings(t, result, call); len(got) != 0 || skipped.UnclearCall != 1 {
		t.Errorf("one too few: %v, skipped %+v", got, skipped)
	}
	call.Attrs["tool"], call.Attrs["tool_use_id"] = "Read,Read", "toolu_1"
	if got, skipped = findings(t, result, call); len(got) != 0 || skipped.UnclearCall != 1 {
		t.Errorf("one id for two: %v, skipped %+v", got, skipped)
	}
	call.Attrs["tool"] = "Read"
	call.Content = "[tool_use Read]\nno JSON"
	if got, skipped = findings(t, result, call); len(got) != 0 || skipped.UnclearCall != 1 {
		t.Errorf("no JSON: %v, skipped %+v", got, skipped)
	}
	if got, skipped = findings(t, result); len(got) != 0 || skipped.MissingCall != 1 {
		t.Errorf("no call: %v, skipped %+v", got, skipped)
	}
	prompt := &dag.Draft{ID: callID, Conversation: conversation, Role: dag.RoleUser, Author: "human:user", Content: forged}
	if got, skipped = findings(t, prompt); len(got) != 0 || skipped != (extract.Skipped{}) {
		t.Errorf("prompt: %v, skipped %+v", got, skipped)
	}
	if got, skipped = findings(t, result, prompt); len(got) != 0 || skipped.MissingCall != 1 {
		t.Errorf("prompt as the call: %v, skipped %+v", got, skipped)
	}
}

// TestSeveral answers two calls of one turn in one turn, and beside a text.
func TestSeveral(t *testing.T) {
	call := &dag.Draft{
		ID: callID, Conversation: conversation, Role: dag.RoleAssistant,
		Content: "Look.\n\n[tool_use Read]\n{\"file_path\":\"/a\"}\n\n[tool_use Bash]\n{\"command\":\"git status\"}",
		Attrs:   map[string]string{"blocks": "text,tool_use", "tool": "Read,Bash", "tool_use_id": "t1,t2", "message_id": "m"},
	}
	result := &dag.Draft{
		ID: resultID, Conversation: conversation, Role: dag.RoleTool, Parents: []dag.Parent{{ID: callID, Kind: dag.Reply}},
		Content: "[tool_result]\nOn branch topic\n\n[tool_result error]\nno such file",
		Attrs:   map[string]string{"blocks": "tool_result", "tool_use_id": "t2,t1"},
	}
	got, skipped := findings(t, result, call)
	check(t, got, "on-branch branch:topic 0.9\nran-command cmd:git status 1")
	if skipped != (extract.Skipped{}) {
		t.Errorf("skipped %+v", skipped)
	}
	result.Content += "\n\n[tool_result]\nOn branch forged"
	if got, skipped = findings(t, result, call); len(got) != 0 || skipped.UnclearResult != 1 {
		t.Errorf("a heading too many: %v, skipped %+v", got, skipped)
	}
	result.Content = "[tool_result]\nOn branch topic\n\nStop.\nOn branch other"
	result.Attrs = map[string]string{"blocks": "tool_result,text", "tool_use_id": "t2"}
	got, skipped = findings(t, result, call)
	check(t, got, "ran-command cmd:git status 1")
	if skipped.UnclearResult != 1 {
		t.Errorf("beside a text: skipped %+v", skipped)
	}
}

func TestLongObject(t *testing.T) {
	for _, extra := range []int{0, 1} {
		command := "go test ./... #" + strings.Repeat("x", extract.MaxObject-len("cmd:go test ./... #")+extra)
		call, result := (&exchange{"Bash", map[string]any{"command": command}, "ok  \texample.com/a\t0.1s", false}).drafts(t)
		got, skipped := findings(t, result, call)
		if len(got) != 2-extra || skipped.LongObject != extra || got[len(got)-1] != "test-passed test:example.com/a 0.9" {
			t.Errorf("%d bytes: %d findings, skipped %+v", len(command), len(got), skipped)
		}
	}
}

func TestNothing(t *testing.T) {
	if found := extract.Of(&dag.Turn{}, nil, nil, nil); found != nil {
		t.Errorf("withheld body: %v", found)
	}
	call, result := (&exchange{"Read", map[string]any{"file_path": "/a"}, "", false}).drafts(t)
	call.Redacted = true
	if got, skipped := findings(t, result, call); len(got) != 0 || skipped.MissingCall != 1 {
		t.Errorf("redacted call: %v, skipped %+v", got, skipped)
	}
	result.Redacted = true
	if got, skipped := findings(t, result, call); len(got) != 0 || skipped != (extract.Skipped{}) {
		t.Errorf("redacted result: %v, skipped %+v", got, skipped)
	}
}

// TestModelExchange reads nothing out of what a model was shown: it repeats what others said.
func TestModelExchange(t *testing.T) {
	t.Parallel()
	d := &dag.Draft{ID: callID, Conversation: conversation, Role: dag.RoleUser, Content: "see https://github.com/owner/repo/pull/7"}
	if found, skipped := findings(t, d); len(found) != 1 || skipped != (extract.Skipped{}) {
		t.Errorf("without the attribute: %v, %+v", found, skipped)
	}
	d.Attrs = map[string]string{"llm_extract": "prompt"}
	if found, skipped := findings(t, d); len(found) != 0 || skipped != (extract.Skipped{ModelExchange: 1}) {
		t.Errorf("with it: %v, %+v", found, skipped)
	}
}
