package survey

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/atlas"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/store"
)

// mostTried bounds the turns of a slice that are left out one by one.
const mostTried = 300

// Blame looks for what may have led to a turn: the slices and contexts that its agent had been handed, and the turns of the slice
// around its first parent (or around itself, without parents) that mattered for the choice of the others. It cuts this slice again
// without each of them, in memory, and signs and records nothing. The graph is that of View as of a number and up to a record.
func (a Atlas) Blame(ctx context.Context, tenant dag.Tenant, in api.BlameQuery) (b api.Blame, err error) {
	record, err := a.Kernel.Turn(ctx, tenant, in.ID)
	if err != nil {
		return b, err
	}
	v, err := a.View(ctx, tenant, in.AsOf, in.Issued)
	if err != nil {
		return b, err
	}
	if record.Seq > v.AsOf {
		return b, fmt.Errorf("turn %s as of %d: %w: it was admitted later, as number %d", in.ID, v.AsOf, store.ErrNotFound, record.Seq)
	}
	b = api.Blame{Turn: in.ID, AsOf: v.AsOf, UpTo: v.Issued, For: []api.Issued{}, InAll: []dag.TurnID{}, Policy: cmp.Or(in.Policy, policy.DefaultID), Pivots: []api.Pivot{}, Minimal: []dag.TurnID{}}
	parents := map[dag.TurnID]int32{} // from parents to their numbers
	anchor := in.ID
	for i, p := range record.Parents {
		if n, found := v.Graph.Number(p.ID); found {
			parents[p.ID] = n
		}
		if i == 0 {
			anchor = p.ID
		}
	}
	var sets []atlas.Set
	for i := range v.Handed {
		h := &v.Handed[i]
		if !v.isFor(i, parents, in.ID, record.Seq) {
			continue
		}
		r, err := a.Kernel.Handed(ctx, tenant, h.Number)
		if err != nil {
			return b, err
		}
		b.For = append(b.For, r)
		sets = append(sets, v.Sets[i])
	}
	for _, n := range atlas.InAll(sets) {
		b.InAll = append(b.InAll, v.Graph.Turns[n].ID)
	}
	return b, a.pivots(ctx, tenant, anchor, in.AsOf, &b)
}

// isFor reports whether the slice or context i was handed out for a turn with these parents: its anchor is the turn;
// or it is as of a number before the turn, and its anchor is a parent, or it is a context that contained a parent.
func (v *View) isFor(i int, parents map[dag.TurnID]int32, turn dag.TurnID, seq dag.Seq) bool {
	h := &v.Handed[i]
	if h.Anchor == turn {
		return true
	}
	if _, found := parents[h.Anchor]; found && h.AsOf < seq {
		return true
	}
	if !h.Context || h.AsOf >= seq {
		return false
	}
	for _, n := range parents {
		if _, held := slices.BinarySearch(v.Sets[i].Members, n); held && h.AsOf >= v.Graph.Turns[n].Seq {
			return true
		}
	}
	return false
}

