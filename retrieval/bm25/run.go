package bm25

import (
	"cmp"
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

// A Run contains the terms of consecutive turns in the form in which they are stored. An index unpacks the postings of a term when they
// are needed.
type Run struct {
	names    string  // all names, concatenated in ascending order
	ends     []int32 // by term: end of its name in names
	packed   []byte  // the postings of all terms, see AppendRun
	packs    []int32 // by term: end of its postings in packed
	postings int     // number of postings of all terms
	lengths  []int32 // by turn: its length in terms

	first   int32   // the place of the run's first turn in the index
	forward []int32 // the numbers of the distinct terms of each turn, ascending, one turn after the other; nil until they are needed
	begins  []int32 // by turn: beginning of its terms in forward
}

// Length returns the number of terms of a turn, by its index in the run.
func (r *Run) Length(turn int) int { return int(r.lengths[turn]) }

// name returns the name of a term by its index in the run.
func (r *Run) name(i int) string {
	from := int32(0)
	if i > 0 {
		from = r.ends[i-1]
	}
	return r.names[from:r.ends[i]]
}

// find returns the index of a term in the run.
func (r *Run) find(name string) (int, bool) {
	from, to := 0, len(r.ends)
	for from < to {
		middle := int(uint(from+to) / 2)
		switch strings.Compare(r.name(middle), name) {
		case 0:
			return middle, true
		case -1:
			from = middle + 1
		default:
			to = middle
		}
	}
	return 0, false
}

// appendPostings appends the postings of a term by its index in the run. Their turns are places in the index.
func (r *Run) appendPostings(dst []posting, i int) []posting {
	from := int32(0)
	if i > 0 {
		from = r.packs[i-1]
	}
	turn := r.first - 1
	for rest := r.packed[from:r.packs[i]]; len(rest) > 0; {
		v, n := uint64(rest[0]), 1
		if v >= 0x80 {
			v, n = binary.Uvarint(rest)
		}
		rest = rest[n:]
		p := posting{turn + 1 + int32(v>>1), 1}
		if v&1 != 0 {
			more, n := binary.Uvarint(rest)
			p.count, rest = int32(more)+2, rest[n:]
		}
		dst = append(dst, p)
		turn = p.turn
	}
	return dst
}

// named is a term with some of its postings.
type named struct {
	name     string
	postings []posting
}

// all returns all terms of the run with their postings.
func (r *Run) all() []named {
	list, room := make([]named, len(r.ends)), make([]posting, 0, r.postings)
	for i := range list {
		from := len(room)
		room = r.appendPostings(room, i)
		list[i] = named{r.name(i), room[from:]}
	}
	return list
}

// AppendRun appends the terms of the turns from the place from up to to, exclusive: the number of terms; for each term the number of
// leading bytes that it shares with the term before, its other bytes, and the number of turns with it; and then the postings of each
// term: each turn as a distance with a bit that says whether the term occurs more than once, followed in that case by the count minus
// two. Numbers are encoded as in package cursor. The bytes depend only on the terms of the turns.
func (x *Index) AppendRun(dst []byte, from, to int) []byte {
	return appendRun(dst, x.within(from, to), from)
}

// appendRun appends terms, sorted by name, of turns from a place on.
func appendRun(dst []byte, list []named, from int) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	last := ""
	for _, of := range list {
		shared := 0
		for shared < min(len(last), len(of.name)) && last[shared] == of.name[shared] {
			shared++
		}
		dst = binary.AppendUvarint(dst, uint64(shared))
		dst = binary.AppendUvarint(dst, uint64(len(of.name)-shared))
		dst = append(dst, of.name[shared:]...)
		dst = binary.AppendUvarint(dst, uint64(len(of.postings)))
		last = of.name
	}
	for _, of := range list {
		dst = appendPostings(dst, of.postings, from)
	}
	return dst
}

func appendPostings(dst []byte, list []posting, from int) []byte {
	next := int32(from)
	for _, p := range list {
		distance := uint64(p.turn-next) << 1
		if p.count == 1 {
			dst = binary.AppendUvarint(dst, distance)
		} else {
			dst = binary.AppendUvarint(dst, distance|1)
			dst = binary.AppendUvarint(dst, uint64(p.count-2))
		}
		next = p.turn + 1
	}
	return dst
}

