package kernel

import (
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/rules"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// A BeliefDecay lists the revisions that lose confidence with time.
type BeliefDecay struct {
	Seq      dag.Seq // the number of the last entry of the change; 0: nothing was recorded
	Lowered  []Decayed
	Excepted []string // published addresses, which keep their confidence
}

// A Decayed is a revision that loses confidence.
type Decayed struct {
	Ref, Origin   string // the address, and that from whose confidence and time the new confidence is computed
	Before, After dag.PPM
	Reason        string
}

// Decay lowers the confidence of what is believed in a space by the half-lives of its kinds, if it loses at least so much. Nothing ends and nothing is deleted. The confidence follows from
// the last revision that decay did not make, so that it is the same however often decay runs; a second run at the same time changes nothing. All of it is one change. Dry, it
// records nothing.
func (k Beliefs) Decay(ctx context.Context, tenant dag.Tenant, space belief.Space, least dag.PPM, dry bool) (*BeliefDecay, error) {
	if !dry {
		if err := mayBelieve(ctx, "lower what is believed"); err != nil {
			return nil, err
		}
	}
	p, _, err := k.kindsOf(ctx, tenant, space, history.Forever-1)
	if err != nil {
		return nil, err
	}
	w, err := k.web(ctx, tenant, space)
	if err != nil {
		return nil, err
	}
	now, err := k.now()
	if err != nil {
		return nil, err
	}
	out := &BeliefDecay{}
	var list []journal.Lowering
	for i, r := range w.revisions {
		d, ok := w.decayed(i, p.Kind(r.Item.Kind()).HalfLife, least, now)
		if !ok {
			continue
		}
		published, err := k.published(ctx, tenant, r, w.asOf)
		if err != nil {
			return nil, err
		}
		if published {
			out.Excepted = append(out.Excepted, d.Ref)
			continue
		}
		out.Lowered = append(out.Lowered, d)
		list = append(list, journal.Lowering{Item: r.Item, Number: r.Number, Confidence: d.After, Reason: d.Reason, Evidence: []journal.Link{{Type: rules.DecayedFrom, To: d.Origin}}})
	}
	if dry || len(list) == 0 {
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
func (w *web) decayed(i, halfLife int, least dag.PPM, now dag.Time) (d Decayed, ok bool) {
	r, origin := w.revisions[i], w.revisions[i]
	if w.origins[i] != nil {
		origin = w.origins[i]
	}
	after := rules.Decay(origin.Confidence, now-origin.At, halfLife)
	if after >= r.Confidence || r.Confidence-after < least {
		return d, false
	}
	days := (now - origin.At) / 86_400_000_000
	return Decayed{
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
