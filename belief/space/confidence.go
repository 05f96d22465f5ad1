package space

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/rules"
	"github.com/graphkernel/graphkernel/dag"
)

// Cascade computes anew the confidence of the beliefs of a space whose evidence fell. Evidence falls if it is a revision that is no longer
// believed or a turn without its text. All of this is one change. A dry run records nothing.
func (k Upkeep) Cascade(ctx context.Context, tenant dag.Tenant, in api.CascadeRequest) (out api.Cascade, _ error) {
	if !in.DryRun {
		if err := k.mayBelieve(ctx, tenant, "lower the confidence of beliefs"); err != nil {
			return out, err
		}
	}
	w, err := k.web(ctx, tenant, in.Space)
	if err != nil {
		return out, err
	}
	out = api.Cascade{Lowered: []api.LoweredBelief{}, Excepted: []string{}}
	nodes, rests, links, err := k.graph(ctx, tenant, w)
	if err != nil {
		return out, err
	}
	var list []journal.Lowering
	fell := map[string]bool{}
	for _, n := range nodes {
		fell[n.ID] = n.Fell
	}
	all, err := k.cascade(ctx, tenant, w, nodes, rests)
	if err != nil {
		return out, err
	}
	for _, l := range all {
		fell[l.ID] = fell[l.ID] || l.Invalid
	}
	for _, l := range all {
		if l.Kept {
			out.Excepted = append(out.Excepted, l.ID)
			continue
		}
		r := w.revisions[w.at[l.ID]]
		lower := journal.Lowering{Item: r.Item, Number: r.Number, Confidence: l.After, Invalid: l.Invalid, Reason: l.Reason}
		for _, e := range links[l.ID] {
			if !fell[e.node] {
				lower.Evidence = append(lower.Evidence, journal.Link{Type: "derived_from", To: e.to})
			}
		}
		out.Lowered = append(out.Lowered, api.LoweredBelief{Ref: l.ID, Before: l.Before, After: l.After, Invalid: l.Invalid, Fell: append([]string{}, l.Fell...), Reason: l.Reason})
		list = append(list, lower)
	}
	if in.DryRun || len(list) == 0 {
		return out, nil
	}
	out.Seq, err = k.lower(ctx, tenant, list, w.now)
	return out, err
}

// cascade computes the lowerings, given that published revisions do not fall. It asks only for affected revisions whether they are published.
func (k Upkeep) cascade(ctx context.Context, tenant dag.Tenant, w *web, nodes []rules.Node, rests []rules.Rest) ([]rules.Lowering, error) {
	asked := map[string]bool{}
	for {
		all, again := rules.Cascade(nodes, rests), false
		for _, l := range all {
			at, ok := w.at[l.ID]
			if !ok || asked[l.ID] {
				continue
			}
			asked[l.ID] = true
			r := w.revisions[at]
			published, err := k.published(ctx, tenant, r, w.asOf)
			if err != nil {
				return nil, err
			}
			if published {
				nodes[at].Kept, again = true, true // the nodes of revisions come first
			}
		}
		if !again {
			return all, nil
		}
	}
}

// A piece is a piece of evidence of a revision: the id of its node, and the target of a link to it.
type piece struct{ node, to string }

