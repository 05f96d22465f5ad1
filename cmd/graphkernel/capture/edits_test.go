package capture

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/capture"
)

// tree returns the texts of all files below a folder.
func tree(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, folder)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestCutOff cuts off each change between two edits, and makes it again: the result is that of a change that was made at once. While a plugin takes the place of hooks in the
// settings, or these its place, hooks are in one of the two.
func TestCutOff(t *testing.T) {
	hooks := []capture.Hook{{Event: capture.Stop, Command: "/opt/graphkernel-hook claude-code /spool"}}
	const mine = "{\"model\": \"opus\"}\n"
	changes := map[string]func(t *target) (edits, error){
		"plugin":   func(t *target) (edits, error) { return t.install(true, hooks, []string{"/opt/graphkernel", "mcp"}) },
		"settings": func(t *target) (edits, error) { return t.install(false, hooks, nil) },
		"removal":  (*target).remove,
	}
	cuts := 0
	for from, before := range changes {
		for to, change := range changes {
			start := func(t *testing.T) (*target, string) {
				home := t.TempDir()
				in := &target{capture.ClaudeCode, filepath.Join(home, "settings.json"), filepath.Join(home, "skills", "graphkernel")}
				if err := os.WriteFile(in.settings, []byte(mine), 0o600); err != nil {
					t.Fatal(err)
				}
				list, err := before(in)
				if err == nil {
					err = list.apply(in.plugin)
				}
				if err != nil {
					t.Fatal(err)
				}
				return in, home
			}
			whole, home := start(t)
			list, err := change(whole)
			if err == nil {
				err = list.apply(whole.plugin)
			}
			if err != nil {
				t.Fatalf("from %s to %s: %v", from, to, err)
			}
			want := tree(t, home)
			for cut := range len(list) {
				in, home := start(t)
				list, err := change(in)
				if err == nil {
					err = list[:cut].apply(in.plugin)
				}
				if err != nil {
					t.Fatal(err)
				}
				if got, _, err := in.installed(); err != nil || to != "removal" && from != "removal" && !slices.Contains(got, hooks[0]) {
					t.Errorf("from %s to %s, cut after %d edits: the hooks are %v, %v", from, to, cut, got, err)
				}
				again, err := change(in)
				if err == nil {
					err = again.apply(in.plugin)
				}
				if got := tree(t, home); err != nil || len(got) != len(want) {
					t.Fatalf("from %s to %s, cut after %d edits and made again: %v, %v, want %v", from, to, cut, got, err, want)
				} else {
					for path, text := range want {
						if path != "/settings.json" && got[path] != text {
							t.Errorf("from %s to %s, cut after %d edits: %s has %q, want %q", from, to, cut, path, got[path], text)
						}
					}
				}
				cuts++
			}
		}
	}
	if cuts < 30 {
		t.Errorf("%d cuts", cuts)
	}
}
