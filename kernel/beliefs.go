package kernel

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/beliefs"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// Beliefs is the facet of the statements that agents hold to be true, and of the evidence that they do.
type Beliefs struct {
	space.Beliefs
	*engine
}

// Beliefs returns the facet of the statements that agents hold to be true.
func (k *Kernel) Beliefs() Beliefs { return k.beliefs() }

func (k *engine) beliefs() Beliefs { return Beliefs{space.New(desk{k}), k} }

// A deskEpoch implements [space.Epoch] with a cache.
type deskEpoch struct{ *cache }

// Item implements [space.Epoch].
func (c deskEpoch) Item(ctx context.Context, tenant dag.Tenant, item belief.Item, given dag.Seq) (h *journal.ItemHistory, asOf dag.Seq, err error) {
	asOf, head, err := c.ends.AsOf(ctx, tenant, given)
	if err == nil {
		h, err = c.tenants.Of(tenant).Also.History(ctx, item, head)
	}
	return h, asOf, err
}

// Kept implements [space.Epoch].
func (c deskEpoch) Kept() *space.Kept { return c.beliefs }

// An IssuedBelief is the answer to a request for evidence of a belief.
type IssuedBelief struct {
	Belief *beliefs.Bundle
	Bundle []byte // canonical bytes, the evidence to hand on
	Record issued.Record
}

// ErrNotBelieved is wrapped if evidence is requested for a literal that is not believed. It wraps store.ErrNotFound.
var ErrNotBelieved = fmt.Errorf("%w: it is not believed", store.ErrNotFound)

// Prove returns evidence that a literal is believed in a space: the revisions from which the literal follows, the steps, and the leaves of the turns on which
// the revisions rest. The evidence is signed and recorded. The same question as of the same number has the same bytes unless the signing key changed or
// something that the evidence contains was erased in between.
func (k Beliefs) Prove(ctx context.Context, tenant dag.Tenant, r api.BeliefProofRequest) (_ *IssuedBelief, err error) {
	ctx, observed := k.observe(ctx, "prove")
	defer func() { observed(err) }()
	if err := (desk{k.engine}).Screen(ctx, tenant, func() []dag.Text {
		return []dag.Text{{In: "subject", Text: r.BeliefStatement.Subject}, {In: "predicate", Text: r.BeliefStatement.Predicate}, {In: "object", Text: r.BeliefStatement.Object}}
	}); err != nil {
		return nil, err
	}
	aliases, err := k.facts().Aliases(ctx, tenant, 0)
	if err != nil {
		return nil, err
	}
	named, _, err := space.Literals(aliases, "statement", []belief.Literal{r.BeliefStatement}, nil)
	if err != nil {
		return nil, err
	}
	asOf, err := k.turns().AsOf(ctx, tenant, r.AsOf)
	if err != nil {
		return nil, err
	}
	q := beliefs.Question{Space: r.Space, Literal: named[0], ValidAt: r.ValidAt}
	return steady(k.engine, func(c *cache) (*IssuedBelief, error) {
		if err := k.notary.MayIssue(tenant); err != nil {
			return nil, err
		}
		return again(ctx, func() (*IssuedBelief, error) {
			head, err := c.store.Head(ctx, tenant)
			if err != nil {
				return nil, err
			}
			b, p, err := c.prove(ctx, tenant, q, asOf)
			if err != nil {
				return nil, err
			}
			return c.issueBelief(ctx, tenant, b, p, head)
		})
	})
}

// issueBelief seals and records evidence.
func (c *cache) issueBelief(ctx context.Context, tenant dag.Tenant, b *beliefs.Bundle, p policy.Registered, head dag.Seq) (*IssuedBelief, error) {
	i := &IssuedBelief{Belief: b}
	shown := b.Turns()
	for r := range b.Revisions { // a revision is erased with any of its turns, and the evidence contains the whole revision
		shown = append(shown, b.Revisions[r].RestsOn()...)
	}
	slices.SortFunc(shown, dag.TurnID.Compare)
	shown = slices.Compact(shown)
	var err error
	if i.Bundle, err = c.k.sealed(ctx, tenant, &b.Provenance, &b.Seal, b.Append); err != nil {
		return nil, err
	}
	handed := handout{keyID: b.Seal.KeyID, token: b.Seal.Token, asOf: b.AsOf}
	i.Record, err = c.recordAs(ctx, tenant, handed, p, resting{turns: shown, as: head}, func(at dag.Time) issued.Record {
		return issued.Record{
			Provenance: b.Provenance, Question: b.Question.Text(), Shown: issued.PackTurns(shown), AsOf: b.AsOf, KeyID: b.Seal.KeyID, Token: b.Seal.Token,
			Bundle: sha256.Sum256(i.Bundle), At: at, Head: head,
		}
	})
	if err != nil {
		return nil, err
	}
	return i, nil
}

