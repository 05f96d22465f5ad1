package retrieval

import (
	"cmp"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval/embed"
	"github.com/graphkernel/graphkernel/retrieval/vector"
)

// Rerank says in which order hits come, of which fusion has found max_hits.
type Rerank struct {
	Method   string
	Weight   dag.PPM // what the other order counts: 0 leaves all as it is
	HalfLife int     // hours after which a turn is worth half as much for its age, beside the newest of the view
	Model    string  // the id of the cross-encoder, of the method that has one; else ""
}

// The rerankers. In the formulas s is a hit's score in parts of the best, r is 2^-(age/half-life), c is the cross-encoder's score between the
// least and the most of the hits, and w is the weight.
const (
	RerankNone      = "none"      // as they are
	RerankRecency   = "recency"   // (1 − w) · s + w · r
	RerankMMR       = "mmr"       // one after the other, the one whose (1 − w) · s + w · (1 − likeness to the most like of those before) is greatest
	RerankComposite = "composite" // (1 − w) · s + w · (r + salience)/2
	RerankSpread    = "spread"    // (1 − w) · s if a better hit is the turn just before or after it in its conversation; else s

	// RerankCrossEncoder is (1 − w) · s + w · c. A search leaves the order as it is; the caller asks the model, and then Judged.
	RerankCrossEncoder = "cross_encoder"
)

var rerankers = []string{RerankNone, RerankRecency, RerankMMR, RerankComposite, RerankSpread, RerankCrossEncoder}

const (
	limitMMR      = 1000        // hits, since each is compared with each
	limitJudged   = 200         // hits, since a model reads each
	limitHalfLife = 100 * 8_766 // hours: a century
)

// here reports whether a search reranks by itself.
func (r *Rerank) here() bool { return r.Method != RerankNone && r.Method != RerankCrossEncoder }

// reranked returns hits in the order of the reranker, with the scores that it gives them.
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

// Judged returns hits in the order of the cross-encoder's scores for them, which are parallel to them, with the scores that these make.
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

// diversify puts hits into the order of mmr, and takes from each score what it loses.
func (s *search) diversify(hits []Hit, weight int64) {
	type waiting struct {
		Hit
		vector []int8
		loses  int64 // by the most like of those that were taken
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

// Halved is 2^-(age/half-life) in ppm, for an age in microseconds: the line between the two powers beside it.
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
