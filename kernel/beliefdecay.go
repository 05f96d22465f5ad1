package kernel

import (
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/rules"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// leastDecay is what a belief must lose for decay to be recorded, unless the request says otherwise.
const leastDecay dag.PPM = 10_000

// Decay lowers the confidence of what is believed in a space by the half-lives of its kinds, if it loses at least so much. Nothing ends and nothing is deleted. The confidence follows from
// the last revision that decay did not make, so that it is the same however often decay runs; a second run at the same time changes nothing. All of it is one change. Dry, it
// records nothing.
func (k Beliefs) Decay(ctx context.Context, tenant dag.Tenant, in api.DecayRequest) (out api.Decay, _ error) {
	if !in.DryRun {
		if err := mayBelieve(ctx, "lower what is believed"); err != nil {
			return out, err
		}
	}
	p, _, err := k.kindsOf(ctx, tenant, in.Space, history.Forever-1)
	if err != nil {
		return out, err
	}
	w, err := k.web(ctx, tenant, in.Space)
	if err != nil {
		return out, err
	}
	now, err := k.now()
	if err != nil {
		return out, err
	}
	least := leastDecay
	if in.Least != nil {
		least = *in.Least
	}
	out = api.Decay{Lowered: []api.DecayedBelief{}, Excepted: []string{}}
	var list []journal.Lowering
	for i, r := range w.revisions {
		d, ok := w.decayed(i, p.Kind(r.Item.Kind()).HalfLife, least, now)
		if !ok {
			continue
		}
		published, err := k.published(ctx, tenant, r, w.asOf)
		if err != nil {
			return out, err
		}
		if published {
			out.Excepted = append(out.Excepted, d.Ref)
			continue
		}
		out.Lowered = append(out.Lowered, d)
		list = append(list, journal.Lowering{Item: r.Item, Number: r.Number, Confidence: d.After, Reason: d.Reason, Evidence: []journal.Link{{Type: rules.DecayedFrom, To: d.Origin}}})
	}
	if in.DryRun || len(list) == 0 {
		return out, nil
	}
	out.Seq, err = k.lower(ctx, tenant, list, now)
	return out, err
}

// lower records lower confidences as one change.
func (k Beliefs) lower(ctx context.Context, tenant dag.Tenant, list []journal.Lowering, now dag.Time) (dag.Seq, error) {
	var salt dag.Salt
	if err := k.draw(salt[:]); err != nil {
		return 0, err
	}
	seq, err := k.journal().Lower(ctx, tenant, list, access.CallerIn(ctx), now, salt)
	k.changes.tell(tenant)
	return seq, err
}

// decayed is what becomes of a revision under a half-life in days; false: it keeps its confidence.
func (w *web) decayed(i, halfLife int, least dag.PPM, now dag.Time) (d api.DecayedBelief, ok bool) {
	r, origin := w.revisions[i], w.revisions[i]
	if w.origins[i] != nil {
		origin = w.origins[i]
	}
	after := rules.Decay(origin.Confidence, now-origin.At, halfLife)
	if after >= r.Confidence || r.Confidence-after < least {
		return d, false
	}
	days := (now - origin.At) / 86_400_000_000
	return api.DecayedBelief{
		Ref: addressOf(r), Origin: addressOf(origin), Before: r.Confidence, After: after,
		Reason: fmt.Sprintf("%d days after confidence %s, with a half-life of %d days", days, origin.Confidence, halfLife),
	}, true
}

// published reports whether the tag published points to a revision.
func (k Beliefs) published(ctx context.Context, tenant dag.Tenant, r *journal.Revision, asOf dag.Seq) (bool, error) {
	record, err := k.journal().Item(ctx, tenant, r.Item, asOf)
	if err != nil {
		return false, err
	}
	published := record.Tagged(journal.Published)
	return published != nil && published.Number == r.Number, nil
}
