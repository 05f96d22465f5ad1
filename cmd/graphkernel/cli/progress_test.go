package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/progress"
)

// TestStop stops bars as soon as they are begun: each is drawn once, and nothing is drawn after Stop.
func TestStop(t *testing.T) {
	for range 100 {
		var out bytes.Buffer
		draw(&out, "importing", progress.UnitsBytes).Stop()
		if !strings.Contains(out.String(), "importing") {
			t.Fatalf("drawn: %q", out.String())
		}
	}
}
