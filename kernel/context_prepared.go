package kernel

import (
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/token"
)

// A PreparedContext is a signed context that has no recipient yet. [Contexts.HandOut] puts it on record.
type PreparedContext struct {
	Bundle   []byte          // canonical bytes
	Delivery issued.Delivery // of the request, without a recipient
	Head     dag.Seq         // of the history, before the context was chosen
}

// Prepare chooses and signs a context for one recipient, whom [Contexts.HandOut] names. It records nothing. A request that names a recipient wraps contexts.ErrRequest.
func (k Contexts) Prepare(ctx context.Context, tenant dag.Tenant, in api.ContextRequest) (_ *PreparedContext, err error) {
	ctx, observed := k.observe(ctx, "prepare_context")
	defer func() { observed(err) }()
	if in.Recipient != nil {
		return nil, fmt.Errorf("%w: a context that is prepared has no recipient yet", contexts.ErrRequest)
	}
	return underPolicy(ctx, k, tenant, &in, func(c *cache, p policy.Registered, r contextAsk) (*PreparedContext, error) {
		a := r.assembly(p)
		b, err := c.choose(ctx, tenant, &a, &r, true)
		if err != nil {
			return nil, err
		}
		i, err := c.sealContext(ctx, tenant, b)
		if err != nil {
			return nil, err
		}
		return &PreparedContext{Bundle: i.Bundle, Delivery: r.to, Head: a.head}, nil
	})
}

// HandOut records that a prepared context was given to a recipient. Saying so again has no effect. A bundle that this kernel did not sign wraps token.ErrToken.
// If a turn that the context rests on was erased since, nothing is recorded and the error wraps ErrErasedSince.
func (k Contexts) HandOut(ctx context.Context, tenant dag.Tenant, p *PreparedContext, to issued.Recipient) (_ issued.Record, err error) {
	ctx, observed := k.observe(ctx, "hand_out_context")
	defer func() { observed(err) }()
	b, err := contexts.Parse(p.Bundle)
	if err != nil {
		return issued.Record{}, err
	}
	delivery := p.Delivery
	delivery.Recipient = to
	if err := delivery.Check(); err != nil {
		return issued.Record{}, fmt.Errorf("%w: %w", contexts.ErrRequest, err)
	}
	if to == (issued.Recipient{}) {
		return issued.Record{}, fmt.Errorf("%w: a context is handed out to a recipient", contexts.ErrRequest)
	}
	if err := k.authority.Check(&b.Provenance, b.Seal); err != nil {
		return issued.Record{}, err
	}
	i, err := steady(k.engine, func(c *cache) (*IssuedContext, error) {
		if err := k.mayIssue(tenant); err != nil {
			return nil, err
		}
		registered, err := c.policies.Get(ctx, tenant, b.Provenance.PolicyID)
		if err != nil {
			return nil, err
		}
		i := &IssuedContext{Context: b, Bundle: p.Bundle}
		return i, c.recordContext(ctx, tenant, i, registered, delivery, p.Head)
	})
	if err != nil {
		return issued.Record{}, err
	}
	return i.Record, nil
}

// SigningKey returns the id of the key that signs; "" if none does.
func (k Contexts) SigningKey() token.KeyID {
	id, err := k.authority.Keyring().Signer()
	if err != nil {
		return ""
	}
	return id
}
