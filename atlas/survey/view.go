package survey

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/graphkernel/graphkernel/atlas"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/turnstile"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// A made is a value that is computed once, at the first request. Callers that ask meanwhile wait for it, as long
// as their contexts last. If the computing caller fails, or its context ends, the next caller computes it again.
type made[T any] struct {
	making turnstile.Turnstile // a lock of capacity 1; guards the fields below
	done   bool
	value  T
}

func newMade[T any]() *made[T] { return &made[T]{making: make(turnstile.Turnstile, 1)} }

func (m *made[T]) get(ctx context.Context, compute func() (T, error)) (value T, err error) {
	err = m.making.Pass(ctx, func() error {
		if !m.done {
			v, err := compute()
			if err != nil {
				return err
			}
			m.value, m.done = v, true
		}
		value = m.value
		return nil
	})
	return value, err
}

// keptPairs is the number of pairs in a ranking, large enough that some remain when sets are removed.
const keptPairs = 2000

// keptNames bounds the names of facts whose communities are cached.
const keptNames = 100_000

// Snapshot counts the graph.
func (v *View) Snapshot(ctx context.Context) (atlas.Snapshot, error) {
	return v.turns.snapshot.get(ctx, func() (atlas.Snapshot, error) { return v.Graph.Snapshot(v.AsOf), nil })
}

// Communities divides the graph into communities.
func (v *View) Communities(ctx context.Context) (atlas.Communities, error) {
	return v.turns.parted.get(ctx, func() (atlas.Communities, error) { return v.Graph.Communities(ctx) })
}

// A Use says how a turn was used: the number of slices and contexts that contained it, and the sum of its scores there, in billionths.
type Use struct {
	Slices, Contexts int32
	Weight           uint64
}

// An Influence says how each turn was used, and where it is in the graph, by the turn's number.
type Influence struct {
	Uses           []Use
	Ranks, Between []uint64 // as atlas.Graph returns them
	Sampled        bool     // Between is from a sample
	Cuts           atlas.Cuts
}

// A central is the part of an Influence that follows from the graph alone.
type central struct {
	ranks, between []uint64
	sampled        bool
	cuts           atlas.Cuts
}

// Influence returns how each turn was used, and where it is in the graph.
func (v *View) Influence(ctx context.Context) (*Influence, error) {
	c, err := v.turns.central.get(ctx, func() (c *central, err error) {
		c = &central{}
		if c.ranks, err = v.Graph.PageRank(ctx); err != nil {
			return nil, err
		}
		if c.between, c.sampled, err = v.Graph.Betweenness(ctx, runtime.GOMAXPROCS(0)); err != nil {
			return nil, err
		}
		c.cuts = v.Graph.Cuts()
		return c, nil
	})
	if err != nil {
		return nil, err
	}
	uses, err := v.uses.get(ctx, func() ([]Use, error) { return v.count(), nil })
	if err != nil {
		return nil, err
	}
	return &Influence{Uses: uses, Ranks: c.ranks, Between: c.between, Sampled: c.sampled, Cuts: c.cuts}, nil
}

// count counts how each turn was used.
func (v *View) count() []Use {
	uses := make([]Use, len(v.Graph.Turns))
	for i := range v.Handed {
		h := &v.Handed[i]
		for j, n := range v.Sets[i].Members {
			u := &uses[n]
			if h.Context {
				u.Contexts++
			} else {
				u.Slices++
			}
			if score := WholeScore; h.scores == nil {
				u.Weight += uint64(score)
			} else {
				u.Weight += uint64(h.scores[j])
			}
		}
	}
	return uses
}

// Overlaps returns the pairs of Sets that share most, up to most, as atlas.Overlaps does. It updates an earlier ranking where that is possible.
func (v *View) Overlaps(ctx context.Context, most int) (pairs []atlas.Pair, sampled bool, err error) {
	r, err := v.ranking.get(ctx, func() (*atlas.Ranking, error) { return v.rank(ctx) })
	if err != nil {
		return nil, false, err
	}
	if pairs, all := r.First(max(0, most)); all {
		return pairs, r.Sampled, nil
	}
	return atlas.Overlaps(ctx, v.Sets, most, runtime.GOMAXPROCS(0))
}

