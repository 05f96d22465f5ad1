package view

import (
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/rules"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger"
)

func exportPersona(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.PersonaRequest) (w api.Persona, err error) {
	aliases := map[string]string{}
	for i, a := range in.Aliases {
		if to, twice := aliases[a.Name]; twice && to != a.Alias {
			return w, fmt.Errorf("%w: aliases[%d]: %.80q has the aliases %.80q and %.80q; keep one", rules.ErrAlias, i, a.Name, to, a.Alias)
		}
		aliases[a.Name] = a.Alias
	}
	out, err := k.Beliefs().ExportPersona(ctx, tenant, in.Space, aliases, in.People)
	if err != nil {
		return w, err
	}
	w = api.Persona{Envelope: out.Envelope, SHA256: out.SHA256, Items: len(out.Document.Items), Links: len(out.Document.Links), Left: []api.PersonaLeft{}}
	for _, l := range out.Left {
		w.Left = append(w.Left, api.PersonaLeft{Item: belief.Item(l.ID), Name: l.Name, Taken: l.Taken, Reason: l.Reason})
	}
	return w, nil
}

func importPersona(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.PersonaImport) (w api.ImportedPersona, err error) {
	asked := kernel.PersonaImport{Space: in.Space, Envelope: in.Envelope, Revise: in.Revise, Dry: in.DryRun}
	for i, text := range in.Signers {
		key, err := ledger.ParseKey(text)
		if err != nil {
			return w, fmt.Errorf("signers[%d]: %w", i, err)
		}
		asked.Signers = append(asked.Signers, key)
	}
	out, err := k.Beliefs().ImportPersona(ctx, tenant, asked)
	if err != nil {
		return w, err
	}
	o := out.Origin
	w = api.ImportedPersona{
		SHA256: out.SHA256, Items: []api.ImportedItem{}, Links: out.Links,
		Origin: api.PersonaOrigin{Kernel: o.Kernel, Tenant: string(o.Tenant), Space: o.Space, AsOf: o.AsOf, At: o.At},
	}
	for _, item := range out.Items {
		one := api.ImportedItem{ID: item.ID, Outcomes: []api.BeliefOutcome{}}
		for _, done := range item.Outcomes {
			one.Outcomes = append(one.Outcomes, beliefOutcome(done))
		}
		w.Items = append(w.Items, one)
	}
	return w, nil
}
