package bm25

import (
	"math/bits"
	"slices"
)

// Turns that surely are not among the best are passed over. What each occurrence of a term gives at most to a turn and its neighbours is added
// up for each turn, which is no less than what all can give together. The turns with the highest sums are scored, and show what the best
// have at least. Of the others those are scored whose sums reach that.
const (
	blockSize  = 2 * MaxReach // turns; what is near a turn is in at most two blocks
	leastFirst = 32           // blocks of which turns are scored first, so that it is known what the best have
)

// A block is turns next to one another, of which some are near a term.
type block struct{ at, peak int32 } // its place among blocks, and the highest sum of its turns

// best scores the turns that may be among the best, and returns them.
func (s *scoring) best(lists []list, need *Need) []int32 {
	shift := s.bound(lists)
	defer s.unbound()
	for _, n := range need.Also {
		if n < s.v.cut {
			s.live[n>>6] |= 1 << (n & 63)
			s.bounds[n+MaxReach] = 0
		}
	}
	for many := max(leastFirst, need.Best); ; many *= 4 {
		first := s.highest(many)
		s.choose(first)
		s.score(lists)
		s.most = s.greatest()
		if s.most>>shift >= int64(first) || first == 1 { // no other turn has more
			if s.rank(need); s.least > 0 || first == 1 {
				break
			}
		}
	}
	if s.choose(int32(max(s.least>>shift, 1))) {
		s.score(lists)
		s.rank(need)
	}
	wanted := make([]int32, 0, need.Best+len(need.Also))
	for i, rank := range s.ranks {
		if rank >= s.low {
			wanted = append(wanted, s.seen[i])
		}
	}
	for _, n := range need.Also {
		if n < s.v.cut && s.cells[n].norm != 0 {
			wanted = append(wanted, n)
		}
	}
	slices.Sort(wanted)
	return slices.Compact(wanted)
}

// bound adds up, for each turn near a term, what the terms can give it at most, and returns of how many bits these sums are short.
func (s *scoring) bound(lists []list) (shift int) {
	total := int64(0)
	for i := range lists {
		total += lists[i].most
	}
	shift = max(bits.Len64(uint64(total*(2*MaxReach+1)))-30, 0)
	for i := range lists {
		s.boundBy(&lists[i], shift)
	}
	for b := range s.near[:(int(s.v.cut)+2*MaxReach)/blockSize+1] {
		if s.near[b] {
			s.near[b] = false
			peak := int32(0)
			for _, sum := range s.bounds[b*blockSize:][:blockSize] {
				peak = max(peak, sum)
			}
			s.blocks = append(s.blocks, block{int32(b), peak})
		}
	}
	return shift
}

// boundBy adds what a term can give at most. Whether neighbours are of the same conversation is not looked at where turns are next to one another.
func (s *scoring) boundBy(l *list, shift int) {
	gives := givenBy(l, s.p, shift)
	if s.v.x.apart {
		for _, p := range l.postings {
			give := &gives[min(p.count, int32(len(gives)))-1]
			add := func(other int32, at int) {
				s.bounds[other+MaxReach] += give[at]
				s.near[(other+MaxReach)/blockSize] = true
			}
			add(p.turn, MaxReach)
			s.v.around(p.turn, s.p.Reach, add)
		}
		return
	}
	from, to := MaxReach-s.p.Reach, MaxReach+s.p.Reach
	for _, p := range l.postings {
		give := gives[min(p.count, int32(len(gives)))-1][from : to+1]
		sums := s.bounds[int(p.turn)+from:][:len(give)]
		for i, n := range give {
			sums[i] += n
		}
		s.near[(int(p.turn)+from)/blockSize] = true
		s.near[(int(p.turn)+to)/blockSize] = true
	}
}

// unbound clears the sums.
func (s *scoring) unbound() {
	for _, b := range s.blocks {
		clear(s.bounds[b.at*blockSize:][:blockSize])
	}
	s.blocks = s.blocks[:0]
}

// givenBy returns what a posting of a term gives at most to a turn, by its count and by the place in weights of what counts there, without some
// last bits, rounded up. The last count stands for all above it.
func givenBy(l *list, p Params, shift int) (gives [4][len(weights)]int32) {
	for i := range gives {
		for at, weight := range weights {
			give := l.most
			if i+1 < len(gives) {
				give = min(give, saturatedMost(l.weight, int64(i+1)*weight, p))
			}
			gives[i][at] = int32((give + 1<<shift - 1) >> shift)
		}
	}
	return gives
}

// highest returns a sum of 1 or more that few turns reach, but one of so many blocks each, if there are so many.
func (s *scoring) highest(many int) int32 {
	peak := int32(0)
	for _, b := range s.blocks {
		peak = max(peak, b.peak)
	}
	var counts [512]int
	shift := max(bits.Len32(uint32(peak))-9, 0)
	for _, b := range s.blocks {
		counts[b.peak>>shift]++
	}
	at := len(counts) - 1
	for n := counts[at]; at > 0 && n < many; n += counts[at] {
		at--
	}
	return max(int32(at)<<shift, 1)
}

// choose makes the turns live that have some sum, and clears the sums. It reports whether there are any.
func (s *scoring) choose(least int32) (some bool) {
	for _, b := range s.blocks {
		if b.peak < least {
			continue
		}
		from := b.at * blockSize
		for i, sum := range s.bounds[from:][:blockSize] {
			if n := from + int32(i) - MaxReach; sum >= least && uint32(n) < uint32(s.v.cut) {
				s.live[n>>6] |= 1 << (n & 63)
				s.bounds[from+int32(i)], some = 0, true
			}
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

// rank ranks the turns that were scored since the last time, and finds out which score and which rank a turn has to have to be among the best.
func (s *scoring) rank(need *Need) {
	for _, n := range s.seen[len(s.ranks):] {
		rank := int64(-1)
		if score := s.cells[n].score; score >= s.least {
			rank = need.Rank(n, score, s.most)
		}
		s.ranks = append(s.ranks, rank)
		if rank < s.low {
			continue
		}
		if s.high = append(s.high, rank); len(s.high) == 2*need.Best {
			s.raise(need)
		}
	}
	if len(s.high) >= need.Best {
		s.raise(need)
	}
}

// raise keeps the best of the highest ranks.
func (s *scoring) raise(need *Need) {
	slices.Sort(s.high)
	s.high = append(s.high[:0], s.high[len(s.high)-need.Best:]...)
	s.low = s.high[0]
	from, to := s.least, s.most // the least score is among these
	for from < to {
		if middle := (from + to) / 2; need.Most(middle, s.most) >= s.low {
			to = middle
		} else {
			from = middle + 1
		}
	}
	s.least = from
}
