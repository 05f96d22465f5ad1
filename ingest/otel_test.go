package ingest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphkernel/graphkernel/dag"
)

func TestOTel(t *testing.T) {
	var out strings.Builder
	for _, tc := range []struct {
		name           string
		skipped, noted map[string]int
	}{
		{
			"trace.json",
			map[string]int{"repeated": 3, "agent_span": 2, "other_span": 1, "no_content": 1, "malformed_record": 2, "unknown_role": 1, "empty_message": 1},
			map[string]int{"time_inferred": 6, "image_data": 1, "call_missing": 1},
		},
		{
			"lines.jsonl",
			map[string]int{"otlp_batch": 4, "agent_span": 1, "repeated": 8, "broken_line": 1, "malformed_record": 1},
			map[string]int{"time_inferred": 4},
		},
	} {
		drafts, report := collect(t, filepath.Join("testdata", "otel", tc.name), Options{})
		out.WriteString("# " + tc.name + "\n" + dump(drafts))
		if diff := cmp.Diff(tc.skipped, report.Skipped); diff != "" {
			t.Errorf("%s: skipped: %s", tc.name, diff)
		}
		if diff := cmp.Diff(tc.noted, report.Noted); diff != "" {
			t.Errorf("%s: noted: %s", tc.name, diff)
		}
	}
	golden(t, "otel.txt", out.String())
}

// TestOTelChains reads three calls of a model, each of which repeats what was said before: every message is one turn, after the
// one before it, and two answers to one question are two branches.
func TestOTelChains(t *testing.T) {
	drafts, _ := collect(t, filepath.Join("testdata", "otel", "lines.jsonl"), Options{})
	at := map[string]*dag.Draft{}
	for i := range drafts {
		if at[drafts[i].Content] != nil {
			t.Errorf("%q comes twice", drafts[i].Content)
		}
		at[drafts[i].Content] = &drafts[i]
	}
	for child, parent := range map[string]string{
		"Weather in Paris?":                    "You are a helpful bot",
		"[thinking]\nSimple.\n\nRainy, 14 °C.": "[tool_result]\n" + `{"sky":"rainy","temperature":14}`,
		"It rains.":                            "[tool_result]\n" + `{"sky":"rainy","temperature":14}`,
		"And in Rome?":                         "[thinking]\nSimple.\n\nRainy, 14 °C.",
		"Sunny.":                               "And in Rome?",
		"[tool_result]\n{\"sky\":\"rainy\",\"temperature\":14}": "[tool_use get_weather]\n" + `{"location":"Paris","unit":"C"}`,
	} {
		if at[child] == nil || at[parent] == nil {
			t.Fatalf("%q or %q is not there", child, parent)
		}
		if diff := cmp.Diff([]dag.Parent{{ID: at[parent].ID, Kind: dag.Reply}}, at[child].Parents); diff != "" {
			t.Errorf("%q: %s", child, diff)
		}
	}
	checkPrefixes(t, filepath.Join("testdata", "otel", "lines.jsonl"), OTel, drafts)
}

func FuzzOTel(f *testing.F) {
	seedWith(f, "otel/*")
	f.Fuzz(func(t *testing.T, text []byte) { fuzzFormat(t, text, OTel) })
}
