package bm25

import (
	"slices"
)

// A scratch is reusable memory for scoring turns or conversations. Between two uses all of it is zero.
type scratch struct {
	cells   []cell   // by turn, if all turns are scored
	touched []int32  // turns with a count for the current term
	seen    []int32  // turns with a cell
	bounds  []uint64 // by turn, from -MaxReach on: upper bound of its score, see lanes
	near    []uint8  // by block of bounds: 1 if a term is near
	blocks  []block  // the blocks with a term near
	live    []int32  // turns to be scored next
	scored  []scored // turns that were scored
	ranks   []int64  // the ranks of scored, as far as these were ranked
	high    []int64  // some of the highest ranks
	totals  []total  // by conversation
	shared  []share  // conversations with the current term
}

// A cell is the score of a turn.
type cell struct {
	score int64
	had   int64 // sum of the weights of its terms
	count int64 // of the current term, in units
	norm  int64 // the norm plus one; 0: the turn was not seen yet
}

// A scored is a turn, its score, and the sum of the weights of its terms.
type scored struct {
	turn       int32
	score, had int64
}

// A total is the score of a conversation.
type total struct{ score, norm int64 }

// A scoring is a computation of scores in a view.
type scoring struct {
	*scratch
	v    View
	p    Params
	of   *Statistics
	most int64 // the greatest score so far

	least, low int64 // the least score and the least rank of a turn among the best
}

// scoring begins a scoring. The caller must call end.
func (v View) scoring(p Params, of *Statistics) *scoring {
	s := &scoring{scratch: v.x.scratch.Get().(*scratch), v: v, p: p, of: of}
	if len(s.cells) < int(v.cut) {
		s.cells = make([]cell, v.cut+v.cut/4)
		blocks := (len(s.cells)+2*MaxReach)/blockSize + 1
		s.bounds, s.near = make([]uint64, (blocks+1)*blockWords), make([]uint8, blocks+nearAtOnce)
	}
	return s
}

// end clears the scratch and returns it to the pool.
func (s *scoring) end() {
	for _, n := range s.seen {
		s.cells[n] = cell{}
	}
	s.seen, s.scored, s.ranks, s.high = s.seen[:0], s.scored[:0], s.ranks[:0], s.high[:0]
	s.v.x.scratch.Put(s.scratch)
}

// see returns the cell of a turn, and begins it if necessary; nil if the turn does not count.
func (s *scoring) see(n int32) *cell {
	c := &s.cells[n]
	if c.norm == 0 {
		window := s.v.window(n, s.p)
		if window < 0 {
			return nil
		}
		c.norm = 1 + norm(window, s.of.Length, s.of.Turns, s.p)
		s.seen = append(s.seen, n)
	}
	return c
}

// count adds to the count of the current term in a turn.
func (s *scoring) count(n int32, count int64) {
	c := &s.cells[n]
	if c.count == 0 {
		s.touched = append(s.touched, n)
	}
	c.count += count
}

// everywhere scores all turns by the term of a list.
func (s *scoring) everywhere(l *list) {
	for _, p := range l.postings {
		s.count(p.turn, int64(p.count)*unit)
		s.v.around(p.turn, s.p, func(other int32, at int) { s.count(other, int64(p.count)*weights[at]) })
	}
	s.add(l.weight)
}

// add adds the scores by the current term, from its counts, and clears the counts.
func (s *scoring) add(weight int64) {
	for _, n := range s.touched {
		count := s.cells[n].count
		s.cells[n].count = 0
		if c := s.see(n); c != nil {
			c.score += saturated(weight, count, c.norm-1, s.p)
			c.had += weight
		}
	}
	s.touched = s.touched[:0]
}

// all returns the scores of all turns that were seen.
func (s *scoring) all() *Scores {
	slices.Sort(s.seen)
	r := &Scores{Places: slices.Clone(s.seen), Of: make([]int64, len(s.seen)), Having: make([]int64, len(s.seen)), Statistics: *s.of}
	for i, n := range r.Places {
		r.Of[i], r.Having[i] = s.cells[n].score, s.cells[n].had
		r.Most = max(r.Most, r.Of[i])
	}
	return r
}
