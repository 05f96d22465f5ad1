package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/graphkernel/graphkernel/atlas"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

// Atlas is the graph of what was used: a tenant's turns, and what was handed out of them.
type Atlas struct{ *engine }

// Atlas returns the facet of the graph of what was used.
func (k *Kernel) Atlas() Atlas { return Atlas(*k) }

// mostHanded bounds the records that an atlas looks at, the newest ones: slices of turns are cut again for it. A test sets a smaller one.
var mostHanded = uint64(10_000)

// keptAtlases is of how many tenants what was gathered is kept, and read on from where it ended.
const keptAtlases = 4

// A Handed is a slice of turns or a context, as an atlas sees it.
type Handed struct {
	Record  issued.Record
	Members []Member // by ascending id
}

// A Member is a turn that was held, and with what score: that of its admission to a slice, in billionths; of a context every turn counts as one.
type Member struct {
	Turn  dag.TurnID
	Score uint64
}

// WholeScore is the score of a turn that counts as one.
const WholeScore = 1_000_000_000

// An AtlasView is the graph as of a number, with what was handed out as of it.
type AtlasView struct {
	Graph  *atlas.Graph
	AsOf   dag.Seq
	Issued uint64 // the number of the newest record that was looked at
	Handed []Handed
	Sets   []atlas.Set // of Handed, as numbers of the graph
	Older  uint64      // records that were not looked at: all but the newest mostHanded up to Issued
}

// gatheredAtlas is what was read of a tenant. Turns and records do not change, so it only grows.
type gatheredAtlas struct {
	reading turnstile // of one: inside it the rest is read and changed
	head    dag.Seq
	turns   []atlas.Turn // by ascending number
	before  uint64       // records up to this number were not read
	number  uint64       // and those up to this one were
	handed  []Handed     // by ascending number
}

// View gathers the graph as of a number, and as it was when a record had been made; 0 is the present of either. What was gathered before is read on from, so that only the first
// time costs a pass over all turns, and a cut for each of up to 10 000 slices.
func (k Atlas) View(ctx context.Context, tenant dag.Tenant, asOf dag.Seq, upto uint64) (*AtlasView, error) {
	return steady(k.engine, func(c *cache) (v *AtlasView, err error) {
		g := c.atlases.of(tenant)
		err = g.reading.pass(ctx, func() error {
			v, err = c.atlas(ctx, tenant, g, asOf, upto)
			return err
		})
		return v, err
	})
}

// atlas is View inside g.reading.
func (c *cache) atlas(ctx context.Context, tenant dag.Tenant, g *gatheredAtlas, asOf dag.Seq, upto uint64) (*AtlasView, error) {
	if err := c.gather(ctx, tenant, g); err != nil {
		return nil, err
	}
	if asOf > g.head {
		return nil, fmt.Errorf("%w: %d, and the head is %d", ErrBeyondHead, asOf, g.head)
	}
	if upto > g.number {
		return nil, fmt.Errorf("record %d of what was handed out: %w", upto, store.ErrNotFound)
	}
	v := &AtlasView{AsOf: asOf, Issued: upto}
	if asOf == 0 {
		v.AsOf = g.head
	}
	if upto == 0 {
		v.Issued = g.number
	}
	v.Older = v.Issued - min(v.Issued, mostHanded)
	handed := g.handed
	if v.Older < g.before { // of before what is kept
		early, err := c.handed(ctx, tenant, v.Older, min(g.before, v.Issued))
		if err != nil {
			return nil, err
		}
		handed = slices.Concat(early, handed)
	}
	n, _ := slices.BinarySearchFunc(g.turns, v.AsOf+1, func(t atlas.Turn, seq dag.Seq) int { return cmp.Compare(t.Seq, seq) })
	v.Graph = atlas.New(slices.Clone(g.turns[:n]))
	for _, h := range handed {
		if h.Record.Number <= v.Older || h.Record.Number > v.Issued || h.Record.AsOf > v.AsOf {
			continue
		}
		var set atlas.Set
		for _, m := range h.Members {
			if n, found := v.Graph.Number(m.Turn); found {
				set.Members = append(set.Members, n)
			}
		}
		v.Handed, v.Sets = append(v.Handed, h), append(v.Sets, set)
	}
	return v, nil
}

