package ingest

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphkernel/graphkernel/dag"
)

var update = flag.Bool("update", false, "write the files of expected output anew")

// golden compares got with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s: -want +got\n%s", path, diff)
	}
}

const claudeFixture = "5e550000-0000-4000-8000-000000000000"

func TestClaudeCode(t *testing.T) {
	drafts, report := collect(t, filepath.Join("testdata", "claude", claudeFixture+".jsonl"), Options{})
	golden(t, "claude.txt", dump(drafts))
	want := map[string]int{
		"empty_message": 1, "file_history_snapshot": 1, "queue_operation": 1, "progress": 3, "system_bookkeeping": 2,
		"empty_line": 1, "broken_line": 2, "attachment": 1, "unknown_type": 1, "malformed_record": 1, "repeated": 1,
		"repeated_differently": 1, "subagent_unjoined": 2,
	}
	if diff := cmp.Diff(want, report.Skipped); diff != "" {
		t.Errorf("skipped: %s", diff)
	}
	want = map[string]int{
		"parent_missing": 1, "time_inferred": 2, "lone_surrogate": 1, "attr_left_out": 1, "image_data": 1, "structured_result": 2,
		"thinking_signature": 1, "thinking_redacted": 1, "call_missing": 1, "parent_by_order": 1,
	}
	if diff := cmp.Diff(want, report.Noted); diff != "" {
		t.Errorf("noted: %s", diff)
	}
}

// TestClaudeCodeGrows reads the fixture at every length it ever had, with the
// last line whole or cut: whatever gave a turn then gives the same turn now.
func TestClaudeCodeGrows(t *testing.T) {
	source := filepath.Join("testdata", "claude")
	final, _ := collect(t, filepath.Join(source, claudeFixture+".jsonl"), Options{})
	checkGrowth(t, source, claudeFixture+".jsonl", byID(final), 1)
}

func byID(drafts []dag.Draft) map[dag.TurnID]*dag.Draft {
	m := map[dag.TurnID]*dag.Draft{}
	for i := range drafts {
		m[drafts[i].ID] = &drafts[i]
	}
	return m
}

