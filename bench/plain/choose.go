package plain

import (
	"cmp"
	"container/heap"
	"context"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
)

// choose picks turns around an anchor, the best first.
func choose(ctx context.Context, r Reader, anchor dag.TurnID, p policy.SlicePolicyV1) ([]dag.TurnID, error) {
	start, err := r.Turn(ctx, anchor)
	if err != nil {
		return nil, err
	}
	scorer := p.Scorer()
	seen := map[dag.TurnID]bool{}
	var waiting frontier
	visit := func(turns []Turn, distance int) {
		for _, t := range turns {
			if !seen[t.ID] {
				seen[t.ID] = true
				heap.Push(&waiting, candidate{t.ID, scorer.Score(0, t.Phase, t.Salience, distance), distance})
			}
		}
	}
	visit([]Turn{start}, 0)
	var picked []dag.TurnID
	for len(waiting) > 0 && len(picked) < p.MaxNodes {
		best := heap.Pop(&waiting).(candidate)
		picked = append(picked, best.id)
		if best.distance < p.MaxRadius {
			parents, err := r.Parents(ctx, best.id)
			if err != nil {
				return nil, err
			}
			children, err := r.Children(ctx, best.id)
			if err != nil {
				return nil, err
			}
			visit(parents, best.distance+1)
			visit(children, best.distance+1)
		}
		if p.IncludeSiblings && p.MaxSiblings > 0 {
			siblings, err := r.Siblings(ctx, best.id)
			if err != nil {
				return nil, err
			}
			visit(firstOf(siblings, p.MaxSiblings, scorer, best.distance), best.distance)
		}
	}
	return picked, nil
}

// firstOf returns the siblings that rank among the first.
func firstOf(siblings []Turn, most int, s *policy.Scorer, distance int) []Turn {
	if len(siblings) <= most {
		return siblings
	}
	slices.SortFunc(siblings, func(a, b Turn) int {
		return cmp.Or(cmp.Compare(s.Score(0, b.Phase, b.Salience, distance), s.Score(0, a.Phase, a.Salience, distance)), a.ID.Compare(b.ID))
	})
	return siblings[:most]
}

// A candidate waits to be picked.
type candidate struct {
	id       dag.TurnID
	score    policy.Score
	distance int
}

// A frontier is a heap of candidates: the highest score, the smallest distance, the
// smallest id first.
type frontier []candidate

func (f frontier) Len() int { return len(f) }

func (f frontier) Less(i, j int) bool {
	a, b := &f[i], &f[j]
	switch {
	case a.score != b.score:
		return a.score > b.score
	case a.distance != b.distance:
		return a.distance < b.distance
	}
	return a.id.Compare(b.id) < 0
}

func (f frontier) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *frontier) Push(x any)   { *f = append(*f, x.(candidate)) }

func (f *frontier) Pop() any {
	last := len(*f) - 1
	c := (*f)[last]
	*f = (*f)[:last]
	return c
}
