package view

import (
	"context"
	"fmt"
	"strconv"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
)

// cutting reads which slice is meant.
func cutting(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in *api.Cutting) (r kernel.Request, err error) {
	r.Policy, r.AsOf = policy.ID(in.Policy), dag.Seq(in.AsOf)
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
	w = api.Preview{AsOf: uint64(cut.AsOf), Turns: make([]api.Rival, len(cut.Turns))}
	for i := range cut.Turns {
		w.Turns[i] = api.Rival{ID: cut.Turns[i].ID.String(), Admission: Admission(&cut.Turns[i].Admission)}
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

func listSlices(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.Paging) (w api.Slices, err error) {
	after, err := PageAfter(in.After)
	if err != nil {
		return w, err
	}
	limit := PageOf(in.Limit)
	list, err := k.Slices().After(ctx, tenant, after, limit+1)
	if err != nil {
		return w, err
	}
	if len(list) > limit {
		list = list[:limit]
		w.Next = strconv.FormatUint(list[limit-1].Number, 10)
	}
	w.Slices = records(list)
	return w, nil
}

func getSlice(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.SliceByID) (api.SliceRecord, error) {
	list, err := k.Slices().Issued(ctx, tenant, slice.SliceID(in.SliceID))
	return api.SliceRecord{SliceID: in.SliceID, Issued: records(list)}, err
}

func records(list []issued.Record) []api.Issued {
	w := make([]api.Issued, len(list))
	for i := range list {
		w[i] = Issued(&list[i])
	}
	return w
}

// explainTurn says why a turn is in a slice that was issued, or is not.
func explainTurn(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.ExplainRequest) (w api.Explanation, err error) {
	list, err := k.Slices().Issued(ctx, tenant, slice.SliceID(in.SliceID))
	if err != nil {
		return w, err
	}
	newest := &list[len(list)-1]
	turn, err := k.Turns().Resolve(ctx, tenant, in.Turn)
	if err != nil {
		return w, placed("turn", err)
	}
	p := &newest.Provenance
	request := kernel.Request{Anchor: p.Anchor, Policy: p.PolicyID, AsOf: newest.AsOf}
	e, err := k.Slices().Explain(ctx, tenant, request, turn)
	if err != nil {
		return w, err
	}
	w = Explanation(turn, &request, &e)
	w.SliceID = in.SliceID
	return w, nil
}

func listPolicies(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, _ api.None) (api.Policies, error) {
	registry, err := k.Policies().All(ctx, tenant)
	return Policies(registry), err
}

func getPolicy(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.PolicyByID) (w api.RegisteredPolicy, err error) {
	p, err := k.Policies().Get(ctx, tenant, policy.ID(in.PolicyID))
	if err != nil {
		return w, err
	}
	return Policy(p), nil
}
