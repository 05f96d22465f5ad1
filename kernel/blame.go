package kernel

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/atlas"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

// A Pivot is a turn of a slice, and how many of the other turns would have been chosen otherwise without it.
type Pivot struct {
	Turn           dag.TurnID
	Dropped, Added int // others that would not have been chosen, and that would have been
}

// A Blame says what may have led to a turn.
type Blame struct {
	Turn    dag.TurnID
	AsOf    dag.Seq         // of the graph
	Issued  uint64          // the number of the newest record that was looked at
	For     []issued.Record // what was handed out for it: for the turns that it follows, before there was it
	InAll   []dag.TurnID    // the turns that all of that held
	Slice   *slice.Slice    // what the policy selects for the first turn that it follows
	Pivots  []Pivot         // its turns without which others would have been chosen otherwise, the most first
	Minimal []dag.TurnID    // a smallest such set: one of Pivots, or where no turn alone matters, one that is minimal by inclusion; nil: nothing matters
	Tried   int             // how often was cut again
}

// mostTried bounds the turns of a slice that are left out one by one.
const mostTried = 300

// Blame looks for what may have led to a turn: what its agent had been handed, and which turns of the slice before it mattered for the choice of the others. It cuts again without each of them, in memory, and
// signs and records nothing. The graph is that of View as of a number, up to a record.
func (k Atlas) Blame(ctx context.Context, tenant dag.Tenant, turn dag.TurnID, id policy.ID, asOf dag.Seq, upto uint64) (*Blame, error) {
	record, err := k.turns().Get(ctx, tenant, turn)
	if err != nil {
		return nil, err
	}
	v, err := k.View(ctx, tenant, asOf, upto)
	if err != nil {
		return nil, err
	}
	if record.Seq > v.AsOf {
		return nil, fmt.Errorf("turn %s as of %d: %w: it was admitted as number %d", turn, v.AsOf, store.ErrNotFound, record.Seq)
	}
	b := &Blame{Turn: turn, AsOf: v.AsOf, Issued: v.Issued}
	parents := map[dag.TurnID]int32{} // with their numbers
	anchor := turn
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
		if !v.isFor(i, parents, turn, record.Seq) {
			continue
		}
		r, err := k.issued(ctx, tenant, h.Number)
		if err != nil {
			return nil, err
		}
		b.For = append(b.For, r)
		sets = append(sets, v.Sets[i])
	}
	for _, n := range atlas.InAll(sets) {
		b.InAll = append(b.InAll, v.Graph.Turns[n].ID)
	}
	return b, k.pivots(ctx, tenant, anchor, id, asOf, b)
}

