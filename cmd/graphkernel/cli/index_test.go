package cli

import (
	"fmt"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/retrieval/segments"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// TestFinishIndex goes on with the index until its time is over, as the session's clock has it, and makes one segment at least. With --wait no clock matters.
func TestFinishIndex(t *testing.T) {
	const turns = 3 * segments.Least
	for _, tc := range []struct {
		name     string
		step     time.Duration // between two looks at the clock
		wait     bool
		segments int
	}{
		{"the clock stands", 0, false, 3},
		{"time is over after one", time.Hour, false, 1},
		{"time is over after two", indexLeast / 2, false, 2},
		{"waiting", time.Hour, true, 3},
	} {
		k, err := kernel.Open(kernel.Config{Store: inmem.Open(&inmem.Disk{}, inmem.Options{}), Authority: token.NewAuthority(token.Keyring{}), Clock: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		drafts := make([]dag.Draft, turns)
		for i := range drafts {
			drafts[i] = dag.Draft{
				ID: dag.ExternalTurnID("index", fmt.Sprint(i)), Conversation: dag.ExternalConversationID("index", "c"), Role: dag.RoleUser, Author: "human:user", Content: fmt.Sprint("word", i), CreatedAt: 1,
			}
		}
		for from := 0; from < turns; from += 256 {
			if _, err := k.Turns().Admit(t.Context(), dag.DefaultTenant, drafts[from:from+256]); err != nil {
				t.Fatal(err)
			}
		}
		at := time.Date(2026, 3, 14, 3, 0, 0, 0, time.UTC)
		s := SessionOf(k, dag.DefaultTenant, func() time.Time { at = at.Add(tc.step); return at })
		made := 0
		whole, err := s.FinishIndex(t.Context(), 1, tc.wait, func(_, _ int64) { made++ })
		if err != nil || made != tc.segments || whole != (made == 3) {
			t.Errorf("%s: %d segments, want %d; whole: %v, %v", tc.name, made, tc.segments, whole, err)
		}
		if whole, err := s.FinishIndex(t.Context(), 1, true, func(_, _ int64) { made++ }); !whole || err != nil || made != 3 {
			t.Errorf("%s: the next one ends with %d segments, whole: %v, %v", tc.name, made, whole, err)
		}
	}
}
