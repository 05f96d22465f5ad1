package main

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/policy"
)

// TestBehind has rows at the border of what a simple rule may be better by.
func TestBehind(t *testing.T) {
	columns := []Strategy{{Name: "last", Simple: true}, {Name: "words", Simple: true}, {Name: "seeking", Policy: ofSearch}, {Name: "contexts", Policy: ofContext}, {Name: "another"}}
	for _, test := range []struct {
		of        policy.ID
		questions int
		sums      []float64 // by column
		want      string    // "": the row is not behind
	}{
		{ofContext, 1000, []float64{100, 700, 0, 680, 1000}, ""},
		{ofContext, 1000, []float64{100, 700, 700, 679.9, 1000}, "contexts 0.680, words 0.700, 1000 questions"},
		{ofContext, 1000, []float64{700, 100, 700, 679.9, 1000}, "contexts 0.680, last 0.700, 1000 questions"},
		{ofSearch, 1000, []float64{100, 700, 680, 0, 1000}, ""},
		{ofSearch, 1000, []float64{100, 700, 679, 700, 1000}, "seeking 0.679, words 0.700, 1000 questions"},
		{ofSearch, 1000, []float64{100, 700, 900, 0, 1000}, ""},
		{ofContext, 20, []float64{10, 9, 0, 9, 0}, ""}, // one question of 20 is 5 points
		{ofContext, 20, []float64{10, 9, 0, 8.9, 0}, "contexts 0.445, last 0.500, 20 questions"},
		{ofContext, 99, []float64{50, 0, 0, 48, 0}, "contexts 0.485, last 0.505, 99 questions"},
		{ofContext, 99, []float64{50, 0, 0, 48.1, 0}, ""},
		{"", 1000, []float64{700, 700, 0, 0, 0}, ""},
		{ofContext, 0, nil, ""},
	} {
		e := &Evaluation{strategies: columns}
		s := &scores{questions: test.questions, sums: map[int]float64{}}
		for n, sum := range test.sums {
			s.sums[n] = sum
		}
		e.row("task", "measure", "", nil) // absent
		e.row("task", "measure", test.of, s)
		err := e.behind()
		if test.want == "" {
			if err != nil {
				t.Errorf("%v of %d: got %v", test.sums, test.questions, err)
			}
			continue
		}
		if want := "behind a simple rule: task, measure: " + test.want; !errors.Is(err, ErrBehind) || err.Error() != want {
			t.Errorf("%v of %d: got %v, want %s", test.sums, test.questions, err, want)
		}
	}
}

// TestBehindEach holds that each row that is behind has a line, and that a row without a column of ours is an error.
func TestBehindEach(t *testing.T) {
	e := &Evaluation{strategies: []Strategy{{Name: "last", Simple: true}, {Name: "contexts", Policy: ofContext}}}
	for _, measure := range []string{"one", "two"} {
		e.row("task", measure, ofContext, &scores{questions: 10, sums: map[int]float64{0: 9, 1: 2}})
	}
	e.row("task", "three", ofSearch, &scores{questions: 10, sums: map[int]float64{0: 9, 1: 2}})
	err := e.behind()
	if lines := strings.Split(err.Error(), "\n"); len(lines) != 3 || !strings.Contains(lines[1], "two: contexts 0.200, last 0.900") || !strings.Contains(lines[2], "three: no column is under the policy "+string(ofSearch)) {
		t.Errorf("got %v", err)
	}
	e.strategies = []Strategy{{Name: "search"}, {Name: "contexts", Policy: ofContext}} // as under -ablate
	if err := e.behind(); err != nil {
		t.Errorf("without simple rules: got %v", err)
	}
}

// TestOurs holds that what people get are columns of the table, each once.
func TestOurs(t *testing.T) {
	for _, id := range []policy.ID{ofContext, ofSearch} {
		n := 0
		for i := range strategies {
			if strategies[i].Policy == id {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d columns are under %s, want 1", n, id)
		}
	}
	if !slices.ContainsFunc(strategies, func(s Strategy) bool { return s.Simple }) {
		t.Error("no column is a simple rule")
	}
}

// TestSimple holds the order of the simple rules: each class before the next, the newest first, and only prompts and calls of the session itself.
func TestSimple(t *testing.T) {
	ctx := t.Context()
	in := instance(t)
	session, other := dag.ExternalConversationID("simple", "session"), dag.ExternalConversationID("simple", "other")
	var drafts []dag.Draft
	add := func(name string, of dag.ConversationID, role dag.Role, content, tool string) {
		d := dag.Draft{ID: dag.ExternalTurnID("simple", name), Conversation: of, Role: role, Content: content, CreatedAt: dag.Time(1_770_000_000_000_000 + len(drafts)), Attrs: map[string]string{}}
		if tool != "" {
			d.Attrs["tool"] = tool
		}
		if err := ingest.Assign(&d); err != nil {
			t.Fatal(err)
		}
		drafts = append(drafts, d)
	}
	add("elsewhere", other, dag.RoleUser, "Mend parser.go.", "")
	add("their edit", other, dag.RoleAssistant, "edit", "Edit")
	add("first", session, dag.RoleUser, "Begin.", "")
	add("edit", session, dag.RoleAssistant, "edit lexer.go", "Edit")
	add("notice", session, dag.RoleUser, "<command-name>clear</command-name>", "")
	add("run", session, dag.RoleAssistant, "make", "Bash")
	add("read", session, dag.RoleAssistant, "read x/parser.go", "Read")
	add("second", session, dag.RoleUser, "Go on.", "")
	add("answer", session, dag.RoleAssistant, "Done.", "")
	add("later", session, dag.RoleUser, "parser.go, too.", "")
	c, err := in.corpus(ctx, "simple", drafts)
	if err != nil {
		t.Fatal(err)
	}
	at := c.turn(dag.ExternalTurnID("simple", "answer"))
	q := Question{Text: "Mend parser.go and its tests", Anchor: at.ID, AsOf: at.Seq}
	for _, tc := range []struct {
		rule func(*Corpus, Question) func(*Turn) int
		want string
	}{
		{promptsAndLast, "second first answer read run notice edit their_edit elsewhere"},
		{promptsAndCalls, "second first read edit answer run notice their_edit elsewhere"},
		{filesOfTask, "read elsewhere second first answer run notice edit their_edit"},
	} {
		ids, err := ordered(tc.rule)(ctx, c, q)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, id := range ids {
			for _, name := range []string{"elsewhere", "their edit", "first", "edit", "notice", "run", "read", "second", "answer", "later"} {
				if dag.ExternalTurnID("simple", name) == id {
					got = append(got, strings.ReplaceAll(name, " ", "_"))
				}
			}
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("got %q, want %q", strings.Join(got, " "), tc.want)
		}
	}
}
