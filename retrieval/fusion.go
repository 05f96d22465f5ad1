package retrieval

import (
	"cmp"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// Fusion says how the list of turns by words and the list by likeness are merged.
type Fusion struct {
	Method string

	// InterleaveBelow is a share of the highest score by words that a turn could have. If the best turn is below it, no turn has enough of the
	// query's words, and the lists are interleaved instead of using Method. 0: never.
	InterleaveBelow dag.PPM
}

// The fusions. The first list has the best turns by words, dates and conversations, and the second the best by likeness. Each has at
// most max_hits turns, and turns by the author whom the query names gain in both. In the formulas l and d are a turn's scores in the
// first and the second list, as shares of the best, or 0 if it is not in the list; w is the weight of likeness.
const (
	FusionSum        = "sum"        // the sum of all parts, for all turns
	FusionRRF        = "rrf"        // 61/(60 + rank in the first list) + w · 61/(60 + rank in the second)
	FusionCombSum    = "combsum"    // l + w · d
	FusionCombMNZ    = "combmnz"    // (l + w · d) · the number of lists that contain the turn
	FusionCombMax    = "combmax"    // the greater of l and w · d
	FusionInterleave = "interleave" // the first of each list, the second of each, and so on; the score is 1000000 minus the place
)

var fusions = []string{FusionSum, FusionRRF, FusionCombSum, FusionCombMNZ, FusionCombMax, FusionInterleave}

// rrfRank is added to ranks, so that the first ranks do not count far more than the next.
//
// Source: Cormack, Clarke and Büttcher, Reciprocal Rank Fusion Outperforms Condorcet, 2009.
const rrfRank = 60

// fused returns the best hits under the policy, at most limit, and the scores of the turns in Query.Also.
func (s *search) fused(limit int) ([]Hit, []int64) {
	method := s.p.Fusion.Method
	if s.like != nil && s.weak() {
		method = FusionInterleave
	}
	reranks := s.p.Rerank.here()
	whole := limit
	if reranks {
		whole = s.p.MaxHits
	}
	var hits []Hit
	if method == FusionSum {
		hits = s.best(whole, func(h *Hit) int64 { return h.Score })
	} else {
		hits = s.lists(method)
	}
	if reranks {
		hits = s.reranked(hits[:min(len(hits), whole)])
	}
	also := make([]int64, len(s.q.Also))
	if method == FusionSum && !reranks {
		for i, id := range s.q.Also {
			if n, ok := s.x.places.find(&s.x.turns, id); ok && s.lets(n) && s.finds(n) {
				h := s.hit(n, s.words.At(n), s.words.Most)
				also[i] = h.Score
			}
		}
	} else if len(also) > 0 {
		of := make(map[dag.TurnID]int64, len(hits))
		for i := range hits {
			of[hits[i].Turn.ID] = hits[i].Score
		}
		for i, id := range s.q.Also {
			also[i] = of[id]
		}
	}
	return hits[:min(len(hits), limit)], also
}

// weak reports whether no turn has as much of the query's words as InterleaveBelow requires.
func (s *search) weak() bool {
	share := int64(0)
	if most := s.words.Highest(s.p.Words.K1); most > 0 {
		share = int64(dag.One) * s.words.Most / most
	}
	return share < int64(s.p.Fusion.InterleaveBelow)
}

// lists returns the turns of both lists in the order of a fusion, the best first.
func (s *search) lists(method string) []Hit {
	byWords := s.best(s.p.MaxHits, func(h *Hit) int64 {
		if h.Words+h.Dates == 0 {
			return 0
		}
		return s.gained(h, h.Words+h.Whole+h.Dates+h.When)
	})
	byLikeness := s.best(s.p.MaxHits, func(h *Hit) int64 { return s.gained(h, h.Like) })
	type entry struct {
		Hit
		of [2]int64 // the scores in the lists, in ppm of the best
	}
	var all []*entry
	of := map[dag.TurnID]*entry{}
	for list, hits := range [...][]Hit{byWords, byLikeness} {
		for i := range hits {
			e := of[hits[i].Turn.ID]
			if e == nil {
				e = &entry{Hit: hits[i]}
				of[hits[i].Turn.ID], all = e, append(all, e)
			}
			*[...]*int{&e.WordRank, &e.LikeRank}[list] = i + 1
			e.of[list] = int64(dag.One) * hits[i].Score / hits[0].Score
		}
	}
	weight := int64(s.p.Dense.Weight)
	for _, e := range all {
		l, d := e.of[0], e.of[1]*weight/int64(dag.One)
		switch method {
		case FusionRRF:
			e.Score = reciprocal(e.WordRank, int64(dag.One)) + reciprocal(e.LikeRank, weight)
		case FusionCombSum:
			e.Score = l + d
		case FusionCombMNZ:
			e.Score = (l + d) * int64(min(e.WordRank, 1)+min(e.LikeRank, 1))
		case FusionCombMax:
			e.Score = max(l, d)
		case FusionInterleave:
			e.Score = int64(dag.One) - turnOf(e.WordRank, e.LikeRank)
		}
	}
	slices.SortFunc(all, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), a.Turn.ID.Compare(b.Turn.ID))
	})
	hits := make([]Hit, len(all))
	for i, e := range all {
		hits[i] = e.Hit
	}
	return hits
}

// gained returns a score plus the turn's gain by its author.
func (s *search) gained(h *Hit, score int64) int64 {
	if h.Named > 0 {
		score += s.author(score)
	}
	return score
}

// reciprocal returns weight · 61/(60 + rank), or 0 if the rank is 0.
func reciprocal(rank int, weight int64) int64 {
	if rank == 0 {
		return 0
	}
	return weight * (rrfRank + 1) / int64(rrfRank+rank)
}

// turnOf returns the place of a turn when two lists are interleaved, counted from 0. first and second are its ranks, from 1; the n-th of
// the first list comes before the n-th of the second.
func turnOf(first, second int) int64 {
	switch {
	case second == 0 || first > 0 && first <= second:
		return 2 * int64(first-1)
	default:
		return 2*int64(second-1) + 1
	}
}
