package bm25

import (
	"math/bits"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// Params are those of BM25, and of the window.
type Params struct {
	K1, B dag.PPM // K1 up to 10
	Reach int     // neighbours on either side that count; at most MaxReach
}

// Scores are those of the turns that have any of some terms, in 2^-16.
type Scores struct {
	Turns []int32 // those with a score above 0, ascending
	of    []int64 // by turn
	most  int64
}

// Of returns the score of a turn, 0 if it has none of the terms.
func (s *Scores) Of(turn int32) int64 {
	if int(turn) < len(s.of) {
		return s.of[turn]
	}
	return 0
}

// Most returns the greatest score.
func (s *Scores) Most() int64 { return s.most }

// unit is what a term counts that is in a turn itself. A neighbour at distance k counts 1/2 or 3/8 of 2^-(k-1) of it.
const unit = 8 << MaxReach

// before and after are what counts of a neighbour k turns before and after.
func before(k int) int64 { return unit >> k }
func after(k int) int64  { return unit * 3 / 4 >> k }

// Score scores the turns by terms, each of which counts once.
func (v View) Score(terms []string, p Params) *Scores {
	s := &Scores{of: make([]int64, v.cut)}
	w := newWindow(v, p.Reach)
	all := v.counted()
	length := v.windowed(all, p.Reach)
	for _, term := range distinct(terms) {
		list := v.having(term)
		if len(list) == 0 {
			continue
		}
		weight := idf(all.turns, int64(len(list)))
		for _, hit := range w.spread(list) {
			if s.of[hit.turn] == 0 {
				s.Turns = append(s.Turns, hit.turn)
			}
			s.of[hit.turn] += saturated(weight, hit.count, w.length(hit.turn), length, all.turns, p)
		}
		w.reset()
	}
	slices.Sort(s.Turns)
	for _, t := range s.Turns {
		s.most = max(s.most, s.of[t])
	}
	return s
}

// ScoreConversations scores conversations as if each were one text, by their place.
func (v View) ScoreConversations(terms []string, p Params) (scores []int64, most int64) {
	x := v.x
	scores = make([]int64, len(x.conversations))
	lengths := make([]int64, len(x.conversations))
	begun, total := int64(0), int64(0)
	for i := range x.conversations {
		for _, n := range x.conversations[i].turns {
			if n >= v.cut {
				break
			}
			lengths[i] += int64(x.turns[n].length)
		}
		if lengths[i] > 0 {
			begun++
			total += lengths[i]
		}
	}
	for _, term := range distinct(terms) {
		counts := map[int32]int64{}
		var in []int32
		for _, hit := range v.having(term) {
			c := x.turns[hit.turn].conversation
			if counts[c] == 0 {
				in = append(in, c)
			}
			counts[c] += int64(hit.count)
		}
		if len(in) == 0 {
			continue
		}
		weight := idf(begun, int64(len(in)))
		for _, c := range in {
			scores[c] += saturated(weight, counts[c]*unit, lengths[c]*unit, total*unit, begun, p)
		}
	}
	for _, s := range scores {
		most = max(most, s)
	}
	return scores, most
}

// idf is ln(1 + (n - with + 1/2)/(with + 1/2)) in 2^-16.
func idf(n, with int64) int64 { return ln(uint64(2*n+2), uint64(2*with+1)) }

// saturated is weight · tf · (k1 + 1) / (tf + k1 · (1 - b + b · length/average)), with the frequency and the lengths in
// units; the average is total over turns.
func saturated(weight, count, length, total, turns int64, p Params) int64 {
	const one = int64(dag.One)
	k1, b := int64(p.K1), int64(p.B)
	relative := one // length over the average, in ppm
	if total > 0 {
		high, low := bits.Mul64(uint64(length), uint64(turns)*uint64(one))
		quotient, _ := bits.Div64(min(high, uint64(total)-1), low, uint64(total))
		relative = int64(min(quotient, uint64(1000*one)))
	}
	norm := k1 * (one - b + b*relative/one) / one // in ppm
	return weight * count / unit * (k1 + one) / (count*one/unit + norm)
}

func distinct(terms []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(terms)))
}
