package dag_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/dag"
)

// TestOpenings adds turns in any order, and compares the openings of each conversation, as of each number, with a scan of all turns.
func TestOpenings(t *testing.T) {
	several := 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 24).Draw(t, "turns")
		turns := make([]dag.Skeleton, n)
		for i := range turns {
			turns[i] = dag.Skeleton{Seq: dag.Seq(i + 1), ID: turnID(i), Conversation: conversationID(rapid.IntRange(1, 2).Draw(t, "conversation")), Role: dag.Role(rapid.IntRange(1, 2).Draw(t, "role"))}
			turns[i].Marks = dag.Marks{Rules: dag.Marks2, Voice: dag.Voices[rapid.IntRange(0, 1).Draw(t, "voice")], Origin: dag.Origin{
				Channel: dag.Channels[rapid.IntRange(0, 1).Draw(t, "channel")], Author: dag.Thing{byte(rapid.IntRange(0, 2).Draw(t, "author"))},
			}}
		}
		g := dag.NewGraph()
		for _, s := range rapid.Permutation(turns).Draw(t, "order") {
			if err := g.Add(&s); err != nil {
				t.Fatal(err)
			}
		}
		type sort struct {
			dag.Role
			dag.Voice
			dag.Channel
		}
		for at := dag.Seq(0); at <= dag.Seq(n); at++ {
			v := g.At(at)
			for i := range turns {
				var want, got []dag.TurnID
				seen := map[sort]bool{}
				for j := range turns {
					o := &turns[j]
					if is := (sort{o.Role, o.Marks.Voice, o.Marks.Origin.Channel}); o.Conversation == turns[i].Conversation && o.Seq <= at && !seen[is] {
						seen[is] = true
						want = append(want, o.ID)
					}
				}
				node, _ := g.At(dag.Seq(n)).Find(turns[i].ID)
				for _, o := range v.AppendOpenings(nil, node) {
					got = append(got, v.ID(o))
				}
				if !slices.Equal(got, want) {
					t.Fatalf("as of %d, turn %d: got %v, want %v", at, i, got, want)
				}
				if len(want) > 2 {
					several++
				}
				if got := v.Origin(node); got != turns[i].Marks.Origin {
					t.Fatalf("turn %d came in by %+v, want %+v", i, got, turns[i].Marks.Origin)
				}
			}
		}
	})
	if several == 0 {
		t.Error("no conversation has several openings")
	}
}