// pivots cuts the slice around an anchor again without each of its turns.
func (a Atlas) pivots(ctx context.Context, tenant dag.Tenant, anchor dag.TurnID, asOf dag.Seq, b *api.Blame) error {
	params, err := a.Kernel.Parameters(ctx, tenant, b.Policy)
	if err != nil {
		return err
	}
	if params.Walk().Direction == policy.Past { // the slice of a request without a number, as it was then
		if asOf, err = a.cutAsOf(ctx, tenant, anchor, params, asOf); err != nil {
			return err
		}
	}
	w, s, err := a.without(ctx, tenant, anchor, b.Policy, params, asOf)
	if err != nil {
		return err
	}
	b.Selected = len(s.Turns)
	whole, err := w.chosen(ctx, nil)
	if err != nil {
		return err
	}
	var candidates []dag.TurnID // the lowest score first
	for i := len(s.Picked) - 1; i >= 0; i-- {
		if t := s.Turns[s.Picked[i]].ID; t != anchor {
			candidates = append(candidates, t)
		}
	}
	candidates = candidates[max(0, len(candidates)-mostTried):]
	for _, t := range candidates {
		other, err := w.chosen(ctx, []dag.TurnID{t})
		if err != nil {
			return err
		}
		lost, instead := changed(whole, other, t)
		pivot := api.Pivot{Turn: t, Dropped: len(lost), Added: len(instead)}
		if pivot.Dropped+pivot.Added > 0 {
			b.Pivots = append(b.Pivots, pivot)
		}
	}
	slices.SortStableFunc(b.Pivots, func(x, y api.Pivot) int { return y.Dropped + y.Added - x.Dropped - x.Added })
	if len(b.Pivots) > 0 {
		b.Minimal = []dag.TurnID{b.Pivots[0].Turn}
	} else {
		none, err := atlas.Without(candidates, func(left []dag.TurnID) (bool, error) {
			other, err := w.chosen(ctx, left)
			for id := range other {
				if !whole[id] {
					return true, err // others were chosen
				}
			}
			return len(other)+len(left) != len(whole), err
		})
		if err != nil {
			return err
		}
		b.Minimal = append(b.Minimal, none...)
	}
	b.Tried = w.tried
	return nil
}

// changed lists, by ascending id, the other turns that are not chosen without t, and the turns that are chosen in their place.
func changed(whole, other map[dag.TurnID]bool, t dag.TurnID) (lost, instead []dag.TurnID) {
	for id := range whole {
		if id != t && !other[id] {
			lost = append(lost, id)
		}
	}
	for id := range other {
		if !whole[id] {
			instead = append(instead, id)
		}
	}
	slices.SortFunc(lost, dag.TurnID.Compare)
	slices.SortFunc(instead, dag.TurnID.Compare)
	return lost, instead
}

