package bm25

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/cursor"
)

// MaxName bounds the bytes of a term in a run.
const MaxName = 255

// A Run is the terms of consecutive turns, apart from an index.
type Run struct {
	names    []string // ascending
	ends     []int32  // by term: where its postings end, and those of the next one begin
	postings []posting
	lengths  []int32 // by turn: in terms
	kinds    []int32 // by turn: how many distinct terms it has
	ids      []int32 // by term: its place in the index that the run is added to
}

// Length returns how many terms a turn of the run has, by its place.
func (r *Run) Length(turn int) int { return int(r.lengths[turn]) }

// AppendRun appends the terms of the turns from one place up to another, which is not included: how many there are; each with the bytes that
// it shares with the one before, its others, and how many turns have it; and then for each the turns that have it, as distances, each with
// a bit that says whether it is there more than once, and then how often beyond two. Numbers are those of package cursor.
// The bytes follow from the turns' terms alone.
func (x *Index) AppendRun(dst []byte, from, to int) []byte {
	ids := x.within(from, to)
	runs := make([][]posting, len(ids))
	dst = binary.AppendUvarint(dst, uint64(len(ids)))
	last := ""
	for i, id := range ids {
		list := x.postings[id]
		runs[i] = list[placeOf(list, from):placeOf(list, to)]
		name := x.names[id]
		shared := 0
		for shared < min(len(last), len(name)) && last[shared] == name[shared] {
			shared++
		}
		dst = binary.AppendUvarint(dst, uint64(shared))
		dst = binary.AppendUvarint(dst, uint64(len(name)-shared))
		dst = append(dst, name[shared:]...)
		dst = binary.AppendUvarint(dst, uint64(len(runs[i])))
		last = name
	}
	for _, run := range runs {
		next := int32(from)
		for _, p := range run {
			distance := uint64(p.turn-next) << 1
			if p.count == 1 {
				dst = binary.AppendUvarint(dst, distance)
			} else {
				dst = binary.AppendUvarint(dst, distance|1)
				dst = binary.AppendUvarint(dst, uint64(p.count-2))
			}
			next = p.turn + 1
		}
	}
	return dst
}

