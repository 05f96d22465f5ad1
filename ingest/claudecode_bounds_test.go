package ingest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// TestNestedAgents has sub-agents that bring each other back, more than may be open at a time. Each of them is read, and has its call above it.
func TestNestedAgents(t *testing.T) {
	const n = 3 * maxNesting
	files := map[string]string{}
	clock := 0
	for i := range n + 1 {
		s := transcript{clock: clock}
		side := ""
		if i > 0 {
			side = fmt.Sprintf(`"isSidechain":true,"agentId":"x%d",`, i)
		}
		s.add(`%s"type":"user","uuid":"p%d","parentUuid":null,"message":{"content":"Go %d."}`, side, i, i)
		if i < n {
			s.add(`%s"type":"assistant","uuid":"a%d","parentUuid":"p%d","message":{"id":"m%d","content":[{"type":"tool_use","id":"t%d","name":"Task","input":{"prompt":"Go %d."}}]}`, side, i, i, i, i, i+1)
			s.add(`%s"type":"user","uuid":"r%d","parentUuid":"a%d","message":{"content":[{"type":"tool_result","tool_use_id":"t%d","content":"ok"}]},"toolUseResult":{"status":"completed","agentId":"x%d"}`, side, i, i, i, i+1)
		}
		name := sessionU + ".jsonl"
		if i > 0 {
			name = fmt.Sprintf("%s/subagents/agent-x%d.jsonl", sessionU, i)
		}
		files[name] = s.text()
		clock++
	}
	for _, path := range []string{layOut(t, files), zipped(t, files)} {
		drafts, report := collect(t, path, Options{})
		if len(drafts) != 3*n+1 || report.Skipped[skipUnjoined] > 0 {
			t.Errorf("%d turns, want %d; skipped %v", len(drafts), 3*n+1, report.Skipped)
		}
		at := byID(drafts)
		for i, want := range map[int]int{maxNesting - 1: 2, maxNesting: 1} { // the call, and the last turn of a sub-agent that is read by then
			if d := at[id(fmt.Sprint("r", i))]; d == nil || len(d.Parents) != want {
				t.Errorf("result %d: want %d parents: %s", i, want, dump([]dag.Draft{*d}))
			}
		}
		for i := 1; i <= n; i++ {
			if d := at[id(fmt.Sprint("p", i))]; d == nil || len(d.Parents) != 1 || d.Parents[0].ID != id(fmt.Sprint("a", i-1)) || VoiceOf(d) == dag.VoicePerson {
				t.Errorf("sub-agent %d does not hang on its call, or a person speaks to it", i)
			}
		}
	}
}

// TestLinkedSessionFolder has the files of sub-agents behind links: they are not the session's.
func TestLinkedSessionFolder(t *testing.T) {
	const agent = `{"type":"user","uuid":"x1","parentUuid":null,"isSidechain":true,"agentId":"x","sessionId":"s","timestamp":"2026-01-02T03:00:01Z","message":{"content":"of somebody else"}}` + "\n"
	const outside = "outside/subagents/workflows/w/agent-x.jsonl"
	for at, to := range map[string]string{
		sessionU: "outside", sessionU + "/subagents": "outside/subagents", sessionU + "/subagents/workflows": "outside/subagents/workflows",
		sessionU + "/subagents/workflows/w": "outside/subagents/workflows/w", sessionU + "/subagents/workflows/w/agent-x.jsonl": outside,
	} {
		var s transcript
		s.said("p1", "", "Build it.")
		s.said("p2", "p1", "Test it.")
		dir := layOut(t, map[string]string{sessionU + ".jsonl": s.text(), outside: agent})
		link := filepath.Join(dir, filepath.FromSlash(at))
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(dir, filepath.FromSlash(to)), link); err != nil {
			t.Fatal(err)
		}
		drafts, report := collect(t, filepath.Join(dir, sessionU+".jsonl"), Options{})
		if len(drafts) != 2 || report.Records != 2 {
			t.Errorf("%s is a link: %d records, %s", at, report.Records, dump(drafts))
		}
		if err := os.Remove(link); err != nil { // the same file is the session's own if no link leads to it
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, filepath.FromSlash(to)), link); err != nil {
			t.Fatal(err)
		}
		if drafts, _ := collect(t, filepath.Join(dir, sessionU+".jsonl"), Options{}); len(drafts) != 3 {
			t.Errorf("%s is no link: %s", at, dump(drafts))
		}
	}
}

// TestManySavedResults has a record whose results name more than is read of one record, and one file twice.
func TestManySavedResults(t *testing.T) {
	var blocks []string
	files := map[string]string{}
	names := []string{"0", "1", "2", "3", "4", "5", "0"}
	for _, name := range names {
		blocks = append(blocks, fmt.Sprintf(`{"type":"tool_result","tool_use_id":"t","content":"<persisted-output>\nFull output saved to: /p/%s/tool-results/%s\n</persisted-output>"}`, sessionU, name))
		files[sessionU+"/tool-results/"+name] = strings.Repeat("x", dag.MaxContent-100)
	}
	var s transcript
	s.said("p1", "", "Build it.")
	s.add(`"type":"user","uuid":"r1","parentUuid":"p1","message":{"content":[%s]}`, strings.Join(blocks, ","))
	files[sessionU+".jsonl"] = s.text()
	drafts, report := collect(t, filepath.Join(layOut(t, files), sessionU+".jsonl"), Options{})
	if len(drafts) != 2+4 || report.Noted[noteSavedTooLarge] != 2 {
		t.Errorf("%d turns, noted %v", len(drafts), report.Noted)
	}
}