func (v *View) rank(ctx context.Context) (r *atlas.Ranking, err error) {
	names := make([]uint64, len(v.Handed))
	for i := range v.Handed {
		names[i] = v.Handed[i].Number
	}
	v.of.mu.Lock()
	before := v.of.ranking
	v.of.mu.Unlock()
	if before != nil {
		if r, err = before.On(ctx, names, v.Sets); err != nil {
			return nil, err
		}
	}
	if r == nil {
		if r, err = atlas.Rank(ctx, names, v.Sets, keptPairs, runtime.GOMAXPROCS(0)); err != nil {
			return nil, err
		}
	}
	v.of.mu.Lock()
	v.of.ranking = r
	v.of.mu.Unlock()
	return r, nil
}

// FactCommunities are communities of the names of believed facts.
type FactCommunities struct {
	atlas.Communities
	Names   []string // ascending, by number
	Degrees []int    // the number of facts of each name
}

// FactCommunities returns the communities of the names of the facts that are believed as
// of the view's number. Up to keptNames names, they are cached until something is erased.
func (v *View) FactCommunities(ctx context.Context) (*FactCommunities, error) {
	v.of.mu.Lock()
	facts := v.facts
	v.of.mu.Unlock()
	c, err := facts.get(ctx, func() (*FactCommunities, error) { return v.partFacts(ctx) })
	if err != nil || len(c.Names) <= keptNames {
		return c, err
	}
	v.of.mu.Lock()
	defer v.of.mu.Unlock()
	if v.facts == facts {
		v.facts = newMade[*FactCommunities]()
	}
	return c, nil
}

// factPage is the number of acts that are read at once.
const factPage = 1000

func (v *View) partFacts(ctx context.Context) (*FactCommunities, error) {
	aliases, err := v.of.epoch.Aliases(ctx, v.tenant, v.AsOf)
	if err != nil {
		return nil, err
	}
	var facts [][2]string
	for after := dag.Seq(0); after < v.AsOf; {
		list, err := v.of.epoch.Acts(ctx, v.tenant, after, factPage)
		if err != nil {
			return nil, err
		}
		for i := range list {
			if f, ok := list[i].Version(); ok && f.Seen(v.AsOf) {
				facts = append(facts, [2]string{aliases.Resolve(f.Subject), aliases.Resolve(f.Object)})
			}
		}
		if len(list) < factPage {
			break
		}
		after = list[len(list)-1].Seq
	}
	c := &FactCommunities{}
	for _, f := range facts {
		c.Names = append(c.Names, f[0], f[1])
	}
	slices.Sort(c.Names)
	c.Names = slices.Clip(slices.Compact(c.Names))
	c.Degrees = make([]int, len(c.Names))
	edges := make([][2]int32, len(facts))
	for i, f := range facts {
		for end, name := range f {
			n, _ := slices.BinarySearch(c.Names, name)
			edges[i][end] = int32(n)
			c.Degrees[n]++
		}
	}
	c.Communities, err = atlas.Parted(ctx, len(c.Names), edges)
	return c, err
}

// authors records who wrote each turn.
type authors struct {
	of      []int32 // for the first of gathered.turns, an index of names; -1: unknown
	names   []string
	turns   []int // the number of turns of each name; a name without turns is ""
	numbers map[string]int32
}

func (a *authors) add(name string) {
	if name == "" {
		a.of = append(a.of, -1)
		return
	}
	n, found := a.numbers[name]
	if !found {
		if a.numbers == nil {
			a.numbers = map[string]int32{}
		}
		n = int32(len(a.names))
		a.numbers[name], a.names, a.turns = n, append(a.names, name), append(a.turns, 0)
	}
	a.turns[n]++
	a.of = append(a.of, n)
}

// forget removes the author of a turn, and a name that has no more turns.
func (a *authors) forget(at int32) {
	if int(at) >= len(a.of) || a.of[at] < 0 {
		return
	}
	n := a.of[at]
	a.of[at] = -1
	if a.turns[n]--; a.turns[n] == 0 {
		delete(a.numbers, a.names[n])
		a.names[n] = ""
	}
}

