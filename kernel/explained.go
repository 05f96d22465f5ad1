package kernel

import (
	"cmp"
	"context"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/slice"
)

// cutting returns the Request of an api.Cutting.
func (k Slices) cutting(ctx context.Context, tenant dag.Tenant, in *api.Cutting) (r Request, err error) {
	r.Policy, r.AsOf = in.Policy, in.AsOf
	r.Anchor, err = k.turns().Resolve(ctx, tenant, in.Anchor)
	return r, err
}

// Operations lists the operations of the facet.
func (k Slices) Operations() []api.Answer {
	return []api.Answer{
		api.PreviewSlice.By(k.preview), api.ExplainCut.By(k.explain), api.ListSlices.By(k.List), api.GetSlice.By(k.Get), api.TurnHolding.By(k.Holding), api.ExplainTurn.By(k.explainTurn),
	}
}

// preview selects the turns of a slice. Nothing is signed or recorded.
func (k Slices) preview(ctx context.Context, tenant dag.Tenant, in api.Cutting) (w api.Preview, err error) {
	r, err := k.cutting(ctx, tenant, &in)
	if err != nil {
		return w, err
	}
	cut, err := k.Preview(ctx, tenant, r)
	if err != nil {
		return w, err
	}
	w = api.Preview{AsOf: cut.AsOf, Turns: make([]api.Rival, len(cut.Turns))}
	for i := range cut.Turns {
		w.Turns[i] = api.Rival{ID: cut.Turns[i].ID, Admission: api.AdmissionOf(&cut.Turns[i].Admission)}
	}
	return w, nil
}

// explain explains why a turn would be in a slice, or would not.
func (k Slices) explain(ctx context.Context, tenant dag.Tenant, in api.ExplainCutting) (w api.Explanation, err error) {
	r, err := k.cutting(ctx, tenant, &in.Cutting)
	if err != nil {
		return w, err
	}
	turn, err := k.turns().Resolve(ctx, tenant, in.Turn)
	if err != nil {
		return w, err
	}
	if r.AsOf, err = k.turns().AsOf(ctx, tenant, r.AsOf); err != nil { // so that the answer states the number of its view
		return w, err
	}
	e, err := k.Explain(ctx, tenant, r, turn)
	if err != nil {
		return w, err
	}
	return Explained(turn, &r, &e), nil
}

// explainTurn explains why a turn is in an issued slice, or is not.
func (k Slices) explainTurn(ctx context.Context, tenant dag.Tenant, in api.ExplainRequest) (w api.Explanation, err error) {
	list, err := k.Issued(ctx, tenant, in.SliceID)
	if err != nil {
		return w, err
	}
	newest := &list[len(list)-1]
	turn, err := k.turns().Resolve(ctx, tenant, in.Turn)
	if err != nil {
		return w, &api.Fault{Place: "turn", Err: err}
	}
	p := &newest.Provenance
	request := Request{Anchor: p.Anchor, Policy: p.PolicyID, AsOf: newest.AsOf}
	e, err := k.Explain(ctx, tenant, request, turn)
	if err != nil {
		return w, err
	}
	w = Explained(turn, &request, &e)
	w.SliceID = in.SliceID
	if in.Without {
		lost, instead, err := k.atlas().WithoutTurn(ctx, tenant, request.Anchor, request.Policy, request.AsOf, turn)
		if err != nil {
			return w, err
		}
		w.Lost, w.Instead = listed(lost), listed(instead)
	}
	return w, nil
}

// Explained returns an explanation in the form of package api.
func Explained(turn dag.TurnID, r *Request, e *slice.Explanation) api.Explanation {
	id := cmp.Or(r.Policy, policy.DefaultID)
	w := api.Explanation{
		Turn: turn, Anchor: r.Anchor, PolicyID: id, AsOf: r.AsOf,
		Selected: e.Standing == slice.Chosen, Standing: string(e.Standing), Rank: e.Rank, TurnsInSlice: e.Selected, EdgesAway: e.Edges,
		Explanation: render.Explanation(e, id, r.AsOf),
	}
	if e.Admission.Via != 0 {
		a := api.AdmissionOf(&e.Admission)
		w.Admission = &a
	}
	if e.BeatenBy != nil {
		w.BeatenBy = &api.Rival{ID: e.BeatenBy.ID, Admission: api.AdmissionOf(&e.BeatenBy.Admission)}
	}
	return w
}
