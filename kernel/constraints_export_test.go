package kernel

import (
	"context"
	"crypto/sha256"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/contexts/assemble"
	"github.com/graphkernel/graphkernel/slice/issued"
)

// again assembles what a kernel would whose newest reading is another one.
func (k Contexts) again(ctx context.Context, tenant dag.Tenant, in api.ContextRequest, reading dag.Reading) (*contexts.Bundle, error) {
	now, err := k.Preview(ctx, tenant, in)
	if err != nil {
		return nil, err
	}
	claim := assemble.Claim{Request: now.Request, Policy: now.Provenance.PolicyID, From: issued.Vantage{AsOf: now.AsOf, Reading: reading}}
	if claim.Request.Salt, err = k.authority.Salt(tenant, []byte(claim.Request.Text())); err != nil {
		return nil, err
	}
	return steady(k.engine, func(c *cache) (*contexts.Bundle, error) { return assemble.Again(ctx, assembling{c}, tenant, claim) })
}

// AssembleAs is Assemble by a kernel whose newest reading is another one.
func (k Contexts) AssembleAs(ctx context.Context, tenant dag.Tenant, in api.ContextRequest, reading dag.Reading) (*assemble.Issued, error) {
	b, err := k.again(ctx, tenant, in, reading)
	if err != nil {
		return nil, err
	}
	if b.Seal, err = k.authority.SealProvenance(tenant, &b.Provenance); err != nil {
		return nil, err
	}
	i := &assemble.Issued{Context: b, Bundle: b.Append(nil), Prompt: b.Render()}
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
}
