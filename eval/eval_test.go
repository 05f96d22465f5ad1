package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// table runs the program and returns its output.
func table(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	err := run(t.Context(), args, &out)
	return out.String(), err
}

// tableAndRows returns the output, and after it the rows in which a simple rule is better.
func tableAndRows(t *testing.T, args ...string) (string, error) {
	t.Helper()
	got, err := table(t, args...)
	if errors.Is(err, ErrBehind) {
		return got + "\n" + err.Error() + "\n", nil
	}
	return got, err
}

// smallData is the folder of a small set of data, and of the budgets and questions for it.
var smallData = filepath.Join("testdata", "data")

var update = flag.Bool("update", false, "write the tables of the small set of data")

// TestTable compares the tables of a small set of data with those that were looked at, and runs each twice.
func TestTable(t *testing.T) {
	for _, half := range []string{"test", "dev"} {
		args := []string{"-data", smallData, "-own", smallData}
		if half == "dev" {
			args = append(args, "-dev")
		}
		got, err := tableAndRows(t, args...)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", half+".md")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("the half %s: got\n%s\nwant\n%s", half, got, want)
		}
		if again, err := tableAndRows(t, args...); err != nil || again != got {
			t.Errorf("the half %s, run again: %v\n%s", half, err, again)
		}
	}
}

func TestAbsent(t *testing.T) {
	got, err := table(t, "-data", t.TempDir())
	if !errors.Is(err, ErrAbsent) {
		t.Errorf("got %v", err)
	}
	for _, task := range tasks {
		if !strings.Contains(got, "| "+task.name+" |  | absent |") || err == nil || !strings.Contains(err.Error(), task.name) {
			t.Errorf("%s: the table says\n%s", task.name, got)
		}
	}
	if strings.Contains(got, "0.0") {
		t.Errorf("an absent figure is shown as 0:\n%s", got)
	}
	if _, err := table(t, "-only", "nothing"); err == nil || !strings.Contains(err.Error(), "LoCoMo") {
		t.Errorf("an unknown task: got %v", err)
	}
}

// TestFloors makes sure that a search that finds too little ends the run with an error.
func TestFloors(t *testing.T) {
	in := instance(t)
	for name, want := range map[string]string{"search": "search finds 0.000 of the evidence among the first 10, want at least 0.78", "search + vectors": "want at least 0.79"} {
		blind, blinded := slices.Clone(strategies), false
		for i := range blind {
			if blind[i].Name == name {
				blind[i].Choose, blinded = func(context.Context, *Corpus, Question) ([]dag.TurnID, error) { return nil, nil }, true
			}
		}
		e := &Evaluation{instance: in, strategies: blind, data: smallData}
		if err := e.run(t.Context(), tasks[1]); !blinded || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s that is blind, %t: got %v", name, blinded, err)
		}
	}
}

func instance(t *testing.T) *Instance {
	t.Helper()
	in, err := newInstance(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.close(); err != nil {
			t.Error(err)
		}
	})
	return in
}

