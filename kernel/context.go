package kernel

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
		if err := k.mayIssue(tenant); err != nil {
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

func (k Contexts) eraseTask(ctx context.Context, tenant dag.Tenant, in api.TaskErasing) (w api.TaskErased, err error) {
	reason, err := api.ReasonOf(in.Reason, in.Body)
	if err != nil {
		return w, err
	}
	e, err := k.EraseTask(ctx, tenant, slice.SliceID(strings.ToLower(string(in.SliceID))), reason)
	if err != nil {
		return w, err
	}
	w = TaskErased(&e)
	w.AsOf = w.Seq // it is a change of its own
	return w, nil
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
	list, err := k.bundles().Showing(ctx, tenant, turn)
	list, err = k.delivered(ctx, tenant, list, err)
	return slices.DeleteFunc(list, func(r issued.Record) bool { return !r.OfContext() || r.NotGiven != 0 }), err
}
