package kernel_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store"
)

// TestNewest compares pages of the newest conversations with all of them, sorted: more turns than are read at once, in conversations that take turns at
// growing, so that most end far from where they began.
func TestNewest(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		draw := rand.New(rand.NewPCG(1, 2))
		for batch := range 5 {
			var list []dag.Draft
			for i := range 700 {
				n := draw.IntN(40 * (batch + 1)) // later batches begin others and leave some alone
				list = append(list, dag.Draft{
					ID: dag.ExternalTurnID("newest", fmt.Sprint(batch, "/", i)), Conversation: dag.ExternalConversationID("newest", fmt.Sprint(n)),
					Role: dag.RoleUser, CreatedAt: dag.Time(batch*1000 + i), Content: "a",
				})
			}
			must(k.Turns().Admit(t.Context(), tenant, list))
		}
		want := must(k.Turns().Conversations(t.Context(), tenant, dag.ConversationID{}, 1000))
		slices.SortFunc(want, func(a, b store.Conversation) int { return cmp.Compare(b.Last, a.Last) })
		if len(want) < 150 {
			t.Fatalf("%d conversations", len(want))
		}
		for _, limit := range []int{7, len(want), len(want) + 1} {
			var got []store.Conversation
			pages := 0
			for before := dag.Seq(0); ; {
				page, next, err := k.Turns().Newest(t.Context(), tenant, before, limit)
				if err != nil || len(page) > limit {
					t.Fatalf("%d of at most %d: %v", len(page), limit, err)
				}
				got = append(got, page...)
				if pages++; next == 0 {
					break
				}
				if before != 0 && next >= before {
					t.Fatalf("goes on from %d after %d", next, before)
				}
				before = next
			}
			if !slices.Equal(got, want) {
				t.Errorf("in pages of %d: %d conversations, want %d", limit, len(got), len(want))
			}
		}
	})
}
