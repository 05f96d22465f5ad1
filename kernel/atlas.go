package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

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

// What is kept of atlases.
const (
	keptAtlases = 4         // tenants
	keptViews   = 3         // of a tenant, with what was computed of them
	keptTurns   = 1_000_000 // of all views of a tenant, of more than one
)

// A Handed is a slice of turns or a context, as an atlas sees it: nothing of it is anybody's name or words.
type Handed struct {
	Number  uint64 // of its record
	Slice   slice.SliceID
	Anchor  dag.TurnID
	AsOf    dag.Seq
	Context bool

	members []int32  // of gatheredAtlas.turns, by ascending id of the turn
	scores  []uint32 // of each; nil: WholeScore
}

// WholeScore is the score of a turn that counts as one, in billionths. Each turn of a context does; one of a slice has the score of its admission.
const WholeScore = uint32(policy.MaxScore)

// An AtlasView is the graph as of a number, with what was handed out as of it. It keeps what is computed of it. It is safe for use by many goroutines, and must not be changed.
type AtlasView struct {
	Graph  *atlas.Graph
	AsOf   dag.Seq
	Issued uint64 // the number of the newest record that was looked at
	Handed []Handed
	Sets   []atlas.Set // of Handed, as numbers of the graph
	Older  uint64      // records that were not looked at: all but the newest mostHanded up to Issued

	cache   *cache
	tenant  dag.Tenant
	of      *gatheredAtlas
	turns   *drawnGraph
	uses    *made[[]Use]
	ranking *made[*atlas.Ranking]
	facts   *made[*FactCommunities] // guarded by of.mu: an erasure puts another in its place
}

// A drawnGraph is a graph with what follows from it alone. Views as of one number share it.
type drawnGraph struct {
	graph    *atlas.Graph
	numbers  []int32 // of gatheredAtlas.turns
	snapshot *made[atlas.Snapshot]
	central  *made[*central]
	parted   *made[atlas.Communities]
}

// gatheredAtlas is what was read of a tenant. Turns and records do not change, so it only grows.
type gatheredAtlas struct {
	reading turnstile // of one: inside it the store is asked for what is new
	head    dag.Seq   // guarded by reading, as are the next two
	before  uint64    // records up to this number were not read
	number  uint64    // and those up to this one were
	handed  []Handed  // by ascending number; guarded by reading

	mu      sync.Mutex   // guards everything below, which changes inside reading, except where something is erased
	turns   []atlas.Turn // by ascending number
	byID    []int32      // of turns, by ascending id
	erased  dag.Seq      // erasures up to this number are known
	authors authors
	views   []*AtlasView   // the one used last is the last
	ranking *atlas.Ranking // the one made last
}

// View gathers the graph as of a number, and as it was when a record had been made; 0 is the present of either. What was gathered before is read on from, so that only the first
// time costs a pass over all turns, and a cut for each of up to 10 000 slices. A few views are kept, with what was computed of them.
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
	asOf, err := c.ends.upTo(ctx, tenant, asOf, g.head)
	if err != nil {
		return nil, err
	}
	if upto > g.number {
		return nil, fmt.Errorf("record %d of what was handed out: %w", upto, store.ErrNotFound)
	}
	if upto == 0 {
		upto = g.number
	}
	if v := g.known(asOf, upto); v != nil {
		return v, nil
	}
	v := &AtlasView{
		AsOf: asOf, Issued: upto, Older: upto - min(upto, mostHanded), cache: c, tenant: tenant, of: g,
		uses: newMade[[]Use](), ranking: newMade[*atlas.Ranking](), facts: newMade[*FactCommunities](),
	}
	handed := g.handed
	if v.Older < g.before { // of before what is kept
		err := c.handed(ctx, tenant, g, v.Older, min(g.before, v.Issued), func(early []Handed, _ uint64) { handed = slices.Concat(early, handed) })
		if err != nil {
			return nil, err
		}
		slices.SortFunc(handed, func(a, b Handed) int { return cmp.Compare(a.Number, b.Number) })
	}
	v.turns = g.drawn(asOf)
	v.Graph = v.turns.graph
	for _, h := range handed {
		if h.Number <= v.Older || h.Number > v.Issued || h.AsOf > v.AsOf {
			continue
		}
		set := atlas.Set{Members: make([]int32, len(h.members))}
		for i, at := range h.members {
			set.Members[i] = v.turns.numbers[at]
		}
		v.Handed, v.Sets = append(v.Handed, h), append(v.Sets, set)
	}
	g.keep(v)
	return v, nil
}