// within returns the terms of the turns from the place from up to to, sorted by name.
func (x *Index) within(from, to int) []named {
	var pieces []named
	at := from
	for _, r := range x.runs {
		first, end := int(r.first), int(r.first)+len(r.lengths)
		if end <= from || first >= to {
			continue
		}
		pieces = append(pieces, x.between(at, first)...)
		for _, of := range r.all() {
			of.postings = of.postings[placeOf(of.postings, from):placeOf(of.postings, to)]
			if len(of.postings) > 0 {
				pieces = append(pieces, of)
			}
		}
		at = end
	}
	pieces = append(pieces, x.between(at, to)...)
	slices.SortFunc(pieces, func(a, b named) int {
		return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(a.postings[0].turn, b.postings[0].turn))
	})
	list := pieces[:0]
	for _, of := range pieces {
		if n := len(list); n > 0 && list[n-1].name == of.name {
			list[n-1].postings = slices.Concat(list[n-1].postings, of.postings)
		} else {
			list = append(list, of)
		}
	}
	return list
}

// between returns the terms of turns that are in no run.
func (x *Index) between(from, to int) (pieces []named) {
	seen := make([]bool, len(x.names))
	for n := from; n < to; n++ {
		for _, id := range x.Terms(int32(n)) {
			if !seen[id] {
				seen[id] = true
				l := x.listOf(id)
				pieces = append(pieces, named{x.names[id], l.postings[placeOf(l.postings, from):placeOf(l.postings, to)]})
			}
		}
	}
	return pieces
}

// placeOf returns the index of the first posting of a turn or of a later one.
func placeOf(list []posting, turn int) int {
	at, _ := slices.BinarySearchFunc(list, int32(turn), func(p posting, n int32) int { return int(p.turn) - int(n) })
	return at
}

// ParseRun reads the output of AppendRun for a number of turns. If the input is anything else, the cursor fails. Its memory use is
// proportional to the bytes left and to the number of turns. It does not keep the cursor's bytes.
func ParseRun(c *cursor.Cursor, turns int) *Run {
	r := &Run{lengths: make([]int32, turns)}
	const least = 4 // bytes of a term
	terms := c.Int(c.Left() / least)
	r.ends, r.packs = make([]int32, terms), make([]int32, terms)
	names := make([]byte, 0, 10*terms)
	last := 0 // beginning of the name before
	for i := range terms {
		from := len(names)
		shared := c.Int(from - last)
		suffix := c.Bytes(c.Int(MaxName - min(shared, MaxName)))
		names = append(append(names, names[last:last+shared]...), suffix...)
		df := c.Int(turns)
		r.postings += df
		if c.Err() != nil || df == 0 || r.postings > c.Left() || len(suffix) == 0 || i > 0 && last+shared < from && suffix[0] <= names[last+shared] || i == 0 && shared > 0 {
			c.Fail()
			return nil
		}
		last, r.ends[i], r.packs[i] = from, int32(len(names)), int32(df)
	}
	r.names = string(names)
	if !r.parsePostings(c) {
		c.Fail()
		return nil
	}
	return r
}

// parsePostings reads the postings of all terms, and reports whether they are well-formed. Before the call, packs contains the number of
// postings of each term.
func (r *Run) parsePostings(c *cursor.Cursor) bool {
	turns, packed := len(r.lengths), c.Rest()
	at := 0
	number := func(most int) int { // reads a number of more than two bytes, or fails
		rest := cursor.New(packed[at:])
		v := rest.Int(most)
		at = len(packed) - rest.Left()
		if rest.Err() != nil {
			c.Fail()
		}
		return v
	}
	for i, df := range r.packs {
		next := 0
		for range df {
			var v int
			switch {
			case at+1 < len(packed) && packed[at] < 0x80:
				v, at = int(packed[at]), at+1
			case at+1 < len(packed) && packed[at+1] < 0x80 && packed[at+1] > 0:
				v, at = int(packed[at]&0x7f)|int(packed[at+1])<<7, at+2
			default:
				v = number(2*turns + 1)
			}
			turn, count := next+v>>1, int32(1)
			if v&1 != 0 {
				count = int32(number(math.MaxInt32-2)) + 2
			}
			if turn >= turns || c.Err() != nil || int64(r.lengths[turn])+int64(count) > math.MaxInt32 {
				return false
			}
			r.lengths[turn] += count
			next = turn + 1
		}
		r.packs[i] = int32(at)
	}
	r.packed = slices.Clone(c.Bytes(at))
	return c.Err() == nil
}

