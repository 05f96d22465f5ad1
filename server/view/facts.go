package view

import (
	"context"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
)

// pageInView is [api.Paging.InView] for a number as a caller gives it, which may be inside of a change. It returns the number of the view.
func pageInView(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, p *api.Paging, given dag.Seq) (after, asOf dag.Seq, err error) {
	if given != 0 || p.After == "" {
		if given, err = k.Turns().AsOf(ctx, tenant, given); err != nil {
			return 0, 0, err
		}
	}
	return p.InView(given)
}

// listFacts lists a page of what is believed.
func listFacts(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.FactQuery) (w api.Facts, err error) {
	q, err := FactQuery(ctx, k, tenant, &in.FactFilter)
	if err != nil {
		return w, err
	}
	if q.After, q.AsOf, err = pageInView(ctx, k, tenant, &in.Paging, in.AsOf); err != nil {
		return w, err
	}
	q.Limit = in.Limit
	page, err := k.Facts().List(ctx, tenant, q)
	if err != nil {
		return w, err
	}
	w = api.Facts{Facts: make([]api.Fact, len(page.Facts)), Total: page.Total, AsOf: page.AsOf}
	for i := range page.Facts {
		w.Facts[i] = Fact(&page.Facts[i])
	}
	if page.Next != 0 {
		w.Next = api.NextInView(page.Next, page.AsOf)
	}
	return w, nil
}

// retractFacts ends the belief in facts, or says which those are.
func retractFacts(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.Retracting) (w api.Retracted, err error) {
	if len(in.Reason) > knowledge.MaxReason || !utf8.ValidString(in.Reason) {
		return w, api.Faultf(api.CodeInvalid, "query parameter reason", "a reason of %d bytes, want UTF-8 of at most %d", len(in.Reason), knowledge.MaxReason)
	}
	q, err := FactQuery(ctx, k, tenant, &in.FactFilter)
	if err != nil {
		return w, err
	}
	list, err := k.Facts().Retract(ctx, tenant, q, in.Reason, in.DryRun)
	return api.Retracted{DryRun: in.DryRun, Total: len(list), Acts: Acts(list)}, err
}

// changesAfter is Changes for a page as it is asked for.
func changesAfter(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.Paging) (api.KnowledgeChanges, error) {
	after, err := in.Number()
	if err != nil {
		return api.KnowledgeChanges{}, err
	}
	return Changes(ctx, k, tenant, after, in.Size())
}

// Changes lists up to limit acts with a number above after.
func Changes(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, after uint64, limit int) (w api.KnowledgeChanges, err error) {
	list, err := k.Facts().Acts(ctx, tenant, dag.Seq(after), limit+1)
	if err != nil {
		return w, err
	}
	if len(list) > limit {
		list = list[:limit]
		w.Next = api.Next(uint64(list[limit-1].Seq))
	}
	w.Acts = Acts(list)
	return w, nil
}
