package bm25

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// Params are those of BM25.
type Params struct {
	K1, B dag.PPM // K1 up to 10
	Reach int     // neighbours on either side that count, up to MaxReach; conversations have none
}

// Scores are those of the turns or conversations that have any of some terms, in 2^-16.
type Scores struct {
	Places []int32 // of turns, or of conversations; ascending
	Of     []int64 // parallel to Places
	Statistics

	dense []int64 // by place; nil if few places have a score
}

// sparse is the number of places for each one with a score from which on scores are looked up in a sorted list.
const sparse = 8

// Statistics are what scores rest on beside the terms of each turn or conversation.
type Statistics struct {
	Turns  int64   // or conversations, that count; below 2^40
	Length int64   // of all of them: in terms, or where neighbours count in 2^-11 of a term
	With   []int64 // by distinct term, ascending: how many have it
	Most   int64   // the greatest score of all, in 2^-16
}

// Check reports statistics that no index has.
func (s *Statistics) Check() error {
	for i, n := range s.With {
		if n > s.Turns {
			return fmt.Errorf("%d have term %d, of %d", n, i, s.Turns)
		}
	}
	return nil
}

// Highest returns what the score of a turn by words cannot reach, however often it has them.
func (s *Statistics) Highest(k1 dag.PPM) (score int64) {
	for _, with := range s.With {
		score += idf(s.Turns, with) * int64(k1+dag.One) / int64(dag.One)
	}
	return score
}

// At returns the score of a place, 0 if it is not among them.
func (s *Scores) At(place int32) int64 {
	if s.dense != nil {
		return s.dense[place]
	}
	if i, ok := slices.BinarySearch(s.Places, place); ok {
		return s.Of[i]
	}
	return 0
}

// A Need says which turns are wanted, by the rank that follows from a turn's score and from the greatest one.
type Need struct {
	Best int                                       // so many turns of the highest ranks; 0: all that have any of the terms
	Rank func(turn int32, score, most int64) int64 // of a turn, which does not fall as the score grows; -1: it is not wanted at all
	Most func(score, most int64) int64             // the highest rank of any turn with a score, which grows with the score
	Also []int32                                   // turns that are wanted whatever their rank
}

// A list is the postings of a term in a view, with what a turn gets for it.
type list struct {
	postings []posting
	weight   int64
	most     int64 // no turn gets more
	at       int   // a place among the postings that is known, see seek
}

// lists returns those of distinct terms that are in the view, and the view's statistics, unless some are given. Most is not known yet.
func (v View) lists(terms []string, p Params, given *Statistics) (all []list, of *Statistics) {
	if of = given; of == nil {
		of = &Statistics{Turns: v.counted().turns, Length: v.windowed(p.Reach), With: make([]int64, len(terms))}
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

// Score scores the turns by terms, each of which counts once. Beside those that it has to return it may return others.
// Statistics that are given are taken in place of the view's own, and then all turns are scored.
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

// idf is ln(1 + (n - with + 1/2)/(with + 1/2)) in 2^-16.
func idf(n, with int64) int64 { return ln(uint64(2*n+2), uint64(2*with+1)) }

// saturatedMost is no less than saturated for any length, and for any frequency up to one in units.
func saturatedMost(weight, count int64, p Params) int64 {
	const one = int64(dag.One)
	least := max(int64(p.K1)*(one-int64(p.B))/one-2, 0)
	return (weight*count/unit+1)*(int64(p.K1)+one)/(count*one/unit+least) + 1
}

// norm is k1 · (1 - b + b · length/average) in ppm, with lengths in units; the average is total over turns.
func norm(length, total, turns int64, p Params) int64 {
	const one = int64(dag.One)
	relative := one // length over the average, in ppm
	if total > 0 {
		high, low := bits.Mul64(uint64(length), uint64(turns)*uint64(one))
		quotient, _ := bits.Div64(min(high, uint64(total)-1), low, uint64(total))
		relative = int64(min(quotient, uint64(1000*one)))
	}
	return int64(p.K1) * (one - int64(p.B) + int64(p.B)*relative/one) / one
}

// saturated is weight · tf · (k1 + 1) / (tf + norm), with the frequency in units.
func saturated(weight, count, norm int64, p Params) int64 {
	const one = int64(dag.One)
	return weight * count / unit * (int64(p.K1) + one) / (count*one/unit + norm)
}

func distinct(terms []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(terms)))
}