// prove makes the evidence, without a seal, that a question's literal is believed as of a number. It resolves no aliases: the question has canonical names.
func (c *cache) prove(ctx context.Context, tenant dag.Tenant, q beliefs.Question, asOf dag.Seq) (*beliefs.Bundle, policy.Registered, error) {
	var none policy.Registered
	j := c.beliefs.Journal()
	if err := space.ScopeOf(ctx).Check(q.Space); err != nil {
		return nil, none, err
	}
	id, err := j.Space(ctx, tenant, q.Space, asOf)
	if err != nil {
		return nil, none, err
	}
	registered, err := c.policies.Get(ctx, tenant, policy.ID(id))
	if err != nil {
		return nil, none, err
	}
	p, err := kinds.Of(registered)
	if err != nil {
		return nil, none, err
	}
	held, err := j.Believed(ctx, tenant, q.Space, asOf)
	if err != nil {
		return nil, none, err
	}
	in := belief.Always
	if q.ValidAt != nil {
		in = belief.Span{From: *q.ValidAt, Until: *q.ValidAt + 1}
	}
	elements := make(belief.Base, len(held))
	for i := range held {
		elements[i] = held[i].Element()
	}
	var support []journal.Part
	var rests store.IDs
	for _, i := range belief.Support(p.Constraints(), elements, q.Literal, in) {
		support = append(support, held[i].Part)
		rests = append(rests, held[i].Stated().Turns...)
	}
	if len(support) == 0 {
		return nil, none, fmt.Errorf("%q in the space %s of tenant %s, as of %d: %w", q.Literal, q.Space, tenant, asOf, ErrNotBelieved)
	}
	leaves := map[dag.TurnID]dag.Digest{}
	if err := c.leavesOf(tenant)(ctx, rests, func(t dag.TurnID, leaf dag.Digest) { leaves[t] = leaf }); err != nil {
		return nil, none, err
	}
	b, err := beliefs.New(q, registered, asOf, support, leaves)
	if err != nil {
		return nil, none, fmt.Errorf("%w: %w", store.ErrDamaged, err) // a literal with support has a derivation, and the turns of a belief are stored
	}
	return b, registered, nil
}

// proveAgain makes the bundle of evidence for a question again, with the given seal.
func (c *cache) proveAgain(ctx context.Context, tenant dag.Tenant, q beliefs.Question, asOf dag.Seq, seal slice.Seal) ([]byte, error) {
	if err := known(asOf); err != nil {
		return nil, err
	}
	if _, _, err := c.AsOf(ctx, tenant, asOf); err != nil {
		return nil, err
	}
	b, _, err := c.prove(ctx, tenant, q, asOf)
	if err != nil {
		return nil, err
	}
	b.Seal = seal
	return b.Append(nil), nil
}

// replay is Replay for evidence of a belief. The outcome is Erased if the bytes differ, the evidence is on record, and a turn on which it rests was erased since.
func (k Beliefs) replay(ctx context.Context, tenant dag.Tenant, bundle []byte) (*Replay, error) {
	b, err := beliefs.Parse(bundle)
	if err != nil {
		return nil, err
	}
	return k.slices().replayAsked(ctx, tenant, b, bundle, func(c *cache) ([]byte, error) {
		return c.proveAgain(ctx, tenant, b.Question, b.AsOf, b.Seal)
	})
}

// account implements remaker. It adds to the replay the turns on which the recorded evidence rests and that were erased since.
func (k Beliefs) account(ctx context.Context, tenant dag.Tenant, r *Replay, i *issued.Record) error {
	gone, err := k.restsGone(ctx, tenant, i)
	if err != nil || len(gone) == 0 {
		return err
	}
	r.Erased = gone
	r.judgeAnew()
	r.agree(Erased, fmt.Sprintf("%d of the turns that it rests on were erased since, so the bytes cannot be compared", len(gone)))
	return nil
}

// restsGone returns the turns on which recorded evidence rests and that were erased since.
func (k Beliefs) restsGone(ctx context.Context, tenant dag.Tenant, i *issued.Record) (gone []dag.TurnID, _ error) {
	since, err := k.records.erasedSince(ctx, tenant, i)
	for _, t := range i.Shown.Unpack() {
		if slices.Contains(since, t) {
			gone = append(gone, t)
		}
	}
	return gone, err
}

// instead implements remaker.
func (k Beliefs) instead(ctx context.Context, tenant dag.Tenant, i *issued.Record, err error) ([]byte, error) {
	gone, wrong := k.restsGone(ctx, tenant, i)
	return nil, notRemade(tenant, i, wrong == nil && len(gone) > 0, cmp.Or(wrong, err))
}

// remake implements remaker.
func (k Beliefs) remake(ctx context.Context, c *cache, tenant dag.Tenant, i *issued.Record, seal slice.Seal) ([]byte, error) {
	q, err := beliefs.ParseQuestion(i.Question)
	if err != nil {
		return nil, damagedQuestion(i, err)
	}
	return c.proveAgain(ctx, tenant, q, i.AsOf, seal)
}

// Verify judges the bytes of evidence of a belief, as Slices.Verify judges those of a slice.
func (k Beliefs) Verify(bundle []byte) (token.AdmissibleBelief, token.Verdict) {
	return k.verifier.VerifyBelief(bundle)
}

// VerifyFor is Verify on behalf of a tenant.
func (k Beliefs) VerifyFor(tenant dag.Tenant, bundle []byte) (token.AdmissibleBelief, token.Verdict) {
	return k.verifier.VerifyBeliefFor(tenant, bundle)
}
