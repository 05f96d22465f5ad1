package bm25

import (
	"math/bits"
	"slices"
)

// Turns that surely are not among the best are passed over. What each occurrence of a term gives at most to a turn and its neighbours is added
// up for each turn, which is no less than what all can give together. The turns with the highest sums are scored, and show what the best
// have at least. Of the others those are scored whose sums reach that.
//
// A sum has 16 bits, of which the highest is 0, so that four of them are added up and compared in one word.
const (
	lanes      = 4
	laneBits   = 16
	laneMask   = 1<<laneBits - 1
	eachLane   = 1 | 1<<laneBits | 1<<(2*laneBits) | 1<<(3*laneBits)
	highBits   = eachLane << (laneBits - 1)
	sumBits    = laneBits - 2 // of the greatest sum, without what is rounded up
	blockSize  = 2 * MaxReach // turns; what is near a turn is in at most two blocks
	blockWords = blockSize / lanes
	leastFirst = 32                          // blocks of which turns are scored first, so that it is known what the best have
	mostLists  = 1 << sumBits / len(weights) // with more, sums might take all bits by rounding up
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
			s.bounds[(n+MaxReach)/lanes] &^= laneMask << ((n + MaxReach) % lanes * laneBits)
		}
	}
	for many := max(leastFirst, need.Best); ; many *= 4 {
		first := s.highest(many)
		s.choose(first, nil)
		s.score(lists)
		s.most = s.greatest()
		if s.most>>shift >= int64(first) || first == 1 { // no other turn has more
			if s.rank(need); s.least > 0 || first == 1 {
				break
			}
		}
	}
	wins := func(n, sum int32) bool { return need.Rank(n, int64(sum)<<shift, s.most) >= s.low }
	if s.choose(int32(max(s.least>>shift, 1)), wins) {
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
	shift = max(bits.Len64(uint64(total*int64(2*s.p.Reach+1)))-sumBits, 0)
	for i := range lists {
		s.boundBy(&lists[i], shift)
	}
	for b := range s.near[:(int(s.v.cut)+2*MaxReach)/blockSize+1] {
		if s.near[b] {
			s.near[b] = false
			sums := (*[blockWords]uint64)(s.bounds[b*blockWords:])
			most := higher(higher(sums[0], sums[1]), higher(sums[2], sums[3]))
			most = higher(most, most>>(2*laneBits))
			most = higher(most, most>>laneBits) & laneMask
			s.blocks = append(s.blocks, block{int32(b), int32(most)})
		}
	}
	return shift
}

// higher returns the higher one of each two sums.
func higher(a, b uint64) uint64 {
	first := ((a | highBits) - b) & highBits // a bit where a is not lower
	mask := first<<1 - first>>(laneBits-1)
	return a&mask | b&^mask
}

// boundBy adds what a term can give at most. Whether neighbours are of the same conversation is not looked at where turns are next to one another.
func (s *scoring) boundBy(l *list, shift int) {
	gives := givenBy(l, s.p, shift)
	if s.v.x.apart {
		for _, p := range l.postings {
			give := &gives[min(p.count, int32(len(gives)))-1]
			add := func(other int32, at int) {
				s.bounds[(other+MaxReach)/lanes] += give[at] << ((other + MaxReach) % lanes * laneBits)
				s.near[(other+MaxReach)/blockSize] = true
			}
			add(p.turn, MaxReach)
			s.v.around(p.turn, s.p.Reach, add)
		}
		return
	}
	from, to := MaxReach-s.p.Reach, MaxReach+s.p.Reach
	words := (2*s.p.Reach + lanes - 1 + lanes) / lanes
	var packed [len(gives)][lanes][(2*MaxReach+lanes-1)/lanes + 1]uint64 // by the lane of the first
	for i := range gives {
		for lane := range packed[i] {
			for at, give := range gives[i][from : to+1] {
				packed[i][lane][(lane+at)/lanes] |= give << ((lane + at) % lanes * laneBits)
			}
		}
	}
	width := uint32(to - from)
	for _, p := range l.postings {
		first := uint32(p.turn) + uint32(from)
		give := &packed[min(uint32(p.count), uint32(len(gives)))-1][first%lanes]
		sums := (*[len(give)]uint64)(s.bounds[first/lanes:])
		for i := range words {
			sums[i] += give[i]
		}
		s.near[first/blockSize] = true
		s.near[(first+width)/blockSize] = true
	}
}

// unbound clears the sums.
func (s *scoring) unbound() {
	for _, b := range s.blocks {
		*(*[blockWords]uint64)(s.bounds[b.at*blockWords:]) = [blockWords]uint64{}
	}
	s.blocks = s.blocks[:0]
}

// givenBy returns what a posting of a term gives at most to a turn, by its count and by the place in weights of what counts there, without some
// last bits, rounded up. The last count stands for all above it.
func givenBy(l *list, p Params, shift int) (gives [4][len(weights)]uint64) {
	for i := range gives {
		for at := MaxReach - p.Reach; at <= MaxReach+p.Reach; at++ {
			give := l.most
			if i+1 < len(gives) {
				give = min(give, saturatedMost(l.weight, int64(i+1)*weights[at], p))
			}
			gives[i][at] = uint64(give+1<<shift-1) >> shift
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

// choose makes the turns live that have some sum, and may win with it, and clears the sums. It reports whether there are any.
func (s *scoring) choose(least int32, may func(n, sum int32) bool) (some bool) {
	for _, b := range s.blocks {
		if b.peak < least {
			continue
		}
		for word := b.at * blockWords; word < (b.at+1)*blockWords; word++ {
			sums := &s.bounds[word]
			for at := ((*sums | highBits) - uint64(least)*eachLane) & highBits; at != 0; at &= at - 1 { // a bit where a sum is not lower
				lane := int32(bits.TrailingZeros64(at)) / laneBits
				if n := word*lanes + lane - MaxReach; uint32(n) < uint32(s.v.cut) && (may == nil || may(n, int32(*sums>>(lane*laneBits)&laneMask))) {
					s.live[n>>6] |= 1 << (n & 63)
					*sums &^= laneMask << (lane * laneBits)
					some = true
				}
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
