package sqlite

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// TestRuns lets a conversation grow in steps of several sizes, and makes sure
// that its runs stay few, hold every turn once and in order, and are read whole
// from wherever a reader is.
func TestRuns(t *testing.T) {
	for _, step := range []int{1, 3, 511, 512, 513, 1300} {
		const turns = 1300
		ctx := context.Background()
		s, err := Create(ctx, filepath.Join(t.TempDir(), "store.db"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		chain := storetest.Chain(1, turns, 0)
		for from := 0; from < turns; from += step {
			if _, err := s.Append(ctx, storetest.Tenant, []store.Batch{chain[from:min(from+step, turns)]}); err != nil {
				t.Fatal(err)
			}
		}
		conversation := chain[0].Turn.Conversation
		for _, after := range []dag.Seq{0, 1, 511, 512, 513, 1024, 1299, 1300} {
			seg, err := s.Segment(ctx, storetest.Tenant, []store.Part{{Conversation: conversation, After: after}})
			if err != nil {
				t.Fatal(err)
			}
			if len(seg.Turns) != turns-int(after) {
				t.Fatalf("step %d: %d turns after %d, want %d", step, len(seg.Turns), after, turns-int(after))
			}
			for i, turn := range seg.Turns {
				if turn.Seq != after+dag.Seq(i)+1 {
					t.Fatalf("step %d: turn %d stands at %d after %d", step, turn.Seq, i, after)
				}
			}
		}
		var runs, longest, held int
		if err := s.db.QueryRowContext(ctx, `SELECT count(*), max(turns), sum(turns) FROM runs`).Scan(&runs, &longest, &held); err != nil {
			t.Fatal(err)
		}
		if runs > turns/packed.MaxRun+10 || longest > packed.MaxRun || held != turns {
			t.Errorf("step %d: %d runs of up to %d turns hold %d", step, runs, longest, held)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
