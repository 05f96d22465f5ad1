package kernel

import (
	"errors"
	"testing"

	"github.com/graphkernel/graphkernel/knowledge"
)

// TestEarlyWalkIsBounded takes edges of a name that is kept for as long as it gets any: one that
// a connection waits for comes to an end, and any other does not.
func TestEarlyWalkIsBounded(t *testing.T) {
	const each = 1000
	f := newFactCache(steadyStore{}, 1<<30)
	for _, early := range []bool{true, false} {
		v := &view{of: &tenantFacts{cache: f}, early: early}
		f.edges.put(edgeKey{0, "hub", false}, knowledge.Run{Edges: make([]knowledge.Edge, each), Whole: true}, 1)
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

// TestGlance asks for eight values in the same order again and again, while others come: none of
// the eight goes, though few of the times count. What nobody asks for does.
func TestGlance(t *testing.T) {
	c := newByteLRU[int, int](400)
	for key := range 9 {
		c.put(key, key, 1)
	}
	for n := range 4000 {
		c.put(100+n, n, 1)
		for range 4 {
			for key := range 8 {
				if v, ok := c.glance(key); !ok || v != key {
					t.Fatalf("after %d others %d is gone", n, key)
				}
			}
		}
	}
	if _, ok := c.glance(8); ok {
		t.Error("what nobody asked for is still there")
	}
	if s := c.stats(); s.Hits != 4000*32 || s.Misses != 1 || s.Entries != 400 {
		t.Errorf("counted %+v", s)
	}
}
