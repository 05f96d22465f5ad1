package kernel_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/token"
)

// vocabulary is small, so that most turns share words.
var vocabulary = strings.Fields("build server table deleted anna outage report deploy backup migration schema error timeout yesterday may 2026 store/sqlite/write.go HTTPServer")

// TestSearchAsOf lets a store grow at random while texts are erased. What a search finds as of any number is what it
// finds in a store that stopped there and saw the same erasures. A kernel that followed, one that is opened later, and one
// over the other store all agree.
func TestSearchAsOf(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			r := seeded(t)
			a := token.NewAuthority(ring(t, "k1"))
			s := open(t, name)
			k := over(t, s, a)
			var drafts []dag.Draft
			var erased []dag.TurnID
			stops := map[int]bool{}
			rounds, found := 12, 0
			for range rounds {
				for range 1 + r.IntN(8) {
					d := spoken(r, len(drafts))
					must(k.Turns().Admit(t.Context(), tenant, []dag.Draft{d}))
					drafts = append(drafts, d)
				}
				if r.IntN(3) == 0 {
					stops[len(drafts)] = true
				}
				if r.IntN(2) == 0 {
					id := drafts[r.IntN(len(drafts))].ID
					must(k.Turns().Erase(t.Context(), tenant, id, "asked to"))
					erased = append(erased, id)
				}
				must(k.Turns().Search(t.Context(), tenant, question(r, 0))) // so that the index grows with the store
			}
			late := over(t, s, a)
			for stop := range stops {
				small := over(t, open(t, "memory"), a)
				must(small.Turns().Admit(t.Context(), tenant, drafts[:stop]))
				head := must(small.Turns().Head(t.Context(), tenant))
				for _, id := range erased {
					for i := range drafts[:stop] {
						if drafts[i].ID == id {
							must(small.Turns().Erase(t.Context(), tenant, id, "asked to"))
							break
						}
					}
				}
				for range 8 {
					q := question(r, 0)
					want := numberless(t.Context(), t, small, q, head)
					at := must(k.Turns().Get(t.Context(), tenant, drafts[stop-1].ID)).Seq
					for _, asked := range []*kernel.Kernel{k, late} {
						if got := numberless(t.Context(), t, asked, q, at); !reflect.DeepEqual(got, want) {
							t.Fatalf("%q as of %d:\ngot  %+v\nwant %+v", q.Text, at, got, want)
						}
					}
					found += len(want)
				}
			}
			if len(stops) > 0 && found == 0 {
				t.Error("nothing was ever found")
			}
		})
	}
}

// numberless searches, and leaves sequence numbers out, which erasures take some of.
func numberless(ctx context.Context, t *testing.T, k *kernel.Kernel, q kernel.SearchRequest, asOf dag.Seq) []kernel.FoundTurn {
	t.Helper()
	q.AsOf = asOf
	hits := must(k.Turns().Search(ctx, tenant, q)).Hits
	for i := range hits {
		hits[i].Turn.Seq = 0
	}
	return hits
}

func spoken(r *rand.Rand, n int) dag.Draft {
	words := make([]string, 1+r.IntN(12))
	for i := range words {
		words[i] = vocabulary[r.IntN(len(vocabulary))]
	}
	return dag.Draft{
		ID: dag.ExternalTurnID("search", fmt.Sprint(n, r.Uint64())), Conversation: dag.ExternalConversationID("search", fmt.Sprint(r.IntN(3))), Role: dag.RoleUser,
		Author: []string{"human:anna", "human:ben", "model:agent"}[r.IntN(3)], CreatedAt: dag.Time(1_780_000_000_000_000 + int64(n)*3_600_000_000), Content: strings.Join(words, " "),
	}
}

func question(r *rand.Rand, asOf dag.Seq) kernel.SearchRequest {
	words := []string{"when", "did", "anna"}[:r.IntN(4)]
	for range 1 + r.IntN(4) {
		words = append(words, vocabulary[r.IntN(len(vocabulary))])
	}
	return kernel.SearchRequest{Query: retrieval.Query{Text: strings.Join(words, " "), AsOf: asOf, Limit: 1 + r.IntN(20)}}
}