// known returns a view that is kept.
func (g *gatheredAtlas) known(asOf dag.Seq, upto uint64) *AtlasView {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.IndexFunc(g.views, func(v *AtlasView) bool { return v.AsOf == asOf && v.Issued == upto })
	if at < 0 {
		return nil
	}
	v := g.views[at]
	g.views = append(slices.Delete(g.views, at, at+1), v)
	return v
}

// keep keeps a view, and drops those that were not used for longest.
func (g *gatheredAtlas) keep(v *AtlasView) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.views = append(g.views, v)
	turns := func() (n int) {
		for _, v := range g.views {
			n += len(v.Graph.Turns)
		}
		return n
	}
	for len(g.views) > keptViews || len(g.views) > 1 && turns() > keptTurns {
		g.views = slices.Delete(g.views, 0, 1)
	}
}

// drawn returns the graph as of a number, which a kept view may have.
func (g *gatheredAtlas) drawn(asOf dag.Seq) *drawnGraph {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, v := range g.views {
		if v.AsOf == asOf {
			return v.turns
		}
	}
	n := g.upTo(asOf)
	d := &drawnGraph{numbers: make([]int32, n), snapshot: newMade[atlas.Snapshot](), central: newMade[*central](), parted: newMade[atlas.Communities]()}
	turns := make([]atlas.Turn, 0, n)
	for _, at := range g.byID {
		if int(at) < n {
			d.numbers[at] = int32(len(turns))
			turns = append(turns, g.turns[at])
		}
	}
	d.graph = atlas.New(turns)
	return d
}

// upTo counts the turns up to a number. The caller holds mu.
func (g *gatheredAtlas) upTo(asOf dag.Seq) int {
	n, _ := slices.BinarySearchFunc(g.turns, asOf+1, func(t atlas.Turn, seq dag.Seq) int { return cmp.Compare(t.Seq, seq) })
	return n
}

// place finds a turn among g.turns. The caller holds mu, or reading.
func (g *gatheredAtlas) place(id dag.TurnID) (int32, bool) {
	at, found := slices.BinarySearchFunc(g.byID, id, func(at int32, id dag.TurnID) int { return g.turns[at].ID.Compare(id) })
	if !found {
		return 0, false
	}
	return g.byID[at], true
}

// gather reads on from where it ended before: the number of the newest record, then the turns, of which those are that it held, then the records.
func (c *cache) gather(ctx context.Context, tenant dag.Tenant, g *gatheredAtlas) error {
	last, err := c.store.bundles().Last(ctx, tenant)
	if err != nil {
		return err
	}
	least := c.k.heads.least(tenant)
	head, err := c.store.Head(ctx, tenant)
	if err == nil {
		err = c.k.heads.check(tenant, least, head)
	}
	if err != nil {
		return err
	}
	if head > g.head {
		if err := c.gatherTurns(ctx, tenant, g, head); err != nil {
			return err
		}
	}
	if last > g.number+mostHanded { // what is kept would not be looked at
		g.before, g.number, g.handed = last-mostHanded, last-mostHanded, nil
	}
	err = c.handed(ctx, tenant, g, g.number, last, func(more []Handed, upto uint64) { g.handed, g.number = append(g.handed, more...), upto })
	if err != nil {
		return err
	}
	if keep := last - min(last, mostHanded); keep > g.before+mostHanded { // drop what is older now and then
		n := slices.IndexFunc(g.handed, func(h Handed) bool { return h.Number > keep })
		g.before, g.handed = keep, slices.Clone(g.handed[max(n, 0):])
	}
	return nil
}

