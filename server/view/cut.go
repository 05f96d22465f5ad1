package view

import (
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
)

// cutting reads which slice is meant.
func cutting(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in *api.Cutting) (r kernel.Request, err error) {
	r.Policy, r.AsOf = in.Policy, in.AsOf
	r.Anchor, err = k.Turns().Resolve(ctx, tenant, in.Anchor)
	return r, err
}

// preview selects what a slice would hold. Nothing is signed or recorded.
func preview(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.Cutting) (w api.Preview, err error) {
	r, err := cutting(ctx, k, tenant, &in)
	if err != nil {
		return w, err
	}
	cut, err := k.Slices().Preview(ctx, tenant, r)
	if err != nil {
		return w, err
	}
	w = api.Preview{AsOf: cut.AsOf, Turns: make([]api.Rival, len(cut.Turns))}
	for i := range cut.Turns {
		w.Turns[i] = api.Rival{ID: cut.Turns[i].ID, Admission: Admission(&cut.Turns[i].Admission)}
	}
	return w, nil
}

// explain says why a turn would be in a slice, or would not.
func explain(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.ExplainCutting) (w api.Explanation, err error) {
	r, err := cutting(ctx, k, tenant, &in.Cutting)
	if err != nil {
		return w, err
	}
	turn, err := k.Turns().Resolve(ctx, tenant, in.Turn)
	if err != nil {
		return w, err
	}
	if r.AsOf, err = k.Turns().AsOf(ctx, tenant, r.AsOf); err != nil { // so that the answer names the view that it is about
		return w, err
	}
	e, err := k.Slices().Explain(ctx, tenant, r, turn)
	if err != nil {
		return w, err
	}
	return Explanation(turn, &r, &e), nil
}

// Convert writes a bundle that was issued in another form: prov, openlineage or sigstore. The files
// are to be written as they are.
func Convert(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, bundle []byte, to string) (api.Converted, error) {
	files := map[string]string{}
	switch to {
	case "sigstore":
		export, err := k.Ledger().Sigstore(ctx, tenant, bundle)
		if err != nil {
			return api.Converted{}, err
		}
		files["bundle.sigstore.json"], files["trusted_root.json"], files["cosign.pub"] = string(export.Bundle), string(export.TrustedRoot), string(export.PublicKey)
	case "prov", "openlineage":
		as := k.Ledger().Prov
		if to == "openlineage" {
			as = k.Ledger().OpenLineage
		}
		text, err := as(ctx, tenant, bundle)
		if err != nil {
			return api.Converted{}, err
		}
		files[to+".json"] = string(text)
	default:
		return api.Converted{}, fmt.Errorf("%w: a bundle is converted to prov, openlineage or sigstore, got %.40q", dag.ErrForm, to)
	}
	return api.Converted{Files: files}, nil
}

// explainTurn says why a turn is in a slice that was issued, or is not.
func explainTurn(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.ExplainRequest) (w api.Explanation, err error) {
	list, err := k.Slices().Issued(ctx, tenant, in.SliceID)
	if err != nil {
		return w, err
	}
	newest := &list[len(list)-1]
	turn, err := k.Turns().Resolve(ctx, tenant, in.Turn)
	if err != nil {
		return w, &api.Fault{Place: "turn", Err: err}
	}
	p := &newest.Provenance
	request := kernel.Request{Anchor: p.Anchor, Policy: p.PolicyID, AsOf: newest.AsOf}
	e, err := k.Slices().Explain(ctx, tenant, request, turn)
	if err != nil {
		return w, err
	}
	w = Explanation(turn, &request, &e)
	w.SliceID = in.SliceID
	if in.Without {
		lost, instead, err := k.Atlas().WithoutTurn(ctx, tenant, request.Anchor, request.Policy, request.AsOf, turn)
		if err != nil {
			return w, err
		}
		w.Lost, w.Instead = listed(lost), listed(instead)
	}
	return w, nil
}

func listPolicies(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, _ api.None) (api.Policies, error) {
	registry, err := k.Policies().All(ctx, tenant)
	return Policies(registry), err
}

func getPolicy(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.PolicyByID) (w api.RegisteredPolicy, err error) {
	p, err := k.Policies().Get(ctx, tenant, in.PolicyID)
	if err != nil {
		return w, err
	}
	return Policy(p), nil
}
