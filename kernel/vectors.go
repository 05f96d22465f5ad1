package kernel

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
	"github.com/graphkernel/graphkernel/retrieval/embed"
	"github.com/graphkernel/graphkernel/retrieval/embed/static"
)

// ErrEmbedder is wrapped if a policy asks for vectors of a model that the kernel was not opened with. It wraps dag.ErrForm.
var ErrEmbedder = fmt.Errorf("%w: this kernel has no embedder", dag.ErrForm)

// ErrModel is wrapped if a model that a policy names cannot be asked, or answers with what is none of its vectors.
var ErrModel = errors.New("the model cannot be used now")

// embedders are those that policies may name, by the ids of their models.
type embedders map[string]embed.Embedder

// newEmbedders returns the table that ships, and others.
func newEmbedders(others []embed.Embedder) embedders {
	all := embedders{embed.StaticID: static.Load()}
	for _, e := range others {
		all[e.Model().ID] = e
	}
	return all
}

// of returns the embedder of a policy, nil if it goes by words alone.
func (all embedders) of(p *retrieval.Policy) (embed.Embedder, error) {
	id := p.Dense.Embedder
	if id == retrieval.NoEmbedder {
		return nil, nil
	}
	e, ok := all[id]
	if !ok {
		return nil, fmt.Errorf("%w %q, but %s; its operator gives it one in the setting embedders (GRAPHKERNEL_EMBEDDERS), a program in kernel.Config.Embedders",
			ErrEmbedder, id, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
	}
	return e, nil
}

// newIndex returns an empty index of turns, with vectors if there is an embedder.
func newIndex(a analysis.Analyzer, e embed.Embedder) *retrieval.Index {
	if e == nil {
		return retrieval.New(a, 0)
	}
	return retrieval.New(a, e.Model().Dimensions)
}

// vectorsOf returns the vectors of turns, nil for each if there is no embedder.
func vectorsOf(ctx context.Context, e embed.Embedder, turns []retrieval.Turn) ([][]int8, error) {
	if e == nil {
		return make([][]int8, len(turns)), nil
	}
	texts := make([]string, len(turns))
	for i := range turns {
		texts[i] = turns[i].Content
	}
	return embedded(ctx, e, texts)
}

// embedded returns the vectors of texts. That a context ended is no fault of the model's.
func embedded(ctx context.Context, e embed.Embedder, texts []string) ([][]int8, error) {
	vectors, err := embed.All(ctx, e, texts)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: %s: %w", ErrModel, e.Model().ID, err)
	}
	return vectors, err
}

// vectorOf returns the vector of a query without names, nil if there is no embedder.
func vectorOf(ctx context.Context, e embed.Embedder, bare string) ([]int8, error) {
	if e == nil {
		return nil, nil
	}
	vectors, err := embedded(ctx, e, []string{bare})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}
