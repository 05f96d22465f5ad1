package assemble

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

// ErrNothing is wrapped when a context that must not be empty has no turns, facts and beliefs. It wraps store.ErrNotFound.
var ErrNothing = fmt.Errorf("there is nothing to choose from: %w", store.ErrNotFound)

// An Issued is a context that was issued in answer to a request. Its contents may be shared
// and must not be changed.
type Issued struct {
	Context *contexts.Bundle
	Bundle  []byte // canonical bytes, the evidence to hand on
	Prompt  []byte
	Record  issued.Record

	// Overfull are the spaces with more constraints than a space may have, and more than this context had room for.
	Overfull []api.OverfullSpace
	// Enough says how well a prompt covers the task. LeftOut are the words of the task that occur in a candidate, but in no chosen text. Both are empty if the
	// request asks for the bundle.
	Enough  contexts.Sufficiency
	LeftOut []string
}

// Answer returns the API form of the context, with the prompt.
func (i *Issued) Answer() api.Context {
	b := i.Context
	s := i.Enough
	w := api.Context{
		ContextID: b.Provenance.SliceID, BundleSHA256: i.Record.Bundle, PolicyID: b.Provenance.PolicyID, AsOf: b.AsOf, RulesAsOf: b.Request.RulesAsOf,
		Format: string(b.Request.Format), Cost: b.Prompt.Cost, Candidates: len(b.Candidates), Turns: make([]dag.TurnID, len(b.Turns)), Facts: make([]dag.Digest, len(b.Facts)), Beliefs: make([]string, len(b.Beliefs)),
		Sufficiency: api.Sufficiency{PPM: int(s.Share), Level: s.Level, Missing: without(s.Missing, i.LeftOut), LeftOut: append([]string{}, i.LeftOut...)}, Overfull: i.Overfull,
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

// without returns the words that are not in others; never nil.
func without(words, others []string) []string {
	return append([]string{}, slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(others, w) })...)
}

// Assemble chooses, signs and records a context for a task, under a policy and a budget.
// The choice depends only on the request, the policy and the history up to AsOf, without the texts that were
// erased since. The same request as of the same number returns the same bytes, unless a text was erased or the
// signing key changed in between, and is recorded once. A request with a recipient has a random salt, so its bytes are always new.
func (k Contexts) Assemble(ctx context.Context, tenant dag.Tenant, in api.ContextRequest) (_ *Issued, err error) {
	ctx, observed := k.kernel.Observe(ctx, "context")
	defer func() { observed(err) }()
	return making(ctx, k, tenant, &in, func(m *maker) (*Issued, error) { return m.hand(ctx) })
}

// A Prepared context is signed and has no recipient yet.
type Prepared struct {
	Bundle   []byte          // canonical bytes
	Delivery issued.Delivery // of the request, without a recipient
	Head     dag.Seq         // of the history, before the context was chosen
}

// Prepare chooses and signs a context for one recipient, who is named when the context is handed out. It records nothing. If the request names a recipient, the
// error wraps contexts.ErrRequest.
func (k Contexts) Prepare(ctx context.Context, tenant dag.Tenant, in api.ContextRequest) (_ *Prepared, err error) {
	ctx, observed := k.kernel.Observe(ctx, "prepare_context")
	defer func() { observed(err) }()
	if in.Recipient != nil {
		return nil, fmt.Errorf("%w: a request to prepare a context must not name a recipient", contexts.ErrRequest)
	}
	return making(ctx, k, tenant, &in, func(m *maker) (*Prepared, error) {
		i, a, err := m.sealed(ctx, true)
		if err != nil {
			return nil, err
		}
		return &Prepared{Bundle: i.Bundle, Delivery: m.to, Head: a.head}, nil
	})
}

// Preview is like Assemble, but without salt and seal, and it records nothing. The context is not evidence; it shows what Assemble would choose.
func (k Contexts) Preview(ctx context.Context, tenant dag.Tenant, in api.ContextRequest) (*contexts.Bundle, error) {
	r, err := k.order(ctx, tenant, &in)
	if err != nil {
		return nil, err
	}
	return read(k.kernel, func(e Epoch) (*contexts.Bundle, error) {
		m, err := k.maker(ctx, e, tenant, r)
		if err != nil {
			return nil, err
		}
		return m.assembly().assemble(ctx)
	})
}

// A maker makes the context of a request in an epoch of the store.
type maker struct {
	kernel  Kernel
	epoch   Epoch
	tenant  dag.Tenant
	policy  policy.Registered
	reading dag.Reading
	order
}

// assembly returns an assembly of the context, without a salt.
func (m *maker) assembly() *assembly {
	return &assembly{
		epoch: m.epoch, tenant: m.tenant, policy: m.policy, asked: m.asked, fresh: true, present: m.in.Present, rules: m.in.RulesAsOf,
		from: issued.Vantage{AsOf: m.in.AsOf, Reading: m.reading, Folders: m.to.Folders, Except: m.to.Except},
	}
}

