package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/knowledge"
)

// knowledgeRun runs a command on a store of the test's own.
func knowledgeRun(t *testing.T, path string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	a := testApp()
	var out, messages bytes.Buffer
	a.stdout, a.stderr = &out, &messages
	code = a.run(context.Background(), append([]string{"--store", "sqlite:" + path, "--output", "json", "knowledge"}, args...))
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
	want(exitInternal, fmt.Sprintf(`"asserted": %d,`, knowledge.MaxActs), fmt.Sprintf("facts.jsonl:%d: ", knowledge.MaxActs+8))
	write(strings.ReplaceAll(text.String(), `,"turn":"00000000-0000-4000-8000-000000000001"`, ""))
	want(exitOK, `"asserted": 20,`, fmt.Sprintf(`"existing": %d,`, knowledge.MaxActs), fmt.Sprintf(`"head": %d`, knowledge.MaxActs+20))
	write(text.String() + strings.Repeat("x", mostLine+1))
	want(exitMalformed, "facts.jsonl:10021: the line has more than")
}

// TestNextBatch follows the sizes of batches on stores of several speeds.
func TestNextBatch(t *testing.T) {
	t.Parallel()
	for each, want := range map[time.Duration][]int{ // by the time that an act takes
		time.Microsecond:       {10_000, 20_000, 40_000, 80_000, 100_000, 100_000},
		30 * time.Microsecond:  {10_000, 20_000, 40_000, 80_000, 80_000}, // which take 2.4 s
		100 * time.Microsecond: {10_000, 20_000, 20_000},
		time.Millisecond:       {10_000, 10_000},
	} {
		size := knowledge.MaxActs
		for i, w := range want {
			if size != w {
				t.Errorf("%v an act: batch %d has %d, want %d", each, i, size, w)
			}
			size = nextBatch(size, size, time.Duration(size)*each)
		}
	}
	if got := nextBatch(80_000, 80_000, 4*time.Second); got != 40_000 {
		t.Errorf("a store that became slow is given %d next, want 40000", got)
	}
	if got := nextBatch(80_000, 39_999, time.Second); got != knowledge.MaxActs {
		t.Errorf("behind a batch that was known for the most part come %d, want %d", got, knowledge.MaxActs)
	}
}

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
