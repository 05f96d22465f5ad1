package extract_test

import (
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/extract"
)

// TestSays holds which turns say something.
func TestSays(t *testing.T) {
	for name, tc := range map[string]struct {
		content, blocks string
		says            bool
	}{
		"words":             {"Done.", "text", true},
		"of another format": {"Done.", "", true},
		"words and a call":  {"I will look.\n\n[tool_use Read]\n{}", "text,tool_use", true},
		"a call":            {"[tool_use Read]\n{}", "tool_use", false},
		"a result":          {"[tool_result]\nok", "tool_result", false},
		"reasoning":         {"Hm.", "thinking", false},
		"white space":       {" \n", "text", false},
		"nothing":           {"", "", false},
	} {
		b := dag.Body{Content: tc.content, Attrs: map[string]string{"blocks": tc.blocks}}
		if got := extract.Says(&b); got != tc.says {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestWrites holds which turns write files and nothing else, and which say that a call failed.
func TestWrites(t *testing.T) {
	for name, tc := range map[string]struct {
		attrs         map[string]string
		writes, fails bool
	}{
		"an edit":              {map[string]string{"blocks": "tool_use", "tool": "Edit"}, true, false},
		"words and two writes": {map[string]string{"blocks": "text,tool_use,tool_use", "tool": "Write,NotebookEdit"}, true, false},
		"another program":      {map[string]string{"blocks": "tool_use", "tool": "create_file"}, true, false},
		"a read":               {map[string]string{"blocks": "tool_use", "tool": "Read"}, false, false},
		"an edit and a read":   {map[string]string{"blocks": "tool_use,tool_use", "tool": "Edit,Read"}, false, false},
		"an unknown tool":      {map[string]string{"blocks": "tool_use", "tool": "Edits"}, false, false},
		"a command":            {map[string]string{"blocks": "tool_use", "tool": "Bash"}, false, false},
		"words":                {map[string]string{"blocks": "text"}, false, false},
		"what an edit gave":    {map[string]string{"blocks": "tool_result", "tool": "Edit"}, false, false},
		"a failure":            {map[string]string{"blocks": "tool_result", "tool": "Edit", "is_error": "true"}, false, true},
		"not a failure":        {map[string]string{"blocks": "tool_result", "tool": "Edit", "is_error": "false"}, false, false},
	} {
		b := dag.Body{Attrs: tc.attrs}
		if writes, fails := extract.Writes(&b), extract.Fails(&b); writes != tc.writes || fails != tc.fails {
			t.Errorf("%s: writes %v, fails %v", name, writes, fails)
		}
	}
}
