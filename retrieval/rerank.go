package retrieval

import (
	"cmp"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval/embed"
	"github.com/graphkernel/graphkernel/retrieval/vector"
)

// Rerank says how the hits that fusion found, at most max_hits, are reordered.
type Rerank struct {
	Method   string
	Weight   dag.PPM // weight of the reranker's order: 0 changes nothing
	HalfLife int     // hours in which the recency of a turn halves, counted back from the newest turn of the view
	Model    string  // the id of the cross-encoder, if the method is RerankCrossEncoder; otherwise ""
}

// The rerankers. In the formulas s is a hit's score as a share of the best score, r is 2^-(age/half-life), c is the cross-encoder's score
// scaled from the least of the hits (0) to the greatest (1), and w is the weight.
const (
	RerankNone      = "none"      // the order does not change
	RerankRecency   = "recency"   // (1 − w) · s + w · r
	RerankMMR       = "mmr"       // next is always the hit with the greatest (1 − w) · s + w · (1 − likeness to the most similar hit before)
	RerankComposite = "composite" // (1 − w) · s + w · (r + salience)/2
	RerankSpread    = "spread"    // (1 − w) · s if a better hit is the turn just before or after it in its conversation; otherwise s

	// RerankCrossEncoder is (1 − w) · s + w · c. A search does not change the order; the caller asks the model and then calls Judged.
	RerankCrossEncoder = "cross_encoder"
)

var rerankers = []string{RerankNone, RerankRecency, RerankMMR, RerankComposite, RerankSpread, RerankCrossEncoder}

const (
	limitMMR      = 1000        // hits, because all pairs are compared
	limitJudged   = 200         // hits, because a model reads each
	limitHalfLife = 100 * 8_766 // hours: a century
)

// here reports whether the search itself reranks.
func (r *Rerank) here() bool { return r.Method != RerankNone && r.Method != RerankCrossEncoder }

// reranked returns hits with the scores of the reranker, in its order.
//
// Source of mmr: Carbonell and Goldstein, The Use of MMR, Diversity-Based Reranking, 1998.
func (s *search) reranked(hits []Hit) []Hit {
	if len(hits) == 0 {
		return hits
	}
	weight := int64(s.p.Rerank.Weight)
	rest, best := int64(dag.One)-weight, hits[0].Score
	newest, _ := s.x.Newest(s.q.AsOf)
	before := map[int32]bool{}
	for i := range hits {
		h := &hits[i]
		whole := int64(dag.One) * h.Score / best
		h.Score = rest * h.Score / best
		recent := int64(Halved(int64(newest.CreatedAt)-int64(h.Turn.CreatedAt), s.p.Rerank.HalfLife))
		switch s.p.Rerank.Method {
		case RerankRecency:
			h.Score += weight * recent / int64(dag.One)
		case RerankComposite:
			h.Score += weight * (recent + int64(h.Turn.Salience)) / (2 * int64(dag.One))
		case RerankSpread:
			n := s.place(h)
			if !s.x.words.Beside(n, before) {
				h.Score = whole
			}
			before[n] = true
		}
	}
	if s.p.Rerank.Method == RerankMMR {
		s.diversify(hits, weight)
		return hits
	}
	slices.SortFunc(hits, byScore)
	return hits
}

// Judged returns hits with scores that include the cross-encoder's, in their order. scores is parallel to hits.
func (p *Policy) Judged(hits []Hit, scores []int64) []Hit {
	if len(hits) == 0 {
		return hits
	}
	weight, best := int64(p.Rerank.Weight), hits[0].Score
	least, most := slices.Min(scores), slices.Max(scores)
	judged := slices.Clone(hits)
	for i := range judged {
		h := &judged[i]
		if most > least {
			h.Judged = int64(dag.One) * (scores[i] - least) / (most - least)
		}
		h.Score = (int64(dag.One)-weight)*h.Score/best + weight*h.Judged/int64(dag.One)
	}
	slices.SortFunc(judged, byScore)
	return judged
}

func byScore(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), a.Turn.ID.Compare(b.Turn.ID))
}

// place returns the place of a hit in the index.
func (s *search) place(h *Hit) int32 {
	n, _ := s.x.places.find(&s.x.turns, h.Turn.ID)
	return n
}

// diversify puts hits into the order of mmr, and reduces the score of each by its likeness to the hits before it.
func (s *search) diversify(hits []Hit, weight int64) {
	type waiting struct {
		Hit
		vector []int8
		loses  int64 // by the most similar hit that was taken
	}
	rest := make([]waiting, len(hits))
	for i := range hits {
		rest[i] = waiting{Hit: hits[i], vector: s.x.vectors.At(int(s.place(&hits[i])))}
	}
	for n := range hits {
		next := slices.MaxFunc(rest[n:], func(a, b waiting) int {
			return cmp.Or(cmp.Compare(a.Score-a.loses, b.Score-b.loses), b.Turn.ID.Compare(a.Turn.ID))
		})
		at := n + slices.IndexFunc(rest[n:], func(w waiting) bool { return w.Turn.ID == next.Turn.ID })
		rest[n], rest[at] = rest[at], rest[n]
		hits[n] = next.Hit
		hits[n].Score += weight - next.loses
		same := int64(len(next.vector)) * embed.RMS * embed.RMS
		for i := n + 1; i < len(rest); i++ {
			rest[i].loses = max(rest[i].loses, min(weight, weight*vector.Dot(rest[i].vector, next.vector)/same))
		}
	}
}

// Halved returns 2^-(age/half-life) in ppm, for an age in microseconds and a half-life in hours. It interpolates linearly between powers of 2.
func Halved(age int64, hours int) dag.PPM {
	if age <= 0 {
		return dag.One
	}
	life := int64(hours) * 3_600_000_000
	whole, rest := age/life, age%life
	if whole > 20 {
		return 0
	}
	high := int64(dag.One) >> whole
	return dag.PPM(high - high/2*(rest/1_000_000)/(life/1_000_000))
}
