package bm25

import (
	"cmp"
	"math/bits"
	"slices"
)

// A scratch is memory in which turns or conversations are scored. Between two uses all of it is zero.
type scratch struct {
	cells   []cell   // by turn
	bounds  []uint64 // by turn, from -MaxReach on: what it can get at most, see lanes
	near    []bool   // by block of bounds: some term is near
	blocks  []block  // those with a term near
	live    []uint64 // a bit by turn: it is scored now
	touched []int32  // turns or conversations in which the term at hand counts
	seen    []int32  // turns that were scored
	ranks   []int64  // of turns that were scored, as far as they were ranked
	high    []int64  // some of the highest ranks
	totals  []total  // by conversation
}

// A cell is the score of a turn.
type cell struct {
	score int64
	count int64 // of the term at hand, in units
	norm  int64 // one more than it is; 0: the turn is not seen yet
}

// A total is the score of a conversation.
type total struct{ score, count, norm int64 }

// A scoring is a score of a view under way.
type scoring struct {
	*scratch
	v    View
	p    Params
	of   *Statistics
	most int64 // the greatest score, once it is known

	least, low int64 // what a turn among the best has at least: its score and its rank
}

// scoring begins a score. It must be ended.
func (v View) scoring(p Params, of *Statistics) *scoring {
	s := &scoring{scratch: v.x.scratch.Get().(*scratch), v: v, p: p, of: of}
	if len(s.cells) < int(v.cut) {
		s.cells = make([]cell, v.cut+v.cut/4)
		s.near = make([]bool, (len(s.cells)+2*MaxReach)/blockSize+1)
		s.bounds = make([]uint64, len(s.near)*blockWords+blockWords)
		s.live = make([]uint64, len(s.cells)/64+2)
	}
	return s
}

// end clears what was used and returns it to the pool.
func (s *scoring) end() {
	for _, n := range s.seen {
		s.cells[n] = cell{}
	}
	s.seen, s.ranks, s.high = s.seen[:0], s.ranks[:0], s.high[:0]
	s.v.x.scratch.Put(s.scratch)
}

// see begins the score of a turn. It returns nil for one that does not count.
func (s *scoring) see(n int32) *cell {
	c := &s.cells[n]
	if c.norm == 0 {
		window := s.v.window(n, s.p.Reach)
		if window < 0 {
			return nil
		}
		c.norm = 1 + norm(window, s.of.Length, s.of.Turns, s.p)
		s.seen = append(s.seen, n)
	}
	return c
}

// count adds to what the term at hand counts in a place.
func (s *scoring) count(n int32, count int64) {
	c := &s.cells[n]
	if c.count == 0 {
		s.touched = append(s.touched, n)
	}
	c.count += count
}

// everywhere scores all turns by a term.
func (s *scoring) everywhere(l *list) {
	for _, p := range l.postings {
		s.count(p.turn, int64(p.count)*unit)
		s.v.around(p.turn, s.p.Reach, func(other int32, at int) { s.count(other, int64(p.count)*weights[at]) })
	}
	s.add(l.weight)
}

// where calls fn with each live turn that has a term or is near one that has, with how often that has it, and with the place in weights of
// what counts of it.
func (s *scoring) where(l *list, fn func(n, count int32, at int)) {
	if s.v.x.apart {
		s.whereApart(l, fn)
		return
	}
	var r run
	for i := 0; i < len(l.postings); i++ {
		p := l.postings[i]
		from, to := s.v.within(&r, p.turn, s.p.Reach)
		word, shift := from>>6, from&63
		some := s.live[word]>>shift | s.live[word+1]<<(64-shift)
		if some == 0 {
			if i = s.skip(l.postings, i, int(word)); i < 0 {
				return
			}
			continue
		}
		for some &= uint64(1)<<(to-from+1) - 1; some != 0; some &= some - 1 {
			n := from + int32(bits.TrailingZeros64(some))
			fn(n, p.count, MaxReach+int(n-p.turn))
		}
	}
}

// skip returns the place of the last posting before those that can have a live turn near them, given that there is none near the posting at
// a place; -1 if no other can.
func (s *scoring) skip(postings []posting, at, word int) int {
	live := s.live[:s.v.cut/64+1]
	for word++; word < len(live) && live[word] == 0; word++ {
	}
	if word == len(live) {
		return -1
	}
	first := int32(word*64 - MaxReach)
	step := 1
	for at+step < len(postings) && postings[at+step].turn < first {
		at, step = at+step, 2*step
	}
	rest := postings[at+1 : min(at+step, len(postings))]
	n, _ := slices.BinarySearchFunc(rest, first, func(p posting, first int32) int { return cmp.Compare(p.turn, first) })
	return at + n
}

// whereApart is where for an index in which neighbours are not always next to one another.
func (s *scoring) whereApart(l *list, fn func(n, count int32, at int)) {
	for _, p := range l.postings {
		if s.isLive(p.turn) {
			fn(p.turn, p.count, MaxReach)
		}
		s.v.around(p.turn, s.p.Reach, func(other int32, at int) {
			if s.isLive(other) {
				fn(other, p.count, at)
			}
		})
	}
}

func (s *scoring) isLive(n int32) bool { return s.live[n>>6]>>(n&63)&1 != 0 }

// add turns what the term at hand counts into scores.
func (s *scoring) add(weight int64) {
	for _, n := range s.touched {
		count := s.cells[n].count
		s.cells[n].count = 0
		if c := s.see(n); c != nil {
			c.score += saturated(weight, count, c.norm-1, s.p)
		}
	}
	s.touched = s.touched[:0]
}

// scores returns the scores of some turns, whose ascending places it takes, and the greatest score of all.
func (s *scoring) scores(places []int32) *Scores {
	r := &Scores{Places: places, Of: make([]int64, len(places)), Statistics: *s.of}
	for i, n := range r.Places {
		r.Of[i] = s.cells[n].score
	}
	r.Most = s.greatest()
	return r
}

// greatest returns the greatest score so far.
func (s *scoring) greatest() (most int64) {
	for _, n := range s.seen {
		most = max(most, s.cells[n].score)
	}
	return most
}
