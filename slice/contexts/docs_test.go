package contexts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// TestDocs compares docs/contexts.md with the code where it writes bytes out: the canonical form of a policy, the notes, and the characters that
// are shown as signs.
func TestDocs(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "contexts.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := strings.ReplaceAll(string(data), "\n     ", "")
	var acts []string
	for first := rune(0); first <= unicode.MaxRune; first++ {
		if !render.Acts(first) {
			continue
		}
		last := first
		for render.Acts(last + 1) {
			last++
		}
		item := fmt.Sprintf("%04X", first)
		if last > first {
			item += fmt.Sprintf("–%04X", last)
		}
		acts, first = append(acts, item), last
	}
	note, inJSON := (&contexts.Request{RulesAsOf: 7}).Note(0), (&contexts.Request{RulesAsOf: 7, Format: contexts.JSON}).Note(0)
	for what, text := range map[string]string{
		"note of gkc/2": "\n    " + note + "\n", "note of json": "a space and `" + strings.TrimPrefix(inJSON, note+" ") + "`",
		"context@1": string(contexts.DefaultV1().Canonical()), "context@2": string(contexts.Default().Canonical()), "note": "\n    " + contexts.Preamble + "\n", "counter": "`" + contexts.Counter + "`", "version": contexts.SchemaVersion,
	} {
		if !strings.Contains(page, text) {
			t.Errorf("%s: the page has not %s", what, text)
		}
	}
	_, list, _ := strings.Cut(page, "These characters act:\n\n")
	list, _, _ = strings.Cut(list, "\n\n")
	if got, want := strings.Fields(list), acts; strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("the page lists %s, and render.Acts %s: prompts of contexts would have other bytes", got, want)
	}
}