// checkGrowth cuts a session's file after every step-th line and compares. The
// sub-agents' files are whole, as they are when their result is in the session.
func checkGrowth(t *testing.T, folder, name string, final map[dag.TurnID]*dag.Draft, step int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	agents := strings.TrimSuffix(name, ".jsonl")
	if err := os.CopyFS(dir, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	keep, err := filepath.Glob(filepath.Join(dir, agents, "subagents", "*"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files of sub-agents", len(keep))
	path := filepath.Join(dir, name)
	compared, most := 0, 0
	lines := bytes.SplitAfter(text, []byte("\n"))
	var grown []byte
	for i, line := range lines {
		for _, piece := range [][]byte{line[:len(line)/2], line} {
			if i%step != 0 && i < len(lines)-2 {
				continue
			}
			if err := os.WriteFile(path, append(bytes.Clone(grown), piece...), 0o600); err != nil {
				t.Fatal(err)
			}
			drafts, _ := collect(t, path, Options{Format: ClaudeCode})
			for j := range drafts {
				compared++
				if diff := cmp.Diff(final[drafts[j].ID], &drafts[j]); diff != "" {
					t.Fatalf("cut at line %d, turn %s:\n%s", i+1, drafts[j].ID, diff)
				}
			}
			if len(drafts) < most {
				t.Fatalf("cut at line %d: %d turns, %d before", i+1, len(drafts), most)
			}
			most = len(drafts)
		}
		grown = append(grown, line...)
	}
	if compared == 0 || most != len(final) {
		t.Fatalf("compared %d turns, %d at the end, want %d", compared, most, len(final))
	}
}

// TestRealKnownAnswer checks the session whose figures are known.
func TestRealKnownAnswer(t *testing.T) {
	drafts, report := collect(t, realData(t, "entire", "claude-768de5d6-9fad-475b-8a4f-dfa7ddc01bb0.jsonl"), Options{})
	if len(drafts) != 128-47-7 || report.Skipped["progress"] != 47 || report.Skipped["system_bookkeeping"] != 7 {
		t.Errorf("%d turns, skipped %v", len(drafts), report.Skipped)
	}
	prompts, roots := 0, 0
	at := byID(drafts)
	for i := range drafts {
		d := &drafts[i]
		if d.Role == dag.RoleUser {
			prompts++
		}
		if len(d.Parents) == 0 {
			roots++
		}
		for steps := 0; len(d.Parents) > 0; steps++ {
			if d = at[d.Parents[0].ID]; d == nil || steps > len(drafts) {
				t.Fatalf("turn %s does not reach a root", drafts[i].ID)
			}
		}
	}
	if prompts != 5 || roots != 1 {
		t.Errorf("%d prompts and %d roots, want 5 and 1", prompts, roots)
	}
}

func TestRealSessionsGrow(t *testing.T) {
	for _, name := range []string{"short.jsonl", "subagent.jsonl", "tool_heavy.jsonl", "fa812bfe-b295-4cca-9c2f-fdf01028cb46.jsonl"} {
		folder := realData(t, "claude-code")
		final, _ := collect(t, filepath.Join(folder, name), Options{})
		checkGrowth(t, folder, name, byID(final), max(1, len(final)/3))
	}
}

// TestClaudeCodeFolder reads a project's folder: sub-agents with their session,
// an agent's file without one waits, a fork that repeats.
func TestClaudeCodeFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "claude"))); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, claudeFixture+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	alone, _ := collect(t, filepath.Join(dir, claudeFixture+".jsonl"), Options{})
	agent, err := os.ReadFile(filepath.Join(dir, claudeFixture, "subagents", "agent-aaa1.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	agent = bytes.ReplaceAll(agent, []byte("000000a"), []byte("00000ea"))
	fork := append(bytes.Clone(text), `{"parentUuid":"0000000e-0000-4000-8000-000000000000","sessionId":"f0000000-0000-4000-8000-000000000000","type":"user","uuid":"f0000001-0000-4000-8000-000000000000","timestamp":"2026-01-03T00:00:00Z","message":{"role":"user","content":"Another way."}}`+"\n"...)
	for name, data := range map[string][]byte{
		"f0000000-0000-4000-8000-000000000000.jsonl": fork,
		// It names the session that the fork, too, begins with.
		"agent-sibling.jsonl": bytes.ReplaceAll(agent, []byte("00000ea"), []byte("00000fa")),
		"agent-lone.jsonl":    bytes.ReplaceAll(agent, []byte(claudeFixture), []byte("5e560000-0000-4000-8000-000000000000")),
		"LICENSE":             []byte("Do as you like.\n"),
		"table.jsonl":         []byte("{\"a\":1}\n\n{\"a\":2}\n"),
		".hidden.jsonl":       text,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("LICENSE", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "linked") // a folder that is a link, and one that leads back
	if err := errors.Join(os.Mkdir(elsewhere, 0o700), os.Symlink(elsewhere, filepath.Join(dir, "linked")), os.Symlink(dir, filepath.Join(elsewhere, "back")), os.WriteFile(filepath.Join(elsewhere, "table.jsonl"), []byte("\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	drafts, report := collect(t, dir, Options{})
	files := map[string]bool{}
	for _, f := range report.Files {
		if files[f.Path] {
			t.Errorf("%s is read twice", f.Path)
		}
		files[f.Path] = true
	}
	if sibling := filepath.Join(dir, "agent-sibling.jsonl"); !files[sibling] {
		t.Errorf("%s is not read", sibling)
	}
	if linked := filepath.Join(dir, "linked", "table.jsonl"); !files[linked] {
		t.Errorf("%s is not read", linked)
	}
	at := byID(drafts)
	added := at[dag.TurnID{0xf0, 0, 0, 1, 0, 0, 0x40, 0, 0x80}]
	if len(drafts) != len(alone)+1 || added == nil || len(added.Parents) != 1 || at[added.Parents[0].ID] == nil {
		t.Errorf("%d turns, %d in the session alone, added %+v", len(drafts), len(alone), added)
	}
	for reason, want := range map[string]int{"unknown_format": 1 + 2, "not_a_file": 1, "empty_line": 3, "subagent_unjoined": 2 + 2*6} {
		if got := report.Skipped[reason]; got != want {
			t.Errorf("skipped %s %d times, want %d", reason, got, want)
		}
	}
	if got := report.Skipped["repeated"]; got < 30 {
		t.Errorf("repeated %d", got)
	}
	_, report = collect(t, dir, Options{Format: JSONL})
	if report.Turns != 0 || report.Skipped["other_format"] == 0 {
		t.Errorf("%+v", report)
	}
}

// TestClaudeCodeAmbiguousCall has one sub-agent and two calls with its prompt:
// it waits until something names its call, and then it is joined to that one.
func TestClaudeCodeAmbiguousCall(t *testing.T) {
	dir := t.TempDir()
	sub := filepath.Join(dir, "s", "subagents")
	if err := os.MkdirAll(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	put := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	call := func(n, parent, use string) string {
		return `{"uuid":"` + n + `","parentUuid":` + parent + `,"sessionId":"s","type":"assistant","timestamp":"2026-01-02T03:04:05Z","message":{"id":"m","content":[` +
			`{"type":"tool_use","id":"` + use + `","name":"Task","input":{"prompt":"Look."}}]}}` + "\n"
	}
	session := call("a", "null", "t1") + call("b", `"a"`, "t2")
	put(filepath.Join(sub, "agent-x.jsonl"), `{"uuid":"c","parentUuid":null,"sessionId":"s","isSidechain":true,"agentId":"x","type":"user","timestamp":"2026-01-02T03:04:06Z","message":{"content":"Look."}}`+"\n")
	path := filepath.Join(dir, "s.jsonl")

	put(path, session)
	if _, report := collect(t, path, Options{}); report.Turns != 2 || report.Skipped["subagent_unjoined"] != 1 {
		t.Errorf("two calls: %+v", report)
	}
	put(path, session+`{"uuid":"p","parentUuid":"b","sessionId":"s","type":"progress","parentToolUseID":"t2","data":{"type":"agent_progress","agentId":"x"}}`+"\n")
	drafts, _ := collect(t, path, Options{})
	want := []dag.Parent{{ID: dag.ExternalTurnID("claude-code", "b"), Kind: dag.Spawn}}
	if len(drafts) != 3 || cmp.Diff(want, drafts[2].Parents) != "" {
		t.Errorf("named: %s", dump(drafts))
	}
}
