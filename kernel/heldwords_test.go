package kernel

import (
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
)

// TestHeldWords uses indexes in turn: those that were used longest ago are dropped while there are too many bytes, but never the one at hand.
func TestHeldWords(t *testing.T) {
	h, err := newHeldWords(100)
	if err != nil {
		t.Fatal(err)
	}
	var all []*tenantWords
	for range 3 {
		w := &tenantWords{analyzer: analysis.English}
		w.clear()
		if err := w.index.Add([]retrieval.Turn{{ID: dag.TurnID{1}, Seq: 1, Content: "word"}}, nil); err != nil {
			t.Fatal(err)
		}
		w.filled = 1
		all = append(all, w)
	}
	there := func(want ...bool) {
		t.Helper()
		for i, w := range all {
			if got := w.filled == 1 && w.index.Last() == 1; got != want[i] {
				t.Errorf("index %d is there: %t, want %t", i, got, want[i])
			}
		}
	}
	h.used(all[0], 40)
	h.used(all[1], 40)
	there(true, true, true)
	h.used(all[0], 50) // it has grown
	h.used(all[2], 40)
	there(true, false, true)
	if h.bytes != 90 {
		t.Errorf("%d bytes, want 90", h.bytes)
	}
	h.used(all[2], 1000)
	there(false, false, true)
	if h.bytes != 1000 || h.items.Len() != 1 {
		t.Errorf("%d bytes of %d indexes", h.bytes, h.items.Len())
	}
}
