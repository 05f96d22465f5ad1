package kernel

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/contexts/assemble"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/store"
)

// An assembler implements [assemble.Kernel] with an engine.
type assembler struct{ desk }

// Resolve implements [assemble.Kernel].
func (k assembler) Resolve(ctx context.Context, tenant dag.Tenant, name string) (dag.TurnID, error) {
	return k.turns().Resolve(ctx, tenant, name)
}

// Reading implements [assemble.Kernel].
func (k assembler) Reading(fn func(assemble.Epoch) error) error {
	return k.reading(func(c *cache) error { return fn(assemblerEpoch{c}) })
}

// MayIssue implements [assemble.Kernel].
func (k assembler) MayIssue(tenant dag.Tenant) error { return k.notary.MayIssue(tenant) }

// Salt implements [assemble.Kernel].
func (k assembler) Salt(tenant dag.Tenant, asked []byte) (dag.Salt, error) {
	return k.authority.Salt(tenant, asked)
}

// Recorded implements [assemble.Kernel]. Its errors are those of [Slices.Bundle]; for evidence that is no context, the error wraps ErrKind.
func (k assembler) Recorded(ctx context.Context, tenant dag.Tenant, id slice.SliceID) (*contexts.Bundle, error) {
	bundle, err := k.slices().Bundle(ctx, tenant, id, nil)
	if err != nil {
		return nil, err
	}
	b, err := contexts.Parse(bundle)
	if errors.Is(err, slice.ErrVersion) {
		err = fmt.Errorf("%s of tenant %s: %w: it is no context", id, tenant, ErrKind)
	}
	return b, err
}

// An assemblerEpoch implements [assemble.Epoch].
type assemblerEpoch struct{ *cache }

// Conversation implements [assemble.Epoch].
func (c assemblerEpoch) Conversation(ctx context.Context, tenant dag.Tenant, turn dag.TurnID) (dag.ConversationID, error) {
	return c.graphs.Conversation(ctx, tenant, turn)
}

// Texts implements [assemble.Epoch]. If the index has a text and the store does not, the text was erased meanwhile or the store is damaged.
func (c assemblerEpoch) Texts(ctx context.Context, tenant dag.Tenant, head dag.Seq, turns []dag.TurnID, places store.Places) ([]*contexts.ChosenTurn, error) {
	chosen, err := c.tenants.Of(tenant).Texts.Chosen(ctx, head, turns, places)
	if err != nil {
		return nil, err
	}
	var gone []dag.TurnID
	for i, t := range chosen {
		if t == nil {
			gone = append(gone, turns[i])
		}
	}
	if len(gone) == 0 {
		return chosen, nil
	}
	erased, err := c.store.Erasures().Among(ctx, tenant, gone)
	if err != nil {
		return nil, err
	}
	for _, id := range gone {
		if erased[id] == 0 {
			return nil, fmt.Errorf("%w: the text of turn %s is gone, and no erasure is on record", store.ErrDamaged, id)
		}
	}
	return nil, &issued.ErasedError{Turns: gone}
}

// Words implements [assemble.Epoch].
func (c assemblerEpoch) Words(tenant dag.Tenant, p *retrieval.Policy) (assemble.Words, error) {
	return c.tenants.Of(tenant).Words.Of(p)
}

// Slice implements [assemble.Epoch].
func (c assemblerEpoch) Slice(ctx context.Context, tenant dag.Tenant, anchor dag.TurnID, p policy.Registered, from issued.Vantage) (*slice.Slice, error) {
	_, s, _, err := c.cuts.Select(ctx, tenant, anchor, p, from.AsOf, from.Reading)
	return s, err
}

// Spoken implements [assemble.Epoch].
func (c assemblerEpoch) Spoken(ctx context.Context, tenant dag.Tenant, conversation dag.ConversationID, last dag.Seq, reading dag.Reading) (*standing.Spoken, error) {
	return c.cuts.Spoken(ctx, tenant, conversation, last, reading)
}

// Calls implements [assemble.Epoch].
func (c assemblerEpoch) Calls(ctx context.Context, tenant dag.Tenant, conversation dag.ConversationID, last dag.Seq) ([]slice.Call, error) {
	return c.cuts.Calls(ctx, tenant, conversation, last)
}

// Course implements [assemble.Epoch].
func (c assemblerEpoch) Course(ctx context.Context, tenant dag.Tenant, asOf dag.Seq) (standing.Course, error) {
	course, _, err := c.course(ctx, tenant, asOf)
	return course.Until(asOf), err
}

