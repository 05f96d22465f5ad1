package kernel

import (
	"context"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/issued"
)

// AssembleAs is Assemble by a kernel whose newest reading is another one.
func (k Contexts) AssembleAs(ctx context.Context, tenant dag.Tenant, r ContextRequest, reading issued.Reading) (*IssuedContext, error) {
	return steady(k.engine, func(c *cache) (*IssuedContext, error) {
		p, err := c.policies.get(ctx, tenant, contexts.DefaultID)
		if err != nil {
			return nil, err
		}
		a := r.assembly(p)
		a.salted, a.reading = k.saltOf(tenant), reading
		b, err := c.assemble(ctx, tenant, &a)
		if err != nil {
			return nil, err
		}
		return c.issueContext(ctx, tenant, b, &a)
	})
}
