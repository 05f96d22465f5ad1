package assemble

import (
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// Explain explains why a turn, a fact or a belief is in a recorded context, or why it is not. It assembles the context again; its errors are those of
// Recorded, see [Evidence].
func (k Contexts) Explain(ctx context.Context, tenant dag.Tenant, id slice.SliceID, kind contexts.Kind, of string) (contexts.Explanation, *contexts.Bundle, error) {
	b, err := k.kernel.Recorded(ctx, tenant, id)
	if err != nil {
		return contexts.Explanation{}, nil, err
	}
	return b.Explain(kind, of), b, nil
}

// explain answers the API request to explain why a turn, a fact or a belief is in an issued context, or why it is not.
func (k Contexts) explain(ctx context.Context, tenant dag.Tenant, in api.ExplainContextRequest) (w api.ContextExplanation, err error) {
	kind, id := contexts.KindFact, in.Fact
	named := 0
	for _, name := range [...]string{in.Turn, in.Fact, in.Belief} {
		if name != "" {
			named++
		}
	}
	switch {
	case named != 1:
		return w, fmt.Errorf("%w: name exactly one of a turn, a fact and a belief", dag.ErrForm)
	case in.Belief != "":
		kind, id = contexts.KindBelief, in.Belief
	case in.Turn != "":
		turn, err := k.kernel.Resolve(ctx, tenant, in.Turn)
		if err != nil {
			return w, &api.Fault{Place: "turn", Err: err}
		}
		kind, id = contexts.KindTurn, turn.String()
	}
	e, b, err := k.Explain(ctx, tenant, in.ContextID, kind, id)
	if err != nil {
		return w, err
	}
	return Explained(b, kind, id, &e), nil
}

// Explained returns the API form of an explanation of a turn, a fact or a belief in a context.
func Explained(b *contexts.Bundle, kind contexts.Kind, id string, e *contexts.Explanation) api.ContextExplanation {
	const millionth = 1_000_000
	w := api.ContextExplanation{
		ContextID: b.Provenance.SliceID, Outcome: string(e.Outcome), Rank: e.Rank, Chosen: e.Chosen, Candidates: e.Candidates, Score: int(e.Score / millionth), Left: e.Left,
		Explanation: e.Sentence(string(kind)+" "+id, &b.Policy),
	}
	w.Turn, w.Fact, w.Belief = inPlace(kind, id)
	if c := e.Candidate; c != nil {
		w.Cost, w.From = c.Takes(), c.Names()
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

// inPlace returns an id in the result of its kind; the other results are empty.
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
