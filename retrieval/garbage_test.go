package retrieval_test

import (
	"fmt"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
	"github.com/graphkernel/graphkernel/retrieval/embed/static"
)

// TestSearchLeavesLittle counts what a search allocates that compares every turn: nothing for each of those that are no hit.
func TestSearchLeavesLittle(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates, too")
	}
	const turns = 4_000
	table := static.Load()
	list, texts := make([]retrieval.Turn, turns), make([]string, turns)
	for i := range list {
		texts[i] = fmt.Sprintf("the gateway of room %d answered", i)
		list[i] = retrieval.Turn{ID: dag.ExternalTurnID("garbage", fmt.Sprint(i)), Conversation: dag.ExternalConversationID("garbage", fmt.Sprint(i/50)), Seq: dag.Seq(i + 1), Role: dag.RoleUser, Author: "human:user", Content: texts[i]}
	}
	vectors, err := table.Embed(t.Context(), append(texts, "a door that replied"))
	if err != nil {
		t.Fatal(err)
	}
	x := retrieval.New(analysis.English, table.Model().Dimensions)
	if err := x.Add(list, vectors[:turns]); err != nil {
		t.Fatal(err)
	}
	p := retrieval.FindPolicy()
	q := &retrieval.Query{Text: "a door that replied", Vector: vectors[turns], AsOf: turns, Limit: 10}
	if n := testing.AllocsPerRun(5, func() {
		if hits := x.Search(&p, q); len(hits) != 10 {
			t.Fatalf("%d hits", len(hits))
		}
	}); n > turns/10 {
		t.Errorf("a search of %d turns allocates %.0f times", turns, n)
	}
}
