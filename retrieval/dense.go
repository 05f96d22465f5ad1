package retrieval

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval/vector"
)

// NoEmbedder is the embedder of a policy without vectors.
const NoEmbedder = "none"

// Dense has the parameters of the channel of vectors. Weight is the score of the turn whose vector is most like the query's.
type Dense struct {
	Embedder string // the id of a model, or NoEmbedder
	Weight   dag.PPM
}

func (d *Dense) on() bool { return d.Embedder != NoEmbedder }

func checkEmbedder(id string) error {
	if id == "" || !isModel(id) {
		return fmt.Errorf("%.40q, want %s or the id of a model, of 1 to 128 printable characters of ASCII", id, NoEmbedder)
	}
	return nil
}

func checkReranker(id string) error {
	if !isModel(id) {
		return fmt.Errorf("%.40q, want the id of a model, of 1 to 128 printable characters of ASCII", id)
	}
	return nil
}

func isModel(id string) bool {
	return len(id) <= 128 && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' })
}

// Sums reports whether a score is a sum of parts, so that other turns affect it only through the statistics.
func (p *Policy) Sums() bool {
	return p.Fusion.Method == FusionSum && p.Fusion.InterleaveBelow == 0 && p.Rerank.Method == RerankNone
}

// A likeness contains the scores of the turns' vectors: 0 for the vector least like the query's, and the weight for the vector most like it.
type likeness struct {
	places []int32 // the turns with a vector, or those that a walk of the graph found; ascending
	of     []int64 // by place; math.MinInt64: no vector
	Likenesses
	weight dag.PPM

	flat  *vector.Flat // nil unless a graph was walked; then scores are computed from it instead of taken from of
	query []int8
}

// likeness compares a query with every vector of the view, regardless of filters. If given is not nil, it is used as the range instead of
// the view's own.
func (d *dense) likeness(q *Query, turns int, weight dag.PPM, given *Likenesses) *likeness {
	l := &likeness{Likenesses: Likenesses{Least: math.MaxInt64, Most: math.MinInt64}, weight: weight}
	if d.vectors == nil || q.Vector == nil {
		return l
	}
	l.of, l.places = slices.Repeat([]int64{math.MinInt64}, turns), make([]int32, 0, turns)
	d.vectors.Scan(q.Vector, q.AsOf, func(n int, score int64) {
		l.places, l.of[n] = append(l.places, int32(n)), score
		l.Least, l.Most = min(l.Least, score), max(l.Most, score)
	})
	if given != nil {
		l.Likenesses = *given
	}
	return l
}

// at returns the score of a turn's vector; 0 for a turn without a vector.
func (l *likeness) at(n int32) int64 {
	if l.Most <= l.Least {
		return 0
	}
	score := l.Least
	switch {
	case l.flat == nil:
		score = l.of[n]
	case l.flat.Has(int(n)):
		score = vector.Dot(l.query, l.flat.At(int(n)))
	}
	return int64(l.weight) * (min(max(score, l.Least), l.Most) - l.Least) / (l.Most - l.Least)
}

// apart refuses parameters that do not fit together.
func apart(p *Policy) error {
	switch {
	case !p.Dense.on() && p.Fusion.Method != FusionSum:
		return fmt.Errorf("fusion.method: %s needs a dense.embedder", p.Fusion.Method)
	case !p.Dense.on() && p.Rerank.Method == RerankMMR:
		return fmt.Errorf("rerank.method: %s needs a dense.embedder", p.Rerank.Method)
	case p.Rerank.Method == RerankMMR && p.MaxHits > limitMMR:
		return fmt.Errorf("rerank.method: %s needs max_hits of at most %d", p.Rerank.Method, limitMMR)
	case p.Rerank.Method == RerankCrossEncoder && p.MaxHits > limitJudged:
		return fmt.Errorf("rerank.method: %s needs max_hits of at most %d", p.Rerank.Method, limitJudged)
	case (p.Rerank.Method == RerankCrossEncoder) != (p.Rerank.Model != ""):
		return fmt.Errorf("rerank.model: got %q with the method %s; only the method %s has a model, and it must have one", p.Rerank.Model, p.Rerank.Method, RerankCrossEncoder)
	}
	return nil
}
