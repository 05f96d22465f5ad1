package kernel

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// A contextAsk is a request for a context that was read.
type contextAsk struct {
	in    *api.ContextRequest
	asked contexts.Request // with the spaces ascending, each once; without a salt
	to    issued.Delivery
}

// ask reads a request for a context, and finds its anchor.
func (k Contexts) ask(ctx context.Context, tenant dag.Tenant, in *api.ContextRequest) (r contextAsk, err error) {
	r = contextAsk{in: in, asked: contexts.Request{Task: in.Task, Budget: in.Budget, Format: contexts.Format(in.Format)}}
	switch {
	case in.Format == api.FormatBundle:
		r.asked.Format = contexts.Format(in.Prompt)
	case in.Prompt != "":
		return r, fmt.Errorf("%w: prompt is %s, which is of the evidence; with format %s it says nothing", contexts.ErrRequest, in.Prompt, cmp.Or(in.Format, string(contexts.Markdown)))
	}
	r.asked.Format = cmp.Or(r.asked.Format, contexts.Markdown)
	for _, s := range in.Spaces {
		r.asked.Spaces = append(r.asked.Spaces, string(s))
	}
	slices.Sort(r.asked.Spaces)
	r.asked.Spaces = slices.Compact(r.asked.Spaces)
	if in.Recipient != nil {
		if r.to.Recipient = *in.Recipient; r.to.Recipient == (issued.Recipient{}) {
			return r, &api.Fault{Place: "recipient", Err: fmt.Errorf("%w: it names no agent, session and event", dag.ErrForm)}
		}
	}
	r.to.Folders, r.to.Except = issued.PackFolders(in.Folders...), issued.PackConversations(in.Except...)
	r.to.TaskOf = issued.PackTurns(slices.Compact(slices.SortedFunc(slices.Values(in.TaskOf), dag.TurnID.Compare)))
	if in.Fit < 0 || in.Fit > MaxFit {
		return r, fmt.Errorf("%w: fit is %d, want 1 to %d bytes, or none", contexts.ErrRequest, in.Fit, MaxFit)
	}
	if err := r.to.Check(); err != nil {
		return r, fmt.Errorf("%w: %w", contexts.ErrRequest, err)
	}
	if in.Anchor != "" {
		id, err := k.turns().Resolve(ctx, tenant, in.Anchor)
		if err != nil {
			return r, err
		}
		r.asked.Anchor = &id
	}
	return r, nil
}

// MaxFit bounds [api.ContextRequest].Fit.
const MaxFit = 64 << 20

// ErrNothing is wrapped when nothing was chosen for a context that must not be empty. It wraps store.ErrNotFound.
var ErrNothing = fmt.Errorf("there is nothing to choose from: %w", store.ErrNotFound)

// An IssuedContext is what a request for a context is answered with. What it points to may be shared
// with others and must not be changed.
type IssuedContext struct {
	Context *contexts.Bundle
	Bundle  []byte // canonical bytes, the evidence to hand on
	Prompt  []byte
	Record  issued.Record

	// Overfull are spaces that have more constraints than one may, and more than this context had room for.
	Overfull []api.OverfullSpace
}

