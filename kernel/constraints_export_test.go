package kernel

import (
	"context"
	"crypto/sha256"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/issued"
)

// AssembleAs is Assemble by a kernel whose newest reading is another one.
func (k Contexts) AssembleAs(ctx context.Context, tenant dag.Tenant, in api.ContextRequest, reading dag.Reading) (*IssuedContext, error) {
	return steady(k.engine, func(c *cache) (*IssuedContext, error) {
		p, err := c.policies.Get(ctx, tenant, contexts.DefaultID)
		if err != nil {
			return nil, err
		}
		r, err := k.ask(ctx, tenant, &in)
		if err != nil {
			return nil, err
		}
		a := r.assembly(p)
		a.reading = reading
		if a.salted, err = k.saltOf(tenant, &r.to, false); err != nil {
			return nil, err
		}
		b, err := c.assemble(ctx, tenant, &a)
		if err != nil {
			return nil, err
		}
		if b.Seal, err = k.authority.SealProvenance(tenant, &b.Provenance); err != nil {
			return nil, err
		}
		i := &IssuedContext{Context: b, Bundle: b.Append(nil), Prompt: b.Render()}
		now, err := k.now()
		if err != nil {
			return nil, err
		}
		list, err := k.bundles().Put(ctx, tenant, []issued.Record{{
			Provenance: b.Provenance, Question: b.Request.Text(), Shown: issued.PackTurns(b.Shown()), AsOf: b.AsOf, KeyID: b.Seal.KeyID, Token: b.Seal.Token, Bundle: sha256.Sum256(i.Bundle), At: now, Reading: reading,
		}})
		if err == nil {
			i.Record = list[0]
		}
		return i, err
	})
}