// gather reads on from where it ended before.
func (c *cache) gather(ctx context.Context, tenant dag.Tenant, g *gatheredAtlas) error {
	least := c.k.heads.least(tenant)
	head, err := c.store.Head(ctx, tenant)
	if err == nil {
		err = c.k.heads.check(tenant, least, head)
	}
	if err != nil {
		return err
	}
	err = c.store.Scan(ctx, tenant, g.head, func(r *store.Record) error {
		if r.Seq > head {
			return errEnough
		}
		t := atlas.Turn{ID: r.Turn.ID, Conversation: r.Turn.Conversation, Role: r.Turn.Role, Phase: r.Turn.Phase, Seq: r.Seq}
		for _, p := range r.Parents {
			t.Parents = append(t.Parents, dag.Parent{ID: p.ID, Kind: p.Kind})
		}
		g.turns = append(g.turns, t)
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		g.head, g.turns = 0, nil
		return err
	}
	g.head = head
	last, err := c.store.bundles().Last(ctx, tenant)
	if err != nil {
		return err
	}
	if last > g.number+mostHanded { // what is kept would not be looked at
		g.before, g.number, g.handed = last-mostHanded, last-mostHanded, nil
	}
	more, err := c.handed(ctx, tenant, g.number, last)
	if err != nil {
		return err
	}
	g.handed, g.number = append(g.handed, more...), last
	if keep := last - min(last, mostHanded); keep > g.before+mostHanded { // let go of what is older now and then
		n := slices.IndexFunc(g.handed, func(h Handed) bool { return h.Record.Number > keep })
		g.before, g.handed = keep, slices.Clone(g.handed[max(n, 0):])
	}
	return nil
}

// handed reads the slices of turns and the contexts among the records above a number, up to another.
func (c *cache) handed(ctx context.Context, tenant dag.Tenant, after, upto uint64) (list []Handed, err error) {
	for after < upto {
		page, err := c.store.bundles().After(ctx, tenant, after, 500)
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			break
		}
		for i := range page {
			if after = page[i].Number; after > upto {
				break
			}
			h := Handed{Record: page[i]}
			if err := c.members(ctx, tenant, &h); err != nil {
				return nil, err
			}
			if !h.Record.OfFacts() {
				list = append(list, h)
			}
		}
	}
	return list, nil
}

// members finds what a record held.
func (c *cache) members(ctx context.Context, tenant dag.Tenant, h *Handed) error {
	switch {
	case h.Record.OfFacts():
	case h.Record.OfContext():
		for _, id := range h.Record.Shown.Unpack() {
			h.Members = append(h.Members, Member{id, WholeScore})
		}
	default:
		p, err := c.policy(ctx, tenant, h.Record.Provenance.PolicyID)
		if err != nil {
			return err
		}
		_, s, _, err := c.selected(ctx, tenant, h.Record.Provenance.Anchor, p, h.Record.AsOf)
		if err != nil {
			return fmt.Errorf("cutting slice %s again: %w", h.Record.Provenance.SliceID, err)
		}
		for i := range s.Turns {
			h.Members = append(h.Members, Member{s.Turns[i].ID, uint64(s.Turns[i].Admission.Score)})
		}
	}
	return nil
}

// Sign seals a document that is no bundle: an in-toto statement that names its digest, in an envelope of the identity. Without an identity it is identity.ErrNone.
func (k Atlas) Sign(tenant dag.Tenant, statement []byte) ([]byte, error) {
	id, _ := k.identity.get()
	attestor, err := id.Attestor(tenant)
	if err != nil {
		return nil, err
	}
	return attest.Seal(statement, attestor)
}

// Workers is how many goroutines compute at once.
func (k Atlas) Workers() int { return runtime.GOMAXPROCS(0) }

// atlases keeps what was gathered of a few tenants.
type atlases struct {
	mu   sync.Mutex
	kept map[dag.Tenant]*gatheredAtlas
	used []dag.Tenant // the last one last
}