// WithoutTurn returns the other turns that a slice would lose without a turn, and the turns that it would contain in their place, both by
// ascending id. It cuts twice, in memory, and signs and records nothing. Without its anchor there is no slice: all other turns are lost.
func (a Atlas) WithoutTurn(ctx context.Context, tenant dag.Tenant, anchor dag.TurnID, id policy.ID, asOf dag.Seq, t dag.TurnID) (lost, instead []dag.TurnID, err error) {
	params, err := a.Kernel.Parameters(ctx, tenant, id)
	if err != nil {
		return nil, nil, err
	}
	w, _, err := a.without(ctx, tenant, anchor, id, params, asOf)
	if err != nil {
		return nil, nil, err
	}
	whole, err := w.chosen(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	other := map[dag.TurnID]bool{}
	if t != anchor {
		if other, err = w.chosen(ctx, []dag.TurnID{t}); err != nil {
			return nil, nil, err
		}
	}
	lost, instead = changed(whole, other, t)
	return lost, instead, nil
}

// cutAsOf returns the as-of number of the slice that a request without a number got when the history had reached asOf; 0 is the present.
func (a Atlas) cutAsOf(ctx context.Context, tenant dag.Tenant, anchor dag.TurnID, params policy.SlicePolicy, asOf dag.Seq) (dag.Seq, error) {
	if asOf == 0 || params.Walk().Standings == nil {
		return 0, nil
	}
	t, err := a.Kernel.Turn(ctx, tenant, anchor)
	if err != nil {
		return 0, err
	}
	course, err := a.Kernel.Course(ctx, tenant, asOf)
	return max(t.Seq, course.Until(asOf).Newest()), err
}

// without returns the slice around an anchor, and what cuts it again without some turns.
func (a Atlas) without(ctx context.Context, tenant dag.Tenant, anchor dag.TurnID, id policy.ID, params policy.SlicePolicy, asOf dag.Seq) (*without, *slice.Slice, error) {
	s, err := a.Kernel.Choice(ctx, tenant, anchor, id, asOf)
	if err != nil {
		return nil, nil, err
	}
	course, err := a.Kernel.Course(ctx, tenant, s.AsOf)
	if err != nil {
		return nil, nil, err
	}
	return &without{kernel: a.Kernel, tenant: tenant, anchor: anchor, params: params, asOf: s.AsOf, course: course}, s, nil
}

// A without cuts a slice without some turns.
type without struct {
	kernel Kernel
	tenant dag.Tenant
	anchor dag.TurnID
	params policy.SlicePolicy
	asOf   dag.Seq
	course standing.Course
	parts  []dag.ConversationID
	loaded *store.Segment
	tried  int
}

// chosen returns the turns that are selected without the turns in left. Edges to these lead nowhere.
func (w *without) chosen(ctx context.Context, left []dag.TurnID) (map[dag.TurnID]bool, error) {
	w.tried++
	if w.loaded == nil {
		t, err := w.kernel.Turn(ctx, w.tenant, w.anchor)
		if err != nil {
			return nil, err
		}
		if err := w.load(ctx, []dag.ConversationID{t.Turn.Conversation}); err != nil {
			return nil, err
		}
	}
	for {
		var chosen map[dag.TurnID]bool
		err := w.kernel.Compute(ctx, func() (err error) {
			chosen, err = w.choose(left)
			return err
		})
		var lacks *slice.MissingError
		if !errors.As(err, &lacks) {
			return chosen, err
		}
		before := len(w.parts)
		if err := w.load(ctx, lacks.Conversations); err != nil {
			return nil, err
		}
		if len(w.parts) == before {
			return nil, err
		}
	}
}

// graph returns the view of the loaded conversations without some turns. Edges to these lead nowhere.
func (w *without) graph(left []dag.TurnID) (dag.View, error) {
	g := dag.NewGraph()
	there := map[dag.TurnID]bool{}
	for i := range w.loaded.Turns {
		s := w.loaded.Turns[i]
		if s.Seq > w.asOf || slices.Contains(left, s.ID) {
			continue
		}
		s.Parents = slices.DeleteFunc(slices.Clone(s.Parents), func(p dag.SkeletonParent) bool { return slices.Contains(left, p.ID) })
		if err := g.Add(&s); err != nil {
			return dag.View{}, err
		}
		there[s.ID] = true
	}
	for _, l := range w.loaded.Links {
		if there[l.Parent] && !slices.Contains(left, l.Child) {
			if err := g.AddLink(l); err != nil {
				return dag.View{}, err
			}
		}
	}
	return g.At(w.asOf).Under(dag.ReadNow), nil
}

// choose selects from the loaded conversations. It runs inside the turnstile that slices pass, too, and only computes.
func (w *without) choose(left []dag.TurnID) (map[dag.TurnID]bool, error) {
	v, err := w.graph(left)
	if err != nil {
		return nil, err
	}
	whole := v
	if len(left) > 0 { // standings are those of the whole graph: that of a turn can follow from another turn
		if whole, err = w.graph(nil); err != nil {
			return nil, err
		}
	}
	words := standing.WordsOf(whole, w.course).In(v)
	picks, err := slice.Select(v, w.anchor, w.params, words)
	if err != nil {
		return nil, err
	}
	chosen := make(map[dag.TurnID]bool, len(picks))
	for _, p := range picks {
		chosen[v.ID(p.Node)] = true
	}
	return chosen, nil
}

// load reads more conversations.
func (w *without) load(ctx context.Context, more []dag.ConversationID) error {
	for _, c := range more {
		if !slices.Contains(w.parts, c) {
			w.parts = append(w.parts, c)
		}
	}
	parts := make([]store.Part, len(w.parts))
	for i, c := range w.parts {
		parts[i].Conversation = c
	}
	s, err := w.kernel.Segment(ctx, w.tenant, parts)
	if err != nil {
		return err
	}
	w.loaded = &s
	return nil
}
