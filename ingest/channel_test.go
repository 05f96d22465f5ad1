package ingest_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
)

const (
	claudeLines = `{"type":"user","uuid":"11111111-1111-4111-8111-111111111111","parentUuid":null,"sessionId":"22222222-2222-4222-8222-222222222222","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/src","message":{"role":"user","content":"mend the pump"}}` + "\n"
	ownLines    = `{"id":"33333333-3333-4333-8333-333333333333","conversation":"44444444-4444-4444-8444-444444444444","role":"user","author":"human:lead","created_at":"2026-01-02T03:04:05Z","content":"the project's own line"}` + "\n"
	openaiFile  = `[{"role":"user","content":"a chat of a program"},{"role":"assistant","content":"an answer"}]`
)

// TestBatchFormat reads a session of Claude Code after, before and between files of every other kind: each turn comes in by the channel of its own file.
func TestBatchFormat(t *testing.T) {
	write := func(t *testing.T, path, text string) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, prepare := range map[string]func(t *testing.T, dir string) []string{
		"alone": func(t *testing.T, dir string) []string { return nil },
		"a note of another project": func(t *testing.T, dir string) []string {
			write(t, filepath.Join(dir, "a", "MEMORY.md"), "# Notes\n")
			return nil
		},
		"a link": func(t *testing.T, dir string) []string {
			if err := os.Symlink("nowhere", filepath.Join(dir, "a-link")); err != nil {
				t.Skip(err)
			}
			return nil
		},
		"lines": func(t *testing.T, dir string) []string {
			write(t, filepath.Join(dir, "a.jsonl"), ownLines)
			write(t, filepath.Join(dir, "z.jsonl"), ownLines)
			return nil
		},
		"messages": func(t *testing.T, dir string) []string {
			write(t, filepath.Join(dir, "a.json"), openaiFile)
			return nil
		},
		"a packed copy": func(t *testing.T, dir string) []string {
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			_, _ = w.Write([]byte(claudeLines))
			_ = w.Close()
			write(t, filepath.Join(dir, "m", "session.jsonl.gz"), packed.String())
			return nil
		},
		"a repository": func(t *testing.T, dir string) []string {
			repo := t.TempDir()
			for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=lead", "-c", "user.email=lead@example.invalid", "commit", "-q", "--allow-empty", "-m", "begin"}} {
				if out, err := exec.Command("git", append([]string{"-C", repo}, args...)...).CombinedOutput(); err != nil {
					t.Skipf("git: %v\n%s", err, out)
				}
			}
			return []string{repo}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "m", "session.jsonl"), claudeLines)
			paths := append(prepare(t, dir), dir)
			seen := 0
			_, err := ingest.ReadAll(t.Context(), paths, ingest.Options{}, func(b *ingest.Batch) error {
				if b.Format.Channel().String() == "" {
					t.Errorf("a batch of %s has the format %q", b.Source, b.Format)
				}
				for i := range b.Drafts {
					want := dag.Channel(0)
					switch d := &b.Drafts[i]; d.Content {
					case "mend the pump":
						want = dag.ChannelHarness
						seen++
					case "the project's own line":
						want = dag.ChannelLines
					case "a chat of a program", "an answer":
						want = dag.ChannelChat
					default:
						want = dag.ChannelCommits
					}
					if got := b.Format.Channel(); got != want {
						t.Errorf("%q comes in by %s, want %s", b.Drafts[i].Content, got, want)
					}
				}
				return nil
			})
			if err != nil || seen != 1 {
				t.Errorf("%d turns of the session, %v", seen, err)
			}
		})
	}
}
