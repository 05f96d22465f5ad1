package kernel

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// A ContextRequest asks for a context.
type ContextRequest struct {
	Task   string          // what the agent is about to do, in words; may be "" if there is an anchor
	Anchor *dag.TurnID     // the turn that it goes on from; nil: none
	Budget int             // tokens of text; 0: the policy's
	Policy policy.ID       // "" is contexts.DefaultID
	AsOf   dag.Seq         // 0: the anchor's own number, or the present if there is no anchor
	Format contexts.Format // of the prompt; "" is Markdown
	Spaces []belief.Space  // of beliefs; none: all that are there for who asks
}

// An IssuedContext is what a request for a context is answered with. What it points to may be shared
// with others and must not be changed.
type IssuedContext struct {
	Context *contexts.Bundle
	Bundle  []byte // canonical bytes, the evidence to hand on
	Prompt  []byte
	Record  issued.Record

	// Overfull are spaces that have more constraints than one may, and more than this context had room for.
	Overfull []OverfullSpace
}

// Assemble chooses, signs and records a context: what an agent may be given for a task, under a policy and a budget.
// What it chooses follows from the request, the policy and what is numbered up to AsOf, without the texts that were
// erased since. The same request as of the same number makes the same bytes unless a text was erased or the
// signing key changed in between, and is recorded once.
func (k Contexts) Assemble(ctx context.Context, tenant dag.Tenant, r ContextRequest) (_ *IssuedContext, err error) {
	ctx, observed := k.observe(ctx, "context")
	defer func() { observed(err) }()
	if err := k.screen(ctx, tenant, func() []Text { return []Text{{In: "task", Text: r.Task}} }); err != nil {
		return nil, err
	}
	return steady(k.engine, func(c *cache) (*IssuedContext, error) {
		if err := k.mayIssue(tenant); err != nil {
			return nil, err
		}
		p, err := c.policies.get(ctx, tenant, cmp.Or(r.Policy, contexts.DefaultID))
		if err != nil {
			return nil, err
		}
		a := r.assembly(p)
		a.salted = k.saltOf(tenant)
		b, err := c.assemble(ctx, tenant, &a)
		if err != nil {
			return nil, err
		}
		return c.issueContext(ctx, tenant, b, &a)
	})
}

// Preview is Assemble without a salt and a seal, and nothing is recorded. It is no evidence; it shows what would be chosen.
func (k Contexts) Preview(ctx context.Context, tenant dag.Tenant, r ContextRequest) (*contexts.Bundle, error) {
	return steady(k.engine, func(c *cache) (*contexts.Bundle, error) {
		p, err := c.policies.get(ctx, tenant, cmp.Or(r.Policy, contexts.DefaultID))
		if err != nil {
			return nil, err
		}
		a := r.assembly(p)
		return c.assemble(ctx, tenant, &a)
	})
}

