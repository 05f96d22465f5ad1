package survey

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/graphkernel/graphkernel/atlas"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/turnstile"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

// mostHanded bounds the records that an atlas looks at, the newest ones: it has to cut their slices of turns again. Tests set a smaller value.
var mostHanded = uint64(10_000)

// Limits of the cached atlases.
const (
	keptAtlases = 4         // tenants
	keptViews   = 3         // views of a tenant, with their computed values
	keptTurns   = 1_000_000 // turns of all views of a tenant, if it has more than one view
)

// A Handed is a slice of turns or a context, as an atlas sees it: without anybody's name or words.
type Handed struct {
	Number  uint64 // of its record
	Slice   slice.SliceID
	Anchor  dag.TurnID
	AsOf    dag.Seq
	Context bool

	members []int32  // indexes of gathered.turns, by ascending id of the turn
	scores  []uint32 // of each member; nil: WholeScore
}

// WholeScore is the score of a turn that counts as one, in billionths. Each
// turn of a context has it; a turn of a slice has the score of its admission.
const WholeScore = uint32(policy.MaxScore)

// A View is the graph as of a number, with the slices and contexts that were handed out by then. A
// View caches its computed values. It is safe for use by many goroutines, and must not be changed.
type View struct {
	Graph  *atlas.Graph
	AsOf   dag.Seq
	Issued uint64 // the number of the newest record that was looked at
	Handed []Handed
	Sets   []atlas.Set // the members of each Handed, as numbers of the graph
	Older  uint64      // records that were not looked at: all up to Issued except the newest mostHanded

	tenant  dag.Tenant
	of      *gathered
	turns   *drawnGraph
	uses    *made[[]Use]
	ranking *made[*atlas.Ranking]
	facts   *made[*FactCommunities] // guarded by of.mu: an erasure replaces it
}

// A drawnGraph is a graph with the values that depend on it alone. Views as of one number share it.
type drawnGraph struct {
	graph    *atlas.Graph
	numbers  []int32 // from indexes of gathered.turns to numbers of the graph
	snapshot *made[atlas.Snapshot]
	central  *made[*central]
	parted   *made[atlas.Communities]
}

// gathered contains the turns and records that were read of a tenant. Stored turns and records never change, so it need not read them again.
type gathered struct {
	epoch   Epoch
	reading turnstile.Turnstile // admits one goroutine, which asks the store for new turns and records
	head    dag.Seq             // guarded by reading, as are the next two
	before  uint64              // records up to this number are not in handed
	number  uint64              // records up to this number were read
	handed  []Handed            // by ascending number; guarded by reading

	mu      sync.Mutex   // guards everything below, which changes only inside reading, except when something is erased
	turns   []atlas.Turn // by ascending number
	byID    []int32      // indexes of turns, by ascending id
	erased  dag.Seq      // erasures up to this number are known
	authors authors
	views   []*View        // the most recently used view is the last
	ranking *atlas.Ranking // the ranking made last
}

