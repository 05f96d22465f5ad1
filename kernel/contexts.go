package kernel

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/contexts/assemble"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// Contexts is the facet of contexts, which are assembled for tasks and signed as evidence.
type Contexts struct {
	assemble.Contexts
	*engine
}

// Contexts returns the facet of contexts, which assembles, verifies and replays them.
func (k *Kernel) Contexts() Contexts { return k.contexts() }

func (k *engine) contexts() Contexts {
	return Contexts{assemble.New(assembler{desk{k}}, dag.ReadNow), k}
}

// Operations lists the operations of the facet.
func (k Contexts) Operations() []api.Answer {
	return append(k.Contexts.Operations(), api.ReportNotGiven.By(k.reportNotGiven), api.EraseTask.By(k.eraseTask))
}

// HandOut records that a prepared context was given to a recipient. Repeating the call has no effect. The error for a bundle that this kernel did not sign
// wraps token.ErrToken. If a turn on which the context rests was erased since, nothing is recorded and the error wraps issued.ErrErasedSince.
func (k Contexts) HandOut(ctx context.Context, tenant dag.Tenant, p *assemble.Prepared, to issued.Recipient) (_ issued.Record, err error) {
	ctx, observed := k.observe(ctx, "hand_out_context")
	defer func() { observed(err) }()
	b, err := contexts.Parse(p.Bundle)
	if err != nil {
		return issued.Record{}, err
	}
	delivery := p.Delivery
	delivery.Recipient = to
	if err := delivery.Check(); err != nil {
		return issued.Record{}, fmt.Errorf("%w: %w", contexts.ErrRequest, err)
	}
	if to == (issued.Recipient{}) {
		return issued.Record{}, fmt.Errorf("%w: a context is handed out to a recipient", contexts.ErrRequest)
	}
	if err := k.authority.Check(&b.Provenance, b.Seal); err != nil {
		return issued.Record{}, err
	}
	return steady(k.engine, func(c *cache) (none issued.Record, _ error) {
		if err := k.notary.MayIssue(tenant); err != nil {
			return none, err
		}
		registered, err := c.policies.Get(ctx, tenant, b.Provenance.PolicyID)
		if err != nil {
			return none, err
		}
		return assemblerEpoch{c}.Record(ctx, tenant, &assemble.Issued{Context: b, Bundle: p.Bundle}, registered, delivery, p.Head)
	})
}

// SigningKey returns the id of the signing key, or "" if there is none.
func (k Contexts) SigningKey() token.KeyID {
	id, err := k.authority.Keyring().Signer()
	if err != nil {
		return ""
	}
	return id
}

// NotGiven records that a recorded context did not reach its recipient, and returns the entry. It is allowed to the caller who asked for the context
// and to callers with the permission to erase. Repeating the call has no effect. The error wraps store.ErrNotFound if the bundle is not on record, and ErrKind
// if its record names no recipient.
func (k Contexts) NotGiven(ctx context.Context, tenant dag.Tenant, id slice.SliceID, bundle dag.Digest, reason string) (_ issued.Undelivered, err error) {
	ctx, observed := k.observe(ctx, "not_given")
	defer func() { observed(err) }()
	if err := checkReason(reason); err != nil {
		return issued.Undelivered{}, err
	}
	r, err := k.records.bundles.ByDigest(ctx, tenant, id, bundle)
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
	u, err := k.records.bundles.PutUndelivered(ctx, tenant, issued.Undelivered{Context: id, Bundle: bundle, Reason: reason, At: now, By: access.CallerIn(ctx)})
	k.kept.Load().atlases.Drop(tenant)
	k.changes.tell(tenant)
	return u, err
}

// reportNotGiven records that a context did not reach its recipient.
func (k Contexts) reportNotGiven(ctx context.Context, tenant dag.Tenant, in api.NotGivenReport) (w api.NotGiven, err error) {
	u, err := k.NotGiven(ctx, tenant, in.ContextID, in.Bundle, in.Reason)
	if err != nil {
		return w, err
	}
	return api.NotGiven{Seq: u.Seq, ContextID: u.Context, Bundle: u.Bundle, Reason: u.Reason, At: u.At, By: u.By}, nil
}

// Verify judges the bytes of a context, as Slices.Verify judges those of a slice.
func (k Contexts) Verify(bundle []byte) (token.AdmissibleContext, token.Verdict) {
	return token.NewVerifier(k.authority).VerifyContext(bundle)
}

// VerifyFor is Verify on behalf of a tenant.
func (k Contexts) VerifyFor(tenant dag.Tenant, bundle []byte) (token.AdmissibleContext, token.Verdict) {
	return token.NewVerifier(k.authority).VerifyContextFor(tenant, bundle)
}