// Answer says what was issued, with the prompt.
func (i *IssuedContext) Answer() api.Context {
	b := i.Context
	s := b.Sufficiency()
	w := api.Context{
		ContextID: b.Provenance.SliceID, BundleSHA256: i.Record.Bundle, PolicyID: b.Provenance.PolicyID, AsOf: b.AsOf,
		Format: string(b.Request.Format), Cost: b.Prompt.Cost, Candidates: len(b.Candidates), Turns: make([]dag.TurnID, len(b.Turns)), Facts: make([]dag.Digest, len(b.Facts)), Beliefs: make([]string, len(b.Beliefs)),
		Sufficiency: api.Sufficiency{PPM: int(s.Share), Level: s.Level, Missing: append([]string{}, s.Missing...)}, Overfull: i.Overfull,
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
	switch b.Request.Format {
	case contexts.OpenAI, contexts.Anthropic, contexts.JSON:
		w.Body = i.Prompt
	default:
		w.Prompt = string(i.Prompt)
	}
	return w
}

// Assemble chooses, signs and records a context: what an agent may be given for a task, under a policy and a budget.
// What it chooses follows from the request, the policy and what is numbered up to AsOf, without the texts that were
// erased since. The same request as of the same number makes the same bytes unless a text was erased or the
// signing key changed in between, and is recorded once.
func (k Contexts) Assemble(ctx context.Context, tenant dag.Tenant, in api.ContextRequest) (_ *IssuedContext, err error) {
	ctx, observed := k.observe(ctx, "context")
	defer func() { observed(err) }()
	return underPolicy(ctx, k, tenant, &in, func(c *cache, p policy.Registered, r contextAsk) (*IssuedContext, error) {
		return c.hand(ctx, tenant, p, r)
	})
}

// underPolicy carries out what a request for a context asks for, if the request is in its form and its task may be asked, with the policy.
func underPolicy[T any](ctx context.Context, k Contexts, tenant dag.Tenant, in *api.ContextRequest, do func(*cache, policy.Registered, contextAsk) (T, error)) (T, error) {
	var none T
	r, err := k.ask(ctx, tenant, in)
	if err != nil {
		return none, err
	}
	if err := k.screen(ctx, tenant, func() []dag.Text { return []dag.Text{{In: "task", Text: in.Task}} }); err != nil {
		return none, err
	}
	return steady(k.engine, func(c *cache) (T, error) {
		if err := k.mayIssue(tenant); err != nil {
			return none, err
		}
		p, err := c.policies.Get(ctx, tenant, cmp.Or(in.Policy, contexts.DefaultID))
		if err != nil {
			return none, err
		}
		return do(c, p, r)
	})
}

// triesWhole is how often a context is assembled while its turns are erased, before the conversations concerned are left out.
const triesWhole = 3

// hand assembles, seals and records a context. The commit decides whether others erased turns meanwhile; then it begins again, at last without the
// conversations in which turns were erased. It is an error, which wraps ErrErasedSince, only if the task has the words of an erased turn.
func (c *cache) hand(ctx context.Context, tenant dag.Tenant, p policy.Registered, r contextAsk) (*IssuedContext, error) {
	except := r.to.Except.Unpack()
	for tries := 1; ; tries++ {
		i, err := c.handOnce(ctx, tenant, p, &r)
		if !erasedMeanwhile(err) || ctx.Err() != nil {
			return i, err
		}
		var gone *goneError
		if !errors.As(err, &gone) {
			continue
		}
		of := r.to.TaskOf.Unpack()
		if slices.ContainsFunc(gone.turns, func(turn dag.TurnID) bool { return slices.Contains(of, turn) }) {
			return nil, fmt.Errorf("the task has the words of a turn that was erased: %w", err)
		}
		if tries < triesWhole {
			continue
		}
		for _, turn := range gone.turns {
			conversation, err := c.graphs.Conversation(ctx, tenant, turn)
			if err != nil {
				return nil, err
			}
			except = append(except, conversation)
		}
		r.to.Except = issued.PackConversations(except...)
		if err := r.to.Check(); err != nil {
			return nil, err
		}
	}
}

func (c *cache) handOnce(ctx context.Context, tenant dag.Tenant, p policy.Registered, r *contextAsk) (*IssuedContext, error) {
	a := r.assembly(p)
	b, err := c.choose(ctx, tenant, &a, r, r.to.Recipient != (issued.Recipient{}))
	if err != nil {
		return nil, err
	}
	i, err := c.sealContext(ctx, tenant, b)
	if err != nil {
		return nil, err
	}
	i.Overfull = a.overfull
	if err := c.recordContext(ctx, tenant, i, p, r.to, a.head); err != nil {
		return nil, err
	}
	return i, nil
}

// choose makes the context that a request asks for, without a seal. One that is for a single recipient has a salt of its own.
func (c *cache) choose(ctx context.Context, tenant dag.Tenant, a *assembly, r *contextAsk, single bool) (b *contexts.Bundle, err error) {
	if a.salted, err = c.k.contexts().saltOf(tenant, &r.to, single); err != nil {
		return nil, err
	}
	if b, err = c.fit(ctx, tenant, a, r.in.Fit); err != nil {
		return nil, err
	}
	if r.in.NonEmpty && len(b.Turns)+len(b.Facts)+len(b.Beliefs) == 0 && b.Policy.Rules == "" {
		return nil, fmt.Errorf("tenant %s: %w", tenant, ErrNothing)
	}
	return b, nil
}

// fit assembles a context whose prompt has at most so many bytes, 0 for any number, by lower and lower budgets. Nothing is recorded.
func (c *cache) fit(ctx context.Context, tenant dag.Tenant, a *assembly, most int) (*contexts.Bundle, error) {
	if most == 0 {
		return c.assemble(ctx, tenant, a)
	}
	p, err := contexts.PolicyOf(a.policy)
	if err != nil {
		return nil, err
	}
	if a.asked.Budget == 0 { // tokens of four bytes; headings come on top
		a.asked.Budget = max(1, min(most/4, p.Budget))
	}
	for {
		b, err := c.assemble(ctx, tenant, a)
		if err != nil {
			return nil, err
		}
		size := len(b.Render())
		if size <= most {
			return b, nil
		}
		if a.asked.Budget == 1 {
			return nil, fmt.Errorf("%w: the prompt has %d bytes with a budget of one token, and is to have at most %d", contexts.ErrRequest, size, most)
		}
		a.asked.Budget = max(1, min(a.asked.Budget*9/10, a.asked.Budget*most/size))
	}
}

// NotGiven records that a context which is on record did not reach its recipient, and returns the entry. Only the caller who asked for the context
// may say so, or one with the permission to erase. Saying so again has no effect. A bundle that is not on record is store.ErrNotFound, and ErrKind if it names
// no recipient.
func (k Contexts) NotGiven(ctx context.Context, tenant dag.Tenant, id slice.SliceID, bundle dag.Digest, reason string) (_ issued.Undelivered, err error) {
	ctx, observed := k.observe(ctx, "not_given")
	defer func() { observed(err) }()
	if err := checkReason(reason); err != nil {
		return issued.Undelivered{}, err
	}
	r, err := k.recordOf(ctx, tenant, id, bundle)
	switch {
	case err != nil:
		return issued.Undelivered{}, err
	case r == nil || !r.OfContext():
		return issued.Undelivered{}, fmt.Errorf("context %s of tenant %s, bundle %s: %w", id, tenant, bundle, store.ErrNotFound)
	case r.Delivery.Recipient == (issued.Recipient{}): // its bundle may have been handed out many times
		return issued.Undelivered{}, fmt.Errorf("context %s of tenant %s was made for no session of an agent: %w", id, tenant, ErrKind)
	}
	if who := access.Asking(ctx); who != (access.Identity{}) && who.Caller() != r.By && !who.Role.May(access.Erase) {
		return issued.Undelivered{}, fmt.Errorf("%w: context %s was asked for by another caller; that takes the permission to %s", access.ErrMayNot, id, access.Erase)
	}
	now, err := k.now()
	if err != nil {
		return issued.Undelivered{}, err
	}
	u, err := k.bundles().PutUndelivered(ctx, tenant, issued.Undelivered{Context: id, Bundle: bundle, Reason: reason, At: now, By: access.CallerIn(ctx)})
	c := k.kept.Load()
	c.atlases.Drop(tenant)
	k.changes.tell(tenant)
	return u, err
}

// Preview is Assemble without a salt and a seal, and nothing is recorded. It is no evidence; it shows what would be chosen.
func (k Contexts) Preview(ctx context.Context, tenant dag.Tenant, in api.ContextRequest) (*contexts.Bundle, error) {
	r, err := k.ask(ctx, tenant, &in)
	if err != nil {
		return nil, err
	}
	return steady(k.engine, func(c *cache) (*contexts.Bundle, error) {
		p, err := c.policies.Get(ctx, tenant, cmp.Or(in.Policy, contexts.DefaultID))
		if err != nil {
			return nil, err
		}
		a := r.assembly(p)
		return c.assemble(ctx, tenant, &a)
	})
}

// sealContext signs a context.
func (c *cache) sealContext(ctx context.Context, tenant dag.Tenant, b *contexts.Bundle) (*IssuedContext, error) {
	i := &IssuedContext{Context: b, Prompt: b.Render()}
	err := c.k.turnstile.Pass(ctx, func() (err error) {
		if b.Seal, err = c.k.authority.SealProvenance(tenant, &b.Provenance); err == nil {
			i.Bundle = b.Append(nil)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(i.Bundle) > slice.MaxBundle {
		return nil, fmt.Errorf("%w: the bundle would have %d bytes, at most %d; lower the budget", slice.ErrTooLarge, len(i.Bundle), slice.MaxBundle)
	}
	return i, nil
}

// recordContext records a context, which was chosen when the history had a head.
func (c *cache) recordContext(ctx context.Context, tenant dag.Tenant, i *IssuedContext, p policy.Registered, to issued.Delivery, head dag.Seq) (err error) {
	b := i.Context
	record := ctx
	if to.Recipient != (issued.Recipient{}) { // a commit that nobody waits for would be of a context that nobody received
		record = context.WithoutCancel(ctx)
	}
	handed := handout{keyID: b.Seal.KeyID, token: b.Seal.Token, asOf: b.AsOf}
	i.Record, err = c.recordAs(record, tenant, handed, p, resting{b.Shown(), head, to.TaskOf.Unpack()}, func(at dag.Time) issued.Record {
		return issued.Record{
			Provenance: b.Provenance, Question: b.Request.Text(), Shown: issued.PackTurns(b.Shown()), AsOf: b.AsOf, KeyID: b.Seal.KeyID, Token: b.Seal.Token,
			Bundle: sha256.Sum256(i.Bundle), At: at, Reading: dag.ReadNow, Head: head, Delivery: to,
		}
	})
	if err != nil {
		return err
	}
	if late := ctx.Err(); late != nil && record != ctx {
		_, err := c.k.contexts().NotGiven(record, tenant, b.Provenance.SliceID, i.Record.Bundle, "nobody waited for it any more: "+late.Error())
		return errors.Join(late, err)
	}
	return nil
}

// saltOf returns what salts a tenant's requests: it follows from what is asked, as of when, and from the signing key. Each context that is made for
// a single session of an agent has a salt of its own, which is drawn, so that each is on record.
func (k Contexts) saltOf(tenant dag.Tenant, to *issued.Delivery, single bool) (func(*contexts.Request, policy.ID, dag.Seq) error, error) {
	var of []byte
	if *to != (issued.Delivery{}) {
		of = fmt.Appendf(nil, " %s %x", to.Folders, to.Except)
	}
	if single {
		var drawn [16]byte
		if err := k.draw(drawn[:]); err != nil {
			return nil, err
		}
		of = append(of, drawn[:]...)
	}
	return func(r *contexts.Request, id policy.ID, asOf dag.Seq) (err error) {
		r.Salt, err = k.authority.Salt(tenant, append(fmt.Appendf(nil, "%s %s %d", r.Text(), id, asOf), of...))
		return err
	}, nil
}

// An assembly is what a context follows from, beside the history.
type assembly struct {
	asked      contexts.Request
	policy     policy.Registered
	vantage                                                      // see api.ContextRequest
	salted     func(*contexts.Request, policy.ID, dag.Seq) error // sets the salt of the request; nil: it has one, or needs none
	statistics *retrieval.Statistics                             // that the scores of the search rest on; nil: those of now
	head       dag.Seq                                           // set by assembleOnce: when it began
	overfull   []api.OverfullSpace                               // set by assembleOnce
}

func (r *contextAsk) assembly(p policy.Registered) assembly {
	return assembly{asked: r.asked, policy: p, vantage: vantage{r.in.AsOf, dag.ReadNow, bounds{r.to.Folders, r.to.Except}}}
}

// assemble gathers candidates and chooses, without a seal. It begins again if a text or a fact was erased meanwhile.
func (c *cache) assemble(ctx context.Context, tenant dag.Tenant, a *assembly) (b *contexts.Bundle, err error) {
	for range 4 {
		if b, err = c.assembleOnce(ctx, tenant, a); !erasedMeanwhile(err) {
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
	g, err := c.gatherer(ctx, tenant, &p, &r, a.vantage)
	if err != nil {
		return nil, err
	}
	g.given, a.head = a.statistics, g.head
	if r.Spaces, err = space.ScopeOf(ctx).Choose(ctx, desk{c.k}.Journal(), tenant, r.Spaces, g.asOf); err != nil {
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

// gone says why turns of an index have no text in the store: they were erased while the context was made, or it is damaged.
func (c *cache) gone(ctx context.Context, tenant dag.Tenant, turns []dag.TurnID) error {
	erased, err := c.store.Erasures().Among(ctx, tenant, turns)
	if err != nil {
		return err
	}
	for _, id := range turns {
		if erased[id] == 0 {
			return fmt.Errorf("%w: the text of turn %s is gone, and no erasure is on record", store.ErrDamaged, id)
		}
	}
	return &goneError{turns}
}

// A goneError says that texts were erased while evidence was made of them. It wraps ErrErasedSince.
type goneError struct{ turns []dag.TurnID }

func (e *goneError) Error() string {
	return fmt.Sprintf("turn %s: its text was erased while the evidence was made", e.turns[0])
}

func (e *goneError) Unwrap() error { return ErrErasedSince }

// Verify judges the bytes of a context, as Slices.Verify does those of a slice.
func (k Contexts) Verify(bundle []byte) (token.AdmissibleContext, token.Verdict) {
	return token.NewVerifier(k.authority).VerifyContext(bundle)
}

// VerifyFor is Verify on behalf of a tenant.
func (k Contexts) VerifyFor(tenant dag.Tenant, bundle []byte) (token.AdmissibleContext, token.Verdict) {
	return token.NewVerifier(k.authority).VerifyContextFor(tenant, bundle)
}

// Showing lists the contexts that were given and showed a turn: what an agent that was given them has seen.
func (k Contexts) Showing(ctx context.Context, tenant dag.Tenant, turn dag.TurnID) ([]issued.Record, error) {
	list, err := k.bundles().Showing(ctx, tenant, turn)
	list, err = k.delivered(ctx, tenant, list, err)
	return slices.DeleteFunc(list, func(r issued.Record) bool { return !r.OfContext() || r.NotGiven != 0 }), err
}