// graph returns the believed revisions of a space and their evidence as nodes, with the links between them. A superseded revision counts
// as the current one of its item if that still states everything that the superseded one stated.
func (k Upkeep) graph(ctx context.Context, tenant dag.Tenant, w *web) (nodes []rules.Node, rests []rules.Rest, links map[string][]piece, _ error) {
	links = map[string][]piece{}
	for _, r := range w.revisions {
		nodes = append(nodes, rules.Node{ID: r.Address().String(), Confidence: r.Confidence, Fell: ended(r, w.now)})
	}
	seen := map[string]string{} // the id of a node, by the target of a link
	find := func(to string) (string, error) {
		if node, ok := seen[to]; ok {
			return node, nil
		}
		node := rules.Node{ID: to, Confidence: dag.One}
		if turn, ok := strings.CutPrefix(to, "turn:"); ok {
			id, err := dag.ParseTurnID(turn)
			if err != nil {
				return "", err
			}
			records, err := k.kernel.Turns(ctx, tenant, []dag.TurnID{id})
			if err != nil {
				return "", err
			}
			node.Fell = len(records) == 0 || records[0].Body == nil && !records[0].Withheld
		} else if a, err := belief.ParseAddress(to); err == nil {
			if at, ok := w.at[to]; ok {
				seen[to] = w.revisions[at].Address().String()
				return seen[to], nil
			}
			record, err := k.journal().Item(ctx, tenant, a.Item, w.asOf)
			if err != nil {
				return "", err
			}
			old, current := record.Numbered(a.Revision), record.Tagged(journal.Current)
			if old != nil {
				node.Confidence = old.Confidence
			}
			node.Fell = old == nil || old.Erased || current == nil || current.Erased || record.Deprecated || ended(current, w.now) || similar(old, current) == 0
			if at, ok := w.of[a.Item]; ok && !node.Fell {
				seen[to] = w.revisions[at].Address().String()
				return seen[to], nil
			}
		}
		nodes = append(nodes, node)
		seen[to] = to
		return to, nil
	}
	rest := func(r *journal.Revision, l *journal.Link, to string) error {
		if counts, err := k.lends(ctx, tenant, w, r, l); err != nil || !counts {
			return err
		}
		node, err := find(to)
		if err == nil {
			rests = append(rests, rules.Rest{Belief: r.Address().String(), Evidence: node})
			links[r.Address().String()] = append(links[r.Address().String()], piece{node, to})
		}
		return err
	}
	for i, r := range w.revisions {
		for _, l := range w.out[i] {
			if slices.Contains(evidential, l.Type) {
				if err := rest(r, l, l.To); err != nil {
					return nil, nil, nil, err
				}
			}
		}
		for _, l := range w.in[i] {
			if slices.Contains(supporting, l.Type) || l.Type == journal.PromotedTo {
				if err := rest(r, l, l.From.String()); err != nil {
					return nil, nil, nil, err
				}
			}
		}
	}
	return nodes, rests, links, nil
}

// leastDecay is the least loss of confidence that decay records, unless the request names another.
const leastDecay dag.PPM = 10_000

// Decay lowers the confidence of the beliefs in a space by the half-lives of their kinds. It skips a belief that would lose less than the
// request's least. Nothing ends and nothing is deleted. The confidence is computed from the last revision that decay did not make, so it is
// the same however often decay runs; a second run at the same time changes nothing. All of this is one change. A dry run records nothing.
func (k Upkeep) Decay(ctx context.Context, tenant dag.Tenant, in api.DecayRequest) (out api.Decay, _ error) {
	if !in.DryRun {
		if err := k.mayBelieve(ctx, tenant, "lower the confidence of beliefs"); err != nil {
			return out, err
		}
	}
	w, err := k.web(ctx, tenant, in.Space)
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
		d, ok := w.decayed(i, least)
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
	out.Seq, err = k.lower(ctx, tenant, list, w.now)
	return out, err
}

// lower records lower confidences in one change, and returns the number of its last entry.
func (k Upkeep) lower(ctx context.Context, tenant dag.Tenant, list []journal.Lowering, now dag.Time) (dag.Seq, error) {
	var salt dag.Salt
	if err := k.kernel.Draw(salt[:]); err != nil {
		return 0, err
	}
	seq, err := k.journal().Lower(ctx, tenant, list, access.CallerIn(ctx), now, salt)
	k.kernel.Changed(tenant)
	return seq, err
}

// decayed returns the decay of a revision under the half-life of its kind; false if the revision keeps its confidence.
func (w *web) decayed(i int, least dag.PPM) (d api.DecayedBelief, ok bool) {
	r, origin := w.revisions[i], w.revisions[i]
	if w.origins[i] != nil {
		origin = w.origins[i]
	}
	halfLife := w.kinds.Kind(r.Item.Kind()).HalfLife
	after := rules.Decay(origin.Confidence, w.now-origin.At, halfLife)
	if after >= r.Confidence || r.Confidence-after < least {
		return d, false
	}
	days := (w.now - origin.At) / 86_400_000_000
	return api.DecayedBelief{
		Ref: r.Address().String(), Origin: origin.Address().String(), Before: r.Confidence, After: after,
		Reason: fmt.Sprintf("%d days after confidence %s, with a half-life of %d days", days, origin.Confidence, halfLife),
	}, true
}

// published reports whether the tag published points to a revision.
func (k reader) published(ctx context.Context, tenant dag.Tenant, r *journal.Revision, asOf dag.Seq) (bool, error) {
	record, err := k.journal().Item(ctx, tenant, r.Item, asOf)
	if err != nil {
		return false, err
	}
	published := record.Tagged(journal.Published)
	return published != nil && published.Number == r.Number, nil
}