// isFor reports whether something was handed out for a turn that follows others: its anchor is the turn, or as of a number before the turn its anchor is one of those, or it is a
// context that held one of them.
func (v *AtlasView) isFor(i int, parents map[dag.TurnID]int32, turn dag.TurnID, seq dag.Seq) bool {
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

// issued reads a record by its number. None is kept: a context's has words in it, until they are erased.
func (k Atlas) issued(ctx context.Context, tenant dag.Tenant, number uint64) (issued.Record, error) {
	list, err := k.bundles().After(ctx, tenant, number-1, 1)
	if err == nil && (len(list) == 0 || list[0].Number != number) {
		err = fmt.Errorf("%w: record %d of what was handed out is gone", store.ErrDamaged, number)
	}
	if err != nil {
		return issued.Record{}, err
	}
	return list[0], nil
}

// pivots cuts again without each turn of a slice.
func (k Atlas) pivots(ctx context.Context, tenant dag.Tenant, anchor dag.TurnID, id policy.ID, asOf dag.Seq, b *Blame) error {
	p, err := Policies(k).Get(ctx, tenant, id)
	if err != nil {
		return err
	}
	params, err := p.Slice()
	if err != nil {
		return err
	}
	if params.Walk().Direction == policy.Past { // the slice is that of the anchor's own number, whatever came later
		asOf = 0
	}
	if b.Slice, err = k.slices().Preview(ctx, tenant, Request{Anchor: anchor, Policy: p.ID(), AsOf: asOf}); err != nil {
		return err
	}
	w := &without{atlas: k, tenant: tenant, anchor: anchor, params: params, asOf: b.Slice.AsOf}
	whole, err := w.chosen(ctx, nil)
	if err != nil {
		return err
	}
	var candidates []dag.TurnID // the least score first
	for i := len(b.Slice.Picked) - 1; i >= 0; i-- {
		if t := b.Slice.Turns[b.Slice.Picked[i]].ID; t != anchor {
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
		pivot := Pivot{Turn: t, Dropped: len(lost), Added: len(instead)}
		if pivot.Dropped+pivot.Added > 0 {
			b.Pivots = append(b.Pivots, pivot)
		}
	}
	slices.SortStableFunc(b.Pivots, func(x, y Pivot) int { return y.Dropped + y.Added - x.Dropped - x.Added })
	if len(b.Pivots) > 0 {
		b.Minimal = []dag.TurnID{b.Pivots[0].Turn}
	} else {
		b.Minimal, err = atlas.Without(candidates, func(left []dag.TurnID) (bool, error) {
			other, err := w.chosen(ctx, left)
			for id := range other {
				if !whole[id] {
					return true, err // others were chosen
				}
			}
			return len(other)+len(left) != len(whole), err
		})
	}
	b.Tried = w.tried
	return err
}

// changed lists, by ascending id, the others that are not chosen without a turn, and those that are in their place.
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

// WithoutTurn says which other turns a slice would not hold without a turn, and which it would hold in their place, both by ascending id. It cuts twice, in memory, and signs and records nothing. Without its
// anchor there is no slice: all others are lost.
func (k Atlas) WithoutTurn(ctx context.Context, tenant dag.Tenant, r Request, t dag.TurnID) (lost, instead []dag.TurnID, err error) {
	p, err := Policies(k).Get(ctx, tenant, r.Policy)
	if err != nil {
		return nil, nil, err
	}
	params, err := p.Slice()
	if err != nil {
		return nil, nil, err
	}
	s, err := k.slices().Preview(ctx, tenant, r)
	if err != nil {
		return nil, nil, err
	}
	w := &without{atlas: k, tenant: tenant, anchor: r.Anchor, params: params, asOf: s.AsOf}
	whole, err := w.chosen(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	other := map[dag.TurnID]bool{}
	if t != r.Anchor {
		if other, err = w.chosen(ctx, []dag.TurnID{t}); err != nil {
			return nil, nil, err
		}
	}
	lost, instead = changed(whole, other, t)
	return lost, instead, nil
}

// A without cuts a slice without some turns.
type without struct {
	atlas  Atlas
	tenant dag.Tenant
	anchor dag.TurnID
	params policy.SlicePolicy
	asOf   dag.Seq
	parts  []dag.ConversationID
	loaded *store.Segment
	tried  int
}

// chosen selects without some turns. Edges to them lead nowhere.
func (w *without) chosen(ctx context.Context, left []dag.TurnID) (map[dag.TurnID]bool, error) {
	w.tried++
	if w.loaded == nil {
		t, err := w.atlas.turns().Get(ctx, w.tenant, w.anchor)
		if err != nil {
			return nil, err
		}
		if err := w.load(ctx, []dag.ConversationID{t.Turn.Conversation}); err != nil {
			return nil, err
		}
	}
	for {
		var chosen map[dag.TurnID]bool
		err := w.atlas.turnstile.pass(ctx, func() (err error) {
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

// choose selects from what is loaded, inside the turnstile that slices pass, too: nothing but computing.
func (w *without) choose(left []dag.TurnID) (map[dag.TurnID]bool, error) {
	g := dag.NewGraph()
	there := map[dag.TurnID]bool{}
	for i := range w.loaded.Turns {
		s := w.loaded.Turns[i]
		if s.Seq > w.asOf || slices.Contains(left, s.ID) {
			continue
		}
		s.Parents = slices.DeleteFunc(slices.Clone(s.Parents), func(p dag.SkeletonParent) bool { return slices.Contains(left, p.ID) })
		if err := g.Add(&s); err != nil {
			return nil, err
		}
		there[s.ID] = true
	}
	for _, l := range w.loaded.Links {
		if there[l.Parent] && !slices.Contains(left, l.Child) {
			if err := g.AddLink(l); err != nil {
				return nil, err
			}
		}
	}
	v := g.At(w.asOf)
	picks, err := slice.Select(v, w.anchor, w.params)
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
	s, err := w.atlas.store.Segment(ctx, w.tenant, parts)
	if err != nil {
		return err
	}
	w.loaded = &s
	return nil
}
