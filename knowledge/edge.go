package knowledge

import (
	"cmp"
	"context"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// An Edge is a version as it is found from one of its ends.
type Edge struct {
	Version
	Incoming bool    // it was found from its object, and leads to its subject
	Written  Written // how they were spelled; one of more than MaxWritten bytes is left out
}

// Direction is Outgoing if the edge leads from its subject to its object, and else Incoming.
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

// Compare is the order of the edges of a name.
func (e *Edge) Compare(o *Edge) int { return compareEdges(e, o) }

// compareEdges is the order of the edges of a name: by confidence, the highest first, then by
// statement, an outgoing one first, then by age. No two edges of a name are equal.
func compareEdges(a, b *Edge) int {
	incoming := func(e *Edge) int {
		if e.Incoming {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), compareIDs(&a.ID, &b.ID), cmp.Compare(incoming(a), incoming(b)), cmp.Compare(a.Since, b.Since))
}

// A Mark is a place in the order of the edges of one name in one direction: after the edge
// that it was made of. The zero Mark is before all.
type Mark struct {
	Confidence dag.PPM
	ID         ID
	Since      dag.Seq // 0: the zero Mark
}

// Mark returns the place after an edge.
func (e *Edge) Mark() Mark { return Mark{e.Confidence, e.ID, e.Since} }

// Before reports whether an edge follows the mark.
func (m Mark) Before(e *Edge) bool {
	if m.Since == 0 {
		return true
	}
	return cmp.Or(cmp.Compare(m.Confidence, e.Confidence), compareIDs(&e.ID, &m.ID), cmp.Compare(e.Since, m.Since)) > 0
}

// An Ask is a question for some of a name's edges.
type Ask struct {
	Name     string
	Incoming bool
	After    Mark
	Limit    int // above 0
}

// A Run is edges of one name in one direction that are together in their order.
type Run struct {
	Edges []Edge
	Whole bool // none follow
}

// Of reports whether a version is an edge of the name that is asked for, in the direction.
func (a *Ask) Of(v *Version) bool {
	if a.Incoming {
		return v.Object == a.Name
	}
	return v.Subject == a.Name
}

// Runs returns lists as runs. A run is whole if it has fewer edges than its question's Limit.
func Runs(asks []Ask, lists [][]Edge) []Run {
	runs := make([]Run, len(asks))
	for i := range asks {
		runs[i] = Run{lists[i], len(lists[i]) < asks[i].Limit}
	}
	return runs
}

// A Graph gives the edges of names as they were asserted, without any alias.
type Graph interface {
	// Edges answers questions, each with the first edges after After in their order, whether
	// they ended or not: as many as are at hand, at least one unless there is none, at most
	// Limit. No version is left out that is numbered up to the head that the caller has seen.
	// What comes is not changed by who asked.
	Edges(ctx context.Context, asks []Ask) ([]Run, error)
}

// A Part of a graph has some of its edges.
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

// A Keeper is a Graph that has some edges at hand.
type Keeper interface {
	Graph

	// Kept answers as Edges does, without asking anybody, or gives false. It is called for
	// one name after the other, where Edges would be asked for many at once that may not all
	// be needed.
	Kept(a *Ask) (Run, bool)
}
