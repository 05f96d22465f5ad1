package projection

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
	"github.com/graphkernel/graphkernel/retrieval/segments"
)

// ErrEmbedder is wrapped if a policy asks for vectors of a model that the kernel was not opened with. It wraps dag.ErrForm.
var ErrEmbedder = fmt.Errorf("%w: this kernel has no embedder", dag.ErrForm)

// ErrModel is wrapped if a model that a policy names cannot be reached, or returns invalid vectors.
var ErrModel = errors.New("the model cannot be used now")

// Embedders are the embedders that policies may name, by the ids of their models.
type Embedders map[string]embed.Embedder

// NewEmbedders returns the embedder of the table that ships with the program, and others.
func NewEmbedders(others []embed.Embedder) Embedders {
	all := Embedders{embed.StaticID: static.Load()}
	for _, e := range others {
		all[e.Model().ID] = e
	}
	return all
}

// formOf returns the form of a policy's index.
func (all Embedders) formOf(p *retrieval.Policy) (form, error) {
	f := form{analyzer: analysis.Of(p.Analyzer), model: p.Dense.Embedder}
	if f.model == retrieval.NoEmbedder {
		return f, nil
	}
	var ok bool
	if f.embedder, ok = all[f.model]; !ok {
		return f, fmt.Errorf("%w %q, but %s; its operator gives it one in the setting embedders (GRAPHKERNEL_EMBEDDERS), a program in kernel.Config.Embedders",
			ErrEmbedder, f.model, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
	}
	return f, nil
}

// SearchAmong searches some turns as if there were no others. It sets the query's vector.
func (all Embedders) SearchAmong(ctx context.Context, turns []retrieval.Turn, p *retrieval.Policy, q *retrieval.Query) ([]retrieval.Hit, error) {
	f, err := all.formOf(p)
	if err != nil {
		return nil, err
	}
	vectors, err := f.vectors(ctx, turns)
	if err != nil {
		return nil, err
	}
	x := f.index()
	if err := x.Add(turns, vectors); err != nil {
		return nil, err
	}
	if q.Vector, err = f.vector(ctx, x.Bare(p, q)); err != nil {
		return nil, err
	}
	return x.Search(p, q), nil
}

// A form describes what an index contains: the words that an analyzer finds in texts, and the vectors that a model computes.
type form struct {
	analyzer analysis.Analyzer
	model    string         // retrieval.NoEmbedder: there are no vectors
	embedder embed.Embedder // nil: there are no vectors
}

// index returns an empty index.
func (f form) index() *retrieval.Index {
	if f.embedder == nil {
		return retrieval.New(f.analyzer, 0)
	}
	return retrieval.New(f.analyzer, f.embedder.Model().Dimensions)
}

// vectors returns the vectors of turns, nil for each if there is no embedder.
func (f form) vectors(ctx context.Context, turns []retrieval.Turn) ([][]int8, error) {
	if f.embedder == nil {
		return make([][]int8, len(turns)), nil
	}
	texts := make([]string, len(turns))
	for i := range turns {
		texts[i] = turns[i].Content
	}
	return f.embedded(ctx, texts)
}

// vector returns the vector of a query without names, nil if there is no embedder.
func (f form) vector(ctx context.Context, bare string) ([]int8, error) {
	if f.embedder == nil {
		return nil, nil
	}
	vectors, err := f.embedded(ctx, []string{bare})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// embedded returns the vectors of texts. An error wraps ErrModel, unless ctx has ended.
func (f form) embedded(ctx context.Context, texts []string) ([][]int8, error) {
	vectors, err := embed.All(ctx, f.embedder, texts)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: %s: %w", ErrModel, f.model, err)
	}
	return vectors, err
}

// words returns the series of the index's words.
func (f form) words() segments.Series { return segments.Series{Analyzer: f.analyzer.String()} }

// series returns the series in which the index is stored: words, and vectors if the index has any.
func (f form) series() []segments.Series {
	if f.embedder == nil {
		return []segments.Series{f.words()}
	}
	return []segments.Series{f.words(), {Model: f.model}}
}

// stored reports whether stores keep the segments of the index.
func (f form) stored() bool { return f.within(segments.Kept()) }

// filledAhead reports whether the segments of the index are made in advance.
func (f form) filledAhead() bool { return f.within(segments.Filled()) }

func (f form) within(list []segments.Series) bool {
	return !slices.ContainsFunc(f.series(), func(s segments.Series) bool { return !slices.Contains(list, s) })
}
