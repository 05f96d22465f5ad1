package main

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/dag"
)

// TestGold compares the gold of the small session with what a reader of its lines says.
func TestGold(t *testing.T) {
	path := filepath.Join("testdata", "data", "entire", "claude-11111111-0000-4000-8000-000000000001.jsonl")
	events, err := readTranscript(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := instance(t).imported(t.Context(), "small", path)
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) time.Time {
		when, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	first := checkpoint{Files: []string{"store/store.go"}, CreatedAt: at("2026-02-01T10:01:01Z")}
	second := checkpoint{Files: []string{"store/store.go", "store/store_test.go"}, CreatedAt: at("2026-02-01T10:03:05Z")}
	for _, test := range []struct {
		of     checkpoint
		anchor string
		want   map[string]string // by kind: the last two digits of the turns' names, or "queued"
	}{
		{checkpoint{Files: first.Files, CreatedAt: at("2026-02-01T10:00:15Z")}, "03", map[string]string{prompted: "", edited: "", readFile: "02", result: "03", holding: "03", stale: ""}},
		{first, "05", map[string]string{prompted: "01", edited: "04", readFile: "02", result: "03", holding: "", stale: "03 05"}},
		{second, "15", map[string]string{prompted: "01 07 09 queued", edited: "04 10 12", readFile: "02", result: "03", holding: "", stale: "03 05 08 11 13"}},
	} {
		ch := change{checkpoint: test.of, commit: commit{Text: "x"}, before: test.of.CreatedAt}
		if err := ch.find(c, events); err != nil {
			t.Fatal(err)
		}
		if got := short(c, ch.q.Anchor); got != test.anchor {
			t.Errorf("the anchor is %s, want %s", got, test.anchor)
		}
		for kind, want := range test.want {
			var ids []string
			of := ch.gold[kind]
			if kind == stale {
				of = ch.stale
			}
			for id := range of {
				ids = append(ids, short(c, id))
			}
			slices.Sort(ids)
			if got := strings.Join(ids, " "); got != want {
				t.Errorf("%s: got %q, want %q", kind, got, want)
			}
		}
	}
	none := change{before: at("2026-02-01T09:00:00Z")}
	if err := none.find(c, events); err == nil {
		t.Error("a commit before the session has an anchor")
	}
}

func short(c *Corpus, id dag.TurnID) string {
	if c.turn(id).Attrs["queued_at"] != "" {
		return "queued"
	}
	name := id.String()
	return name[len(name)-2:]
}

// TestKnownCommit has a case whose answer a person has looked up.
func TestKnownCommit(t *testing.T) {
	folder := filepath.Join(cmp.Or(os.Getenv("GRAPHKERNEL_DATA"), filepath.Join("..", "..", "shared", "data")), "entire")
	path := filepath.Join(folder, "claude-768de5d6-9fad-475b-8a4f-dfa7ddc01bb0.jsonl")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("SKIPPED: %v; $GRAPHKERNEL_DATA names the folder of the data", err)
	}
	events, err := readTranscript(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := instance(t).imported(t.Context(), "known", path)
	if err != nil {
		t.Fatal(err)
	}
	list, err := readLines[checkpoint](filepath.Join(folder, "checkpoints.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(list, func(c checkpoint) bool { return c.ID == "6e06350ae701" })
	ch := change{checkpoint: list[at], before: time.Date(2026, 2, 6, 10, 5, 28, 0, time.UTC)}
	if err := ch.find(c, events); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"079a02ab-9d1d-470e-ba78-3c5ce3b9b75d": true, "18d70008-591f-4604-9bb3-abd26df866c6": false} {
		id, err := dag.ParseTurnID(name)
		if err != nil {
			t.Fatal(err)
		}
		if ch.gold[prompted][id] != want {
			t.Errorf("prompt %s: %t, want %t", name, ch.gold[prompted][id], want)
		}
	}
}

func TestMessage(t *testing.T) {
	if got := message("Do it\n\nWith care.\n\nEntire-Checkpoint: 0123\nCo-Authored-By: A model"); got != "Do it\n\nWith care." {
		t.Errorf("got %q", got)
	}
}

// TestBudgets holds that the first budget is the number that the project keeps, whatever slices take today.
func TestBudgets(t *testing.T) {
	own := t.TempDir()
	args := []string{"-data", smallData, "-own", own, "-only", "sessions"}
	if err := run(t.Context(), append(args, "-budgets"), io.Discard); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(own, "budgets.json")
	made, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(made), `"c1": `) {
		t.Fatalf("got %s, %v", made, err)
	}
	for kept, want := range map[string]string{
		`{"c1": 60, "c2": 60}`:     "| prompts within the slice's tokens | 2 | 0.000 |",
		`{"c1": 9000, "c2": 9000}`: "| prompts within the slice's tokens | 2 | 1.000 |",
		`{"c1": 60}`:               "checkpoint c2 has no budget",
	} {
		if err := os.WriteFile(path, []byte(kept), 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := table(t, args...)
		if err != nil {
			got += err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("with %s: got\n%s", kept, got)
		}
	}
}

// TestPast holds that of a set only the turns more than some before the anchor count.
func TestPast(t *testing.T) {
	c := small(t, "one", "two", "three", "four")
	all := map[dag.TurnID]bool{}
	for i := range c.Turns {
		all[c.Turns[i].ID] = true
	}
	for turns, want := range map[int]int{0: 4, 1: 1, 2: 0} {
		if got := c.past(all, c.Turns[2].ID, turns); len(got) != want || want == 1 && !got[c.Turns[0].ID] {
			t.Errorf("%d are more than %d turns before the third, want %d", len(got), turns, want)
		}
	}
}
