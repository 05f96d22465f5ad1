package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/facts"
	"github.com/graphkernel/graphkernel/knowledge"
)

// knowledgeRun runs a command on a store of the test's own.
func knowledgeRun(t *testing.T, path string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	a := testApp()
	var out, messages bytes.Buffer
	a.IO.Stdout, a.IO.Stderr = &out, &messages
	code = a.Run(context.Background(), append([]string{"--store", "sqlite:" + path, "--output", "json", "knowledge"}, args...))
	return code, out.String(), messages.String()
}

// TestKnowledgeImportBatches learns more than fits a batch. A fact of the second that only the
// store can refuse is named by its line, and what the first learned stays and is counted.
func TestKnowledgeImportBatches(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var text strings.Builder
	for i := range knowledge.MaxActs + 20 {
		turn := ""
		if i == knowledge.MaxActs+7 {
			turn = `,"turn":"00000000-0000-4000-8000-000000000001"`
		}
		fmt.Fprintf(&text, `{"subject":"s%d","predicate":"is","object":"o%d"%s}`+"\n", i, i%7, turn)
	}
	file, db := filepath.Join(folder, "facts.jsonl"), filepath.Join(folder, "facts.db")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := func(code int, parts ...string) {
		t.Helper()
		got, out, messages := knowledgeRun(t, db, "import", file)
		if got != code {
			t.Errorf("exit code %d, want %d: %s", got, code, messages)
		}
		for _, part := range parts {
			if !strings.Contains(out, part) {
				t.Errorf("no %s in %s", part, out)
			}
		}
	}
	write(text.String())
	want(api.ExitInternal, fmt.Sprintf(`"asserted": %d,`, knowledge.MaxActs), fmt.Sprintf("facts.jsonl:%d: ", knowledge.MaxActs+8))
	write(strings.ReplaceAll(text.String(), `,"turn":"00000000-0000-4000-8000-000000000001"`, ""))
	want(api.ExitOK, `"asserted": 20,`, fmt.Sprintf(`"existing": %d,`, knowledge.MaxActs), fmt.Sprintf(`"head": %d`, knowledge.MaxActs+20))
	write(text.String() + strings.Repeat("x", facts.MostLine+1))
	want(api.ExitMalformed, "facts.jsonl:10021: the line has more than")
}