// gatherTurns reads the turns up to a head, and what was erased up to now.
func (c *cache) gatherTurns(ctx context.Context, tenant dag.Tenant, g *gatheredAtlas, head dag.Seq) error {
	var more []atlas.Turn
	err := c.store.Scan(ctx, tenant, g.head, func(r *store.Record) error {
		if r.Seq > head {
			return errEnough
		}
		t := atlas.Turn{ID: r.Turn.ID, Conversation: r.Turn.Conversation, Role: r.Turn.Role, Phase: r.Turn.Phase, Seq: r.Seq}
		for _, p := range r.Parents {
			t.Parents = append(t.Parents, dag.Parent{ID: p.ID, Kind: p.Kind})
		}
		more = append(more, t)
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	g.mu.Lock()
	if g.head == 0 { // nothing is kept of what was erased before
		g.erased = head
	}
	g.add(more)
	g.mu.Unlock()
	g.head = head
	return c.readErasures(ctx, tenant, g)
}

// add takes in turns. The caller holds mu.
func (g *gatheredAtlas) add(more []atlas.Turn) {
	before := len(g.turns)
	g.turns = append(g.turns, more...)
	compare := func(a, b int32) int { return g.turns[a].ID.Compare(g.turns[b].ID) }
	added := make([]int32, len(more))
	for i := range added {
		added[i] = int32(before + i)
	}
	slices.SortFunc(added, compare)
	merged := make([]int32, 0, len(g.turns))
	for kept := g.byID; len(kept)+len(added) > 0; {
		if len(added) == 0 || len(kept) > 0 && compare(kept[0], added[0]) < 0 {
			merged, kept = append(merged, kept[0]), kept[1:]
		} else {
			merged, added = append(merged, added[0]), added[1:]
		}
	}
	g.byID = merged
}

// handed reads the slices of turns and the contexts among the records above a number, up to another. It calls found with each page, and with the number up to which it has read.
func (c *cache) handed(ctx context.Context, tenant dag.Tenant, g *gatheredAtlas, after, upto uint64, found func(list []Handed, upto uint64)) error {
	for after < upto {
		page, err := c.store.bundles().After(ctx, tenant, after, int(min(500, upto-after)))
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return fmt.Errorf("%w: of the records of what was handed out there are %d, and none after %d", store.ErrDamaged, upto, after)
		}
		list := make([]Handed, len(page))
		not, err := c.store.bundles().Undelivered(ctx, tenant)
		if err != nil {
			return err
		}
		members := func(i int) error {
			if not[page[i].Bundle] != 0 {
				return nil
			}
			return c.members(ctx, tenant, g, &page[i], &list[i])
		}
		if err := c.each(ctx, len(page), members); err != nil {
			return err
		}
		after = page[len(page)-1].Number
		found(slices.DeleteFunc(list, func(h Handed) bool { return h.Number == 0 }), after)
	}
	return nil
}

// each calls fn with the numbers from 0 to n-1, as many at once as slices are cut, and returns the error of the first that failed.
func (c *cache) each(ctx context.Context, n int, fn func(i int) error) error {
	var next atomic.Int64
	errs := make([]error, n)
	var wait sync.WaitGroup
	for range min(n, c.k.config.Parallel) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if errs[i] = fn(i); errs[i] != nil {
					next.Store(int64(n))
				}
			}
		})
	}
	wait.Wait()
	return cmp.Or(errors.Join(errs...), ctx.Err())
}

// members finds what a record held. A slice of facts and evidence of a belief hold no turns, and are left as they are.
func (c *cache) members(ctx context.Context, tenant dag.Tenant, g *gatheredAtlas, r *issued.Record, h *Handed) error {
	var ids []dag.TurnID
	var scores []uint32
	switch {
	case r.OfFacts() || r.OfBelief():
		return nil
	case r.OfContext():
		ids = r.Shown.Unpack()
	default:
		p, err := c.policy(ctx, tenant, r.Provenance.PolicyID)
		if err != nil {
			return err
		}
		_, s, _, err := c.selected(ctx, tenant, r.Provenance.Anchor, p, vantageOf(r))
		if err != nil {
			return fmt.Errorf("cutting slice %s again: %w", r.Provenance.SliceID, err)
		}
		ids, scores = make([]dag.TurnID, len(s.Turns)), make([]uint32, len(s.Turns))
		for i := range s.Turns {
			ids[i], scores[i] = s.Turns[i].ID, uint32(s.Turns[i].Admission.Score)
		}
	}
	*h = Handed{Number: r.Number, Slice: r.Provenance.SliceID, Anchor: r.Provenance.Anchor, AsOf: r.AsOf, Context: r.OfContext(), members: make([]int32, len(ids)), scores: scores}
	for i, id := range ids {
		at, found := g.place(id)
		if !found {
			return fmt.Errorf("%w: slice %s holds turn %s, which is not there", store.ErrDamaged, r.Provenance.SliceID, id)
		}
		h.members[i] = at
	}
	return nil
}

// Sign seals a document that is no bundle: an in-toto statement that names its digest, in an envelope of the identity. The ledger knows the key then, and the history is bound to it, as with the statements of
// bundles. The statement is made for the origin that signs. Without an identity it is identity.ErrNone.
func (k Atlas) Sign(ctx context.Context, tenant dag.Tenant, statement func(origin string) []byte) ([]byte, error) {
	origin, signer, err := k.signer(ctx, tenant)
	if err != nil {
		return nil, err
	}
	return attest.Seal(statement(origin), signer)
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
