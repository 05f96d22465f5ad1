package kernel

import (
	"context"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/rules"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/store"
)

// Cascade computes the confidence of the beliefs of a space whose evidence fell: a revision that is believed no longer, or a turn without its text. All of it is one change. Dry,
// it records nothing.
func (k Beliefs) Cascade(ctx context.Context, tenant dag.Tenant, in api.CascadeRequest) (out api.Cascade, _ error) {
	if !in.DryRun {
		if err := mayBelieve(ctx, "lower what is believed"); err != nil {
			return out, err
		}
	}
	if _, err := k.spaceOf(ctx, tenant, in.Space, history.Forever-1); err != nil {
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
	out = api.Cascade{Lowered: []api.LoweredBelief{}, Excepted: []string{}}
	nodes, rests, links, err := k.graph(ctx, tenant, w, now)
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
	out.Seq, err = k.lower(ctx, tenant, list, now)
	return out, err
}

// cascade computes what falls, given that what is published does not. Only of what would fall is it asked whether it is.
func (k Beliefs) cascade(ctx context.Context, tenant dag.Tenant, w *web, nodes []rules.Node, rests []rules.Rest) ([]rules.Lowering, error) {
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

// A piece is evidence of a revision: the node that it is, and where a link to it leads.
type piece struct{ node, to string }

// graph is what is believed of a space, and what it rests on. A revision that was superseded is as good as the one in its place, if that still states what it did.
func (k Beliefs) graph(ctx context.Context, tenant dag.Tenant, w *web, now dag.Time) (nodes []rules.Node, rests []rules.Rest, links map[string][]piece, _ error) {
	links = map[string][]piece{}
	for _, r := range w.revisions {
		nodes = append(nodes, rules.Node{ID: addressOf(r), Confidence: r.Confidence, Fell: ended(r, now)})
	}
	seen := map[string]string{} // a node, by where a link leads
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
			records, err := k.store.Turns(ctx, tenant, store.IDs([]dag.TurnID{id}))
			if err != nil {
				return "", err
			}
			node.Fell = len(records) == 0 || records[0].Body == nil && !records[0].Withheld
		} else if a, err := belief.ParseAddress(to); err == nil {
			if at, ok := w.at[to]; ok {
				seen[to] = addressOf(w.revisions[at])
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
			node.Fell = old == nil || old.Erased || current == nil || current.Erased || record.Deprecated || ended(current, now) || similar(old, current) == 0
			if at, ok := w.of[a.Item]; ok && !node.Fell {
				seen[to] = addressOf(w.revisions[at])
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
			rests = append(rests, rules.Rest{Belief: addressOf(r), Evidence: node})
			links[addressOf(r)] = append(links[addressOf(r)], piece{node, to})
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
