package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// TestRecollect checks the fillers, and the error for an answer that is not a turn.
func TestRecollect(t *testing.T) {
	e := &Evaluation{instance: instance(t), strategies: strategies, data: smallData}
	c, err := e.everything(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []dag.Role{dag.RoleUser, dag.RoleSystem, dag.RoleUser, dag.RoleUser} {
		if got := &c.Turns[i]; got.Role != want || len(got.Parents) != [...]int{0, 0, 1, 0}[i] {
			t.Errorf("turn %d, %q, is of the role %s and has %d parents", i, got.Content, got.Role, len(got.Parents))
		}
	}
	for _, want := range []string{"I want to change my seat.", "Both hang on one fuse, and the voltage drops for a moment.", "Please put a cache in front of the table."} {
		found := 0
		for i := range c.Turns {
			if c.Turns[i].Content == want {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%d turns say %q", found, want)
		}
	}

	own := t.TempDir()
	if err := os.Mkdir(filepath.Join(own, "recall"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"r1.jsonl", "r2.jsonl"} {
		line := `{"turn":"44444444-0000-4000-8000-000000000001","typed":"who","words":"what"}`
		if err := os.WriteFile(filepath.Join(own, "recall", name), []byte(line), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := table(t, "-data", smallData, "-own", own, "-only", "recall"); err == nil || !strings.Contains(err.Error(), `"who": record 44444444-0000-4000-8000-000000000001 is no turn`) {
		t.Errorf("got %v", err)
	}
}

// TestRemembered compares the added words with the three commonest rare ones.
func TestRemembered(t *testing.T) {
	contents := []string{"rare", "seldom seldom", "seldom once", "now then", "now and then", "now"}
	for len(contents) < 150 {
		contents = append(contents, "often "+strings.Repeat("x", len(contents)))
	}
	c := small(t, contents...)
	r := &recollection{Typed: "Often rare seldom once now missing", Words: "what was it?"}
	if got, want := c.remembered(r), "what was it? now seldom once"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