// triesWhole is the number of tries that fail because of erased turns, after which hand leaves out the conversations of these turns.
const triesWhole = 3

// hand assembles, seals and records a context. Record fails if a turn of the context was erased meanwhile; then hand begins again, and after triesWhole tries
// without the conversations in which turns were erased. The error wraps issued.ErrErasedSince only if the task has the words of an erased turn, or ctx has ended.
func (m *maker) hand(ctx context.Context) (*Issued, error) {
	except := m.to.Except.Unpack()
	for tries := 1; ; tries++ {
		i, err := m.handOnce(ctx)
		if !issued.ErasedMeanwhile(err) || ctx.Err() != nil {
			return i, err
		}
		var gone *issued.ErasedError
		if !errors.As(err, &gone) {
			continue
		}
		of := m.to.TaskOf.Unpack()
		if slices.ContainsFunc(gone.Turns, func(turn dag.TurnID) bool { return slices.Contains(of, turn) }) {
			return nil, fmt.Errorf("the task contains words of a turn that was erased: %w", err)
		}
		if tries < triesWhole {
			continue
		}
		for _, turn := range gone.Turns {
			conversation, err := m.epoch.Conversation(ctx, m.tenant, turn)
			if err != nil {
				return nil, err
			}
			except = append(except, conversation)
		}
		m.to.Except = issued.PackConversations(except...)
		if err := m.to.Check(); err != nil {
			return nil, err
		}
	}
}

func (m *maker) handOnce(ctx context.Context) (*Issued, error) {
	i, a, err := m.sealed(ctx, m.to.Recipient != (issued.Recipient{}))
	if err != nil {
		return nil, err
	}
	i.Overfull = a.overfull
	if m.in.Format != api.FormatBundle {
		i.Enough = i.Context.Sufficiency()
		if i.LeftOut, err = a.gathered.leftOut(ctx, i.Context, i.Enough.Missing); err != nil {
			return nil, err
		}
	}
	if i.Record, err = m.epoch.Record(ctx, m.tenant, i, m.policy, m.to, a.head); err != nil {
		return nil, err
	}
	return i, nil
}

// sealed chooses and signs a context. If single, the context is for one recipient and has a random salt.
func (m *maker) sealed(ctx context.Context, single bool) (_ *Issued, a *assembly, err error) {
	a = m.assembly()
	if a.salted, err = m.salted(single); err != nil {
		return nil, nil, err
	}
	b, err := a.fit(ctx, m.in.Fit)
	if err != nil {
		return nil, nil, err
	}
	if m.in.NonEmpty && len(b.Turns)+len(b.Facts)+len(b.Beliefs) == 0 && b.Policy.Rules == "" {
		return nil, nil, fmt.Errorf("tenant %s: %w", m.tenant, ErrNothing)
	}
	i := &Issued{Context: b, Prompt: b.Render()}
	if i.Bundle, err = m.epoch.Seal(ctx, m.tenant, b); err == nil && m.in.RulesAsOf != 0 {
		err = m.wasHanded(ctx, i)
	}
	return i, a, err
}

// wasHanded returns an error if a context was not handed out before. A request that names RulesAsOf gets only such contexts, so that no prompt has outdated rules
// without saying so.
func (m *maker) wasHanded(ctx context.Context, i *Issued) error {
	handed, err := m.epoch.Handed(ctx, m.tenant, i)
	if err == nil && !handed {
		err = fmt.Errorf("a context with rules as of %d was not handed out, or can be made no longer, since a text was erased or the signing key changed; leave rules_as_of out, so that those of the present hold: %w", m.in.RulesAsOf, store.ErrNotFound)
	}
	return err
}

// salted returns a function that sets the salt of a request. The salt is derived from the request, the policy, the as-of number, the bounds and the signing
// key. If single, random bytes are added, so that each context for one session of an agent has its own salt and its own record.
func (m *maker) salted(single bool) (func(*contexts.Request, dag.Seq) error, error) {
	var of []byte
	if m.to != (issued.Delivery{}) {
		of = fmt.Appendf(nil, " %s %x", m.to.Folders, m.to.Except)
	}
	if single {
		var drawn [16]byte
		if err := m.kernel.Draw(drawn[:]); err != nil {
			return nil, err
		}
		of = append(of, drawn[:]...)
	}
	return func(r *contexts.Request, asOf dag.Seq) (err error) {
		r.Salt, err = m.kernel.Salt(m.tenant, append(fmt.Appendf(nil, "%s %s %d", r.Text(), m.policy.ID(), asOf), of...))
		return err
	}, nil
}
