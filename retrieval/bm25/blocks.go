package bm25

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// Turns that cannot be among the best are skipped. For each turn, the upper bounds of the scores that each occurrence of a term gives to
// it and its neighbours are added up. The sum is an upper bound of the turn's score. The turns with the highest sums are scored first,
// which shows the least score of the best turns. Of the other turns, only those whose sums reach that score are scored.
//
// A sum has 16 bits, of which the highest is 0, so four sums are added and compared in one word.
const (
	lanes      = 4
	laneBits   = 16
	laneMask   = 1<<laneBits - 1
	eachLane   = 1 | 1<<laneBits | 1<<(2*laneBits) | 1<<(3*laneBits)
	highBits   = eachLane << (laneBits - 1)
	sumBits    = laneBits - 2 // bits of the greatest sum before rounding up
	blockSize  = 2 * MaxReach // turns; a turn and its neighbours are in at most two blocks
	blockWords = blockSize / lanes
	nearAtOnce = 8                           // blocks that are tested at once for a term near
	leastFirst = 32                          // least number of blocks whose turns are scored first, to learn the least score of the best
	mostLists  = 1 << sumBits / len(weights) // with more lists, rounding up might make sums overflow
)

// A block is a range of turns, some of which are near a term.
type block struct{ at, peak int32 } // index of the block, and an upper bound of the sums of its turns

// best scores the turns that may be among the best, and returns the best with the greatest score of all.
func (s *scoring) best(lists []list, need *Need) *Scores {
	shift := s.bound(lists)
	defer s.unbound()
	asked := slices.Sorted(slices.Values(need.Also))
	for _, n := range asked {
		if n < s.v.cut {
			s.live = append(s.live, n)
			s.bounds[(n+MaxReach)/lanes] &^= laneMask << ((n + MaxReach) % lanes * laneBits)
		}
	}
	for many := max(leastFirst, need.Best); ; many *= 4 {
		first := s.highest(many)
		s.choose(first, nil)
		s.score(lists)
		if s.most>>shift >= int64(first) || first == 1 { // no other turn has a higher score
			if s.rank(need); s.least > 0 || first == 1 {
				break
			}
		}
	}
	s.choose(int32(max(s.least>>shift, 1)), func(n, sum int32) bool { return need.Rank(n, int64(sum)<<shift, s.most) >= s.low })
	s.score(lists)
	s.rank(need)
	wanted := s.scored[:0]
	for i, of := range s.scored {
		if _, also := slices.BinarySearch(asked, of.turn); also || s.ranks[i] >= s.low {
			wanted = append(wanted, of)
		}
	}
	slices.SortFunc(wanted, func(a, b scored) int { return cmp.Compare(a.turn, b.turn) })
	r := &Scores{Places: make([]int32, len(wanted)), Of: make([]int64, len(wanted)), Having: make([]int64, len(wanted)), Statistics: *s.of}
	for i, of := range wanted {
		r.Places[i], r.Of[i], r.Having[i] = of.turn, of.score, of.had
	}
	r.Most = s.most
	return r
}

// bound adds up the upper bounds of the scores for each turn near a term, and returns the number of low bits that the sums leave out.
func (s *scoring) bound(lists []list) (shift int) {
	total := int64(0)
	for i := range lists {
		total += lists[i].most
	}
	shift = max(bits.Len64(uint64(total*int64(2*s.p.Reach+1)))-sumBits, 0)
	for i := range lists {
		s.boundBy(&lists[i], shift)
	}
	for at := 0; at <= (int(s.v.cut)+2*MaxReach)/blockSize; at += nearAtOnce {
		for some := binary.LittleEndian.Uint64(s.near[at:]); some != 0; some &= some - 1 {
			b := at + bits.TrailingZeros64(some)/8
			sums := (*[blockWords]uint64)(s.bounds[b*blockWords:])
			most := sums[0] | sums[1] | sums[2] | sums[3]
			most |= most >> (2 * laneBits)
			most |= most >> laneBits
			s.blocks = append(s.blocks, block{int32(b), int32(most & laneMask)})
		}
		clear(s.near[at : at+nearAtOnce])
	}
	return shift
}

// peak returns the highest sum of a block.
func (s *scoring) peak(at int32) int32 {
	sums := (*[blockWords]uint64)(s.bounds[at*blockWords:])
	most := higher(higher(sums[0], sums[1]), higher(sums[2], sums[3]))
	most = higher(most, most>>(2*laneBits))
	return int32(higher(most, most>>laneBits) & laneMask)
}

// higher returns the greater of the two sums in each lane.
func higher(a, b uint64) uint64 {
	first := ((a | highBits) - b) & highBits // a bit in each lane where a is not lower
	mask := first<<1 - first>>(laneBits-1)
	return a&mask | b&^mask
}