// TestManyEarlyTitles has many titles before the first turn, as older versions wrote them: half are of other sessions, and each of the others comes twice. The importer takes a title or names its line,
// and keeps none of them until the turn comes.
func TestManyEarlyTitles(t *testing.T) {
	const n = 30_000
	for _, ext := range []string{"", ".gz", ".zst"} {
		var s transcript
		for i := range n {
			s.add(`"type":"ai-title","aiTitle":"T%d"`, i/2)
			s.add(`"type":"summary","summary":"of another session","leafUuid":"elsewhere%d"`, i)
		}
		s.said("p1", "", "Build it.")
		lines := map[string]int{}
		opts := Options{Format: ClaudeCode, Skipped: func(skip Skip) { lines[skip.Reason] += skip.Line }}
		drafts, report := collect(t, write(t, "s.jsonl"+ext, string(packedAs(t, ext, s.text()))), opts)
		if len(drafts) != n/2+1 || report.Skipped[skipRepeated] != n/2 || report.Skipped[skipSummary] != n || len(report.Skipped) != 2 {
			t.Fatalf("%q: %d turns, skipped %v", ext, len(drafts), report.Skipped)
		}
		for i := range n / 2 {
			if d := &drafts[i+1]; d.Attrs[AttrTitle] != fmt.Sprint("T", i) || d.ID != TitleTurn(d.Conversation, TitleMade, i) || d.CreatedAt == 0 {
				t.Fatalf("title %d: %s", i, dump(drafts[i+1:i+2]))
			}
		}
		if want := n * (n + 1); lines[skipSummary] != want {
			t.Errorf("the lines of the summaries that are left out add up to %d, want %d", lines[skipSummary], want)
		}
	}
}

// TestFullLogs has messages whose texts are many bytes: they do not wait any longer.
func TestFullLogs(t *testing.T) {
	for _, tc := range []struct {
		n, size int
		want    bool
	}{{maxGathered, 0, true}, {1, maxGatheredBytes, true}, {maxGathered - 1, maxGatheredBytes - 1, false}} {
		if l := (otelLogs{n: tc.n, size: tc.size}); l.isFull() != tc.want {
			t.Errorf("%d messages of %d bytes: %v", tc.n, tc.size, !tc.want)
		}
	}
	// Messages of one call in two batches stay together unless the first batch has as many as may wait.
	message := `{"timeUnixNano":"1772359200000000000","traceId":"t","spanId":"a","eventName":"gen_ai.user.message","body":{"kvlistValue":{"values":[{"key":"content","value":{"stringValue":"x"}}]}}}`
	last := strings.Replace(message, `"x"`, `"the last"`, 1)
	for n, alone := range map[int]bool{2: false, maxGathered: true} {
		first := strings.Repeat(message+",", n-1) + message
		var text strings.Builder
		for _, records := range []string{first, last} {
			text.WriteString(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[` + records + `]}]}]}` + "\n")
		}
		drafts, _ := collect(t, write(t, "logs.jsonl", text.String()), Options{})
		if d := turnWith(t, drafts, "the last"); d == nil || (len(d.Parents) == 0) != alone {
			t.Errorf("after %d messages the last one is %+v", n, d)
		}
	}
	v, _, err := parseLenient([]byte(`{"body":{"content":["abc",{"k":"de"}]}}`))
	if err != nil || textSize(v) != len("bodycontentabckde") {
		t.Errorf("%d, %v", textSize(v), err)
	}
}

// TestWorkflowResult has a workflow of two sub-agents, which their descriptions or its result name: the result brings back the work of both.
func TestWorkflowResult(t *testing.T) {
	for name, tc := range map[string]struct{ meta, more string }{
		"by descriptions": {`{"toolUseId":"t1"}`, ""},
		"by its run":      {"", `,"toolUseResult":{"runId":"w"}`},
	} {
		var s transcript
		s.said("p1", "", "Run it.")
		s.add(`"type":"assistant","uuid":"a1","parentUuid":"p1","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Workflow","input":{}}]}`)
		files := map[string]string{}
		for _, agent := range []string{"x", "y"} {
			sub := transcript{clock: s.clock}
			sub.add(`"isSidechain":true,"agentId":%q,"type":"user","uuid":"p%s","parentUuid":null,"message":{"content":"Check it."}`, agent, agent)
			path := sessionU + "/subagents/workflows/w/agent-" + agent + ".jsonl"
			files[path] = sub.text()
			if tc.meta != "" {
				files[metaFile(path)] = tc.meta
			}
		}
		s.clock += 5
		s.add(`"type":"user","uuid":"r1","parentUuid":"a1","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"done"}]}%s`, tc.more)
		files[sessionU+".jsonl"] = s.text()
		for _, path := range []string{layOut(t, files), zipped(t, files)} {
			drafts, _ := collect(t, path, Options{})
			at := byID(drafts)
			if r := at[id("r1")]; len(drafts) != 5 || r == nil || len(r.Parents) != 3 || r.Parents[1].Kind != dag.Merge || r.Parents[2].Kind != dag.Merge {
				t.Errorf("%s: the result does not bring back the work of both: %s", name, dump(drafts))
			}
		}
	}
}
