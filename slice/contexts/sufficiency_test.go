package contexts_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// TestSufficiency compares the coverage of random tasks with one that compares all words of the task with all words of the texts.
func TestSufficiency(t *testing.T) {
	text, err := os.ReadFile("../../retrieval/embed/static/vocabulary.txt")
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(text))
	r := rand.New(rand.NewPCG(5, 5))
	some := func(n int) string {
		var all []string
		for range n {
			all = append(all, words[r.IntN(len(words))])
		}
		return strings.Join(all, " ")
	}
	full, part := 0, 0
	for range 200 {
		var b contexts.Bundle
		b.Turns = make([]contexts.ChosenTurn, 2)
		b.Turns[0].Body = dag.Body{Content: some(60), Author: "human:lead"}
		b.Turns[1].Body = dag.Body{Content: some(60), Author: "agent:builder"}
		b.Request.Task = some(r.IntN(4))
		for range r.IntN(6) {
			of := strings.Fields(b.Turns[r.IntN(2)].Body.Content)
			b.Request.Task += " " + of[r.IntN(len(of))] + []string{"", "s", "ing", "ed"}[r.IntN(4)]
		}
		var there []string
		for i := range b.Turns {
			there = analysis.English.Terms(there, b.Turns[i].Body.Content+" "+b.Turns[i].Body.Author)
		}
		all, found := map[string]bool{}, 0
		for _, at := range analysis.Words(b.Request.Task) {
			terms := analysis.English.Terms(nil, b.Request.Task[at.From:at.To])
			if len(terms) == 0 || all[terms[0]] {
				continue
			}
			all[terms[0]] = true
			if slices.ContainsFunc(terms, func(s string) bool { return slices.Contains(there, s) }) {
				found++
			}
		}
		want := dag.One
		if len(all) > 0 {
			want = dag.PPM(1_000_000 * found / len(all))
		}
		got := b.Sufficiency()
		if got.Share != want || len(got.Missing) != len(all)-found {
			t.Fatalf("task %q: %+v, want %d of %d", b.Request.Task, got, found, len(all))
		}
		if found == len(all) {
			full++
		} else if found > 0 {
			part++
		}
	}
	if full < 3 || part < 50 {
		t.Errorf("%d tasks covered, %d in part: too few to tell", full, part)
	}
}
