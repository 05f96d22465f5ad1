package projection

import (
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
)

// TestHeldWords uses indexes in turn: those that were used longest ago are dropped while there are too many bytes, but never the one at hand.
func TestHeldWords(t *testing.T) {
	words := NewWords(Store{}, IndexOptions{Bytes: 100})
	used := func(x *Index, size int) { words.kept.Put(x, struct{}{}, size) }
	var all []*Index
	for range 3 {
		x := &Index{held: held{form: form{analyzer: analysis.English}}}
		x.held.clear()
		if err := x.held.index.Add([]retrieval.Turn{{ID: dag.TurnID{1}, Seq: 1, Content: "word"}}, nil); err != nil {
			t.Fatal(err)
		}
		x.held.filled = 1
		all = append(all, x)
	}
	there := func(want ...bool) {
		t.Helper()
		for i, x := range all {
			if got := x.held.filled == 1 && x.held.index.Last() == 1; got != want[i] {
				t.Errorf("index %d is there: %t, want %t", i, got, want[i])
			}
		}
	}
	used(all[0], 40)
	used(all[1], 40)
	there(true, true, true)
	used(all[0], 50) // it has grown
	used(all[2], 40)
	there(true, false, true)
	if n := words.kept.Stats().Bytes; n != 90 {
		t.Errorf("%d bytes, want 90", n)
	}
	used(all[2], 1000)
	there(false, false, true)
	if n := words.kept.Stats(); n.Bytes != 1000 || n.Entries != 1 {
		t.Errorf("%d bytes of %d indexes", n.Bytes, n.Entries)
	}
}
