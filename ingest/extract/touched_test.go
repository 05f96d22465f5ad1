package extract_test

import (
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/extract"
)

// TestTouched holds what a turn touches by itself.
func TestTouched(t *testing.T) {
	calls := func(tools, content string) dag.Draft {
		return dag.Draft{Role: dag.RoleAssistant, Content: content, Attrs: map[string]string{"blocks": "tool_use", "tool": tools}}
	}
	for name, tc := range map[string]struct {
		draft dag.Draft
		want  []string
	}{
		"an edit":        {calls("Edit", "[tool_use Edit]\n{\"file_path\":\"/src/a.go\"}"), []string{"file:/src/a.go"}},
		"a read":         {calls("Read", "[tool_use Read]\n{\"file_path\":\"/src/a.go\"}"), []string{"file:/src/a.go"}},
		"several calls":  {calls("Read,Edit,Read", "[tool_use Read]\n{\"file_path\":\"b\"}\n\n[tool_use Edit]\n{\"file_path\":\"a\"}\n\n[tool_use Read]\n{\"file_path\":\"b\"}"), []string{"file:b", "file:a"}},
		"a call made up": {calls("Read", "[tool_use Read]\n{\"file_path\":\"b\"}\n\n[tool_use Edit]\n{\"file_path\":\"a\"}"), nil},
		"packages":       {calls("Bash", "[tool_use Bash]\n{\"command\":\"go get example.com/a@v1 \\u0026\\u0026 go test ./...\"}"), []string{"pkg:go:example.com/a"}},
		"a command":      {calls("Bash", "[tool_use Bash]\n{\"command\":\"git commit -m x\"}"), nil},
		"a commit":       {dag.Draft{Role: dag.RoleUser, Content: "Add it, see https://github.com/acme/tool/pull/9", Attrs: map[string]string{"commit": "true", "external_id": "00ff"}}, []string{"commit:00ff", "url:https://github.com/acme/tool/pull/9"}},
		"a pull request": {dag.Draft{Role: dag.RoleUser, Content: "see https://github.com/acme/tool/pull/9 and PR #10"}, []string{"url:https://github.com/acme/tool/pull/9"}},
		"a result":       {dag.Draft{Role: dag.RoleTool, Content: "[tool_result]\nhttps://github.com/acme/tool/pull/9", Attrs: map[string]string{"blocks": "tool_result", "tool_use_id": "1"}}, nil},
		"an exchange":    {dag.Draft{Role: dag.RoleUser, Content: "https://github.com/acme/tool/pull/9", Attrs: map[string]string{"llm_extract": "1"}}, nil},
		"without a text": {dag.Draft{Role: dag.RoleAssistant, Redacted: true}, nil},
	} {
		if got := extract.TouchedByDraft(&tc.draft); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}
