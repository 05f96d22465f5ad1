package ingest

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphkernel/graphkernel/dag"
)

// checkWhole checks that the chain of first parents of every turn reaches the first one.
func checkWhole(t *testing.T, drafts []dag.Draft) {
	t.Helper()
	at := byID(drafts)
	for i := range drafts {
		d := &drafts[i]
		for len(d.Parents) > 0 {
			d = at[d.Parents[0].ID]
		}
		if d.ID != drafts[0].ID {
			t.Fatalf("turn %s is cut off; its chain begins with %s, want %s", drafts[i].ID, d.ID, drafts[0].ID)
		}
	}
}

// TestLostParents has a parent that is nowhere, named by a turn, by a record that is none
// and at a compaction.
func TestLostParents(t *testing.T) {
	var s transcript
	s.said("p1", "", "Do A.")
	s.call("a1", "p1", "m1", "t1")
	s.result("r1", "gone-1", "t1")
	s.add(`"type":"progress","uuid":"g","parentUuid":"gone-2","data":{}`)
	s.call("a2", "r1", "m2", "t2")
	s.said("p2", "g", "And B.") // through g to what was newest there, r1
	s.said("p3", "g", "No, C.") // a second one
	s.add(`"type":"system","subtype":"compact_boundary","uuid":"c1","parentUuid":null,"logicalParentUuid":"gone-3","content":"Conversation compacted"`)
	s.add(`"type":"user","uuid":"c2","parentUuid":"c1","isCompactSummary":true,"message":{"content":"We did A."}`)
	s.add(`"type":"system","subtype":"compact_boundary","uuid":"c3","parentUuid":null,"content":"Conversation compacted"`)
	drafts, report := collect(t, write(t, "s.jsonl", s.text()), Options{Format: ClaudeCode})
	checkWhole(t, drafts)
	at := byID(drafts)
	for _, tc := range []struct{ turn, parent, missing string }{
		{"r1", "a1", "gone-1"}, {"p2", "r1", "gone-2"}, {"p3", "r1", "gone-2"}, {"c1", "p3", "gone-3"}, {"c3", "c2", ""},
	} {
		d := at[id(tc.turn)]
		if d.Parents[0].ID != id(tc.parent) || d.Attrs["parent_by"] != "order" || d.Attrs[attrMissingParent] != tc.missing {
			t.Errorf("%s: %s", tc.turn, dump([]dag.Draft{*d}))
		}
	}
	for _, whole := range []string{"p1", "a1", "a2", "c2"} {
		if at[id(whole)].Attrs["parent_by"] != "" {
			t.Errorf("%s: %s", whole, dump([]dag.Draft{*at[id(whole)]}))
		}
	}
	if report.Noted["parent_missing"] != 4 || report.Noted["parent_by_order"] != 5 {
		t.Errorf("noted %v", report.Noted)
	}
}

// TestRealSessionsHoldTogether takes assistant's records out of real sessions:
// nothing is cut off, and what has lost its parent is counted.
func TestRealSessionsHoldTogether(t *testing.T) {
	for _, path := range []string{
		realData(t, "entire", "claude-1284c080-f9cd-45f8-9942-ff58f5c517e5.jsonl"),
		realData(t, "entire", "claude-768de5d6-9fad-475b-8a4f-dfa7ddc01bb0.jsonl"),
	} {
		whole, _ := collect(t, path, Options{})
		checkWhole(t, whole)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(5) {
			r := rand.New(rand.NewPCG(seed, 13))
			var kept []byte
			lost := 0
			for line := range bytes.Lines(text) {
				if bytes.Contains(line, []byte(`"type":"assistant"`)) && r.IntN(20) == 0 {
					lost++
					continue
				}
				kept = append(kept, line...)
			}
			drafts, report := collect(t, write(t, filepath.Base(path), string(kept)), Options{Format: ClaudeCode})
			checkWhole(t, drafts)
			if lost == 0 || report.Noted["parent_missing"] == 0 || report.Noted["parent_by_order"] < report.Noted["parent_missing"] {
				t.Errorf("seed %d: %d records taken out, noted %v", seed, lost, report.Noted)
			}
		}
	}
}