// small returns a corpus of turns with some contents.
func small(t *testing.T, contents ...string) *Corpus {
	t.Helper()
	var drafts []dag.Draft
	for _, content := range contents {
		drafts = append(drafts, after(drafts, dag.Draft{
			ID: dag.ExternalTurnID("small", content), Conversation: dag.ExternalConversationID("small", "one"),
			Role: dag.RoleUser, Author: "human:ann", Content: content,
		}))
	}
	c, err := instance(t).corpus(t.Context(), "small", drafts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func contents(c *Corpus, ids []dag.TurnID) string {
	var all []string
	for _, id := range ids {
		all = append(all, c.turn(id).Content)
	}
	return strings.Join(all, " | ")
}

func TestStrategies(t *testing.T) {
	c := small(t, "the cat sat", "a dog ran far away over the hill", "the cat and the dog", "nothing", "cat")
	for _, test := range []struct {
		strategy string
		asOf     int // turns
		text     string
		want     string
	}{
		{"last turns", 5, "cat", "cat | nothing | the cat and the dog | a dog ran far away over the hill | the cat sat"},
		{"last turns", 2, "cat", "a dog ran far away over the hill | the cat sat"},
		{"BM25", 5, "Cat!", "cat | the cat sat | the cat and the dog"},
		{"BM25", 5, "dog hill", "a dog ran far away over the hill | the cat and the dog"},
		{"BM25", 4, "cat cat", "the cat sat | the cat and the dog"},
		{"BM25", 5, "?", ""},
		{"search", 5, "?", ""},
		{"search", 1, "the cats", "the cat sat"},
		{"slice default@1", 1, "", "the cat sat"},
	} {
		i := slices.IndexFunc(strategies, func(s Strategy) bool { return s.Name == test.strategy })
		q := Question{Text: test.text, Anchor: c.Turns[test.asOf-1].ID, AsOf: c.Turns[test.asOf-1].Seq}
		ids, err := strategies[i].Choose(t.Context(), c, q)
		if got := contents(c, ids); err != nil || got != test.want {
			t.Errorf("%s of %q at %d: %q, %v; want %q", test.strategy, test.text, test.asOf, got, err, test.want)
		}
	}
}

// TestPack holds that a turn costs a token for each four bytes that begin, and that what does not fit is skipped.
func TestPack(t *testing.T) {
	c := small(t, "12345678", "12345", "1234", "1")
	ids := func(places ...int) (ids []dag.TurnID) {
		for _, p := range places {
			ids = append(ids, c.Turns[p].ID)
		}
		return ids
	}
	none, first, all := c.cost(nil), c.cost(ids(0)), c.cost(ids(0, 1, 2, 3))
	if none < 30 || first < none+10 || all <= first || all > none+4*(first-none) {
		t.Errorf("the frame costs %d, with the first turn %d, with all %d", none, first, all)
	}
	for _, test := range []struct {
		ids    []dag.TurnID
		budget int
		want   []dag.TurnID
	}{
		{ids(0, 1, 2, 3), all, ids(0, 1, 2, 3)},
		{ids(0, 1, 2, 3), all - 1, ids(0, 1, 2)},
		{ids(3, 3, 0), c.cost(ids(3, 0)), ids(3, 0)},
		{ids(0), first - 1, nil},
		{ids(0), none - 1, nil},
	} {
		got := c.pack(test.ids, test.budget)
		if want := setOf(test.want); len(got) != len(want) || len(want) > 0 && recall(got, want) < 1 {
			t.Errorf("%d of %d turns fit into %d, want %d", len(got), len(test.ids), test.budget, len(want))
		}
	}
}

// TestSized holds that a strategy which heeds the budget is asked for each, and others once.
func TestSized(t *testing.T) {
	c := small(t, "one", "two")
	var sized, once []int
	note := func(to *[]int) func(context.Context, *Corpus, Question) ([]dag.TurnID, error) {
		return func(_ context.Context, _ *Corpus, q Question) ([]dag.TurnID, error) {
			*to = append(*to, q.Budget)
			return nil, nil
		}
	}
	e := &Evaluation{strategies: []Strategy{{Name: "sized", Choose: note(&sized), Sized: true}, {Name: "once", Choose: note(&once)}, {Name: "facts", Facts: true}}}
	a := e.ask(t.Context(), c, c.last("?"))
	s := &scores{}
	for _, budget := range []int{500, 1_000} {
		if err := s.add(a, a.within(budget, setOf([]dag.TurnID{c.Turns[0].ID}))); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(sized, []int{500, 1_000}) || !slices.Equal(once, []int{0}) {
		t.Errorf("asked with %v and %v", sized, once)
	}
	if _, asked := s.mean(2); asked || s.questions != 2 {
		t.Errorf("without facts: asked %t, %d questions", asked, s.questions)
	}
}

// TestAblate asks the search without its parts on the small set of data.
func TestAblate(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-data", smallData, "-own", smallData, "-ablate", "search", "-only", "LoCoMo"}, &out); err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(out.String(), "\n")
	if n := strings.Count(head, "| without "); n != len(partsOfSearch) || !strings.Contains(out.String(), "| LoCoMo | evidence among the first 10 | 3 |") {
		t.Errorf("%d parts:\n%s", n, out.String())
	}
}

// TestPictures makes sure that a turn says what the picture shows that was shared with it, and no other turn does.
func TestPictures(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "data", "locomo", "locomo10.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []dialogue
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	drafts, named, err := all[0].drafts(0)
	if err != nil {
		t.Fatal(err)
	}
	pictures := 0
	for _, d := range drafts {
		if strings.Contains(d.Content, "[shares") {
			pictures++
			if d.ID != named["D2:3"] || d.Content != "Only this one! [shares a chamois on a rock]" {
				t.Errorf("got %q", d.Content)
			}
		}
	}
	if pictures != 1 {
		t.Errorf("%d turns share a picture, want 1", pictures)
	}
}
