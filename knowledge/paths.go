package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/normalize"
)

// Bounds of a search for paths.
const (
	MaxPaths = 50        // paths of an answer
	maxWays  = 20_000    // beginnings of paths that are extended in one hop
	maxTries = 1_000_000 // pairs of a beginning and an edge that may extend it, in one hop
	maxAsks  = 4096      // asks in one call of the graph
	maxEdges = 128 << 10 // edges that one call of the graph asks for
)

// A way is the beginning of a path.
type way struct {
	name string
	min  dag.PPM
	path []*Edge
}

// Paths returns the q.MaxResults best paths from q.Start, one entity, to another. No entity occurs twice in a path. Paths are ordered by the number
// of hops, the fewest first, then by minimum confidence, the highest first, then by their edges, one after the other, as Edge.Compare orders them.
//
// Cut is CutResults if and only if there are more paths than were asked for: the search always looks for one more. It is CutWork if the search ended
// before it knew that, or before it found the paths that were asked for. A hop whose edges do not all fit into MaxWork is left out as a whole, with
// all later hops. If a hop has more than 20 000 beginnings of paths, or a million edges that may extend them, only the best are extended.
//
// The search first walks back from the goal to learn how far away every entity is, and then
// forward through the entities that are near enough.
func Paths(ctx context.Context, g Graph, aliases *normalize.Table, q Query, to string) (Answer, error) {
	return paths(ctx, g, aliases, q, to, bounds{MaxWork, MaxNewer})
}

func paths(ctx context.Context, g Graph, aliases *normalize.Table, q Query, to string, most bounds) (Answer, error) {
	if err := q.Check(); err != nil {
		return Answer{}, err
	}
	if len(q.Start) != 1 || q.MaxResults > MaxPaths {
		return Answer{}, fmt.Errorf("%w: the query asks for %d paths from %d entities, want 1 to %d paths from 1 entity", ErrQuery, q.MaxResults, len(q.Start), MaxPaths)
	}
	p := &pathfinder{walk: walk{Query: &q, ctx: ctx, g: g, aliases: aliases, most: most}}
	from, to := aliases.Resolve(q.Start[0]), aliases.Resolve(to)
	if from == to {
		return Answer{}, fmt.Errorf("%w: a path from %s to itself", ErrQuery, from)
	}
	far, err := p.distances(to, from)
	if err != nil {
		return Answer{}, err
	}
	if p.spent {
		return p.answer, nil
	}
	ways := []way{{name: from, min: dag.One}}
	complete := false // all requested paths were found, and no earlier path was left out
	for hop := 1; hop <= q.MaxHops && len(ways) > 0 && len(p.answer.Reached) <= q.MaxResults; hop++ {
		complete = len(p.answer.Reached) == q.MaxResults && p.answer.Cut == Whole
		next, err := p.onward(ways, to, far, q.MaxHops-hop)
		if err != nil {
			return Answer{}, err
		}
		ways = ways[:0]
		for _, w := range next {
			if w.name != to {
				ways = append(ways, w)
			} else if len(p.answer.Reached) <= q.MaxResults {
				p.answer.Reached = append(p.answer.Reached, Reached{Entity: to, Hops: hop, MinConfidence: w.min, Path: w.path, From: from})
			}
		}
		if len(ways) > maxWays {
			p.answer.Cut = CutWork
			ways = ways[:maxWays]
		}
	}
	if len(p.answer.Reached) > q.MaxResults {
		p.answer.Reached = p.answer.Reached[:q.MaxResults]
		if complete || p.answer.Cut == Whole {
			p.answer.Cut = CutResults
		}
	}
	return p.answer, nil
}

type pathfinder struct{ walk }

// other returns the entity at the far end of an edge.
func (p *pathfinder) other(e *Edge) string {
	return p.aliases.Resolve(e.Other())
}

