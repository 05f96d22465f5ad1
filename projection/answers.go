package projection

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
)

// An Answer is the result of a traversal as of a number. The cache shares it among callers, so it must not be changed.
type Answer struct {
	knowledge.Answer
	AsOf    dag.Seq
	aliases *normalize.Table // as of AsOf
	once    sync.Once        // makes wire
	wire    api.Traversal
}

// Shown returns the answer for clients, with the aliases as of its number. It is made once, and all its steps in one allocation.
func (a *Answer) Shown() api.Traversal {
	a.once.Do(func() {
		n := 0
		for i := range a.Reached {
			n += len(a.Reached[i].Path)
		}
		steps := make([]api.Step, 0, n)
		a.wire = api.Traversal{Reached: make([]api.Reached, len(a.Reached)), Cut: string(a.Cut), Looked: a.Looked, AsOf: a.AsOf}
		for i := range a.Reached {
			r, from := &a.Reached[i], len(steps)
			for _, e := range r.Path {
				steps = append(steps, api.StepOf(e, a.aliases))
			}
			a.wire.Reached[i] = api.Reached{Entity: r.Entity, Hops: r.Hops, MinConfidence: r.MinConfidence, From: r.From, Path: steps[from:len(steps):len(steps)]}
		}
	})
	return a.wire
}

// Traverse answers a query over a graph that has some of the view's edges. The answer is not cached.
func (v *View) Traverse(ctx context.Context, over knowledge.Graph, q knowledge.Query) (*Answer, error) {
	return v.found(knowledge.Traverse(ctx, over, v.Aliases, q))
}

// AnswerFor is like Answer for a caller who may see only the facts whose sources shows admits; nil admits all.
func (v *View) AnswerFor(ctx context.Context, shows func(source string) bool, q knowledge.Query) (*Answer, error) {
	if shows == nil {
		return v.Answer(ctx, q)
	}
	return v.Traverse(ctx, v.Shown(shows), q)
}

// Shown returns the graph of the view's facts whose sources shows admits; nil admits all.
func (v *View) Shown(shows func(source string) bool) knowledge.Graph {
	if shows == nil {
		return v
	}
	return knowledge.Part{Graph: v, Has: func(e *knowledge.Edge) bool { return shows(e.Source) }}
}

// Paths is like Traverse, but finds the shortest paths to an entity, the best first.
func (v *View) Paths(ctx context.Context, over knowledge.Graph, q knowledge.Query, to string) (*Answer, error) {
	return v.found(knowledge.Paths(ctx, over, v.Aliases, q, to))
}

func (v *View) found(answer knowledge.Answer, err error) (*Answer, error) {
	if err != nil {
		return nil, err
	}
	return &Answer{Answer: answer, AsOf: v.AsOf, aliases: v.Aliases}, nil
}

// Answer is like Traverse, but caches the answer of a query that is asked a second time as of the same number. Most
// queries are asked once, and caching an answer costs a part of the time that finding it took.
func (v *View) Answer(ctx context.Context, q knowledge.Query) (*Answer, error) {
	f := v.of.cache
	key := answerKey{v.erasures, v.AsOf, queryText(&q)}
	kept, again := f.answers.Get(key)
	if kept != nil {
		return kept, nil
	}
	found, err := v.Traverse(ctx, v, q)
	if err != nil {
		return nil, err
	}
	if again {
		f.keepAnswer(key, found)
	} else {
		f.answers.Put(key, nil, len(key.query)+256)
	}
	return found, nil
}

// bytesEach is the size of an edge with its names, and bytesStep the size of a step of an answer without names.
const bytesEach, bytesStep = 320, 256

// keepAnswer caches an answer with copies of its edges: the graph's own edges would keep their whole slices in memory.
// Paths of the answer share the copies. The size includes the steps of Shown, even if Shown is never called.
func (f *Facts) keepAnswer(key answerKey, a *Answer) {
	size := len(key.query) + 256
	a.Reached = slices.Clone(a.Reached)
	own := make(map[*knowledge.Edge]*knowledge.Edge, len(a.Reached))
	for i := range a.Reached {
		path := slices.Clone(a.Reached[i].Path)
		for k, e := range path {
			if own[e] == nil {
				copied := *e
				own[e] = &copied
				size += bytesEach
			}
			path[k] = own[e]
		}
		a.Reached[i].Path = path
		size += 256 + (8+bytesStep)*len(path)
	}
	f.answers.Put(key, a, size)
}

// queryText returns a string that is different for different queries.
func queryText(q *knowledge.Query) string {
	valid := "-"
	if q.ValidAt != nil {
		valid = q.ValidAt.String()
	}
	return fmt.Sprintf("%q %q %s %d %d %d %s", q.Start, q.Predicates, q.Direction, q.MaxHops, q.MaxResults, q.MinConfidence, valid)
}
