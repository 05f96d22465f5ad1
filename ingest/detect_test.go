package ingest

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// samples has the format of every sample of another program in testdata, by the beginning of its path.
var samples = map[string]Format{
	"chatgpt.json": ChatGPT, "commits.jsonl": Git, "claude/": ClaudeCode, "openai/": OpenAI, "codex/": Codex, "claude-ai.json": ClaudeAI, "gemini/": Gemini, "otel/": OTel,
}

// TestSamplesAreTold looks at every sample: each has the marks of its own format and of no other, whole, and
// cut after each of its lines.
func TestSamplesAreTold(t *testing.T) {
	seen := map[Format]int{}
	err := filepath.WalkDir("testdata", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		want, name := Format(""), strings.TrimPrefix(filepath.ToSlash(path), "testdata/")
		for prefix, format := range samples {
			if strings.HasPrefix(name, prefix) {
				want = format
			}
		}
		if want == "" {
			return nil
		}
		seen[want]++
		text := []byte(readTestFile(t, name))
		for end := len(text); end > 0; end = bytes.LastIndexByte(text[:end-1], '\n') + 1 {
			l := lookInto(text[:end])
			for _, f := range Formats {
				if l.seen[f] > 0 && f != want {
					t.Fatalf("%s, of %s, after %d bytes: %s", name, want, end, l)
				}
			}
			if end == len(text) && l.seen[want] == 0 {
				t.Errorf("%s is not known: %s", name, l)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Formats {
		if seen[f] == 0 && f != JSONL { // of those the other tests have enough
			t.Errorf("no sample of %s", f)
		}
	}
}