// A Placed is a turn without its terms.
type Placed struct {
	Seq          dag.Seq
	Conversation dag.ConversationID
	Person       bool // a person wrote it
	Counted      bool // its text is known
}

// AddRuns adds the turns of runs after all others, as if each turn had been added with its terms. turns returns the turns of a run by
// its index in runs. After an error the index must not be used. The runs must not be used again.
func (x *Index) AddRuns(runs []*Run, turns func(run int) []Placed) error {
	for i, r := range runs {
		of := turns(i)
		if len(of) != len(r.lengths) {
			return fmt.Errorf("bm25: a run has %d turns, but %d turns were given", len(r.lengths), len(of))
		}
		if len(of) == 0 {
			continue
		}
		r.first = int32(len(x.turns))
		for k := range of {
			if _, err := x.place(of[k], r.lengths[k]); err != nil {
				return err
			}
		}
		x.runs = append(x.runs, r)
	}
	return nil
}

// runOf returns the run that contains a turn; nil if none does.
func (x *lexicon) runOf(turn int32) *Run {
	n, found := slices.BinarySearchFunc(x.runs, turn, func(r *Run, turn int32) int { return cmp.Compare(r.first, turn) })
	if !found {
		n--
	}
	if n < 0 || int(turn-x.runs[n].first) >= len(x.runs[n].lengths) {
		return nil
	}
	return x.runs[n]
}

// termsIn returns the distinct terms of a turn of a run.
func (x *lexicon) termsIn(r *Run, turn int32) []int32 {
	x.lazy.RLock()
	forward := r.forward
	x.lazy.RUnlock()
	if forward == nil {
		x.lazy.Lock()
		r.invert(x)
		x.lazy.Unlock()
	}
	n := turn - r.first
	return r.forward[r.begins[n]:r.begins[n+1]]
}

// invert finds the terms of each turn of a run. It is called with the index locked.
func (r *Run) invert(x *lexicon) {
	if r.forward != nil {
		return
	}
	list := r.all()
	ids, order := make([]int32, len(list)), make([]int32, len(list))
	begins := make([]int32, len(r.lengths)+1)
	for i, of := range list {
		ids[i], order[i] = x.idOf(of.name), int32(i)
		for _, p := range of.postings {
			begins[p.turn-r.first+1]++
		}
	}
	for n := range r.lengths {
		begins[n+1] += begins[n]
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(ids[a], ids[b]) }) // so that the term numbers of each turn ascend
	forward, next := make([]int32, r.postings), slices.Clone(begins)
	for _, i := range order {
		for _, p := range list[i].postings {
			forward[next[p.turn-r.first]] = ids[i]
			next[p.turn-r.first]++
		}
	}
	r.forward, r.begins = forward, begins
	x.unpacked.Add(int64(sizeOfTerm * len(forward)))
}

// erase removes the terms of a turn from a run and packs the run anew. No name of a term remains that no other turn has.
func (r *Run) erase(turn int32) {
	list := r.all()
	kept := list[:0]
	for _, of := range list {
		if at := placeOf(of.postings, int(turn)); at < len(of.postings) && of.postings[at].turn == turn {
			of.postings = slices.Delete(of.postings, at, at+1)
		}
		if len(of.postings) > 0 {
			kept = append(kept, of)
		}
	}
	first := r.first
	*r = *ParseRun(cursor.New(appendRun(nil, kept, int(first))), len(r.lengths))
	r.first = first
}
