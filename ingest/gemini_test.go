package ingest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

const (
	geminiDocument = "testdata/gemini/session-2026-03-14T02-00-9e310000.json"
	geminiLines    = "testdata/gemini/session-2026-03-14T03-00-9e310000.jsonl"
)

func TestGemini(t *testing.T) {
	var out strings.Builder
	for path, want := range map[string][2]map[string]int{
		geminiDocument: {{"empty_message": 2, "unknown_type": 1, "malformed_record": 1}, {"image_data": 1, "time_inferred": 1}},
		geminiLines: {
			{"session_meta": 3, "rewind": 2, "repeated": 4, "empty_message": 1, "empty_line": 1, "broken_line": 1, "malformed_record": 1},
			{"image_data": 1},
		},
	} {
		_, report := collect(t, path, Options{})
		if diff := cmp.Diff(want[0], report.Skipped); diff != "" {
			t.Errorf("%s: skipped: %s", path, diff)
		}
		if diff := cmp.Diff(want[1], report.Noted); diff != "" {
			t.Errorf("%s: noted: %s", path, diff)
		}
	}
	for _, path := range []string{geminiDocument, geminiLines} {
		drafts, _ := collect(t, path, Options{})
		out.WriteString("# " + filepath.Base(path) + "\n" + dump(drafts))
	}
	golden(t, "gemini.txt", out.String())
}

func TestGeminiGrows(t *testing.T) {
	final, _ := collect(t, geminiLines, Options{})
	checkPrefixes(t, geminiLines, Gemini, final)
}

// TestGeminiDocumentGrows writes a document with fewer messages, calls and results, as it was before: what was a turn then is
// the same turn in the end.
func TestGeminiDocumentGrows(t *testing.T) {
	text := readTestFile(t, "gemini", filepath.Base(geminiDocument))
	final, _ := collect(t, geminiDocument, Options{})
	at := byID(final)
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), filepath.Base(geminiDocument))
	compared := 0
	check := func() {
		if err := os.WriteFile(path, appendCompact(nil, v), 0o600); err != nil {
			t.Fatal(err)
		}
		drafts, _ := collect(t, path, Options{})
		for i := range drafts {
			if diff := cmp.Diff(at[drafts[i].ID], &drafts[i]); diff != "" {
				t.Fatal(diff)
			}
			compared++
		}
	}
	messages := v.Get("messages")
	for len(messages.Items) > 0 {
		check()
		last := &messages.Items[len(messages.Items)-1]
		for calls := last.Get("toolCalls"); calls != nil && len(calls.Items) > 0; calls.Items = calls.Items[:len(calls.Items)-1] {
			call := &calls.Items[len(calls.Items)-1]
			for i := range call.Members {
				if call.Members[i].Key == "result" {
					call.Members = append(call.Members[:i], call.Members[i+1:]...)
					break
				}
			}
			check()
		}
		messages.Items = messages.Items[:len(messages.Items)-1]
	}
	if compared < len(final) {
		t.Errorf("only %d turns compared", compared)
	}
}

// TestGeminiParallel follows two calls of one message: the next message is after both results.
func TestGeminiParallel(t *testing.T) {
	drafts, _ := collect(t, geminiDocument, Options{})
	var calls, results, after []*dag.Draft
	for i := range drafts {
		switch d := &drafts[i]; {
		case strings.HasPrefix(d.Content, "[tool_use read_file]"):
			calls = append(calls, d)
		case d.Author == "tool:read_file":
			results = append(results, d)
		case strings.HasPrefix(d.Content, "[tool_use list]"):
			after = append(after, d)
		}
	}
	if len(calls) != 2 || len(results) != 2 || len(after) != 1 {
		t.Fatal(len(calls), len(results), len(after))
	}
	for i, r := range results {
		if diff := cmp.Diff([]dag.Parent{{ID: calls[i].ID, Kind: dag.Reply}}, r.Parents); diff != "" {
			t.Error(diff)
		}
		if calls[i].Parents[0] != calls[0].Parents[0] {
			t.Error("the calls are not side by side")
		}
	}
	want := []dag.Parent{{ID: results[1].ID, Kind: dag.Reply}, {ID: results[0].ID, Kind: dag.Merge}}
	if diff := cmp.Diff(want, after[0].Parents); diff != "" {
		t.Error(diff)
	}
}

func FuzzGemini(f *testing.F) {
	seedWith(f, "gemini/*")
	f.Fuzz(func(t *testing.T, text []byte) { fuzzFormat(t, text, Gemini) })
}
