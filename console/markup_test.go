package console_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMarkup holds that pages write markup by themselves in two places only: the signs within texts, and the sign of the program.
func TestMarkup(t *testing.T) {
	found := 0
	for _, path := range must(filepath.Glob("*.go")) {
		if n := strings.Count(string(must(os.ReadFile(path))), "h.Raw("); n > 0 && !strings.HasSuffix(path, "_test.go") {
			if found += n; path != "text.go" && path != "frame.go" {
				t.Errorf("%s writes markup by itself: text is for h.Text, or for text where somebody wrote it", path)
			}
		}
	}
	if found != 2 {
		t.Errorf("%d places write markup, want 2", found)
	}
}