// TestSubagentInTwoFiles has a sub-agent's records in both places where versions of the
// program put them: each is read, and what both hold is one turn.
func TestSubagentInTwoFiles(t *testing.T) {
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(filepath.Join("testdata", "claude"))); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, claudeFixture+".jsonl")
	want, alone := collect(t, path, Options{})
	text, err := os.ReadFile(filepath.Join(folder, claudeFixture, "subagents", "agent-aaa1.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(bytes.TrimSpace(text), []byte("\n"))
	last := bytes.Clone(lines[len(lines)-1])
	var record struct{ UUID string }
	if err := json.Unmarshal(last, &record); err != nil {
		t.Fatal(err)
	}
	last = bytes.Replace(last, []byte(`"uuid":"`+record.UUID), []byte(`"uuid":"only-here`), 1)
	second := slices.Concat(bytes.TrimSpace(text), []byte("\n"), last)
	if err := os.WriteFile(filepath.Join(folder, "agent-aaa1.jsonl"), second, 0o600); err != nil {
		t.Fatal(err)
	}
	got, both := collect(t, path, Options{})
	if len(got) != len(want)+1 {
		t.Errorf("%d turns, want %d", len(got), len(want)+1)
	}
	if more := both.Records - alone.Records; more != len(lines)+1 || both.Skipped["repeated"] <= alone.Skipped["repeated"] {
		t.Errorf("%d records more, want %d; skipped %v, before %v", more, len(lines)+1, both.Skipped, alone.Skipped)
	}
}

// TestSubagentWaits imports a sub-agent without its session, and then with it.
func TestSubagentWaits(t *testing.T) {
	source := filepath.Join("testdata", "claude")
	agents := filepath.Join(source, claudeFixture, "subagents")
	for _, path := range []string{agents, filepath.Join(agents, "agent-aaa1.jsonl")} {
		drafts, report := collect(t, path, Options{})
		if len(drafts) != 0 || report.Records == 0 || report.Skipped["subagent_unjoined"]+report.Skipped["empty_line"] != report.Records {
			t.Errorf("%s: %d turns, %+v", path, len(drafts), report)
		}
	}
	renamed, err := os.ReadFile(filepath.Join(agents, "agent-aaa1.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if drafts, report := collect(t, write(t, "kept.jsonl", string(renamed)), Options{}); len(drafts) != 0 || report.Skipped["subagent_unjoined"] == 0 {
		t.Errorf("under another name: %d turns, %v", len(drafts), report.Skipped)
	}
	drafts, _ := collect(t, filepath.Join(source, claudeFixture+".jsonl"), Options{})
	spawned := 0
	for _, d := range drafts {
		for _, p := range d.Parents {
			if p.Kind == dag.Spawn {
				spawned++
			}
		}
	}
	if spawned == 0 {
		t.Error("with its session: no spawn edge")
	}
}

// TestRecordsOnOneLine reads lines that a program went on with after it was stopped.
func TestRecordsOnOneLine(t *testing.T) {
	var s transcript
	s.said("p1", "", `A "quoted" } {`)
	s.said("p2", "p1", "B")
	s.said("p3", "p2", "C")
	two := s.lines[0] + s.lines[1]
	for _, tc := range []struct {
		text    string
		turns   int
		skipped map[string]int
	}{
		{two + "\n" + s.lines[2] + "\n", 3, map[string]int{}},
		{two + s.lines[2], 3, map[string]int{}},
		{two + `{"cut`, 2, map[string]int{"broken_line": 1}},
		{two + ` 7 "x" ` + s.lines[2], 2, map[string]int{"broken_line": 1}},
		{`{"cut` + two, 2, map[string]int{"broken_line": 1}},
	} {
		drafts, report := collect(t, write(t, "s.jsonl", tc.text), Options{Format: ClaudeCode})
		if diff := cmp.Diff(tc.skipped, report.Skipped); diff != "" || len(drafts) != tc.turns {
			t.Errorf("%s: %d turns, want %d; %s", tc.text, len(drafts), tc.turns, diff)
		}
	}
	commit := func(n string) string {
		return `{"id":"` + strings.Repeat(n, 40) + `","parents":[],"time":"2026-01-02T03:04:05Z","author":"a","text":"t"}`
	}
	if drafts, _ := collect(t, write(t, "c.jsonl", commit("a")+commit("b")+"\n"), Options{Format: Git}); len(drafts) != 2 {
		t.Errorf("%d commits", len(drafts))
	}
	chat := `{"role":"user","content":"q"}{"role":"assistant","content":"a"}` + "\n" + `{"role":"user","content":"r"}` + "\n"
	if drafts, _ := collect(t, write(t, "o.jsonl", chat), Options{Format: OpenAI}); len(drafts) != 3 {
		t.Errorf("%d messages", len(drafts))
	}
}

// TestChatGPTParts has types whose text stands in "text" in most exports, and in
// "parts" here.
func TestChatGPTParts(t *testing.T) {
	for _, tc := range []struct{ content, want string }{
		{`{"content_type":"code","language":"python","parts":["1+1"]}`, "[code python]\n1+1"},
		{`{"content_type":"code","text":"2+2","parts":["1+1"]}`, "[code]\n2+2"},
		{`{"content_type":"thoughts","parts":["Hm."]}`, "[thinking]\nHm."},
		{`{"content_type":"thoughts","thoughts":[],"parts":["Hm.","So."]}`, "[thinking]\nHm.\n\nSo."},
		{`{"content_type":"thoughts","thoughts":[{"summary":"S","content":"C"}],"parts":["Hm."]}`, "[thinking]\nS\nC"},
		{`{"content_type":"reasoning_recap","parts":["Thought for 3s"]}`, "[thinking]\nThought for 3s"},
		{`{"content_type":"execution_output","parts":["2"]}`, "[tool_result]\n2"},
		{`{"content_type":"tether_browsing_display","parts":["page"]}`, "[tether_browsing_display]\npage"},
	} {
		doc := `[{"id":"c","create_time":1,"mapping":{"n":{"parent":null,"message":{"author":{"role":"assistant"},"content":` + tc.content + `}}}}]`
		drafts, report := collect(t, write(t, "c.json", doc), Options{})
		if len(drafts) != 1 || drafts[0].Content != tc.want {
			t.Errorf("%s: %s %v", tc.content, dump(drafts), report.Skipped)
		}
	}
}

// TestCollapsedMissingParents names a missing parent through what is no turn, in
// the other formats.
func TestCollapsedMissingParents(t *testing.T) {
	chat := `[{"id":"c","create_time":1,"mapping":{"n":{"parent":"gone","message":null},"m":{"parent":"n","message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["q"]}}}}}]`
	drafts, report := collect(t, write(t, "c.json", chat), Options{})
	if len(drafts) != 1 || drafts[0].Attrs[attrMissingParent] != "gone" || report.Noted["parent_missing"] != 1 {
		t.Errorf("%s %v", dump(drafts), report.Noted)
	}
	commit := func(n, parent, text string) string {
		return `{"id":"` + strings.Repeat(n, 40) + `","parents":["` + strings.Repeat(parent, 40) + `"],"time":"2026-01-02T03:04:05Z","author":"a","text":"` + text + `"}` + "\n"
	}
	long := strings.Repeat("x", dag.MaxContent+1)
	drafts, report = collect(t, write(t, "c.jsonl", commit("b", "a", long)+commit("c", "b", "t")), Options{Format: Git})
	if len(drafts) != 1 || drafts[0].Attrs[attrMissingParent] != strings.Repeat("a", 40) || report.Noted["parent_missing"] != 1 {
		t.Errorf("%d commits, noted %v, skipped %v", len(drafts), report.Noted, report.Skipped)
	}
}
