package contexts

import (
	"container/heap"

	"github.com/graphkernel/graphkernel/dag"
)

// An Overlap is the share of words that two candidates have in common, in ppm. First and Second are their indexes.
// Package overlap computes overlaps.
type Overlap struct {
	First, Second int // First < Second
	Share         dag.PPM
}

// Select chooses candidates. The mandatory ones come first, in their order, even if they exceed the budget, see [Owed];
// then the best first, each if its score is above 0 and its cost fits into the rest of the budget. The score of a
// candidate depends on the choices before it and is recomputed after each choice. Of equal scores the earlier candidate
// comes first. Select returns the indexes of the choices in their order.
//
// Scores only fall as more is chosen, so a candidate whose score is up to date and the highest is the best (lazy
// greedy, Minoux 1978). The cost is O(n log n) steps plus one step for each overlap.
func Select(p *Policy, budget int, candidates []Candidate, overlaps []Overlap) (chosen []int) {
	selectWith(p, budget, candidates, overlaps, func(d decision) {
		if d.fits {
			chosen = append(chosen, d.index)
		}
	})
	return chosen
}

// Owed returns the cost of the mandatory candidates in tokens. A context with a smaller budget is not valid.
func Owed(candidates []Candidate) (tokens int) {
	for i := range candidates {
		if candidates[i].Mandatory() {
			tokens += candidates[i].Cost
		}
	}
	return tokens
}

// A decision is the result for one candidate.
type decision struct {
	index int
	score int64
	alike dag.PPM // the largest share of words that it has in common with an earlier choice
	left  int     // tokens left of the budget before the decision
	fits  bool    // it was chosen
	owed  bool    // it was chosen because it is mandatory
}

// selectWith is Select, but calls decided for each candidate, including those whose score is not above 0.
func selectWith(p *Policy, budget int, candidates []Candidate, overlaps []Overlap, decided func(decision)) {
	s := &selection{policy: p, budget: budget, candidates: candidates, alike: map[int][]Overlap{}, most: make([]dag.PPM, len(candidates))}
	for _, o := range overlaps {
		s.alike[o.First] = append(s.alike[o.First], o)
		s.alike[o.Second] = append(s.alike[o.Second], Overlap{First: o.Second, Second: o.First, Share: o.Share})
	}
	left := budget
	take := func(i int) {
		left -= candidates[i].Cost
		for _, o := range s.alike[i] {
			s.most[o.Second] = max(s.most[o.Second], o.Share)
		}
	}
	for i := range candidates {
		if candidates[i].Mandatory() {
			decided(decision{i, s.score(i), s.most[i], left, true, true})
			take(i)
		}
	}
	for i := range candidates {
		if !candidates[i].Mandatory() {
			s.queue = append(s.queue, waiting{i, s.score(i)})
		}
	}
	heap.Init(s)
	for len(s.queue) > 0 {
		next := s.queue[0]
		if now := s.score(next.index); now != next.score {
			s.queue[0].score = now
			heap.Fix(s, 0)
			continue
		}
		heap.Pop(s)
		cost := candidates[next.index].Cost
		fits := next.score > 0 && cost <= left
		decided(decision{next.index, next.score, s.most[next.index], left, fits, false})
		if fits {
			take(next.index)
		}
	}
}

// A selection is a heap of the candidates that are not decided yet, the best first.
type selection struct {
	policy     *Policy
	budget     int
	candidates []Candidate
	alike      map[int][]Overlap
	most       []dag.PPM // by candidate: the largest share of words that it has in common with a choice
	queue      []waiting
}

type waiting struct {
	index int
	score int64
}

// score returns the current score of a candidate, in 10^-12.
func (s *selection) score(i int) int64 {
	return s.policy.Score(&s.candidates[i], s.budget, s.most[i])
}

// Score returns the score of a candidate, in 10^-12: its weighted features less the penalties. alike is the largest
// share of words that it has in common with a choice.
func (p *Policy) Score(c *Candidate, budget int, alike dag.PPM) int64 {
	score := int64(0)
	for i, f := range c.Features {
		score += int64(p.Weights[i]) * int64(f)
	}
	score -= int64(p.Contested) * int64(c.Features[FeatureContested])
	score += int64(p.Novelty) * int64(dag.One-alike)
	if alike >= p.Alike {
		score -= int64(p.Overlap) * int64(alike)
	}
	share := min(int64(c.Cost)*int64(dag.One)/int64(budget), int64(dag.One)) // a candidate above the budget is never chosen
	return score - int64(p.Cost)*share
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (s *selection) Len() int { return len(s.queue) }
func (s *selection) Less(i, j int) bool {
	a, b := s.queue[i], s.queue[j]
	return a.score > b.score || a.score == b.score && a.index < b.index
}
func (s *selection) Swap(i, j int) { s.queue[i], s.queue[j] = s.queue[j], s.queue[i] }
func (s *selection) Push(x any)    { s.queue = append(s.queue, x.(waiting)) }
func (s *selection) Pop() any {
	last := s.queue[len(s.queue)-1]
	s.queue = s.queue[:len(s.queue)-1]
	return last
}
