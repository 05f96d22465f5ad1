package bm25

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// Turns that surely are not among the best are passed over. For each block of turns, what the terms in it and near it can give at most is
// added up. The blocks with the highest sums are scored, and show what the best have at least. Of the other blocks those are looked at whose
// sums reach that, and of their turns those are scored to which the terms around them can give as much.
const (
	blockSize  = 2 * MaxReach // turns; a part of 64. What is near a turn is in at most two blocks
	leastFirst = 16           // blocks that are scored first, so that it is known what the best have
)

// best scores the turns that may be among the best, and returns them.
func (s *scoring) best(lists []list, need *Need) []int32 {
	blocks := s.sum(lists)
	defer clear(blocks)
	total := int64(0)
	for i := range lists {
		total += lists[i].most
	}
	for _, n := range need.Also {
		if n < s.v.cut {
			blocks[n/blockSize] = max(blocks[n/blockSize], total)
		}
	}
	for many := max(leastFirst, need.Best/2) + len(need.Also); ; many *= 4 {
		first := highest(blocks, total, many)
		s.choose(blocks, first)
		s.score(lists)
		if s.most = s.greatest(); s.most >= first || first == 1 {
			break // no other turn has more
		}
	}
	least := s.least(need)
	if s.choose(blocks, least) {
		s.narrow(lists, total, least)
		s.score(lists)
		least = s.least(need)
	}
	wanted := slices.DeleteFunc(slices.Clone(s.seen), func(n int32) bool { return s.cells[n].score < least })
	for _, n := range need.Also {
		if n < s.v.cut && s.cells[n].norm != 0 && s.cells[n].score < least {
			wanted = append(wanted, n)
		}
	}
	return wanted
}

// sum returns, for each block, a sum that the score of none of its turns exceeds.
func (s *scoring) sum(lists []list) []int64 {
	blocks := s.blocks[:(s.v.cut+blockSize-1)/blockSize]
	for i := range lists {
		l := &lists[i]
		if s.v.x.apart {
			for _, p := range l.postings {
				blocks[p.turn/blockSize] += l.most
				s.v.around(p.turn, s.p.Reach, func(other int32, _ int) { blocks[other/blockSize] += l.most })
			}
			continue
		}
		s.sumRuns(l, blocks)
	}
	return blocks
}

// sumRuns adds what a term gives at most to the turns of each block, which rests on how often turns in the block and near it have
// the term.
func (s *scoring) sumRuns(l *list, blocks []int64) {
	var gives [8]int64 // by count
	for count := range gives[1:] {
		gives[count+1] = min(l.most, saturatedMost(l.weight, int64(count+1)*unit, s.p))
	}
	gives[len(gives)-1] = l.most
	var r run
	var counts [2]int32 // of the last block but one, and of the last
	last := int32(-1)
	for _, p := range l.postings {
		from, to := s.v.within(&r, p.turn, s.p.Reach)
		for b := from / blockSize; b <= to/blockSize; b++ {
			if b > last {
				counts[0], counts[1] = counts[1], 0
				if b > last+1 {
					counts[0] = 0
				}
				last = b
			}
			count := &counts[1-(last-b)]
			blocks[b] -= gives[*count]
			*count = min(*count+p.count, int32(len(gives))-1)
			blocks[b] += gives[*count]
		}
	}
}

// highest returns a sum of 1 or more that few blocks reach, but so many, if there are so many. No score exceeds total.
func highest(blocks []int64, total int64, many int) int64 {
	var counts [256]int
	shift := max(bits.Len64(uint64(total))-8, 0)
	for _, sum := range blocks {
		counts[min(sum>>shift, 255)]++
	}
	at := len(counts) - 1
	for n := counts[at]; at > 0 && n < many; n += counts[at] {
		at--
	}
	return max(int64(at)<<shift, 1)
}

// choose makes the turns of the blocks live that have some sum, and clears the sums. It reports whether there are any.
func (s *scoring) choose(blocks []int64, least int64) (some bool) {
	least = max(least, 1)
	for b, sum := range blocks {
		if sum >= least {
			s.live[b*blockSize/64] |= (1<<blockSize - 1) << (b * blockSize % 64)
			blocks[b], some = 0, true
		}
	}
	return some
}

// score scores the live turns by all terms. None is live afterwards.
func (s *scoring) score(lists []list) {
	for i := range lists {
		l := &lists[i]
		s.where(l, func(n, count int32, at int) { s.count(n, int64(count)*weights[at]) })
		s.add(l.weight)
	}
	clear(s.live[:s.v.cut/64+1])
}

// narrow drops live turns whose neighbours are too far from the terms: what each occurrence of a term near a turn can give at most is
// added up, which is no less than what all can give together.
func (s *scoring) narrow(lists []list, total, least int64) {
	if total*(2*MaxReach+1) > math.MaxInt32 {
		return // so many terms may add up to more than the bounds can hold
	}
	for i := range lists {
		gives := givenBy(&lists[i], s.p)
		s.where(&lists[i], func(n, count int32, at int) {
			s.bounds[n] += gives[min(count, int32(len(gives)))-1][at]
		})
	}
	for w := range s.live[:s.v.cut/64+1] {
		for rest := s.live[w]; rest != 0; rest &= rest - 1 {
			n := int32(w*64 + bits.TrailingZeros64(rest))
			if int64(s.bounds[n]) < least {
				s.live[w] &^= rest & -rest
			}
			s.bounds[n] = 0
		}
	}
}

// givenBy returns what a posting of a term gives at most to a turn, by its count and by the place in weights of what counts there. The last count
// stands for all above it.
func givenBy(l *list, p Params) (gives [4][len(weights)]int32) {
	for i := range gives {
		for at, weight := range weights {
			gives[i][at] = int32(l.most)
			if i+1 < len(gives) {
				gives[i][at] = int32(min(l.most, saturatedMost(l.weight, int64(i+1)*weight, p)))
			}
		}
	}
	return gives
}

// greatest returns the greatest score so far.
func (s *scoring) greatest() (most int64) {
	for _, n := range s.seen {
		most = max(most, s.cells[n].score)
	}
	return most
}

// least returns the score that a turn has to have to be among the best, given the scores so far.
func (s *scoring) least(need *Need) int64 {
	s.high = s.high[:0]
	least := int64(0)
	for _, n := range s.seen {
		score := s.cells[n].score
		if score < least {
			continue
		}
		rank := need.Rank(n, score, s.most)
		if rank < 0 {
			continue
		}
		if s.high = append(s.high, rank); len(s.high) == 2*need.Best {
			least = s.scoreOf(need)
		}
	}
	if len(s.high) >= need.Best {
		least = s.scoreOf(need)
	}
	return least
}

// scoreOf keeps the best of the highest ranks, and returns the least score with which a turn may have the last of them.
func (s *scoring) scoreOf(need *Need) int64 {
	slices.SortFunc(s.high, func(a, b int64) int { return cmp.Compare(b, a) })
	s.high = s.high[:need.Best]
	low := s.high[need.Best-1]
	from, to := int64(0), s.most // the least score is among these
	for from < to {
		if middle := (from + to) / 2; need.Most(middle, s.most) >= low {
			to = middle
		} else {
			from = middle + 1
		}
	}
	return from
}