func (a *atlases) of(tenant dag.Tenant) *gatheredAtlas {
	a.mu.Lock()
	defer a.mu.Unlock()
	g := a.kept[tenant]
	if g == nil {
		if a.kept == nil {
			a.kept = map[dag.Tenant]*gatheredAtlas{}
		}
		g = &gatheredAtlas{reading: make(turnstile, 1)}
		a.kept[tenant] = g
	}
	a.used = append(slices.DeleteFunc(a.used, func(t dag.Tenant) bool { return t == tenant }), tenant)
	if len(a.used) > keptAtlases {
		delete(a.kept, a.used[0])
		a.used = a.used[1:]
	}
	return g
}

// A Pivot is a turn of a slice, and how many of the other turns would have been chosen otherwise without it.
type Pivot struct {
	Turn           dag.TurnID
	Dropped, Added int // others that would not have been chosen, and that would have been
}

// A Blame says what may have led to a turn.
type Blame struct {
	Turn    dag.TurnID
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
// signs and records nothing.
func (k Atlas) Blame(ctx context.Context, tenant dag.Tenant, turn dag.TurnID, id policy.ID) (*Blame, error) {
	record, err := k.turns().Get(ctx, tenant, turn)
	if err != nil {
		return nil, err
	}
	b := &Blame{Turn: turn}
	v, err := k.View(ctx, tenant, 0, 0)
	if err != nil {
		return nil, err
	}
	parents := map[dag.TurnID]dag.Seq{}
	anchor := turn
	for i, p := range record.Parents {
		if n, found := v.Graph.Number(p.ID); found {
			parents[p.ID] = v.Graph.Turns[n].Seq
		}
		if i == 0 {
			anchor = p.ID
		}
	}
	var sets []atlas.Set
	for i := range v.Handed {
		h := &v.Handed[i]
		if !h.isFor(parents, turn, record.Seq) {
			continue
		}
		b.For = append(b.For, h.Record)
		sets = append(sets, v.Sets[i])
	}
	for _, n := range atlas.InAll(sets) {
		b.InAll = append(b.InAll, v.Graph.Turns[n].ID)
	}
	return b, k.pivots(ctx, tenant, anchor, id, b)
}

// isFor reports whether something was handed out for a turn that follows others: its anchor is the turn, or as of a number before the turn its anchor is one of those, or it is a
// context that held one of them.
func (h *Handed) isFor(parents map[dag.TurnID]dag.Seq, turn dag.TurnID, seq dag.Seq) bool {
	if h.Record.Provenance.Anchor == turn {
		return true
	}
	if _, found := parents[h.Record.Provenance.Anchor]; found && h.Record.AsOf < seq {
		return true
	}
	return h.Record.OfContext() && slices.ContainsFunc(h.Members, func(m Member) bool {
		at, found := parents[m.Turn]
		return found && h.Record.AsOf >= at && h.Record.AsOf < seq
	})
}

// pivots cuts again without each turn of a slice.
func (k Atlas) pivots(ctx context.Context, tenant dag.Tenant, anchor dag.TurnID, id policy.ID, b *Blame) error {
	p, err := Policies(k).Get(ctx, tenant, id)
	if err != nil {
		return err
	}
	params, err := p.Slice()
	if err != nil {
		return err
	}
	if b.Slice, err = k.slices().Preview(ctx, tenant, Request{Anchor: anchor, Policy: p.ID()}); err != nil {
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
		var lacks *slice.MissingError
		if errors.As(err, &lacks) {
			before := len(w.parts)
			if loadErr := w.load(ctx, lacks.Conversations); loadErr != nil {
				return nil, loadErr
			}
			if len(w.parts) == before {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		chosen := make(map[dag.TurnID]bool, len(picks))
		for _, p := range picks {
			chosen[v.ID(p.Node)] = true
		}
		return chosen, nil
	}
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

// Authors counts the turns of each author as of a number. A turn without its text has none. A pass over all turns.
func (k Atlas) Authors(ctx context.Context, tenant dag.Tenant, asOf dag.Seq) (map[string]int, error) {
	authors := map[string]int{}
	err := k.store.Scan(ctx, tenant, 0, nil, func(r *store.Record) error {
		if r.Seq > asOf {
			return errEnough
		}
		if r.Body == nil {
			return nil
		}
		body, err := slice.ParseBody(r.Body)
		if err != nil {
			return fmt.Errorf("turn %s: %w: %w", r.Turn.ID, ErrDamaged, err)
		}
		authors[body.Author]++
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return authors, err
}