// boundBy adds the upper bounds by one term. If the turns of conversations are adjacent, it ignores whether neighbours belong to the
// same conversation and whether persons wrote them.
func (s *scoring) boundBy(l *list, shift int) {
	gives := givenBy(l, s.p, shift)
	if s.v.x.apart {
		for _, p := range l.postings {
			give := &gives[min(p.count, int32(len(gives)))-1]
			add := func(other int32, at int) {
				s.bounds[(other+MaxReach)/lanes] += give[at] << ((other + MaxReach) % lanes * laneBits)
				s.near[(other+MaxReach)/blockSize] = 1
			}
			add(p.turn, MaxReach)
			s.v.around(p.turn, s.p, add)
		}
		return
	}
	from, to := MaxReach-s.p.Reach, MaxReach+s.p.Reach
	words := (2*s.p.Reach + lanes - 1 + lanes) / lanes
	var packed [len(gives)][lanes][(2*MaxReach+lanes-1)/lanes + 1]uint64 // by the lane of the first turn
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
		sums[0] += give[0]
		sums[1] += give[1]
		sums[2] += give[2]
		for i := 3; i < words; i++ { // for a reach above 4
			sums[i] += give[i]
		}
		s.near[first/blockSize] = 1
		s.near[(first+width)/blockSize] = 1
	}
}

// unbound clears the sums.
func (s *scoring) unbound() {
	for _, b := range s.blocks {
		*(*[blockWords]uint64)(s.bounds[b.at*blockWords:]) = [blockWords]uint64{}
	}
	s.blocks = s.blocks[:0]
}

// givenBy returns the upper bound of the score that a posting of a term gives to a turn, by the count minus one and by the index in
// weights of the turn's weight. The lowest shift bits are left out, rounded up. The last count includes all higher counts.
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

// highest returns the highest multiple of 8 that the peaks of at least many blocks reach, at least 1. If there are fewer blocks, it returns 1.
func (s *scoring) highest(many int) int32 {
	const step = 8
	var counts [1 << (laneBits - 1) / step]int32 // number of blocks by peak
	lowest, above := int32(0), int32(0)          // above blocks have peaks from the step lowest on
	for i := range s.blocks {
		b := &s.blocks[i]
		if b.peak/step < lowest {
			continue
		}
		if b.peak = s.peak(b.at); b.peak/step < lowest {
			continue
		}
		counts[b.peak/step]++
		for above++; above-counts[lowest] >= int32(many); lowest++ {
			above -= counts[lowest]
		}
	}
	return max(lowest*step, 1)
}

// choose makes the turns live whose sum is at least least and for which may returns true, and clears the sums of these turns.
func (s *scoring) choose(least int32, may func(n, sum int32) bool) {
	each := uint64(least) * eachLane
	for _, b := range s.blocks {
		if b.peak < least {
			continue
		}
		for word := b.at * blockWords; word < (b.at+1)*blockWords; word++ {
			sums := &s.bounds[word]
			for at := ((*sums | highBits) - each) & highBits; at != 0; at &= at - 1 { // a bit in each lane where the sum is not lower
				lane := int32(bits.TrailingZeros64(at)) / laneBits
				if n := word*lanes + lane - MaxReach; uint32(n) < uint32(s.v.cut) && (may == nil || may(n, int32(*sums>>(lane*laneBits)&laneMask))) {
					s.live = append(s.live, n)
					*sums &^= laneMask << (lane * laneBits)
				}
			}
		}
	}
}

// score scores the live turns by all terms. Afterwards no turn is live.
func (s *scoring) score(lists []list) {
	slices.Sort(s.live)
	for i := range lists {
		lists[i].at = 0
	}
	var w nearby
	for _, n := range s.live {
		window := s.v.window(n, s.p)
		if window < 0 {
			continue
		}
		w.around(s.v, n, s.p)
		norm := norm(window, s.of.Length, s.of.Turns, s.p)
		of, some := scored{turn: n}, false
		for i := range lists {
			if count := w.count(&lists[i]); count > 0 {
				of.score += saturated(lists[i].weight, count, norm, s.p)
				of.had += lists[i].weight
				some = true
			}
		}
		if some {
			s.scored = append(s.scored, of)
			s.most = max(s.most, of.score)
		}
	}
	s.live = s.live[:0]
}

// rank ranks the turns that were scored since the last call, and updates the least score and the least rank of a turn among the best.
func (s *scoring) rank(need *Need) {
	for _, of := range s.scored[len(s.ranks):] {
		rank := int64(-1)
		if of.score >= s.least {
			rank = need.Rank(of.turn, of.score, s.most)
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

// raise keeps the Best highest ranks, and raises the least rank and the least score accordingly.
func (s *scoring) raise(need *Need) {
	slices.Sort(s.high)
	s.high = append(s.high[:0], s.high[len(s.high)-need.Best:]...)
	s.low = s.high[0]
	from, to := s.least, s.most // the least score is in this range
	for from < to {
		if middle := (from + to) / 2; need.Most(middle, s.most) >= s.low {
			to = middle
		} else {
			from = middle + 1
		}
	}
	s.least = from
}
