package knowledge

import (
	"cmp"
	"context"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// An Edge is a version, seen from one of its ends.
type Edge struct {
	Version
	Incoming bool    // it is seen from its object, and leads to its subject
	Written  Written // how its names were spelled; a spelling of more than MaxWritten bytes is left out
}

// Direction returns Outgoing if the edge leads from its subject to its object, else Incoming.
func (e *Edge) Direction() Direction {
	if e.Incoming {
		return Incoming
	}
	return Outgoing
}

// Other returns the name at the far end, as it was asserted.
func (e *Edge) Other() string {
	if e.Incoming {
		return e.Subject
	}
	return e.Object
}

// Compare orders the edges of a name.
func (e *Edge) Compare(o *Edge) int { return compareEdges(e, o) }

// compareEdges orders the edges of a name: the highest confidence first, then by statement, an
// outgoing edge before an incoming one, then the oldest first. No two edges of a name are equal.
func compareEdges(a, b *Edge) int {
	incoming := func(e *Edge) int {
		if e.Incoming {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), compareIDs(&a.ID, &b.ID), cmp.Compare(incoming(a), incoming(b)), cmp.Compare(a.Since, b.Since))
}

// A Mark is a position in the order of the edges of one name in one direction:
// after the edge whose Mark method returned it. The zero Mark is before all edges.
type Mark struct {
	Confidence dag.PPM
	ID         ID
	Since      dag.Seq // 0: the zero Mark
}

// Mark returns the position after the edge.
func (e *Edge) Mark() Mark { return Mark{e.Confidence, e.ID, e.Since} }

// Before reports whether the mark is before an edge.
func (m Mark) Before(e *Edge) bool {
	if m.Since == 0 {
		return true
	}
	return cmp.Or(cmp.Compare(m.Confidence, e.Confidence), compareIDs(&e.ID, &m.ID), cmp.Compare(e.Since, m.Since)) > 0
}

// An Ask asks for some edges of a name.
type Ask struct {
	Name     string
	Incoming bool
	After    Mark
	Limit    int // above 0
}

// A Run is a list of consecutive edges of one name in one direction.
type Run struct {
	Edges []Edge
	Whole bool // no edges follow
}

// Of reports whether a version is an edge of the ask's name in its direction.
func (a *Ask) Of(v *Version) bool {
	if a.Incoming {
		return v.Object == a.Name
	}
	return v.Subject == a.Name
}

// Runs returns the answers to asks as runs. A run is whole if it has fewer edges than the Limit of its ask.
func Runs(asks []Ask, lists [][]Edge) []Run {
	runs := make([]Run, len(asks))
	for i := range asks {
		runs[i] = Run{lists[i], len(lists[i]) < asks[i].Limit}
	}
	return runs
}

// A Graph returns the edges of names as they were asserted, without resolving aliases.
type Graph interface {
	// Edges returns for each ask the first edges after After, in their order, whether they ended or not. It
	// returns as many as are available: at most Limit, and at least one unless there is none. No version
	// numbered up to the head that the caller has seen is left out. The answer does not depend on the caller.
	Edges(ctx context.Context, asks []Ask) ([]Run, error)
}

// A Part is a graph with some of the edges of another one.
type Part struct {
	Graph
	Has func(*Edge) bool
}

// Edges implements [Graph].
func (g Part) Edges(ctx context.Context, asks []Ask) ([]Run, error) {
	runs, err := g.Graph.Edges(ctx, asks)
	if err != nil {
		return nil, err
	}
	for i := range runs {
		ask := asks[i]
		for {
			run := &runs[i]
			if n := len(run.Edges); n > 0 {
				ask.After = run.Edges[n-1].Mark()
			}
			run.Edges = slices.DeleteFunc(slices.Clone(run.Edges), func(e Edge) bool { return !g.Has(&e) })
			if len(run.Edges) > 0 || run.Whole {
				break
			}
			more, err := g.Graph.Edges(ctx, []Ask{ask})
			if err != nil {
				return nil, err
			}
			runs[i] = more[0]
		}
	}
	return runs, nil
}

// A Keeper is a Graph that has some edges in memory.
type Keeper interface {
	Graph

	// Kept answers like Edges, but from memory alone; it returns false if it cannot. It is called for one
	// name after the other, where one call of Edges would ask for many names that may not all be needed.
	Kept(a *Ask) (Run, bool)
}
