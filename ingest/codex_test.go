package ingest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/graphkernel/graphkernel/dag"
)

const (
	codexFolder  = "testdata/codex/2026/03/14/"
	codexFixture = codexFolder + "rollout-2026-03-14T02-00-00-019c0de0-0000-7000-8000-000000000001.jsonl"
	codexParent  = codexFolder + "rollout-2026-03-14T03-00-00-019c0de0-0000-7000-8000-000000000003.jsonl"
	codexFork    = codexFolder + "rollout-2026-03-14T03-01-00-019c0de0-0000-7000-8000-000000000002.jsonl"
)

func TestCodex(t *testing.T) {
	drafts, report := collect(t, codexFixture, Options{})
	golden(t, "codex.txt", dump(drafts))
	want := map[string]int{
		"session_meta": 1, "turn_context": 2, "event_msg": 6, "reasoning_encrypted": 1, "message_encrypted": 1, "compaction_encrypted": 2,
		"ghost_snapshot": 1, "unknown_type": 2, "malformed_record": 2, "empty_line": 1, "unknown_role": 1, "empty_message": 1, "broken_line": 1,
	}
	if diff := cmp.Diff(want, report.Skipped); diff != "" {
		t.Errorf("skipped: %s", diff)
	}
	want = map[string]int{"image_data": 2, "thinking_redacted": 2, "call_missing": 1, "lone_surrogate": 1, "time_inferred": 1}
	if diff := cmp.Diff(want, report.Noted); diff != "" {
		t.Errorf("noted: %s", diff)
	}
}

// TestCodexGrows reads the rollout at every length that it ever had, with the last line whole or cut: what
// was a turn then is the same turn now, and nothing comes twice.
func TestCodexGrows(t *testing.T) {
	for _, fixture := range []string{codexFixture, codexFork} {
		final, _ := collect(t, fixture, Options{})
		checkPrefixes(t, fixture, Codex, final)
	}
}

// checkPrefixes reads each prefix of a file's lines, the last line whole or cut in half, and compares with the
// turns of the whole file. The turns of a prefix are the first of them.
func checkPrefixes(t *testing.T, fixture string, format Format, final []dag.Draft) {
	t.Helper()
	text, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), filepath.Base(fixture))
	lines := strings.SplitAfter(string(text), "\n")
	grown, most := "", 0
	for _, line := range lines {
		for _, piece := range []string{line[:len(line)/2], line} {
			if err := os.WriteFile(path, []byte(grown+piece), 0o600); err != nil {
				t.Fatal(err)
			}
			drafts, _ := collect(t, path, Options{Format: format})
			if len(drafts) > len(final) || len(drafts) < most {
				t.Fatalf("%d turns of %d after %d bytes", len(drafts), len(final), len(grown)+len(piece))
			}
			most = len(drafts)
			if diff := cmp.Diff(final[:len(drafts)], drafts, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("after %d bytes: %s", len(grown)+len(piece), diff)
			}
		}
		grown += line
	}
	if most != len(final) || most == 0 {
		t.Errorf("%d turns of %d in the end", most, len(final))
	}
}

// TestCodexFork reads a session and a sub-agent that was forked from it, in both orders. What both have is one
// turn, and what the sub-agent says follows it.
func TestCodexFork(t *testing.T) {
	var last []dag.Draft
	for _, name := range []string{"a", "b"} {
		dir := t.TempDir()
		for i, fixture := range []string{codexParent, codexFork} {
			text, err := os.ReadFile(fixture)
			if err != nil {
				t.Fatal(err)
			}
			file := map[string]string{"a": "01", "b": "10"}[name][i:i+1] + ".jsonl"
			if err := os.WriteFile(filepath.Join(dir, file), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		drafts, report := collect(t, dir, Options{})
		if len(drafts) != 4 || report.Skipped["repeated"] != 2 || report.Skipped["session_meta"] != 3 {
			t.Fatalf("%d turns, skipped %v", len(drafts), report.Skipped)
		}
		at := map[string]*dag.Draft{}
		for i := range drafts {
			at[drafts[i].Content] = &drafts[i]
		}
		own := at["Only the checkout."]
		if own == nil || cmp.Diff([]dag.Parent{{ID: at["I start a reviewer."].ID, Kind: dag.Reply}}, own.Parents) != "" {
			t.Errorf("the fork's own: %v", own)
		}
		if own.Attrs["parent_session"] != "019c0de0-0000-7000-8000-000000000003" || own.Attrs["forked_from"] == "" || own.Attrs["agent_id"] != "Euler" {
			t.Errorf("attributes %v", own.Attrs)
		}
		if last != nil && last[0].ID != drafts[0].ID {
			t.Error("the order of the files decides the ids")
		}
		last = drafts
	}
}

func FuzzCodex(f *testing.F) {
	seedWith(f, "codex/*/*/*/*.jsonl")
	f.Fuzz(func(t *testing.T, text []byte) { fuzzFormat(t, text, Codex) })
}