// edgesOf returns all edges of entities that the filter admits, in order. If these exceed the work
// limit, it cuts the answer and returns none: their order of arrival depends on how they were asked for.
func (p *pathfinder) edgesOf(names []string, direction Direction) ([][]Edge, error) {
	lists := make([][]Edge, len(names))
	var asks []Ask
	var of []int
	for i, name := range names {
		for _, member := range p.aliases.Members(name) {
			for _, incoming := range [...]bool{false, true} {
				if direction == Both || incoming == (direction == Incoming) {
					asks, of = append(asks, Ask{Name: member, Incoming: incoming}), append(of, i)
				}
			}
		}
	}
	for i := range asks {
		asks[i].Limit = max(maxEdges/maxAsks, min(256, maxEdges/len(asks)))
	}
	for len(asks) > 0 {
		n := 0
		for room := maxEdges; n < min(len(asks), maxAsks) && room >= asks[n].Limit; n++ {
			room -= asks[n].Limit
		}
		got, err := p.g.Edges(p.ctx, asks[:n])
		if err != nil {
			return nil, err
		}
		for i := range got {
			edges, whole := p.sure(got[i])
			for k := range edges {
				admitted, err := p.look(&edges[k])
				if err != nil || p.spent {
					return nil, err
				}
				if admitted {
					lists[of[i]] = append(lists[of[i]], edges[k])
				}
			}
			if a := asks[i]; !whole {
				a.After, a.Limit = edges[len(edges)-1].Mark(), min(4*a.Limit, 4096)
				asks, of = append(asks, a), append(of, of[i])
			}
		}
		asks, of = asks[n:], of[n:]
	}
	for i := range lists {
		slices.SortFunc(lists[i], func(a, b Edge) int { return a.Compare(&b) })
	}
	return lists, nil
}

// distances returns the number of hops from entities to the goal, up to half of MaxHops. An entity without a distance is further away.
func (p *pathfinder) distances(to, from string) (map[string]int, error) {
	back := map[Direction]Direction{Outgoing: Incoming, Incoming: Outgoing, Both: Both}[p.Direction]
	far := map[string]int{to: 0}
	level := []string{to}
	for hop := 1; hop <= (p.MaxHops+1)/2 && len(level) > 0; hop++ {
		lists, err := p.edgesOf(level, back)
		if err != nil || p.spent {
			return nil, err
		}
		level = nil
		for _, list := range lists {
			for i := range list {
				name := p.other(&list[i])
				if _, ok := far[name]; !ok {
					far[name] = hop
					if name != from {
						level = append(level, name)
					}
				}
			}
		}
		slices.Sort(level)
	}
	return far, nil
}

// A try is a way and an edge that may extend it.
type try struct {
	way  *way
	edge *Edge
	name string // where it leads
	min  dag.PPM
}

// onward extends by one hop every way that can reach the goal in the remaining hops. It
// returns the best ways to the goal and the best other ways, one more of each than the limit.
func (p *pathfinder) onward(ways []way, to string, far map[string]int, left int) ([]way, error) {
	index := map[string]int{}
	var names []string
	for i := range ways {
		if _, ok := index[ways[i].name]; !ok {
			index[ways[i].name] = len(names)
			names = append(names, ways[i].name)
		}
	}
	lists, err := p.edgesOf(names, p.Direction)
	if err != nil || p.spent {
		return nil, err
	}
	room := maxTries
	for i := range ways { // the best come first
		if room -= len(lists[index[ways[i].name]]); room < 0 {
			p.answer.Cut = CutWork
			ways = ways[:i]
			break
		}
	}
	half := (p.MaxHops + 1) / 2
	var tries []try
	for i := range ways {
		w := &ways[i]
		list := lists[index[w.name]]
		for k := range list {
			e := &list[k]
			name := p.other(e)
			distance, known := far[name]
			if known && distance > left || !known && left <= half || p.visits(w, name) {
				continue
			}
			tries = append(tries, try{w, e, name, min(w.min, e.Confidence)})
		}
	}
	slices.SortStableFunc(tries, func(a, b try) int {
		return cmp.Or(cmp.Compare(b.min, a.min), slices.CompareFunc(a.way.path, b.way.path, (*Edge).Compare), a.edge.Compare(b.edge))
	})
	// Only the returned ways get a path of their own: paths for all tries would take gigabytes.
	var next []way
	arrived, elsewhere := p.MaxResults+1, maxWays+1
	for i := range tries {
		t := &tries[i]
		count := &elsewhere
		if t.name == to {
			count = &arrived
		}
		if *count == 0 {
			continue
		}
		*count--
		next = append(next, way{t.name, t.min, append(slices.Clip(t.way.path), step(t.edge))})
	}
	return next, nil
}

// visits reports whether a way contains an entity.
func (p *pathfinder) visits(w *way, name string) bool {
	at := w.name
	for i := len(w.path); ; i-- {
		if at == name {
			return true
		}
		if i == 0 {
			return false
		}
		e := *w.path[i-1]
		e.Incoming = !e.Incoming
		at = p.other(&e)
	}
}
