package kernel

import (
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// Explain returns the reason why a turn is in the slice of a request, or why it is not. It
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

// ErrKind is wrapped if a slice id belongs to evidence of another kind than the operation is for. It wraps store.ErrNotFound.
var ErrKind = fmt.Errorf("%w: evidence of another kind", store.ErrNotFound)
