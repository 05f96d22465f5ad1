// Package trajectory owns the position of a turn in its conversation: five coordinates, and the distance between two turns.
//
// Each coordinate is from 0 to 1, in millionths, and all arithmetic is on integers. Coordinates depend only on the given turns, so one more turn
// may change those of the others. As of a number they never change, unless a text is erased.
package trajectory

import (
	"math/bits"

	"github.com/graphkernel/graphkernel/dag"
)

// A Turn has the properties of a turn from which its coordinates are computed.
type Turn struct {
	ID        dag.TurnID
	Parents   []dag.TurnID // the first one that is given before the turn counts; the depth is computed from the deepest
	CreatedAt dag.Time
	Terms     []int32 // distinct numbers of the words of its text, ascending, as retrieval.Index.Terms returns them
	Size      int     // bytes of its text
}

// Coordinates are the position of a turn.
type Coordinates struct {
	Depth       dag.PPM // number of turns above it, as a share of the deepest turn's: 0 without a parent
	Sibling     dag.PPM // its place among the children of its first parent, in the order given: 0 for the first, 1 for the last of several
	Homogeneity dag.PPM // the share of common terms among the terms of the turn and its first parent; 1 without a parent
	Temporal    dag.PPM // its time of creation, from the earliest (0) to the latest (1)
	Complexity  dag.PPM // the logarithm of its size, as a share of the largest turn's
}

// Of returns the coordinates of the turns of a conversation, parallel to them. A turn must come after its parents, as it does in the
// order of sequence numbers; parents that do not come before it are ignored.
func Of(turns []Turn) []Coordinates {
	of := make([]Coordinates, len(turns))
	places := make(map[dag.TurnID]int, len(turns))
	depths, order := make([]int, len(turns)), make([]int, len(turns))
	firsts, children := make([]int, len(turns)), map[int]int{}
	deepest, largest := 0, int64(0)
	for i := range turns {
		t := &turns[i]
		firsts[i] = none
		for _, id := range t.Parents {
			p, ok := places[id]
			if !ok {
				continue
			}
			if depths[i] = max(depths[i], depths[p]+1); firsts[i] == none {
				firsts[i] = p
			}
		}
		order[i] = children[firsts[i]]
		children[firsts[i]]++
		places[t.ID] = i
		deepest, largest = max(deepest, depths[i]), max(largest, logarithm(t.Size))
	}
	earliest, latest := span(turns)
	for i := range turns {
		t, c := &turns[i], &of[i]
		c.Depth = share(int64(depths[i]), int64(deepest))
		c.Sibling = share(int64(order[i]), int64(children[firsts[i]]-1))
		c.Homogeneity = dag.One
		if p := firsts[i]; p != none {
			c.Homogeneity = common(turns[p].Terms, t.Terms)
		}
		c.Temporal = share(int64(t.CreatedAt-earliest), int64(latest-earliest))
		c.Complexity = share(logarithm(t.Size), largest)
	}
	return of
}

// none is the index of the first parent of a turn without parents.
const none = -1

// span returns the times when the earliest and the latest turn were created.
func span(turns []Turn) (earliest, latest dag.Time) {
	for i := range turns {
		if t := turns[i].CreatedAt; i == 0 {
			earliest, latest = t, t
		} else {
			earliest, latest = min(earliest, t), max(latest, t)
		}
	}
	return earliest, latest
}

// share returns n/most; 0 if most is 0.
func share(n, most int64) dag.PPM {
	if most <= 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(n), uint64(dag.One))
	q, _ := bits.Div64(high, low, uint64(most)) // n is at most most, so the quotient has 20 bits
	return dag.PPM(q)
}

// logarithm returns log2(1 + n) in units of 2^-16, linearly interpolated between powers of 2.
func logarithm(n int) int64 {
	x := uint64(max(n, 0)) + 1
	whole := bits.Len64(x) - 1
	return int64(whole)<<16 + int64((x-1<<whole)<<16>>whole)
}

// common returns the share of common numbers among all numbers of two ascending lists; 1 if both are empty.
func common(a, b []int32) dag.PPM {
	both, all := 0, 0
	for len(a) > 0 && len(b) > 0 {
		x, y := a[0], b[0]
		if x <= y {
			a = a[1:]
		}
		if y <= x {
			b = b[1:]
		}
		if all++; x == y {
			both++
		}
	}
	if all += len(a) + len(b); all == 0 {
		return dag.One
	}
	return share(int64(both), int64(all))
}

// Weights are the weights of the coordinates in a distance.
type Weights struct{ Depth, Sibling, Homogeneity, Temporal, Complexity dag.PPM }

// Equal gives every coordinate the same weight.
var Equal = Weights{dag.One, dag.One, dag.One, dag.One, dag.One}

// Distance returns the distance between two turns of one conversation, from 0 to 1: the weighted mean of the differences of their
// coordinates. It is rounded up, so the triangle inequality holds. It is 0 if all weights are 0.
func (w *Weights) Distance(a, b *Coordinates) dag.PPM {
	sum, all := uint64(0), uint64(0)
	for _, c := range [...]struct{ weight, a, b dag.PPM }{
		{w.Depth, a.Depth, b.Depth}, {w.Sibling, a.Sibling, b.Sibling}, {w.Homogeneity, a.Homogeneity, b.Homogeneity},
		{w.Temporal, a.Temporal, b.Temporal}, {w.Complexity, a.Complexity, b.Complexity},
	} {
		sum += uint64(c.weight) * uint64(max(c.a, c.b)-min(c.a, c.b))
		all += uint64(c.weight)
	}
	if all == 0 {
		return 0
	}
	return dag.PPM((sum + all - 1) / all)
}