// Showing lists the records of the contexts that showed a turn to an agent. Contexts that did not reach their recipient are left out.
func (k Contexts) Showing(ctx context.Context, tenant dag.Tenant, turn dag.TurnID) ([]issued.Record, error) {
	list, err := k.records.bundles.Showing(ctx, tenant, turn)
	list, err = k.records.delivered(ctx, tenant, list, err)
	return slices.DeleteFunc(list, func(r issued.Record) bool { return !r.OfContext() || r.NotGiven != 0 }), err
}

// replay is Replay for a context. The outcome is Erased if texts of its view were erased since and everything else is unchanged.
func (k Contexts) replay(ctx context.Context, tenant dag.Tenant, bundle []byte) (*Replay, error) {
	b, err := contexts.Parse(bundle)
	if err != nil {
		return nil, err
	}
	digest := dag.Digest(sha256.Sum256(bundle))
	of, err := k.records.vantage(ctx, tenant, b, digest)
	if err != nil {
		return nil, err
	}
	r, err := k.slices().replayAsked(ctx, tenant, b, bundle, func(c *cache) ([]byte, error) {
		return assemblerEpoch{c}.again(ctx, tenant, assemble.Claim{Request: b.Request, Policy: b.Provenance.PolicyID, From: of}, b.Seal)
	})
	if err != nil || r.Outcome != Erased {
		return r, err
	}
	wrong, err := k.unexplained(ctx, tenant, b, digest, of)
	if err == nil && wrong != "" {
		r.judgeAnew()
		r.differ(nil, wrong)
	}
	return r, err
}

// unexplained returns the first difference of a replayed context that erasures cannot explain, or "" if there is none. of is the vantage of the replay.
func (k Contexts) unexplained(ctx context.Context, tenant dag.Tenant, b *contexts.Bundle, digest dag.Digest, of issued.Vantage) (string, error) {
	record, err := k.records.bundles.ByDigest(ctx, tenant, b.Provenance.SliceID, digest)
	if err != nil || record == nil {
		return "", err
	}
	gone, err := k.records.erasedSince(ctx, tenant, record)
	if err != nil {
		return "", err
	}
	return steady(k.engine, func(c *cache) (string, error) {
		return assemble.Unexplained(ctx, assemblerEpoch{c}, tenant, b, of, gone)
	})
}

// account implements remaker. It adds to the replay which texts were erased since the context was handed out: those of
// turns that it showed, and those of other turns of its view, which counted in the statistics of its search.
func (k Contexts) account(ctx context.Context, tenant dag.Tenant, r *Replay, i *issued.Record) error {
	gone, err := k.records.erasedSince(ctx, tenant, i)
	if err != nil || len(gone) == 0 {
		return err
	}
	shown := i.Shown.Unpack()
	for _, turn := range gone {
		if slices.Contains(shown, turn) {
			r.Erased = append(r.Erased, turn)
		}
	}
	r.judgeAnew()
	reason := fmt.Sprintf("%d of the turns that it showed were erased since, so the bytes cannot be compared", len(r.Erased))
	if len(r.Erased) == 0 {
		reason = fmt.Sprintf("%d turns of its view were erased since, which counted in the statistics of its search", len(gone))
	}
	r.agree(Erased, reason)
	return nil
}

// instead implements remaker.
func (k Contexts) instead(ctx context.Context, tenant dag.Tenant, i *issued.Record, err error) ([]byte, error) {
	if e, err := k.records.taskErased(ctx, tenant, i); err != nil {
		return nil, err
	} else if e != nil {
		return nil, fmt.Errorf("%w: %s", erasedSince(tenant, i), taskGone(e))
	}
	gone, wrong := k.records.erasedSince(ctx, tenant, i)
	return nil, notRemade(tenant, i, wrong == nil && len(gone) > 0, cmp.Or(wrong, err))
}

// remake implements remaker.
func (k Contexts) remake(ctx context.Context, c *cache, tenant dag.Tenant, i *issued.Record, seal slice.Seal) ([]byte, error) {
	r, err := contexts.ParseRequest(i.Question)
	if err != nil {
		return nil, damagedQuestion(i, err)
	}
	return assemblerEpoch{c}.again(ctx, tenant, assemble.Claim{Request: r, Policy: i.Provenance.PolicyID, From: i.Vantage()}, seal)
}

// again makes the bundle of a claim again, with the given seal.
func (c assemblerEpoch) again(ctx context.Context, tenant dag.Tenant, claim assemble.Claim, seal slice.Seal) ([]byte, error) {
	if err := known(claim.From.AsOf); err != nil {
		return nil, err
	}
	b, err := assemble.Again(ctx, c, tenant, claim)
	if err != nil {
		return nil, err
	}
	b.Seal = seal
	return b.Append(nil), nil
}
