package find

import (
	"context"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/retrieval"
)

// A Reranker scores texts for a query. It must be safe for use by several goroutines at once.
type Reranker interface {
	// ID returns the name of the model in policies.
	ID() string

	// Scores returns one score for each text, from -MaxJudged to MaxJudged; a text that fits the query better has a higher score. Only differences
	// between scores count. If a text has no score, Scores returns an error.
	Scores(ctx context.Context, query string, texts []string) ([]int64, error)
}

// MaxJudged bounds the scores of a Reranker.
const MaxJudged = int64(1) << 40

// ErrReranker is wrapped if a policy names a cross-encoder that the kernel was not opened with. It wraps dag.ErrForm.
var ErrReranker = fmt.Errorf("%w: this kernel has no reranker", dag.ErrForm)

// rerankerOf returns the cross-encoder of a policy, or nil if the policy has none.
func (e epoch) rerankerOf(p *retrieval.Policy) (Reranker, error) {
	if p.Rerank.Method != retrieval.RerankCrossEncoder {
		return nil, nil
	}
	ids := []string{}
	for _, r := range e.Rerankers() {
		if ids = append(ids, r.ID()); r.ID() == p.Rerank.Model {
			return r, nil
		}
	}
	return nil, fmt.Errorf("%w %q, but %q; its operator gives it one in the setting rerankers (GRAPHKERNEL_RERANKERS), a program in kernel.Config.Rerankers", ErrReranker, p.Rerank.Model, ids)
}

// judged sorts the hits of f by a cross-encoder. If the cross-encoder fails, the order stays and f.NotReranked is the reason. judged returns an error
// only if ctx has ended.
func (e epoch) judged(ctx context.Context, r Reranker, p *retrieval.Policy, query string, f *Found) error {
	if len(f.Hits) == 0 {
		return nil
	}
	texts := make([]string, len(f.Hits))
	hits := make([]retrieval.Hit, len(f.Hits))
	of := map[dag.TurnID]string{}
	for i := range f.Hits {
		hits[i], texts[i] = f.Hits[i].Hit, f.Hits[i].Content
		of[hits[i].Turn.ID] = texts[i]
	}
	asking, observed := e.Observe(ctx, "rerank")
	scores, err := r.Scores(asking, query, texts)
	if err == nil && len(scores) != len(texts) {
		err = fmt.Errorf("%d scores for %d texts", len(scores), len(texts))
	}
	if err == nil && slices.ContainsFunc(scores, func(s int64) bool { return s < -MaxJudged || s > MaxJudged }) {
		err = fmt.Errorf("a score is not from %d to %d", -MaxJudged, MaxJudged)
	}
	if err != nil {
		err = fmt.Errorf("%w: %s: %w", projection.ErrModel, r.ID(), err)
	}
	observed(err)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if f.NotReranked = err; err != nil {
		return nil
	}
	for i, h := range p.Judged(hits, scores) {
		f.Hits[i] = FoundTurn{Hit: h, Content: of[h.Turn.ID]}
	}
	return nil
}