// Names implements [assemble.Epoch].
func (c assemblerEpoch) Names(ctx context.Context, tenant dag.Tenant, text string, asOf dag.Seq) ([]string, error) {
	v, err := c.tenants.Of(tenant).Facts.View(ctx, asOf)
	if err != nil {
		return nil, err
	}
	return v.NamesIn(ctx, text)
}

// Around implements [assemble.Epoch].
func (c assemblerEpoch) Around(ctx context.Context, tenant dag.Tenant, q knowledge.Query) (*knowledge.Answer, map[dag.Seq]*knowledge.Recorded, error) {
	v, err := c.tenants.Of(tenant).Facts.View(ctx, q.AsOf)
	if err != nil {
		return nil, nil, err
	}
	answer, err := v.Answer(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	known, err := facts.Gather(ctx, c.store.Knowledge(), c.leavesOf(tenant), tenant, v.Aliases, &answer.Answer)
	if errors.Is(err, knowledge.ErrErased) { // the cached facts are from before the erasure
		c.tenants.Of(tenant).Facts.Forget()
	}
	return &answer.Answer, known.Acts, err
}

// Journal implements [assemble.Epoch].
func (c assemblerEpoch) Journal() journal.Base { return c.beliefs.Journal() }

// Spaces implements [assemble.Epoch].
func (c assemblerEpoch) Spaces(ctx context.Context, tenant dag.Tenant, named []string, asOf dag.Seq) ([]string, error) {
	return space.ScopeOf(ctx).Choose(ctx, c.Journal(), tenant, named, asOf)
}

// Binding implements [assemble.Epoch].
func (c assemblerEpoch) Binding(ctx context.Context, tenant dag.Tenant, id policy.ID) (assemble.Binding, error) {
	return c.k.beliefs().Binding(ctx, tenant, id)
}

// Terms implements [assemble.Epoch].
func (c assemblerEpoch) Terms(tenant dag.Tenant, r *journal.Revision) []string {
	return c.beliefs.Terms(tenant, r)
}

// Seal implements [assemble.Epoch].
func (c assemblerEpoch) Seal(ctx context.Context, tenant dag.Tenant, b *contexts.Bundle) ([]byte, error) {
	bundle, err := c.k.sealed(ctx, tenant, &b.Provenance, &b.Seal, b.Append)
	if err == nil && len(bundle) > slice.MaxBundle {
		err = fmt.Errorf("%w: the bundle would have %d bytes, at most %d; lower the budget", slice.ErrTooLarge, len(bundle), slice.MaxBundle)
	}
	return bundle, err
}

// Handed implements [assemble.Epoch].
func (c assemblerEpoch) Handed(ctx context.Context, tenant dag.Tenant, made *assemble.Issued) (bool, error) {
	r, err := c.k.records.bundles.ByDigest(ctx, tenant, made.Context.Provenance.SliceID, sha256.Sum256(made.Bundle))
	return r != nil, err
}

// Record implements [assemble.Epoch].
func (c assemblerEpoch) Record(ctx context.Context, tenant dag.Tenant, made *assemble.Issued, p policy.Registered, to issued.Delivery, head dag.Seq) (issued.Record, error) {
	b := made.Context
	commit := ctx
	if to.Recipient != (issued.Recipient{}) { // a commit after ctx ended would record a context that nobody received
		commit = context.WithoutCancel(ctx)
	}
	handed := handout{keyID: b.Seal.KeyID, token: b.Seal.Token, asOf: b.AsOf}
	r, err := c.recordAs(commit, tenant, handed, p, resting{b.Shown(), head, to.TaskOf.Unpack()}, func(at dag.Time) issued.Record {
		return issued.Record{
			Provenance: b.Provenance, Question: b.Request.Text(), Shown: issued.PackTurns(b.Shown()), AsOf: b.AsOf, KeyID: b.Seal.KeyID, Token: b.Seal.Token,
			Bundle: sha256.Sum256(made.Bundle), At: at, Reading: dag.ReadNow, Head: head, Delivery: to,
		}
	})
	if err != nil {
		return issued.Record{}, err
	}
	if late := ctx.Err(); late != nil && commit != ctx {
		_, err := c.k.contexts().NotGiven(commit, tenant, b.Provenance.SliceID, r.Bundle, "nobody waited for it any more: "+late.Error())
		return issued.Record{}, errors.Join(late, err)
	}
	return r, nil
}
