package capture_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/capture"
)

// TestWatcher writes files of many kinds, and expects those that changed, each once.
func TestWatcher(t *testing.T) {
	root := t.TempDir()
	clock := time.Unix(1_000, 0)
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		clock = clock.Add(time.Second)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, clock, clock)); err != nil {
			t.Fatal(err)
		}
	}
	w := capture.NewWatcher(root)
	look := func(want ...string) {
		t.Helper()
		got, err := w.Look()
		for i := range want {
			want[i] = filepath.Join(root, want[i])
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("changed are %q, %v; want %q", got, err, want)
		}
	}
	look()
	write("p/a.jsonl", "1")
	write("p/b.json", "1")
	write("p/notes.txt", "1")
	look("p/a.jsonl", "p/b.json")
	look()
	write("p/a.jsonl", "12")
	look("p/a.jsonl")
	write("p/a.jsonl", "34") // of the same size
	look("p/a.jsonl")
	write("p/a/subagents/agent-1.jsonl", "1")
	write("p/a/subagents/agent-2.jsonl", "1")
	look("p/a.jsonl")
	write("p/a/subagents/workflows/wf_1/agent-4.jsonl", "1")
	look("p/a.jsonl")
	write("p/a/subagents/workflows/wf_1/agent-4.meta.json", "{}")
	look("p/a.jsonl")
	write("p/a/tool-results/toolu_1.json", "[]") // a tool wrote these
	write("p/lost/tool-results/toolu_1.jsonl", "[]")
	look()
	w.Forget(filepath.Join(root, "p/a.jsonl"))
	look("p/a.jsonl")
	write("p/lost/subagents/agent-3.jsonl", "1") // its session is gone
	look("p/lost/subagents/agent-3.jsonl")
	if err := errors.Join(os.Remove(filepath.Join(root, "p/b.json")), os.Symlink(filepath.Join(root, "p/b.json"), filepath.Join(root, "link.json"))); err != nil {
		t.Fatal(err)
	}
	look()
	write("p/b.json", "1")
	look("link.json", "p/b.json")
	write("p/c.jsonl.zst", "1") // Codex CLI packs a session, and removes it
	write("p/a.jsonl.zst", "1") // and did not come to that
	write("p/notes.txt.zst", "1")
	look("p/c.jsonl.zst")
	if err := os.Remove(filepath.Join(root, "p/c.jsonl.zst")); err != nil {
		t.Fatal(err)
	}

	elsewhere := t.TempDir() // a folder of a project that is a link, and one that leads back
	if err := errors.Join(os.Symlink(elsewhere, filepath.Join(root, "linked")), os.Symlink(root, filepath.Join(elsewhere, "back")), os.WriteFile(filepath.Join(elsewhere, "c.jsonl"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	look("linked/c.jsonl")
	if err := os.Remove(filepath.Join(root, "linked")); err != nil {
		t.Fatal(err)
	}

	gone := capture.NewWatcher(filepath.Join(root, "absent"), root)
	if got, err := gone.Look(); !errors.Is(err, fs.ErrNotExist) || len(got) != 4 {
		t.Errorf("%q, %v; want what the other folder has, and an error", got, err)
	}
}
