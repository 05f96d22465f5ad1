package bm25

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// Params are the parameters of BM25.
type Params struct {
	K1, B dag.PPM // K1 is at most 10
	Reach int     // number of neighbours on either side that count, up to MaxReach; ignored for conversations

	// People says that only turns of persons have neighbours, and only turns of persons are neighbours. Other turns between them still count for the reach.
	People bool
}

// Scores are the scores of the turns or conversations with any of some terms, in units of 2^-16.
type Scores struct {
	Places []int32 // of turns, or of conversations; ascending
	Of     []int64 // parallel to Places
	Having []int64 // of turns, parallel to Places: the sum of the weights of the terms in the turn and its neighbours
	Statistics

	dense []int64 // by place; nil if few places have a score
}

// sparse is the number of places for each place with a score from which on At searches the sorted list instead of an array.
const sparse = 8

// Statistics are the numbers, in addition to the terms of each turn or conversation, on which scores depend.
type Statistics struct {
	Turns  int64   // number of turns or conversations that count; below 2^40
	Length int64   // total length: in terms, or in 2^-11 of a term if neighbours count
	With   []int64 // by distinct term, ascending: how many turns or conversations have it
	Most   int64   // the greatest score, in units of 2^-16
}

// Check refuses statistics that no index can have.
func (s *Statistics) Check() error {
	for i, n := range s.With {
		if n > s.Turns {
			return fmt.Errorf("%d turns have term %d, at most %d", n, i, s.Turns)
		}
	}
	return nil
}

// Mass returns the sum of the weights of all terms, including those that no turn has.
func (s *Statistics) Mass() (mass int64) {
	for _, with := range s.With {
		mass += idf(s.Turns, with)
	}
	return mass
}

// Highest returns an upper bound of the score of a turn, however often it has the terms.
func (s *Statistics) Highest(k1 dag.PPM) (score int64) {
	for _, with := range s.With {
		score += idf(s.Turns, with) * int64(k1+dag.One) / int64(dag.One)
	}
	return score
}

// At returns the score of a place; 0 if it has none.
func (s *Scores) At(place int32) int64 {
	if s.dense != nil {
		return s.dense[place]
	}
	if i, ok := slices.BinarySearch(s.Places, place); ok {
		return s.Of[i]
	}
	return 0
}

// HavingAt returns the sum of the weights of the terms of a place; 0 if it has none.
func (s *Scores) HavingAt(place int32) int64 {
	if i, ok := slices.BinarySearch(s.Places, place); ok {
		return s.Having[i]
	}
	return 0
}

// A Need says which turns are wanted. A turn's rank is computed from its score and the greatest score.
type Need struct {
	Best int                                       // number of turns wanted, by the highest ranks; 0: all turns with any of the terms
	Rank func(turn int32, score, most int64) int64 // the rank of a turn, which must not fall as the score grows; -1: the turn is not wanted at all
	Most func(score, most int64) int64             // an upper bound of the rank of any turn with a score, which must not fall as the score grows
	Also []int32                                   // turns that are wanted regardless of rank
}

// A list contains the postings of a term in a view, and the weight of the term.
type list struct {
	postings []posting
	weight   int64
	most     int64 // upper bound of a turn's score by the term
	at       int   // index in postings where the last search ended, see seek
}

// lists returns the lists of the distinct terms that occur in the view, and the given statistics or else the view's own, of which Most
// is not yet set.
func (v View) lists(terms []string, p Params, given *Statistics) (all []list, of *Statistics) {
	if of = given; of == nil {
		of = &Statistics{Turns: v.counted().turns, Length: v.windowed(p), With: make([]int64, len(terms))}
	}
	for i, term := range terms {
		had, r := v.having(term)
		if given == nil {
			of.With[i] = int64(len(had))
		}
		if len(had) > 0 {
			weight := idf(of.Turns, of.With[i])
			all = append(all, list{postings: had, weight: weight, most: saturatedMost(weight, r.widest(p.Reach), p)})
		}
	}
	return all, of
}

// Score scores the turns by terms, each of which counts once. It may return more turns than needed.
// If given is not nil, it is used instead of the view's own statistics, and all turns are scored.
func (v View) Score(terms []string, p Params, need Need, given *Statistics) *Scores {
	terms = distinct(terms)
	lists, st := v.lists(terms, p, given)
	if len(lists) == 0 {
		return &Scores{Statistics: *st}
	}
	s := v.scoring(p, st)
	defer s.end()
	if need.Best > 0 && given == nil && len(lists) <= mostLists {
		return s.best(lists, &need)
	}
	for i := range lists {
		s.everywhere(&lists[i])
	}
	r := s.all()
	if given != nil {
		r.Most = given.Most
	}
	return r
}

// idf returns ln(1 + (n - with + 1/2)/(with + 1/2)) in units of 2^-16.
func idf(n, with int64) int64 { return ln(uint64(2*n+2), uint64(2*with+1)) }

// saturatedMost returns an upper bound of saturated for all lengths and for all frequencies up to count, in units.
func saturatedMost(weight, count int64, p Params) int64 {
	const one = int64(dag.One)
	least := max(int64(p.K1)*(one-int64(p.B))/one-2, 0)
	return (weight*count/unit+1)*(int64(p.K1)+one)/(count*one/unit+least) + 1
}

// norm returns k1 · (1 - b + b · length/average) in ppm, with lengths in units; the average is total over turns.
func norm(length, total, turns int64, p Params) int64 {
	const one = int64(dag.One)
	relative := one // the length over the average, in ppm
	if total > 0 {
		high, low := bits.Mul64(uint64(length), uint64(turns)*uint64(one))
		quotient, _ := bits.Div64(min(high, uint64(total)-1), low, uint64(total))
		relative = int64(min(quotient, uint64(1000*one)))
	}
	return int64(p.K1) * (one - int64(p.B) + int64(p.B)*relative/one) / one
}

// saturated returns weight · tf · (k1 + 1) / (tf + norm), with the frequency count in units.
func saturated(weight, count, norm int64, p Params) int64 {
	const one = int64(dag.One)
	return weight * count / unit * (int64(p.K1) + one) / (count*one/unit + norm)
}

func distinct(terms []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(terms)))
}
