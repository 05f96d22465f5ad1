package vector

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// MaxDimensions bounds the components of a vector, so that a dot product fits into 32 bits.
const MaxDimensions = 1 << 16

// Dot returns the dot product of two vectors of the same length.
func Dot(a, b []int8) int64 {
	b = b[:len(a)]
	var x, y int32
	for len(a) >= 4 {
		x += int32(a[0])*int32(b[0]) + int32(a[1])*int32(b[1])
		y += int32(a[2])*int32(b[2]) + int32(a[3])*int32(b[3])
		a, b = a[4:], b[4:]
	}
	for i := range a {
		x += int32(a[i]) * int32(b[i])
	}
	return int64(x) + int64(y)
}

// A Hit is a vector that was found.
type Hit struct {
	Place int // as Add returned it
	ID    dag.TurnID
	Score int64
}

// better orders hits by score, the highest first, and equal scores by id.
func better(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), a.ID.Compare(b.ID))
}

// A Flat searches all vectors. It must not be changed while it is read.
type Flat struct {
	dimensions int
	vectors    []int8 // of all places, one after the other
	turns      []turn
	count      int // number of vectors
}

type turn struct {
	id  dag.TurnID
	seq dag.Seq
	has bool // it has a vector
}

// NewFlat returns an empty index of vectors with a number of components.
func NewFlat(dimensions int) *Flat { return &Flat{dimensions: dimensions} }

// Add adds a turn after all others and returns its place, counted from 0. A turn with a nil vector is never found.
func (f *Flat) Add(id dag.TurnID, seq dag.Seq, vector []int8) (place int, err error) {
	switch n := len(f.turns); {
	case vector != nil && len(vector) != f.dimensions:
		return 0, fmt.Errorf("vector: it has %d components, want %d", len(vector), f.dimensions)
	case n > 0 && seq <= f.turns[n-1].seq:
		return 0, fmt.Errorf("vector: number %d comes after %d, want ascending numbers", seq, f.turns[n-1].seq)
	}
	f.turns = append(f.turns, turn{id, seq, vector != nil})
	if vector == nil {
		vector = make([]int8, f.dimensions)
	} else {
		f.count++
	}
	f.vectors = append(f.vectors, vector...)
	return len(f.turns) - 1, nil
}

// Grow makes room for a number of further turns.
func (f *Flat) Grow(turns int) {
	f.turns, f.vectors = slices.Grow(f.turns, turns), slices.Grow(f.vectors, turns*f.dimensions)
}

// Erase overwrites the vector of a place.
func (f *Flat) Erase(place int) {
	clear(f.At(place))
	if f.turns[place].has {
		f.turns[place].has = false
		f.count--
	}
}

// Len returns the number of places.
func (f *Flat) Len() int { return len(f.turns) }

// Count returns the number of vectors.
func (f *Flat) Count() int { return f.count }

// Has reports whether a place has a vector.
func (f *Flat) Has(place int) bool { return f.turns[place].has }

// At returns the vector of a place, or the zero vector if it has none. It must not be changed.
func (f *Flat) At(place int) []int8 {
	return f.vectors[place*f.dimensions : (place+1)*f.dimensions]
}

// Scan calls fn with the score of each vector of a turn numbered up to asOf, in the order of places.
func (f *Flat) Scan(query []int8, asOf dag.Seq, fn func(place int, score int64)) {
	q := newQuery(query)
	for n := range f.turns {
		if f.turns[n].seq > asOf {
			return
		}
		if f.turns[n].has {
			fn(n, q.dot(f.At(n)))
		}
	}
}

// Search returns the best vectors of turns numbered up to asOf, the best first and equal scores by
// ascending id.
func (f *Flat) Search(query []int8, asOf dag.Seq, limit int) []Hit {
	var hits []Hit
	floor := int64(math.MinInt64)
	f.Scan(query, asOf, func(n int, score int64) {
		if score < floor {
			return
		}
		if hits = append(hits, Hit{n, f.turns[n].id, score}); limit > 0 && len(hits) >= 2*limit+64 {
			slices.SortFunc(hits, better)
			hits, floor = hits[:limit], hits[limit-1].Score
		}
	})
	slices.SortFunc(hits, better)
	return hits[:min(limit, len(hits))]
}
