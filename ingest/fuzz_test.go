package ingest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// seedWith adds the files of testdata and a few broken pieces as seeds.
func seedWith(f *testing.F, patterns ...string) {
	f.Helper()
	n := 0
	for _, pattern := range patterns {
		paths, err := filepath.Glob(filepath.Join("testdata", pattern))
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
			n++
		}
	}
	if n == 0 {
		f.Fatal("no seeds")
	}
	for _, s := range []string{"", "\n", "{", "[", "[]", "{}", "[{}]", "null", "\"\\ud800\"", "[[[[", "\xef\xbb\xbf{}"} {
		f.Add([]byte(s))
	}
}

// fuzzFormat reads any bytes as a format: no panic, the accounts are exact, and
// every draft is fit for admission. Only the project's own lines may end in an error.
func fuzzFormat(t *testing.T, text []byte, format Format) {
	path := filepath.Join(t.TempDir(), "input.jsonl")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := tryCollect(t, path, Options{Format: format}); err != nil && format != JSONL {
		t.Fatal(err)
	}
	l := lookInto(text)
	_ = l.String()
}

func FuzzJSONL(f *testing.F) {
	seedWith(f, "*.jsonl")
	f.Add([]byte(lineTurn))
	f.Add([]byte(lineRedacted))
	f.Fuzz(func(t *testing.T, text []byte) {
		fuzzFormat(t, text, JSONL)
		d, err := ReadLine(text)
		if err != nil {
			return
		}
		line, err := AppendLine(nil, &d)
		if err != nil {
			t.Fatalf("was read and is not written: %v", err)
		}
		again, err := ReadLine(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil {
			t.Fatal(err)
		}
		if second, _ := AppendLine(nil, &again); !bytes.Equal(second, line) {
			t.Fatalf("%s%s", line, second)
		}
	})
}

func FuzzClaudeCode(f *testing.F) {
	seedWith(f, "claude/*.jsonl", "claude/*/subagents/*.jsonl")
	agent, err := os.ReadFile(filepath.Join("testdata", "claude", claudeFixture, "subagents", "agent-aaa1.jsonl"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		sub := filepath.Join(dir, "s", "subagents")
		if err := os.MkdirAll(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		for path, data := range map[string][]byte{
			filepath.Join(dir, "s.jsonl"):           text,
			filepath.Join(sub, "agent-aaa1.jsonl"):  agent,
			filepath.Join(sub, "agent-again.jsonl"): text,
		} {
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := tryCollect(t, filepath.Join(dir, "s.jsonl"), Options{Format: ClaudeCode}); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzChatGPT(f *testing.F) {
	seedWith(f, "chatgpt.json")
	f.Fuzz(func(t *testing.T, text []byte) { fuzzFormat(t, text, ChatGPT) })
}

func FuzzOpenAI(f *testing.F) {
	seedWith(f, "openai/*")
	f.Fuzz(func(t *testing.T, text []byte) { fuzzFormat(t, text, OpenAI) })
}

func FuzzGit(f *testing.F) {
	seedWith(f, "commits.jsonl")
	f.Fuzz(func(t *testing.T, text []byte) { fuzzFormat(t, text, Git) })
}