// view returns the graph as of a number and up to a record, and caches it. It is called inside g.reading.
func (g *gathered) view(ctx context.Context, tenant dag.Tenant, asOf dag.Seq, upto uint64) (*View, error) {
	if err := g.gather(ctx, tenant); err != nil {
		return nil, err
	}
	asOf, err := g.epoch.UpTo(ctx, tenant, asOf, g.head)
	if err != nil {
		return nil, err
	}
	if upto > g.number {
		return nil, fmt.Errorf("record %d of issued slices: %w", upto, store.ErrNotFound)
	}
	if upto == 0 {
		upto = g.number
	}
	if v := g.known(asOf, upto); v != nil {
		return v, nil
	}
	v := &View{
		AsOf: asOf, Issued: upto, Older: upto - min(upto, mostHanded), tenant: tenant, of: g,
		uses: newMade[[]Use](), ranking: newMade[*atlas.Ranking](), facts: newMade[*FactCommunities](),
	}
	handed := g.handed
	if v.Older < g.before { // the view begins before the cached records
		err := g.read(ctx, tenant, v.Older, min(g.before, v.Issued), func(early []Handed, _ uint64) { handed = slices.Concat(early, handed) })
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

// known returns a cached view, or nil.
func (g *gathered) known(asOf dag.Seq, upto uint64) *View {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.IndexFunc(g.views, func(v *View) bool { return v.AsOf == asOf && v.Issued == upto })
	if at < 0 {
		return nil
	}
	v := g.views[at]
	g.views = append(slices.Delete(g.views, at, at+1), v)
	return v
}

// keep caches a view, and drops the least recently used views.
func (g *gathered) keep(v *View) {
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

// drawn returns the graph as of a number, that of a cached view if there is one.
func (g *gathered) drawn(asOf dag.Seq) *drawnGraph {
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
func (g *gathered) upTo(asOf dag.Seq) int {
	n, _ := slices.BinarySearchFunc(g.turns, asOf+1, func(t atlas.Turn, seq dag.Seq) int { return cmp.Compare(t.Seq, seq) })
	return n
}

// place returns the index of a turn in g.turns. The caller holds mu, or reading.
func (g *gathered) place(id dag.TurnID) (int32, bool) {
	at, found := slices.BinarySearchFunc(g.byID, id, func(at int32, id dag.TurnID) int { return g.turns[at].ID.Compare(id) })
	if !found {
		return 0, false
	}
	return g.byID[at], true
}

// gather reads everything new: the number of the newest record, then the turns, then the records. So every turn that a record contains is there.
func (g *gathered) gather(ctx context.Context, tenant dag.Tenant) error {
	last, err := g.epoch.Record().Last(ctx, tenant)
	if err != nil {
		return err
	}
	head, err := g.epoch.Head(ctx, tenant)
	if err != nil {
		return err
	}
	if head > g.head {
		if err := g.gatherTurns(ctx, tenant, head); err != nil {
			return err
		}
	}
	if last > g.number+mostHanded { // no cached record is among the newest mostHanded
		g.before, g.number, g.handed = last-mostHanded, last-mostHanded, nil
	}
	err = g.read(ctx, tenant, g.number, last, func(more []Handed, upto uint64) { g.handed, g.number = append(g.handed, more...), upto })
	if err != nil {
		return err
	}
	if keep := last - min(last, mostHanded); keep > g.before+mostHanded { // drop older records now and then
		n := slices.IndexFunc(g.handed, func(h Handed) bool { return h.Number > keep })
		g.before, g.handed = keep, slices.Clone(g.handed[max(n, 0):])
	}
	return nil
}

// errEnough ends a scan that has read enough.
var errEnough = errors.New("enough")

// gatherTurns reads the turns up to a head, and all new erasures.
func (g *gathered) gatherTurns(ctx context.Context, tenant dag.Tenant, head dag.Seq) error {
	var more []atlas.Turn
	err := g.epoch.Scan(ctx, tenant, g.head, func(r *store.Record) error {
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
	if g.head == 0 { // nothing that was erased before is cached
		g.erased = head
	}
	g.add(more)
	g.mu.Unlock()
	g.head = head
	return g.readErasures(ctx, tenant)
}

// add adds turns. The caller holds mu.
func (g *gathered) add(more []atlas.Turn) {
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

// read reads the slices of turns and the contexts among the records above a number and up
// to another. It calls found with each page, and with the number up to which it has read.
func (g *gathered) read(ctx context.Context, tenant dag.Tenant, after, upto uint64, found func(list []Handed, upto uint64)) error {
	for after < upto {
		page, err := g.epoch.Record().After(ctx, tenant, after, int(min(500, upto-after)))
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return fmt.Errorf("%w: there are %d records of issued bundles, but none was found after %d", store.ErrDamaged, upto, after)
		}
		list := make([]Handed, len(page))
		not, err := g.epoch.Record().Undelivered(ctx, tenant)
		if err != nil {
			return err
		}
		members := func(i int) error {
			if not[page[i].Bundle] != 0 {
				return nil
			}
			return g.members(ctx, tenant, &page[i], &list[i])
		}
		if err := g.epoch.Each(ctx, len(page), members); err != nil {
			return err
		}
		after = page[len(page)-1].Number
		found(slices.DeleteFunc(list, func(h Handed) bool { return h.Number == 0 }), after)
	}
	return nil
}

// members sets h to the turns that a record contains. Slices of facts and evidence of a belief contain no turns, and leave h as it is.
func (g *gathered) members(ctx context.Context, tenant dag.Tenant, r *issued.Record, h *Handed) error {
	var ids []dag.TurnID
	var scores []uint32
	switch {
	case r.OfFacts() || r.OfBelief():
		return nil
	case r.OfContext():
		ids = r.Shown.Unpack()
	default:
		s, err := g.epoch.Selected(ctx, tenant, r)
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
			return fmt.Errorf("%w: slice %s contains turn %s, which does not exist", store.ErrDamaged, r.Provenance.SliceID, id)
		}
		h.members[i] = at
	}
	return nil
}

// NewKept returns an empty cache of surveys of an epoch.
func NewKept(e Epoch) *Kept { return &Kept{epoch: e} }

// Kept caches the gathered graphs of a few tenants during one epoch of the store. It is safe for use by many goroutines.
type Kept struct {
	epoch Epoch
	mu    sync.Mutex
	kept  map[dag.Tenant]*gathered
	used  []dag.Tenant // the most recently used tenant is the last
}

func (a *Kept) of(tenant dag.Tenant) *gathered {
	a.mu.Lock()
	defer a.mu.Unlock()
	g := a.kept[tenant]
	if g == nil {
		if a.kept == nil {
			a.kept = map[dag.Tenant]*gathered{}
		}
		g = &gathered{epoch: a.epoch, reading: make(turnstile.Turnstile, 1)}
		a.kept[tenant] = g
	}
	a.used = append(slices.DeleteFunc(a.used, func(t dag.Tenant) bool { return t == tenant }), tenant)
	if len(a.used) > keptAtlases {
		delete(a.kept, a.used[0])
		a.used = a.used[1:]
	}
	return g
}
