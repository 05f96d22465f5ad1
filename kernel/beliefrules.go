package kernel

import (
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/belief/rules"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// mayBelieve refuses a caller who may only propose.
func mayBelieve(ctx context.Context, what string) error {
	if !believes(ctx) {
		return fmt.Errorf("%w: to %s needs the permission to %s", ErrMayNot, what, access.Believe)
	}
	return nil
}

// ResolveConflict ends a conflict that waits: the proposal is revised with, with the caller's authority, or dropped, or deferred. Where revising is refused, the conflict
// goes on waiting. Whatever is done, it says what the rules advise.
func (k Beliefs) ResolveConflict(ctx context.Context, tenant dag.Tenant, in api.ConflictResolution) (out api.ResolvedConflict, _ error) {
	if err := mayBelieve(ctx, "resolve a conflict"); err != nil {
		return out, err
	}
	if err := k.screen(ctx, tenant, func() []Text { return []Text{{In: "reason", Text: in.Reason}} }); err != nil {
		return out, err
	}
	now, err := k.now()
	if err != nil {
		return out, err
	}
	r := journal.Resolution{Space: in.Space, Conflict: in.Conflict, How: in.How, Reason: in.Reason, By: access.CallerIn(ctx), At: now}
	err = k.underPolicy(ctx, tenant, r.Space, func(p kinds.Policy, id string) error {
		out = api.ResolvedConflict{Conflict: in.Conflict, How: in.How}
		c, err := k.journal().Conflict(ctx, tenant, r.Space, r.Conflict, history.Forever-1)
		if err != nil {
			return err
		}
		if out.Advice, err = k.advice(ctx, tenant, c, p.Constraints(), now); err != nil || r.How != journal.Taken && in.DryRun {
			return err
		}
		var request *journal.Request
		if r.How == journal.Taken {
			if request, err = k.taking(ctx, tenant, c, &in, p, id); err != nil {
				return err
			}
		}
		done, outcome, err := k.journal().Resolve(ctx, tenant, r, request)
		if err != nil {
			return err
		}
		if out.Seq = done.Seq; outcome != nil {
			o, _ := outcomeIn(ctx)(outcome, nil)
			out.Outcome = &o
		}
		return nil
	})
	return out, err
}

// taking is the request to revise with what a conflict proposed.
func (k Beliefs) taking(ctx context.Context, tenant dag.Tenant, c *journal.Conflict, r *api.ConflictResolution, p kinds.Policy, id string) (*journal.Request, error) {
	if c.Erased {
		return nil, fmt.Errorf("%w: what conflict %d proposed was erased; drop it", ErrNoEvidence, c.Seq)
	}
	in := &api.BeliefRequest{Space: c.Space, Item: c.Item, Kind: c.Kind, Statements: c.Statements, Premises: c.Premises, Turns: c.Turns, Confidence: &c.Confidence, Reason: r.Reason, DryRun: r.DryRun}
	in.ValidFrom, in.ValidUntil = c.Span.Bounds()
	made, err := k.request(ctx, tenant, journal.Revise, in, c.Wording)
	if err != nil {
		return nil, err
	}
	k.decideUnder(ctx, made, p, id)
	made.Allow = nil // the kind was that of a proposal, which is recorded
	return &made.Request, nil
}

// advice judges a conflict against each revision that would give way. Under the constraints of now a space may hold both.
func (k Beliefs) advice(ctx context.Context, tenant dag.Tenant, c *journal.Conflict, constraints *belief.Constraints, now dag.Time) ([]api.ConflictAdvice, error) {
	list := []api.ConflictAdvice{}
	for _, with := range c.With {
		record, err := k.journal().Item(ctx, tenant, with.Item, history.Forever-1)
		if err != nil {
			return nil, err
		}
		if old := record.Numbered(with.Revision); old != nil {
			v := rules.Judge(rules.Side{By: c.By, At: c.At, Confidence: c.Confidence}, rules.Side{By: old.By, At: old.At, Confidence: old.Confidence}, together(constraints, c, old), now)
			list = append(list, api.ConflictAdvice{Advice: string(v.Advice), Proposed: v.New, Believed: v.Old, Reason: v.Reason})
		}
	}
	return list, nil
}

// together reports whether a space can hold what a conflict proposes beside a revision.
func together(constraints *belief.Constraints, c *journal.Conflict, old *journal.Revision) bool {
	var both belief.Base
	for _, l := range c.Statements {
		both = append(both, belief.Element{Literal: l, Premises: c.Premises, Span: c.Span})
	}
	for i := range old.Statements {
		s := &old.Statements[i]
		both = append(both, belief.Element{Literal: s.Literal, Premises: s.Premises, Span: s.Span})
	}
	_, ok := belief.Consistent(constraints, both)
	return ok && !c.Erased && !old.Erased
}

// Rules answers all statements of the constraints of a space. Nothing shortens the list.
func (k Beliefs) Rules(ctx context.Context, tenant dag.Tenant, in api.RulesQuery) (api.BeliefBase, error) {
	b, err := k.Constraints(ctx, tenant, in.Space, in.AsOf)
	if err != nil {
		return api.BeliefBase{}, err
	}
	return b.answer(in.Space), nil
}

// Constraints returns what constraints of a space state, as of a number, 0 is now.
func (k Beliefs) Constraints(ctx context.Context, tenant dag.Tenant, space belief.Space, asOf dag.Seq) (*BeliefBase, error) {
	b, err := k.Held(ctx, tenant, space, asOf, nil)
	if err != nil {
		return nil, err
	}
	p, _, err := k.kindsOf(ctx, tenant, space, b.AsOf)
	if err != nil {
		return nil, err
	}
	of, named := &BeliefBase{AsOf: b.AsOf, Policy: b.Policy}, kindsByName(p)
	for i := range b.Held {
		r := b.Held[i].Revision
		is, err := k.constrains(ctx, tenant, named[r.Item.Kind()], r, dag.ReadNow)
		if err != nil {
			return nil, err
		}
		if is {
			of.Held, of.Elements = append(of.Held, b.Held[i]), append(of.Elements, b.Elements[i])
		}
	}
	return of, nil
}

// Used records that the revision an address leads to was used, and returns how often its item was.
func (k Beliefs) Used(ctx context.Context, tenant dag.Tenant, in api.BeliefUse) (out api.UseRecord, _ error) {
	a, kref, err := k.follow(ctx, tenant, in.Ref)
	if err != nil {
		return out, err
	}
	if kref.Revision == nil {
		return out, fmt.Errorf("%w: %s has no such revision now", journal.ErrNoItem, a)
	}
	now, err := k.now()
	if err != nil {
		return out, err
	}
	u, err := k.journal().AddUse(ctx, tenant, journal.Use{Of: belief.Address{Item: a.Item, Revision: kref.Revision.Number}, Success: in.Success, By: access.CallerIn(ctx), At: now})
	if err != nil {
		return out, err
	}
	k.changes.tell(tenant)
	used, err := k.journal().Used(ctx, tenant, []belief.Item{a.Item}, history.Forever-1)
	if err != nil {
		return out, err
	}
	r := rules.Rate(usesOf(used[0]))
	return api.UseRecord{Seq: u.Seq, Ref: u.Of.String(), Uses: r.Uses, Successes: r.Successes, Rate: r.Rate}, nil
}

func usesOf(list []*journal.Use) (uses []rules.Use) {
	for _, u := range list {
		uses = append(uses, rules.Use{ID: fmt.Sprint(u.Seq), By: u.By, At: u.At, Success: u.Success})
	}
	return uses
}
