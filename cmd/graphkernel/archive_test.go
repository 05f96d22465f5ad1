package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

// TestBeliefArchive archives items that were contracted a hundred days ago. It makes sure that the file exists before anything is
// recorded, that no existing file is overwritten, and that one command restores the items.
func TestBeliefArchive(t *testing.T) {
	dir := t.TempDir()
	config := testConfig()
	now := config.Clock()
	config.Clock = func() time.Time { return now }
	run := func(want int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		config.Stdout, config.Stderr = &out, &out
		if code := cli.New(config).Run(context.Background(), append([]string{"--store", "sqlite:" + filepath.Join(dir, "store.db")}, args...)); code != want {
			t.Fatalf("%v: exit code %d, want %d\n%s", args, code, want, out.String())
		}
		return out.String()
	}
	file := filepath.Join(dir, "old.archive")
	run(0, "init")
	run(0, "belief", "space", "acme/desk")
	run(0, "belief", "revise", "acme/desk", "pump", "is", "loud", "--item", "kref://acme/desk/pump.observation", "--until", "2026-03-15")
	run(0, "belief", "abstract", "acme/desk", "pump", "is", "odd", "--from", "kref://acme/desk/pump.observation", "--specificity", "0", "--confidence", "0.1", "--item", "kref://acme/desk/odd.observation")
	run(0, "belief", "contract", "acme/desk", "pump", "is", "odd")
	if out := run(0, "belief", "archive", "acme/desk", "--file", file); out != "nothing to archive\n" {
		t.Errorf("at once: %s", out)
	}
	now = now.Add(100 * 24 * time.Hour)
	before := run(0, "belief", "show", "kref://acme/desk/odd.observation?r=1")
	if out := run(0, "belief", "archive", "acme/desk", "--dry-run"); !strings.Contains(out, "kref://acme/desk/odd.observation  1 revision, confidence 0.1") || !strings.Contains(out, "1 item would be archived") {
		t.Errorf("dry: %s", out)
	}
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(1, "belief", "archive", "acme/desk", "--file", file)
	if data, err := os.ReadFile(file); err != nil || string(data) != "mine" {
		t.Errorf("the file was written over: %q, %v", data, err)
	}
	if out := run(0, "belief", "archive", "acme/desk", "--dry-run"); !strings.Contains(out, "1 item would be archived") {
		t.Errorf("without a file it was archived: %s", out)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if out := run(0, "belief", "archive", "acme/desk", "--file", file); !strings.Contains(out, "1 item archived in "+file) {
		t.Errorf("%s", out)
	}
	if out := run(0, "belief", "show", "kref://acme/desk/odd.observation?r=1"); !strings.Contains(out, "deprecated") {
		t.Errorf("%s", out)
	}
	good, err := os.ReadFile(file)
	if err != nil || bytes.Count(good, []byte("\n")) != 2 {
		t.Fatalf("%q, %v", good, err)
	}
	if err := os.WriteFile(file, bytes.Replace(good, []byte("odd"), []byte("add"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	run(20, "belief", "unarchive", "--file", file)
	if err := os.WriteFile(file, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := run(0, "belief", "unarchive", "--file", file, "--dry-run"); !strings.Contains(out, "1 item would be restored") {
		t.Errorf("%s", out)
	}
	if out := run(0, "belief", "unarchive", "--file", file); !strings.Contains(out, "kref://acme/desk/odd.observation  restored") {
		t.Errorf("%s", out)
	}
	_, was, _ := strings.Cut(before, "\n") // the first line has the number that it is as of
	if _, is, _ := strings.Cut(run(0, "belief", "show", "kref://acme/desk/odd.observation?r=1"), "\n"); is != was || was == "" {
		t.Errorf("it was\n%sand is\n%s", was, is)
	}
	if out := run(0, "belief", "unarchive", "--file", file); !strings.Contains(out, "unchanged: it is not archived") {
		t.Errorf("%s", out)
	}
	run(0, "fsck")
}