// Authors are the authors of turns, with the number of turns of each.
type Authors struct {
	All    []atlas.Count
	Growth [][]atlas.Count // at each of atlas.Tenths
}

// Authors counts the turns of each author. A turn without its text has no author.
// The first call reads all turns with their texts; later calls continue from there.
func (v *View) Authors(ctx context.Context) (a Authors, err error) {
	g := v.of
	if err := g.reading.Pass(ctx, func() error { return g.gatherAuthors(ctx, v.tenant) }); err != nil {
		return a, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	known, turns, i := &g.authors, map[string]int{}, 0
	for _, upto := range atlas.Tenths(v.AsOf) {
		for ; i < len(known.of) && g.turns[i].Seq <= upto; i++ {
			if n := known.of[i]; n >= 0 {
				turns[known.names[n]]++
			}
		}
		a.Growth = append(a.Growth, atlas.Counted(turns))
	}
	a.All = atlas.Counted(turns)
	return a, nil
}

// gatherAuthors reads the authors of the gathered turns, from where it ended before. It is called inside g.reading.
func (g *gathered) gatherAuthors(ctx context.Context, tenant dag.Tenant) error {
	for {
		g.mu.Lock()
		start := len(g.authors.of)
		g.mu.Unlock()
		if start == len(g.turns) {
			return nil
		}
		after := dag.Seq(0)
		if start > 0 {
			after = g.turns[start-1].Seq
		}
		names := make([]string, 0, len(g.turns)-start)
		err := g.epoch.Scan(ctx, tenant, after, func(r *store.Record) error {
			if r.Seq > g.head {
				return errEnough
			}
			name := ""
			if r.Body != nil {
				body, err := slice.ParseBody(r.Body)
				if err != nil {
					return fmt.Errorf("turn %s: %w: %w", r.Turn.ID, store.ErrDamaged, err)
				}
				name = body.Author
			}
			names = append(names, name)
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return err
		}
		if len(names) != len(g.turns)-start {
			return fmt.Errorf("%w: after number %d there were %d turns before, and there are %d now", store.ErrDamaged, after, len(g.turns)-start, len(names))
		}
		g.mu.Lock()
		if len(g.authors.of) == start { // otherwise an erasure with an unknown outcome has dropped the authors
			for _, name := range names {
				g.authors.add(name)
			}
		}
		g.mu.Unlock()
		if err := g.readErasures(ctx, tenant); err != nil { // for turns that were read before they were erased
			g.mu.Lock()
			g.authors = authors{}
			g.mu.Unlock()
			return err
		}
	}
}

// readErasures removes the names of everything that was erased since its last call, also by other processes. It is called inside g.reading.
func (g *gathered) readErasures(ctx context.Context, tenant dag.Tenant) error {
	const page = 500
	for {
		list, err := g.epoch.Erasures(ctx, tenant, g.erased, page)
		if err != nil {
			return err
		}
		g.mu.Lock()
		for i := range list {
			g.forget(list[i].Turn)
			g.erased = list[i].Seq
		}
		g.mu.Unlock()
		if len(list) < page {
			return nil
		}
	}
}

// forget removes the author of a turn, and all names of facts. The caller holds mu.
func (g *gathered) forget(turn dag.TurnID) {
	if at, found := g.place(turn); found {
		g.authors.forget(at)
	}
	for _, v := range g.views {
		v.facts = newMade[*FactCommunities]()
	}
}

// Forget removes the names of a turn that this process erased. A failed erasure may still have been made, so all authors will be read again.
func (a *Kept) Forget(tenant dag.Tenant, turn dag.TurnID, failed bool) {
	a.mu.Lock()
	g := a.kept[tenant]
	a.mu.Unlock()
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.forget(turn); failed {
		g.authors = authors{}
	}
}

// Drop removes everything that is cached of a tenant.
func (a *Kept) Drop(tenant dag.Tenant) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.kept, tenant)
	a.used = slices.DeleteFunc(a.used, func(t dag.Tenant) bool { return t == tenant })
}
