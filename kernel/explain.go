package kernel

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/store"
)

// Explain says why a turn is in the slice of a request, or why it is not. It
// issues nothing.
func (k Slices) Explain(ctx context.Context, tenant dag.Tenant, r Request, turn dag.TurnID) (_ slice.Explanation, err error) {
	ctx, observed := k.observe(ctx, "explain")
	defer func() { observed(err) }()
	return steady(k.engine, func(c *cache) (slice.Explanation, error) { return c.explain(ctx, tenant, r, turn) })
}

func (c *cache) explain(ctx context.Context, tenant dag.Tenant, r Request, turn dag.TurnID) (slice.Explanation, error) {
	p, err := c.policy(ctx, tenant, r.Policy)
	if err != nil {
		return slice.Explanation{}, err
	}
	conversation, err := c.graphs.Conversation(ctx, tenant, r.Anchor)
	if err != nil {
		return slice.Explanation{}, err
	}
	params, err := p.Slice()
	if err != nil {
		return slice.Explanation{}, err
	}
	// The turn's own conversation is looked at even if no selected turn leads there.
	of, err := c.graphs.Conversation(ctx, tenant, turn)
	if err != nil {
		return slice.Explanation{}, err
	}
	var e slice.Explanation
	_, err = c.graphs.View(ctx, tenant, conversation, r.AsOf, []dag.ConversationID{of}, func(v dag.View, _ dag.Seq) (err error) {
		e, err = slice.Explain(v.Under(dag.ReadNow), r.Anchor, params, turn)
		return err
	})
	if err != nil {
		return slice.Explanation{}, err
	}
	return e, nil
}

// ErrKind is wrapped if a slice id is of another kind of evidence than was asked about. It wraps store.ErrNotFound.
var ErrKind = fmt.Errorf("%w: evidence of another kind", store.ErrNotFound)

// Explain says of a recorded context why a turn or a fact is in it, or why it is not. The context is assembled again; errors are those of
// [Slices.Bundle], and ErrKind for what is no context.
func (k Contexts) Explain(ctx context.Context, tenant dag.Tenant, id slice.SliceID, kind contexts.Kind, of string) (contexts.Explanation, *contexts.Bundle, error) {
	bundle, err := k.slices().Bundle(ctx, tenant, id, nil)
	if err != nil {
		return contexts.Explanation{}, nil, err
	}
	b, err := contexts.Parse(bundle)
	if errors.Is(err, slice.ErrVersion) {
		return contexts.Explanation{}, nil, fmt.Errorf("%s of tenant %s: %w: it is no context", id, tenant, ErrKind)
	}
	if err != nil {
		return contexts.Explanation{}, nil, err
	}
	return b.Explain(kind, of), b, nil
}
