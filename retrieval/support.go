package retrieval

import (
	"math/bits"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval/embed"
	"github.com/graphkernel/graphkernel/retrieval/vector"
)

// A support has what the support of turns is computed from. Support is in ppm: a turn that has all words of the query and its vector has 2.
type support struct {
	floor int64 // the least support of a hit; 0: there is no floor
	mass  int64 // sum of the weights of the query's words and dates
	full  int64 // the dot product of equal vectors
}

// Logarithms to base 2 of the numbers of turns between which the floor rises.
const leastFloored, mostFloored = 10, 16

// floorOf returns the floor of a view. Among few turns little is alike by chance, and who asks may read them all: there is no floor. From 2^leastFloored
// turns on it rises by the same amount with each doubling, up to the policy's.
func floorOf(floor dag.PPM, turns int64) int64 {
	const fraction = 16 // bits
	doublings := int64(bits.Len64(uint64(turns))) - 1
	if doublings < leastFloored {
		return 0
	}
	log := doublings<<fraction + turns<<fraction>>doublings - 1<<fraction // linear between powers of 2
	return int64(floor) * min(log-leastFloored<<fraction, (mostFloored-leastFloored)<<fraction) / ((mostFloored - leastFloored) << fraction)
}

// supportOf returns what supports the hits of the search. Its words and dates must be scored. If no turn has a word or a date of the query, likeness must reach
// half of the policy's floor in any view.
func (s *search) supportOf() support {
	if s.p.Floor == 0 {
		return support{}
	}
	floor := floorOf(s.p.Floor, s.words.Turns)
	if s.words.Most == 0 && s.dates.Most == 0 {
		floor = max(floor, int64(s.p.Floor)/2)
	}
	return support{floor, max(s.words.Mass()+s.dates.Mass(), 1), int64(max(len(s.q.Vector), 1)) * embed.RMS * embed.RMS}
}

// supports reports whether a turn has enough support, given the sum of the weights of its words.
func (s *search) supports(n int32, having int64) bool {
	if s.support.floor == 0 {
		return true
	}
	if len(s.dates.Places) > 0 {
		having += s.dates.HavingAt(n)
	}
	of := int64(dag.One) * having / s.support.mass
	if of < s.support.floor && s.like != nil {
		of += int64(dag.One) * s.like.dot(n) / s.support.full
	}
	return of >= s.support.floor
}

// dot returns the likeness of a turn's vector to the query's if it is above 0; otherwise, and for a turn without a vector, 0.
func (l *likeness) dot(n int32) int64 {
	switch {
	case l.flat != nil:
		return max(0, vector.Dot(l.query, l.flat.At(int(n))))
	case l.of == nil:
		return 0
	default:
		return max(0, l.of[n])
	}
}
