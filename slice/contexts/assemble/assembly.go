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

// A Claim has everything that determines a context, except the history.
type Claim struct {
	Request    contexts.Request
	Policy     policy.ID
	From       issued.Vantage
	Statistics *retrieval.Statistics // used for the scores of the search; nil: the present statistics
}

// Again assembles the context of a claim, without a seal.
func Again(ctx context.Context, e Epoch, tenant dag.Tenant, claim Claim) (*contexts.Bundle, error) {
	p, err := e.Policy(ctx, tenant, claim.Policy)
	if err != nil {
		return nil, err
	}
	a := &assembly{epoch: e, tenant: tenant, policy: p, asked: claim.Request, from: claim.From, statistics: claim.Statistics}
	return a.assemble(ctx)
}

// Unexplained assembles a context again and returns the first difference that erasures of the turns gone cannot explain; "" if there is none. The context is
// assembled with the statistics that it contains, so that an erasure affects only turns of its own conversation.
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
	later := map[dag.TurnID]bool{} // turns after the end of the view; beliefs can rest on them
	for i := range records {
		of[records[i].Turn.ID.String()] = records[i].Turn.Conversation
		later[records[i].Turn.ID] = records[i].Seq > b.AsOf
	}
	touched := contexts.Touched{Turns: map[string]bool{}, Anchor: false}
	in := map[dag.ConversationID]bool{}
	for _, id := range gone {
		if !later[id] {
			in[of[id.String()]] = true
		}
	}
	for id, conversation := range of {
		touched.Turns[id] = in[conversation]
	}
	if b.Request.Anchor != nil {
		touched.Anchor = touched.Turns[b.Request.Anchor.String()]
	}
	return b.Unlike(again, &touched), nil
}

// An assembly assembles one context from everything that determines it.
type assembly struct {
	epoch      Epoch
	tenant     dag.Tenant
	policy     policy.Registered
	asked      contexts.Request
	from       issued.Vantage
	fresh      bool                                   // the context is new, so RulesAsOf and Past of its request are set from the history
	present    bool                                   // the view ends at the head even if there is an anchor
	rules      dag.Seq                                // RulesAsOf of a new context; 0: the number of the view if the caller named it, otherwise the head
	salted     func(*contexts.Request, dag.Seq) error // sets the salt of the request as of a number; nil: the request has one, or needs none
	statistics *retrieval.Statistics                  // see Claim

	head     dag.Seq             // set by once: of the history when once began
	overfull []api.OverfullSpace // set by once
	gathered *gatherer           // set by once
}

// fit assembles a context whose prompt has at most a number of bytes, 0 for any number. It records nothing.
func (a *assembly) fit(ctx context.Context, most int) (*contexts.Bundle, error) {
	if most == 0 {
		return a.assemble(ctx)
	}
	p, err := contexts.PolicyOf(a.policy)
	if err != nil {
		return nil, err
	}
	if a.asked.Budget <= p.Budget { // else it is refused
		a.asked.Budget = max(1, min(cmp.Or(a.asked.Budget, p.Budget), most/4)) // a token counts as four bytes
	}
	return a.assemble(ctx)
}

// assemble gathers candidates and chooses among them, without a seal. If a text or a fact was erased meanwhile it begins again, up to three times.
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
	if err := r.CheckVersion(); err != nil {
		return nil, err
	}
	if p.Version >= 2 && !r.Counted() {
		return nil, fmt.Errorf("%w: policy %s is of type %s, and a context of %s needs one of type %s", policy.ErrMismatch, a.policy.ID(), p.Type(), contexts.SchemaVersion, contexts.PolicyType)
	}
	a.head = g.head
	if r.Spaces, err = a.epoch.Spaces(ctx, a.tenant, r.Spaces, g.rulesAsOf()); err != nil {
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
	a.overfull, a.gathered = g.beliefs.overfull, g
	choice, err := g.choose(ctx)
	if err != nil {
		return nil, err
	}
	return contexts.New(r, g.AsOf, a.policy, choice)
}
