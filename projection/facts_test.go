package projection

import (
	"errors"
	"testing"

	"github.com/graphkernel/graphkernel/knowledge"
)

// TestEarlyWalkIsBounded takes edges of a name that is kept for as long as it gets any: one that
// a connection waits for comes to an end, and any other does not.
func TestEarlyWalkIsBounded(t *testing.T) {
	const each = 1000
	f := NewFacts(Store{}, 1<<30)
	for _, early := range []bool{true, false} {
		v := &View{of: &TenantFacts{cache: f}, early: early}
		f.edges.Put(edgeKey{0, "hub", false}, knowledge.Run{Edges: make([]knowledge.Edge, each), Whole: true}, 1)
		ask := knowledge.Ask{Name: "hub", Limit: each}
		taken := 0
		for taken < 2*earlyEdges {
			run, ok := v.Kept(&ask)
			if !ok {
				break
			}
			taken += len(run.Edges)
		}
		if bounded := taken > earlyEdges-each && taken <= earlyEdges; bounded != early {
			t.Errorf("early %v: took %d edges, and the bound is %d", early, taken, earlyEdges)
		}
		if _, err := v.Edges(t.Context(), []knowledge.Ask{ask}); errors.Is(err, errNotKept) != early {
			t.Errorf("early %v: then %v", early, err)
		}
	}
}
