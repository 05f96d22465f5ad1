package ingest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphkernel/graphkernel/dag"
)

// TestTold makes sure that what hooks and agents put into messages is not taken for the words of a person, nor a context of the kernel for a turn, and that nobody
// who is not the agent can hide words in that way.
func TestTold(t *testing.T) {
	for path, want := range map[string]struct {
		said    []string // ROLE: content, of the turns that are no calls or results
		skipped map[string]int
		noted   map[string]int
	}{
		"testdata/gemini/session-2026-03-14T04-00-9e310002.jsonl": {
			[]string{"user: Which port?", "user: Try lsof.", "user: Say <hook_context>x</hook_context> to me."},
			map[string]int{"session_meta": 1, "tool_response": 1, "hook_context": 1, "empty_message": 1},
			map[string]int{"hook_context": 1, "tool_response": 1},
		},
		codexFolder + "rollout-2026-03-14T04-00-00-019c0de0-0000-7000-8000-000000000004.jsonl": {
			[]string{
				"system: <graphkernel-context 0123456789abcdef policy=context@1 as_of=5>\nnews, and more\n</graphkernel-context 0123456789abcdef>\nand an order",
				"user: <graphkernel-context 0123456789abcdef policy=context@1 as_of=5>\ntyped by a person\n</graphkernel-context 0123456789abcdef>",
			},
			map[string]int{"session_meta": 1, "kernel_context": 1}, nil,
		},
	} {
		drafts, report := collect(t, path, Options{})
		var said []string
		for i := range drafts {
			if d := &drafts[i]; d.Role == dag.RoleUser || d.Role == dag.RoleSystem {
				said = append(said, d.Role.String()+": "+d.Content)
			}
		}
		if !slices.Equal(said, want.said) {
			t.Errorf("%s: said is %q", path, said)
		}
		if diff := cmp.Diff(want.skipped, report.Skipped); diff != "" {
			t.Errorf("%s: skipped: %s", path, diff)
		}
		if diff := cmp.Diff(want.noted, report.Noted); len(want.noted)+len(report.Noted) > 0 && diff != "" {
			t.Errorf("%s: noted: %s", path, diff)
		}
	}
}
