package kernel

import (
	"cmp"
	"context"
	"crypto/sha256"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/contexts/assemble"
	"github.com/graphkernel/graphkernel/slice/issued"
)

// AssembleAs is Assemble by a kernel whose newest reading is another one.
func (k Contexts) AssembleAs(ctx context.Context, tenant dag.Tenant, in api.ContextRequest, reading dag.Reading) (*assemble.Issued, error) {
	if reading < dag.ReadStandings {
		in.Policy = cmp.Or(in.Policy, contexts.DefaultV1ID)
	}
	prepared, err := assemble.New(assembler{desk{k.engine}}, reading).Prepare(ctx, tenant, in)
	if err != nil {
		return nil, err
	}
	b, err := contexts.Parse(prepared.Bundle)
	if err != nil {
		return nil, err
	}
	i := &assemble.Issued{Context: b, Bundle: prepared.Bundle, Prompt: b.Render()}
	now, err := k.now()
	if err != nil {
		return nil, err
	}
	list, err := k.records.bundles.Put(ctx, tenant, []issued.Record{{
		Provenance: b.Provenance, Question: b.Request.Text(), Shown: issued.PackTurns(b.Shown()), AsOf: b.AsOf, KeyID: b.Seal.KeyID, Token: b.Seal.Token, Bundle: sha256.Sum256(i.Bundle), At: now, Reading: reading,
	}})
	if err == nil {
		i.Record = list[0]
	}
	return i, err
}
