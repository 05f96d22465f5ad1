package assemble

import (
	"cmp"
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/issued"
)

// A Claim says what a context follows from, beside the history.
type Claim struct {
	Request    contexts.Request
	Policy     policy.ID
	From       issued.Vantage
	Statistics *retrieval.Statistics // that the scores of the search rest on; nil: those of now
}

// Again assembles what a claim leads to, without a seal.
func Again(ctx context.Context, e Epoch, tenant dag.Tenant, claim Claim) (*contexts.Bundle, error) {
	p, err := e.Policy(ctx, tenant, claim.Policy)
	if err != nil {
		return nil, err
	}
	a := &assembly{epoch: e, tenant: tenant, policy: p, asked: claim.Request, from: claim.From, statistics: claim.Statistics}
	return a.assemble(ctx)
}

// Unexplained says what of a context is otherwise than it was and cannot be the effect of the erasures of some turns; "" if nothing is. The context is assembled again with the
// statistics that are in it, so that erasures reach the conversations that they are in, and no others.
func Unexplained(ctx context.Context, e Epoch, tenant dag.Tenant, b *contexts.Bundle, from issued.Vantage, gone []dag.TurnID) (string, error) {
	if st := b.Statistics; st != nil && !st.Fits(b.Request.Task) {
		return "its statistics do not fit its task", nil
	}
	again, err := Again(ctx, e, tenant, Claim{b.Request, b.Provenance.PolicyID, from, b.Statistics})
	if err != nil {
		return "", err
	}
	ids := gone
	if b.Request.Anchor != nil {
		ids = append(ids, *b.Request.Anchor)
	}
	for _, from := range [...]*contexts.Bundle{b, again} {
		for i := range from.Candidates {
			if c := &from.Candidates[i]; c.Kind == contexts.KindTurn {
				id, err := dag.ParseTurnID(c.ID)
				if err != nil {
					return "", err
				}
				ids = append(ids, id)
			}
		}
	}
	records, err := e.Turns(ctx, tenant, ids)
	if err != nil {
		return "", err
	}
	of := map[string]dag.ConversationID{}
	for i := range records {
		of[records[i].Turn.ID.String()] = records[i].Turn.Conversation
	}
	touched := contexts.Touched{Turns: map[string]bool{}, Anchor: false}
	in := map[dag.ConversationID]bool{}
	for _, id := range gone {
		in[of[id.String()]] = true
	}
	for id, conversation := range of {
		touched.Turns[id] = in[conversation]
	}
	if b.Request.Anchor != nil {
		touched.Anchor = touched.Turns[b.Request.Anchor.String()]
	}
	return b.Unlike(again, &touched), nil
}

// An assembly is what a context follows from.
type assembly struct {
	epoch      Epoch
	tenant     dag.Tenant
	policy     policy.Registered
	asked      contexts.Request
	from       issued.Vantage
	salted     func(*contexts.Request, dag.Seq) error // sets the salt of the request as of a number; nil: it has one, or needs none
	statistics *retrieval.Statistics                  // see Claim

	head     dag.Seq             // set by once: when it began
	overfull []api.OverfullSpace // set by once
}

// fit assembles a context whose prompt has at most so many bytes, 0 for any number, by lower and lower budgets. Nothing is recorded.
func (a *assembly) fit(ctx context.Context, most int) (*contexts.Bundle, error) {
	if most == 0 {
		return a.assemble(ctx)
	}
	p, err := contexts.PolicyOf(a.policy)
	if err != nil {
		return nil, err
	}
	if a.asked.Budget == 0 { // tokens of four bytes; headings come on top
		a.asked.Budget = max(1, min(most/4, p.Budget))
	}
	for {
		b, err := a.assemble(ctx)
		if err != nil {
			return nil, err
		}
		size := len(b.Render())
		if size <= most {
			return b, nil
		}
		if a.asked.Budget == 1 {
			return nil, fmt.Errorf("%w: even with a budget of one token the prompt has %d bytes, at most %d", contexts.ErrRequest, size, most)
		}
		a.asked.Budget = max(1, min(a.asked.Budget*9/10, a.asked.Budget*most/size))
	}
}

// assemble gathers candidates and chooses, without a seal. It begins again if a text or a fact was erased meanwhile.
func (a *assembly) assemble(ctx context.Context) (b *contexts.Bundle, err error) {
	for range 4 {
		if b, err = a.once(ctx); !issued.ErasedMeanwhile(err) {
			break
		}
	}
	return b, err
}

func (a *assembly) once(ctx context.Context) (*contexts.Bundle, error) {
	p, err := contexts.PolicyOf(a.policy)
	if err != nil {
		return nil, err
	}
	r := a.asked
	r.Budget = cmp.Or(r.Budget, p.Budget)
	if err := r.Check(); err != nil {
		return nil, err
	}
	if r.Budget > p.Budget {
		return nil, fmt.Errorf("%w: a budget of %d tokens, and policy %s has %d", contexts.ErrRequest, r.Budget, a.policy.ID(), p.Budget)
	}
	g, err := a.gatherer(ctx, &p, &r)
	if err != nil {
		return nil, err
	}
	a.head = g.head
	if r.Spaces, err = a.epoch.Spaces(ctx, a.tenant, r.Spaces, g.AsOf); err != nil {
		return nil, err
	}
	if a.salted != nil {
		if err := a.salted(&r, g.AsOf); err != nil {
			return nil, err
		}
	}
	if err := g.gather(ctx); err != nil {
		return nil, err
	}
	a.overfull = g.beliefs.overfull
	choice, err := g.choose(ctx)
	if err != nil {
		return nil, err
	}
	return contexts.New(r, g.AsOf, a.policy, choice)
}
