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

// TestNewest compares pages of the newest conversations with all of them, sorted by the time at which something was said last: more conversations than are read at once, admitted in
// another order than their times, some of the same time.
func TestNewest(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		draw := rand.New(rand.NewPCG(1, 2))
		for batch := range 5 {
			var list []dag.Draft
			for i := range 700 {
				n := draw.IntN(300 * (batch + 1)) // later batches begin others and leave some alone
				list = append(list, dag.Draft{
					ID: dag.ExternalTurnID("newest", fmt.Sprint(batch, "/", i)), Conversation: dag.ExternalConversationID("newest", fmt.Sprint(n)),
					Role: dag.RoleUser, CreatedAt: dag.Time(draw.IntN(2000)), Content: "a",
				})
			}
			must(k.Turns().Admit(t.Context(), tenant, list))
		}
		want := must(k.Turns().Conversations(t.Context(), tenant, dag.ConversationID{}, 10_000))
		slices.SortFunc(want, func(a, b store.Conversation) int { return cmp.Or(cmp.Compare(b.LastAt, a.LastAt), a.ID.Compare(b.ID)) })
		if len(want) < 1100 {
			t.Fatalf("%d conversations", len(want))
		}
		for _, limit := range []int{97, len(want) - 1, len(want), len(want) + 1} {
			var got []store.Conversation
			var after *kernel.Last
			for pages := 0; ; pages++ {
				page, more, err := k.Turns().Newest(t.Context(), tenant, after, limit)
				if err != nil || len(page) > limit || more && len(page) != limit || pages > len(want) {
					t.Fatalf("%d of at most %d, more: %v: %v", len(page), limit, more, err)
				}
				if got = append(got, page...); !more {
					break
				}
				at := must(kernel.ParseLast(kernel.LastOf(&page[len(page)-1]).String()))
				after = &at
			}
			if !slices.Equal(got, want) {
				t.Errorf("in pages of %d: %d conversations, want %d in their order", limit, len(got), len(want))
			}
		}
	})
	for _, text := range []string{"", "1", "x.1c1de000-0dc0-4a11-8ca1-0000000000a0", "-1.1c1de000-0dc0-4a11-8ca1-0000000000a0", "1.", "1.1c1de000"} {
		if at, err := kernel.ParseLast(text); err == nil {
			t.Errorf("%q is the place %v", text, at)
		}
	}
}
