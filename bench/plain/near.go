package plain

import (
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
)

// A neighbourhood answers from memory. Who asks about a turn beyond it gets ErrUnknown.
type neighbourhood struct {
	turns             map[dag.TurnID]Turn
	parents, children map[dag.TurnID][]dag.TurnID
}

func newNeighbourhood(turns []Turn, edges []Edge) *neighbourhood {
	n := &neighbourhood{
		turns:    make(map[dag.TurnID]Turn, len(turns)),
		parents:  make(map[dag.TurnID][]dag.TurnID, len(edges)),
		children: make(map[dag.TurnID][]dag.TurnID, len(edges)),
	}
	for _, t := range turns {
		n.turns[t.ID] = t
	}
	for _, e := range edges {
		n.parents[e.Child] = append(n.parents[e.Child], e.Parent)
		n.children[e.Parent] = append(n.children[e.Parent], e.Child)
	}
	return n
}

func (n *neighbourhood) Turn(_ context.Context, id dag.TurnID) (Turn, error) {
	t, ok := n.turns[id]
	if !ok {
		return Turn{}, fmt.Errorf("turn %s: %w", id, ErrUnknown)
	}
	return t, nil
}

func (n *neighbourhood) Parents(ctx context.Context, of dag.TurnID) ([]Turn, error) {
	return n.all(ctx, nil, n.parents[of])
}

func (n *neighbourhood) Children(ctx context.Context, of dag.TurnID) ([]Turn, error) {
	return n.all(ctx, nil, n.children[of])
}

func (n *neighbourhood) Siblings(ctx context.Context, of dag.TurnID) ([]Turn, error) {
	var siblings []Turn
	parents := n.parents[of]
	for _, p := range parents {
		if _, err := n.Turn(ctx, p); err != nil {
			return nil, err // its other children are unknown
		}
		var err error
		if siblings, err = n.all(ctx, siblings, n.children[p]); err != nil {
			return nil, err
		}
	}
	seen := map[dag.TurnID]bool{of: true}
	distinct := siblings[:0]
	for _, s := range siblings {
		if !seen[s.ID] {
			seen[s.ID] = true
			distinct = append(distinct, s)
		}
	}
	return distinct, nil
}

func (n *neighbourhood) all(ctx context.Context, dst []Turn, ids []dag.TurnID) ([]Turn, error) {
	for _, id := range ids {
		t, err := n.Turn(ctx, id)
		if err != nil {
			return nil, err
		}
		dst = append(dst, t)
	}
	return dst, nil
}