// issueContext seals and records a context.
func (c *cache) issueContext(ctx context.Context, tenant dag.Tenant, b *contexts.Bundle, a *assembly) (*IssuedContext, error) {
	i := &IssuedContext{Context: b, Prompt: b.Render(), Overfull: a.overfull}
	err := c.k.turnstile.pass(ctx, func() (err error) {
		if b.Seal, err = c.k.authority.SealProvenance(tenant, &b.Provenance); err == nil {
			i.Bundle = b.Append(nil)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(i.Bundle) > slice.MaxBundle {
		return nil, fmt.Errorf("%w: the bundle would have %d bytes, at most %d; lower the budget", ErrTooLarge, len(i.Bundle), slice.MaxBundle)
	}
	handed := handout{keyID: b.Seal.KeyID, token: b.Seal.Token, asOf: b.AsOf}
	i.Record, err = c.recordAs(ctx, tenant, handed, a.policy, func(at dag.Time) issued.Record {
		return issued.Record{
			Provenance: b.Provenance, Question: b.Request.Text(), Shown: issued.PackTurns(b.Shown()), AsOf: b.AsOf, KeyID: b.Seal.KeyID, Token: b.Seal.Token,
			Bundle: sha256.Sum256(i.Bundle), At: at, Reading: a.reading,
		}
	})
	if err != nil {
		return nil, err
	}
	return i, nil
}

// saltOf returns what salts a tenant's requests: it follows from what is asked, as of when, and from the signing key.
func (k Contexts) saltOf(tenant dag.Tenant) func(*contexts.Request, policy.ID, dag.Seq) error {
	return func(r *contexts.Request, id policy.ID, asOf dag.Seq) (err error) {
		r.Salt, err = k.authority.Salt(tenant, fmt.Appendf(nil, "%s %s %d", r.Text(), id, asOf))
		return err
	}
}

// An assembly is what a context follows from, beside the history.
type assembly struct {
	asked      contexts.Request
	policy     policy.Registered
	asOf       dag.Seq                                           // 0: see ContextRequest
	salted     func(*contexts.Request, policy.ID, dag.Seq) error // sets the salt of the request; nil: it has one, or needs none
	statistics *retrieval.Statistics                             // that the scores of the search rest on; nil: those of now
	reading    issued.Reading
	overfull   []OverfullSpace // set by assembling
}

func (r *ContextRequest) assembly(p policy.Registered) assembly {
	asked := contexts.Request{Task: r.Task, Anchor: r.Anchor, Budget: r.Budget, Format: cmp.Or(r.Format, contexts.Markdown)}
	for _, s := range r.Spaces {
		asked.Spaces = append(asked.Spaces, string(s))
	}
	slices.Sort(asked.Spaces)
	asked.Spaces = slices.Compact(asked.Spaces)
	return assembly{asked: asked, policy: p, asOf: r.AsOf, reading: issued.Newest}
}

// assemble gathers candidates and chooses, without a seal. It begins again if a text or a fact was erased meanwhile.
func (c *cache) assemble(ctx context.Context, tenant dag.Tenant, a *assembly) (b *contexts.Bundle, err error) {
	for range 4 {
		if b, err = c.assembleOnce(ctx, tenant, a); !errors.Is(err, errGoneMeanwhile) && !errors.Is(err, knowledge.ErrErased) {
			break
		}
	}
	return b, err
}

func (c *cache) assembleOnce(ctx context.Context, tenant dag.Tenant, a *assembly) (*contexts.Bundle, error) {
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
	g, err := c.gatherer(ctx, tenant, &p, &r, a.asOf)
	if err != nil {
		return nil, err
	}
	g.given, g.reading = a.statistics, a.reading
	if r.Spaces, err = c.k.spacesFor(ctx, tenant, r.Spaces, g.asOf); err != nil {
		return nil, err
	}
	if a.salted != nil {
		if err := a.salted(&r, a.policy.ID(), g.asOf); err != nil {
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
	return contexts.New(r, g.asOf, a.policy, choice)
}

// chosenText returns the record of a chosen turn, which has a text, as a context has it.
func chosenText(r *store.Record) (*contexts.ChosenTurn, error) {
	if err := checkRecord(r); err != nil {
		return nil, err
	}
	body, err := slice.ParseBody(r.Body)
	if err != nil {
		return nil, fmt.Errorf("turn %s: %w: %w", r.Turn.ID, ErrDamaged, err)
	}
	body.Salt = r.Salt
	return &contexts.ChosenTurn{Turn: r.Turn, Body: body}, nil
}

// gone says why turns of an index have no text in the store: they were erased while the context was made, or it is damaged.
func (c *cache) gone(ctx context.Context, tenant dag.Tenant, turns []dag.TurnID) error {
	erased, err := c.store.erasures().Among(ctx, tenant, turns)
	if err != nil {
		return err
	}
	for _, id := range turns {
		if erased[id] == 0 {
			return fmt.Errorf("%w: the text of turn %s is gone, and no erasure is on record", ErrDamaged, id)
		}
	}
	return fmt.Errorf("turn %s: %w", turns[0], errGoneMeanwhile)
}

// errGoneMeanwhile says that a text was erased while a context was made. It wraps ErrErasedSince.
var errGoneMeanwhile = fmt.Errorf("its text was erased while the context was made: %w", ErrErasedSince)

// Verify judges the bytes of a context, as Slices.Verify does those of a slice.
func (k Contexts) Verify(bundle []byte) (token.AdmissibleContext, token.Verdict) {
	return token.NewVerifier(k.authority).VerifyContext(bundle)
}

// VerifyFor is Verify on behalf of a tenant.
func (k Contexts) VerifyFor(tenant dag.Tenant, bundle []byte) (token.AdmissibleContext, token.Verdict) {
	return token.NewVerifier(k.authority).VerifyContextFor(tenant, bundle)
}

// Showing lists the contexts that showed a turn: what an agent that was given them has seen.
func (k Contexts) Showing(ctx context.Context, tenant dag.Tenant, turn dag.TurnID) ([]issued.Record, error) {
	list, err := k.bundles().Showing(ctx, tenant, turn)
	return slices.DeleteFunc(list, func(r issued.Record) bool { return !r.OfContext() }), err
}
