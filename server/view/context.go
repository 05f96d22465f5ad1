package view

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/issued"
)

// FormatBundle asks for evidence in place of a prompt.
const FormatBundle = "bundle"

// Assemble has a context assembled.
func Assemble(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.ContextRequest) (*kernel.IssuedContext, error) {
	r := kernel.ContextRequest{Task: in.Task, Budget: in.Budget, Policy: in.Policy, AsOf: in.AsOf, Spaces: in.Spaces, Format: contexts.Format(in.Format)}
	switch {
	case in.Format == FormatBundle:
		r.Format = contexts.Format(in.Prompt)
	case in.Prompt != "":
		return nil, fmt.Errorf("%w: prompt is %s, which is of the evidence; with format %s it says nothing", contexts.ErrRequest, in.Prompt, cmp.Or(in.Format, string(contexts.Markdown)))
	}
	r.Fit, r.NonEmpty = in.Fit, in.NonEmpty
	var err error
	if r.Delivery, err = delivery(&in); err != nil {
		return nil, err
	}
	if in.Anchor != "" {
		id, err := k.Turns().Resolve(ctx, tenant, in.Anchor)
		if err != nil {
			return nil, err
		}
		r.Anchor = &id
	}
	return k.Contexts().Assemble(ctx, tenant, r)
}

// delivery reads for whom a context is made, and what bounds the choice.
func delivery(in *api.ContextRequest) (d issued.Delivery, err error) {
	d.Folders = issued.PackFolders(in.Folders...)
	if in.Recipient != nil {
		d.Recipient = issued.Recipient{Agent: in.Recipient.Agent, Session: in.Recipient.Session, Event: in.Recipient.Event}
		if d.Recipient == (issued.Recipient{}) {
			return d, placed("recipient", fmt.Errorf("%w: it names no agent, session and event", dag.ErrForm))
		}
	}
	d.Except = issued.PackConversations(in.Except...)
	d.TaskOf = issued.PackTurns(slices.Compact(slices.SortedFunc(slices.Values(in.TaskOf), dag.TurnID.Compare)))
	return d, nil
}

// reportNotGiven records that a context did not reach its recipient.
func reportNotGiven(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.NotGivenReport) (w api.NotGiven, err error) {
	bundle := in.Bundle
	u, err := k.Contexts().NotGiven(ctx, tenant, in.ContextID, bundle, in.Reason)
	if err != nil {
		return w, err
	}
	return api.NotGiven{Seq: u.Seq, ContextID: u.Context, Bundle: u.Bundle, Reason: u.Reason, At: u.At, By: u.By}, nil
}

func assemble(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.ContextRequest) (w api.Context, err error) {
	issued, err := Assemble(ctx, k, tenant, in)
	if err != nil {
		return w, err
	}
	return Context(issued), nil
}

// Context shows an issued context.
func Context(i *kernel.IssuedContext) api.Context {
	b := i.Context
	s := b.Sufficiency()
	w := api.Context{
		ContextID: b.Provenance.SliceID, BundleSHA256: i.Record.Bundle, PolicyID: b.Provenance.PolicyID, AsOf: b.AsOf,
		Format: string(b.Request.Format), Cost: b.Prompt.Cost, Candidates: len(b.Candidates), Turns: make([]dag.TurnID, len(b.Turns)), Facts: make([]dag.Digest, len(b.Facts)), Beliefs: make([]string, len(b.Beliefs)),
		Sufficiency: api.Sufficiency{PPM: int(s.Share), Level: s.Level, Missing: append([]string{}, s.Missing...)},
	}
	for n := range b.Turns {
		w.Turns[n] = b.Turns[n].ID
	}
	for n := range b.Facts {
		w.Facts[n] = b.Facts[n].Fact.ID()
	}
	for n := range b.Beliefs {
		w.Beliefs[n] = b.Beliefs[n].Address().String()
	}
	for _, o := range i.Overfull {
		w.Overfull = append(w.Overfull, api.OverfullSpace{Space: o.Space, Count: o.Load.Count, Left: o.Left})
	}
	switch b.Request.Format {
	case contexts.OpenAI, contexts.Anthropic, contexts.JSON:
		w.Body = i.Prompt
	default:
		w.Prompt = string(i.Prompt)
	}
	return w
}

// explainContext says why a turn, a fact or a belief is in a context that was issued, or is not.
func explainContext(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.ExplainContextRequest) (w api.ContextExplanation, err error) {
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
		turn, err := k.Turns().Resolve(ctx, tenant, in.Turn)
		if err != nil {
			return w, placed("turn", err)
		}
		kind, id = contexts.KindTurn, turn.String()
	}
	e, b, err := k.Contexts().Explain(ctx, tenant, in.ContextID, kind, id)
	if err != nil {
		return w, err
	}
	return ContextExplanation(b, kind, id, &e), nil
}

// ContextExplanation shows an explanation of what became of a turn, a fact or a belief in a context.
func ContextExplanation(b *contexts.Bundle, kind contexts.Kind, id string, e *contexts.Explanation) api.ContextExplanation {
	const millionth = 1_000_000
	w := api.ContextExplanation{
		ContextID: b.Provenance.SliceID, Standing: string(e.Standing), Rank: e.Rank, Chosen: e.Chosen, Candidates: e.Candidates, Score: int(e.Score / millionth), Left: e.Left,
		Explanation: e.Sentence(string(kind)+" "+id, &b.Policy),
	}
	w.Turn, w.Fact, w.Belief = named(kind, id)
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
		w.BeatenBy.Turn, w.BeatenBy.Fact, w.BeatenBy.Belief = named(last.Kind, last.ID)
	}
	return w
}

// named puts an id into the place of its kind.
func named(kind contexts.Kind, id string) (turn, fact, belief string) {
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
