package segments_test

import (
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/retrieval/segments"
)

// TestErasure makes sure that an erasure drops every segment that has the turn, those of series that are kept no more included.
func TestErasure(t *testing.T) {
	id := dag.ExternalTurnID("segments", "1")
	plan, err := (&segments.Erasure{Turn: id}).Plan(&history.State{Turns: map[dag.TurnID]history.Admitted{id: {Seq: segments.Most + segments.Least}}})
	if err != nil {
		t.Fatal(err)
	}
	var dropped []string
	for _, s := range plan.Snapshots {
		dropped = append(dropped, s.Name)
		if s.Value != nil {
			t.Errorf("%s is not dropped", s.Name)
		}
	}
	ranges := []segments.Range{{After: segments.Most, UpTo: 2 * segments.Most}, {After: segments.Most, UpTo: segments.Most + segments.Least}}
	for _, of := range segments.Kept() {
		for _, r := range ranges {
			if !slices.Contains(dropped, r.Name(of)) {
				t.Errorf("%s stays", r.Name(of))
			}
		}
	}
}