// within returns the terms of some turns, by name.
func (x *Index) within(from, to int) (ids []int32) {
	seen := make([]bool, len(x.names))
	for n := from; n < to; n++ {
		for _, id := range x.Terms(int32(n)) {
			if !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
	}
	slices.SortFunc(ids, func(a, b int32) int { return strings.Compare(x.names[a], x.names[b]) })
	return ids
}

// placeOf returns the place of the first posting of a turn or a later one.
func placeOf(list []posting, turn int) int {
	at, _ := slices.BinarySearchFunc(list, int32(turn), func(p posting, n int32) int { return int(p.turn) - int(n) })
	return at
}

// ParseRun reads what AppendRun wrote of so many turns, and refuses what it would not write with an error of the cursor. What it takes in
// memory is at most a multiple of the bytes that are left, and of the turns.
func ParseRun(c *cursor.Cursor, turns int) *Run {
	r := &Run{lengths: make([]int32, turns), kinds: make([]int32, turns)}
	const least = 4 // bytes of a term
	terms := c.Int(c.Left() / least)
	ends := make([]int32, terms)
	r.ends = make([]int32, terms)
	names := make([]byte, 0, 10*terms)
	last, total := 0, 0 // where the name before begins; postings
	for i := range terms {
		from := len(names)
		shared := c.Int(from - last)
		suffix := c.Bytes(c.Int(MaxName - min(shared, MaxName)))
		names = append(append(names, names[last:last+shared]...), suffix...)
		df := c.Int(turns)
		total += df
		if c.Err() != nil || df == 0 || total > c.Left() || len(suffix) == 0 || i > 0 && last+shared < from && suffix[0] <= names[last+shared] || i == 0 && shared > 0 {
			c.Fail()
			return nil
		}
		last, ends[i], r.ends[i] = from, int32(len(names)), int32(total)
	}
	r.names = cut(string(names), ends)
	if r.postings = make([]posting, total); !r.parsePostings(c) {
		c.Fail()
		return nil
	}
	return r
}

// cut cuts a string into pieces.
func cut(all string, ends []int32) []string {
	pieces, from := make([]string, len(ends)), int32(0)
	for i, end := range ends {
		pieces[i], from = all[from:end], end
	}
	return pieces
}

// parsePostings reads the postings of all terms, and reports whether they are in their form.
func (r *Run) parsePostings(c *cursor.Cursor) bool {
	turns, at := len(r.lengths), int32(0)
	for _, end := range r.ends {
		for next := 0; at < end; at++ {
			v := c.Int(2*turns + 1)
			turn, count := next+v>>1, int32(1)
			if v&1 != 0 {
				count = int32(c.Int(math.MaxInt32-2)) + 2
			}
			if turn >= turns || c.Err() != nil || int64(r.lengths[turn])+int64(count) > math.MaxInt32 {
				return false
			}
			r.postings[at] = posting{int32(turn), count}
			r.lengths[turn] += count
			r.kinds[turn]++
			next = turn + 1
		}
	}
	return true
}

// A Placed is a turn of a run.
type Placed struct {
	Seq          dag.Seq
	Conversation dag.ConversationID
	Counted      bool // its text is known
}

// AddRuns adds the turns of runs after all others, as if each had been added with its terms. turns returns those of a run by its place. It returns the
// place of the first one. After an error the index must not be used.
func (x *Index) AddRuns(runs []*Run, turns func(run int) []Placed) (int, error) {
	first := len(x.turns)
	x.reserve(runs)
	of := make([]int32, len(x.names))
	for i, r := range runs {
		if err := x.addRun(r, turns(i), of); err != nil {
			return 0, err
		}
	}
	return first, nil
}

// slab is how many postings are allocated at once, for the terms that have few.
const slab = 1 << 16

// reserve assigns places to the terms of runs, and room for their postings.
func (x *Index) reserve(runs []*Run) {
	if len(x.terms) == 0 {
		most := 0
		for _, r := range runs {
			most = max(most, len(r.names))
		}
		x.terms = make(map[string]int32, 2*most)
	}
	more := make([]int32, len(x.names))
	turns, forward := 0, 0
	for _, r := range runs {
		r.ids = make([]int32, len(r.names))
		from := int32(0)
		for i, name := range r.names {
			id, ok := x.terms[name]
			if !ok {
				id, name = int32(len(x.names)), strings.Clone(name)
				x.terms[name], x.names = id, append(x.names, name)
				x.list()
				more = append(more, 0)
			}
			r.ids[i] = id
			more[id] += r.ends[i] - from
			from = r.ends[i]
		}
		turns, forward = turns+len(r.lengths), forward+len(r.postings)
	}
	var room []posting
	for id, n := range more {
		list := x.postings[id]
		need := len(list) + int(n)
		switch {
		case need <= cap(list):
			continue
		case need > slab/16:
			x.postings[id] = append(make([]posting, 0, need+len(list)/4), list...) // more runs may follow
			continue
		case need > len(room):
			room = make([]posting, slab)
		}
		x.postings[id] = append(room[:0:need], list...)
		room = room[need:]
	}
	x.turns, x.of, x.sums, x.windows = slices.Grow(x.turns, turns), slices.Grow(x.of, turns), slices.Grow(x.sums, turns), slices.Grow(x.windows, turns)
	x.forward = slices.Grow(x.forward, forward)
}

// addRun adds a run. of is zero for each term of the index, and is so again afterwards.
func (x *Index) addRun(r *Run, turns []Placed, of []int32) error {
	first := int32(len(x.turns))
	if len(turns) != len(r.lengths) {
		return fmt.Errorf("bm25: a run of %d turns, and %d of them", len(r.lengths), len(turns))
	}
	next := make([]int32, len(turns)) // where the next term of each turn comes in forward
	from := len(x.forward)
	for i := range turns {
		n, err := x.place(turns[i].Seq, turns[i].Conversation, r.lengths[i], turns[i].Counted)
		if err != nil {
			return err
		}
		x.turns[n].from, x.turns[n].kinds = from, r.kinds[i]
		next[i] = int32(from - len(x.forward))
		from += int(r.kinds[i])
	}
	conversations := x.of[first:]
	forward := x.forward[len(x.forward):from]
	x.forward = x.forward[:from]
	for i, id := range r.ids {
		of[id] = int32(i) + 1
	}
	for id, i := range of { // in the order of the index, so that the terms of each turn ascend
		if i == 0 {
			continue
		}
		of[id] = 0
		begin := int32(0)
		if i > 1 {
			begin = r.ends[i-2]
		}
		added := r.postings[begin:r.ends[i-1]]
		list, peak := x.postings[id], x.peaks[id]
		at := len(list)
		list = list[:at+len(added)]
		in, count := int32(-1), int64(0) // a conversation, and how often it has the term
		for k, p := range added {
			if of := conversations[p.turn]; of != in {
				if count > 0 {
					x.share(int32(id), in, count)
				}
				in, count = of, 0
			}
			count += int64(p.count)
			forward[next[p.turn]] = int32(id)
			next[p.turn]++
			peak = max(peak, p.count)
			list[at+k] = posting{first + p.turn, p.count}
		}
		x.share(int32(id), in, count)
		x.postings[id], x.peaks[id] = list, peak
	}
	return nil
}
