package facts

import (
	"strings"
	"testing"
)

// TestClipped keeps both ends of a name.
func TestClipped(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"short": "short", "a\x1b[31m b": "a [31m b",
		"/home/user/" + strings.Repeat("folder/", 20) + "file.go": "/home/user/folder/f…lder/folder/folder/folder/folder/file.go",
	} {
		if got := clipped(name); got != want {
			t.Errorf("clipped(%q) is %q, want %q", name, got, want)
		}
	}
}
