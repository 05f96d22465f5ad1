package retrieval

import "testing"

// TestLabels keeps what can be filtered by, and nothing else.
func TestLabels(t *testing.T) {
	attrs := map[string]string{"title": "a=b", "cwd": "/src/gateway", "tool": "Bash", "git_branch": "main"}
	l := LabelsOf(attrs)
	if l != "\ncwd=/src/gateway\ngit_branch=main\ntitle=a=b\n" || LabelsOf(map[string]string{"tool": "Bash"}) != "" {
		t.Errorf("labels are %q", l)
	}
	for _, c := range []struct {
		key, value string
		want       bool
	}{
		{"cwd", "/src/gateway", true},
		{"cwd", "/src", true},
		{"cwd", "/", true},
		{"cwd", "/src/", true},
		{"cwd", "/src/gate", false},
		{"cwd", "/src/gateway/below", false},
		{"cwd", "src/gateway", false},
		{"git_branch", "main", true},
		{"git_branch", "mai", false},
		{"git_branch", "", false},
		{"title", "a", false},
		{"title", "a=b", true},
		{"tool", "Bash", false},
		{"model", "", false},
	} {
		if got := l.match(map[string]string{c.key: c.value}); got != c.want {
			t.Errorf("%s=%s: %v", c.key, c.value, got)
		}
	}
	if l.match(map[string]string{"cwd": "/src", "git_branch": "other"}) || !l.match(nil) || Labels("").match(map[string]string{"cwd": "/"}) {
		t.Error("all attributes must match, and no others")
	}
}
