package kernel

import (
	"context"
	"fmt"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// Operations lists what the facet answers.
func (k Contexts) Operations() []api.Answer {
	return []api.Answer{api.AssembleContext.By(k.assemble), api.ExplainContext.By(k.explainContext), api.ReportNotGiven.By(k.reportNotGiven), api.EraseTask.By(k.eraseTask)}
}

// reportNotGiven records that a context did not reach its recipient.
func (k Contexts) reportNotGiven(ctx context.Context, tenant dag.Tenant, in api.NotGivenReport) (w api.NotGiven, err error) {
	bundle := in.Bundle
	u, err := k.NotGiven(ctx, tenant, in.ContextID, bundle, in.Reason)
	if err != nil {
		return w, err
	}
	return api.NotGiven{Seq: u.Seq, ContextID: u.Context, Bundle: u.Bundle, Reason: u.Reason, At: u.At, By: u.By}, nil
}

func (k Contexts) assemble(ctx context.Context, tenant dag.Tenant, in api.ContextRequest) (w api.Context, err error) {
	issued, err := k.Assemble(ctx, tenant, in)
	if err != nil {
		return w, err
	}
	return issued.Answer(), nil
}

// explainContext says why a turn, a fact or a belief is in a context that was issued, or is not.
func (k Contexts) explainContext(ctx context.Context, tenant dag.Tenant, in api.ExplainContextRequest) (w api.ContextExplanation, err error) {
	kind, id := contexts.KindFact, in.Fact
	named := 0
	for _, name := range [...]string{in.Turn, in.Fact, in.Belief} {
		if name != "" {
			named++
		}
	}
	switch {
	case named != 1:
		return w, fmt.Errorf("%w: name a turn, a fact or a belief, one of them", dag.ErrForm)
	case in.Belief != "":
		kind, id = contexts.KindBelief, in.Belief
	case in.Turn != "":
		turn, err := k.turns().Resolve(ctx, tenant, in.Turn)
		if err != nil {
			return w, &api.Fault{Place: "turn", Err: err}
		}
		kind, id = contexts.KindTurn, turn.String()
	}
	e, b, err := k.Explain(ctx, tenant, in.ContextID, kind, id)
	if err != nil {
		return w, err
	}
	return ContextExplained(b, kind, id, &e), nil
}

// ContextExplained shows an explanation of what became of a turn, a fact or a belief in a context.
func ContextExplained(b *contexts.Bundle, kind contexts.Kind, id string, e *contexts.Explanation) api.ContextExplanation {
	const millionth = 1_000_000
	w := api.ContextExplanation{
		ContextID: b.Provenance.SliceID, Standing: string(e.Standing), Rank: e.Rank, Chosen: e.Chosen, Candidates: e.Candidates, Score: int(e.Score / millionth), Left: e.Left,
		Explanation: e.Sentence(string(kind)+" "+id, &b.Policy),
	}
	w.Turn, w.Fact, w.Belief = inPlace(kind, id)
	if c := e.Candidate; c != nil {
		w.Cost, w.From = c.Cost, c.Names()
		for i, f := range c.Features {
			if f > 0 {
				w.Features = append(w.Features, api.Feature{Name: contexts.Feature(i).String(), Value: int(f)})
			}
		}
	}
	if n := len(e.Before); n > 0 {
		last := &e.Before[n-1]
		w.BeatenBy = &api.ChosenBefore{Score: int(last.Score / millionth), Cost: last.Cost}
		w.BeatenBy.Turn, w.BeatenBy.Fact, w.BeatenBy.Belief = inPlace(last.Kind, last.ID)
	}
	return w
}

// inPlace puts an id into the place of its kind.
func inPlace(kind contexts.Kind, id string) (turn, fact, belief string) {
	switch kind {
	case contexts.KindTurn:
		turn = id
	case contexts.KindFact:
		fact = id
	default:
		belief = id
	}
	return turn, fact, belief
}

func (k Contexts) eraseTask(ctx context.Context, tenant dag.Tenant, in api.TaskErasing) (w api.TaskErased, err error) {
	reason, err := api.ReasonOf(in.Reason, in.Body)
	if err != nil {
		return w, err
	}
	e, err := k.EraseTask(ctx, tenant, slice.SliceID(strings.ToLower(string(in.SliceID))), reason)
	if err != nil {
		return w, err
	}
	w = TaskErased(&e)
	w.AsOf = w.Seq // it is a change of its own
	return w, nil
}
