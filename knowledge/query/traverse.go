package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/token"
)

// queryOf returns the query of a traversal request, with normalized names and with defaults filled in.
func queryOf(t *api.TraverseRequest, asOf dag.Seq) (q knowledge.Query, err error) {
	q = knowledge.Query{
		Filter:    knowledge.Filter{AsOf: asOf, ValidAt: t.ValidAt, MinConfidence: t.MinConfidence},
		Direction: cmp.Or(t.Direction, knowledge.Both), MaxHops: cmp.Or(t.MaxHops, 3), MaxResults: cmp.Or(t.MaxResults, 100),
	}
	if q.Start, err = Names(t.Start); err != nil {
		return q, fmt.Errorf("start: %w", err)
	}
	if q.Predicates, err = Names(t.Predicates); err != nil {
		return q, fmt.Errorf("predicates: %w", err)
	}
	slices.Sort(q.Predicates)
	q.Predicates = slices.Compact(q.Predicates)
	return q, q.Check()
}

// Names returns the normalized forms of names as they were written.
func Names(written []string) ([]string, error) {
	if len(written) == 0 {
		return nil, nil
	}
	names := make([]string, len(written))
	for i, w := range written {
		name, err := normalize.Name(w)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", knowledge.ErrQuery, err)
		}
		names[i] = name
	}
	return names, nil
}

// Traverse returns the entities that can be reached from the start entities, with a path to each. A question that was
// asked twice before, as of the same number, is answered from memory: the answer is shared and must not be changed. A traversal within evidence follows
// only the facts that the evidence lets through, in the view of the evidence unless the request names another; aliases apply as in any traversal.
func (k Facts) Traverse(ctx context.Context, tenant dag.Tenant, in api.TraverseRequest) (api.Traversal, error) {
	found, err := k.traverse(ctx, tenant, in)
	if err != nil {
		return api.Traversal{}, err
	}
	return found.Shown(), nil
}

func (k Facts) traverse(ctx context.Context, tenant dag.Tenant, t api.TraverseRequest) (_ *projection.Answer, err error) {
	ctx, observed := k.kernel.Observe(ctx, "traverse")
	defer func() { observed(err) }()
	if _, err := queryOf(&t, 0); err != nil {
		return nil, err
	}
	var boundary *token.Boundary
	if t.Within != nil {
		if boundary, err = k.kernel.Boundary(tenant, t.Within); err != nil {
			return nil, err
		}
		t.AsOf = cmp.Or(t.AsOf, boundary.AsOf())
	}
	return read(k.kernel, func(e epoch) (*projection.Answer, error) {
		at, early, err := e.begin(ctx, tenant, &t)
		if err != nil || early != nil {
			return early, err
		}
		q, v, err := e.walk(ctx, tenant, &t, at)
		if err != nil {
			return nil, err
		}
		if boundary != nil {
			within, err := e.restingOn(ctx, boundary, v.AsOf)
			if err != nil {
				return nil, err
			}
			return v.Traverse(ctx, knowledge.Part{Graph: v.Shown(e.Shows(ctx)), Has: func(of *knowledge.Edge) bool { return within[of.ID] }}, q)
		}
		return v.AnswerFor(ctx, e.Shows(ctx), q)
	})
}

// begin returns the as-of number of a traversal. While it waits for the store's head, it answers from the
// cache as of the likely head. If the head is the likely one, begin returns this answer as early.
func (e epoch) begin(ctx context.Context, tenant dag.Tenant, t *api.TraverseRequest) (at dag.Seq, early *projection.Answer, err error) {
	if t.AsOf != 0 {
		at, _, err = e.AsOf(ctx, tenant, t.AsOf)
		return at, nil, err
	}
	at, err = e.Facts(tenant).Head(ctx, func(likely *projection.View) {
		if q, err := queryOf(t, likely.AsOf); err == nil {
			early, _ = likely.AnswerFor(ctx, e.Shows(ctx), q) // if this fails, the caller traverses again
		}
	})
	if err != nil || early != nil && early.AsOf != at {
		early = nil
	}
	return at, early, err
}

// walk returns the query of a traversal as of a number, and the view of that number. The head has reached the number.
func (e epoch) walk(ctx context.Context, tenant dag.Tenant, t *api.TraverseRequest, at dag.Seq) (q knowledge.Query, v *projection.View, err error) {
	if q, err = queryOf(t, at); err != nil {
		return q, nil, err
	}
	v, err = e.Facts(tenant).View(ctx, at)
	return q, v, err
}

// Paths returns the shortest paths from one entity to another, the best first.
func (k Facts) Paths(ctx context.Context, tenant dag.Tenant, p api.PathQuery) (w api.Traversal, err error) {
	ctx, observed := k.kernel.Observe(ctx, "paths")
	defer func() { observed(err) }()
	to, err := normalize.Name(p.To)
	if err != nil {
		return w, fmt.Errorf("%w: to: %w", knowledge.ErrQuery, err)
	}
	t := api.TraverseRequest{Start: []string{p.From}, Predicates: p.Predicates, Direction: p.Direction, MaxHops: p.MaxHops, MaxResults: cmp.Or(p.Count, 1),
		MinConfidence: p.MinConfidence, AsOf: p.AsOf, ValidAt: p.ValidAt}
	if _, err := queryOf(&t, 0); err != nil {
		return w, err
	}
	found, err := read(k.kernel, func(e epoch) (*projection.Answer, error) {
		at, _, err := e.AsOf(ctx, tenant, t.AsOf)
		if err != nil {
			return nil, err
		}
		q, v, err := e.walk(ctx, tenant, &t, at)
		if err != nil {
			return nil, err
		}
		return v.Paths(ctx, v.Shown(e.Shows(ctx)), q, to)
	})
	if err != nil {
		return w, err
	}
	return found.Shown(), nil
}

// restingOn returns the statements that a boundary lets through: the statements of the evidence, and each statement with a counting assertion
// that names a turn of the evidence.
func (e epoch) restingOn(ctx context.Context, b *token.Boundary, asOf dag.Seq) (map[knowledge.ID]bool, error) {
	base := e.Knowledge()
	acts, err := base.ActsFrom(ctx, b.Tenant(), b.Turns())
	if err != nil {
		return nil, err
	}
	var ids []knowledge.ID
	for i := range acts {
		if id, ok := acts[i].Act.About(); ok && !acts[i].Erased {
			ids = append(ids, id)
		}
	}
	through := map[knowledge.ID]bool{}
	for _, id := range b.Facts() {
		through[id] = true
	}
	for some := range slices.Chunk(knowledge.SortIDs(ids), knowledge.MaxAsks) {
		spans := make([]knowledge.Span, len(some))
		for i, id := range some {
			spans[i] = knowledge.Span{Statement: id, UpTo: asOf}
		}
		lists, err := base.ActsIn(ctx, b.Tenant(), spans)
		if err != nil {
			return nil, err
		}
		for i, id := range some {
			if slices.ContainsFunc(knowledge.Counting(lists[i], asOf), func(r knowledge.Recorded) bool { return b.HasTurn(r.Act.Fact.Turn) }) {
				through[id] = true
			}
		}
	}
	return through, nil
}
