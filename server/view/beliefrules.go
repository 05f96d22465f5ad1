package view

import (
	"context"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
)

func promoteBeliefs(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.PromotionRequest) (api.Promotions, error) {
	list, err := k.Beliefs().Promote(ctx, tenant, in.Space, in.Policy, in.DryRun)
	if err != nil {
		return api.Promotions{}, err
	}
	w := api.Promotions{Promotions: []api.Promotion{}}
	for i := range list {
		p := &list[i]
		one := api.Promotion{
			From: p.From.String(), To: p.To, Tag: p.Step.Tag, Support: p.Support, Threshold: p.Step.Threshold, Sources: p.Sources, Reason: p.Reason, Outcome: journal.Changed,
		}
		switch {
		case p.Outcome != nil:
			one.Outcome, one.Seq = p.Outcome.Result, p.Outcome.Seq
		case p.Acted != nil:
			one.Outcome, one.Seq = p.Acted.Result, p.Acted.Seq
		}
		w.Promotions = append(w.Promotions, one)
	}
	return w, nil
}

func cascadeBeliefs(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.CascadeRequest) (api.Cascade, error) {
	c, err := k.Beliefs().Cascade(ctx, tenant, in.Space, in.DryRun)
	if err != nil {
		return api.Cascade{}, err
	}
	w := api.Cascade{Seq: c.Seq, Lowered: []api.LoweredBelief{}, Excepted: append([]string{}, c.Excepted...)}
	for i := range c.Lowered {
		l := &c.Lowered[i]
		w.Lowered = append(w.Lowered, api.LoweredBelief{Ref: l.ID, Before: l.Before, After: l.After, Invalid: l.Invalid, Fell: append([]string{}, l.Fell...), Reason: l.Reason})
	}
	return w, nil
}

func beliefRules(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.RulesQuery) (api.BeliefBase, error) {
	b, err := k.Beliefs().Rules(ctx, tenant, in.Space, in.AsOf)
	if err != nil {
		return api.BeliefBase{}, err
	}
	return api.BeliefBase{AsOf: b.AsOf, Space: in.Space, Policy: policy.ID(b.Policy), Statements: held(b)}, nil
}

func useBelief(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.BeliefUse) (api.UseRecord, error) {
	a, err := belief.ParseAddress(in.Ref)
	if err != nil {
		return api.UseRecord{}, err
	}
	u, r, err := k.Beliefs().Used(ctx, tenant, a, in.Success)
	if err != nil {
		return api.UseRecord{}, err
	}
	return api.UseRecord{Seq: u.Seq, Ref: u.Of.String(), Uses: r.Uses, Successes: r.Successes, Rate: r.Rate}, nil
}
