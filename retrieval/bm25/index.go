package bm25

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/graphkernel/graphkernel/dag"
)

// MaxReach bounds the neighbours on either side that count as part of a turn.
const MaxReach = 8

// An Index contains the terms of a tenant's turns. It must not be changed while it is read; several goroutines may read it at once.
type Index struct {
	reach         int // the reach of windows and sums
	terms         map[string]int32
	names         []string     // by term
	lists         []*someLists // by term
	runs          []*Run       // ascending
	lazy          sync.RWMutex // guards terms, lists and runs while the index is read
	unpacked      atomic.Int64 // bytes unpacked from runs
	forward       []int32      // the numbers of the distinct terms of each turn that is in no run, ascending, one turn after the other
	turns         []turn       // ascending by number
	of            []int32      // by turn: index in conversations
	apart         bool         // the turns of some conversation are not adjacent
	windows       []int64      // by turn: its length with its neighbours, in units; -1 if it does not count
	conversations []conversation
	placed        map[dag.ConversationID]int32
	sums          []sums // by turn: the sums up to it
	scratch       sync.Pool
}

type turn struct {
	seq     dag.Seq
	earlier int64 // the length of the turns before it in its conversation, in terms
	place   int32 // index among the conversation's turns
	length  int32 // in terms; 0 if it was erased
	from    int   // beginning of its terms in forward
	kinds   int32 // number of distinct terms
	counted bool  // its text is known
}

type conversation struct {
	turns  []int32
	begin  int32 // turns[0]
	first  int32 // the first turn with a length; -1: none
	length int64 // of all turns, in terms
}

// sums are totals over the turns up to a turn.
type sums struct {
	turns, length, window int64
	begun                 int64 // number of conversations with a length
}

// New returns an empty index. Searches with this reach, at most MaxReach, are fast; searches with another reach
// visit all turns.
func New(reach int) *Index {
	if reach < 0 || reach > MaxReach {
		panic(fmt.Sprintf("bm25: a reach of %d turns", reach))
	}
	x := &Index{reach: reach, terms: map[string]int32{}, placed: map[dag.ConversationID]int32{}}
	x.scratch.New = func() any { return &scratch{} }
	return x
}

// Conversation returns the place of a turn's conversation, as in the result of [View.ScoreConversations].
func (x *Index) Conversation(turn int32) int32 { return x.of[turn] }

// Turns returns the places of a conversation's turns, ascending. They must not be changed.
func (x *Index) Turns(of dag.ConversationID) []int32 {
	at, ok := x.placed[of]
	if !ok {
		return nil
	}
	return x.conversations[at].turns
}

// Beside reports whether some contains the turn just before or just after a turn in its conversation.
func (x *Index) Beside(turn int32, some map[int32]bool) bool {
	all, at := x.conversations[x.of[turn]].turns, int(x.turns[turn].place)
	return at > 0 && some[all[at-1]] || at+1 < len(all) && some[all[at+1]]
}

// A Term is a term of texts for one index. It caches its number in that index, so a Term that was given to the index before an Erase
// must not be used after it.
type Term struct {
	text string
	id   int32 // the number of the term plus one; 0: not looked up yet
}

// NewTerm returns a term that has not been given to an index.
func NewTerm(text string) *Term { return &Term{text: text} }

// NewTerms returns terms that have not been given to an index.
func NewTerms(texts ...string) []*Term {
	terms := make([]*Term, len(texts))
	for i, text := range texts {
		terms[i] = NewTerm(text)
	}
	return terms
}

// String returns the text of the term.
func (t *Term) String() string { return t.text }

// Add adds a turn after all others, and returns its place. If terms is nil, its text is not known and the turn does not
// count, as if it had been erased.
func (x *Index) Add(seq dag.Seq, of dag.ConversationID, terms []*Term) (int, error) {
	n, err := x.place(seq, of, int32(len(terms)), terms != nil)
	if err != nil {
		return 0, err
	}
	from := len(x.forward)
	for _, term := range terms {
		x.post(n, term)
	}
	slices.Sort(x.forward[from:])
	x.turns[n].from, x.turns[n].kinds = from, int32(len(x.forward)-from)
	return int(n), nil
}

// place adds a turn after all others, without its terms.
func (x *Index) place(seq dag.Seq, of dag.ConversationID, length int32, counted bool) (int32, error) {
	n := int32(len(x.turns))
	if n > 0 && x.turns[n-1].seq >= seq {
		return 0, fmt.Errorf("bm25: turn number %d comes after number %d, want ascending numbers", seq, x.turns[n-1].seq)
	}
	at, ok := x.placed[of]
	if !ok {
		at = int32(len(x.conversations))
		x.placed[of], x.conversations = at, append(x.conversations, conversation{begin: n, first: -1})
	}
	c := &x.conversations[at]
	t := turn{seq: seq, place: int32(len(c.turns)), length: length, counted: counted}
	if t.place > 0 {
		before := &x.turns[c.turns[t.place-1]]
		t.earlier = before.earlier + int64(before.length)
		x.apart = x.apart || c.turns[t.place-1] != n-1
	}
	x.turns, x.of, x.sums = append(x.turns, t), append(x.of, at), append(x.sums, sums{})
	c.turns = append(c.turns, n)
	c.length += int64(length)
	if c.first < 0 && t.length > 0 {
		c.first = n
	}
	x.join(n)
	x.sum(n)
	return n, nil
}

// Terms returns the distinct terms of a turn as numbers of this index, ascending. The result must not be changed.
func (x *Index) Terms(turn int32) []int32 {
	if r := x.runOf(turn); r != nil {
		return x.termsIn(r, turn)
	}
	t := &x.turns[turn]
	return x.forward[t.from : t.from+int(t.kinds)]
}

// sum sets the sums up to a turn from the sums up to the turn before.
func (x *Index) sum(n int32) {
	s := sums{}
	if n > 0 {
		s = x.sums[n-1]
	}
	t := &x.turns[n]
	if t.counted {
		s.turns++
		s.length += int64(t.length)
	}
	if x.conversations[x.of[n]].first == n {
		s.begun++
	}
	s.window += x.brought(n, x.reach)
	x.sums[n] = s
}

// Erase removes a turn's terms. Later searches have the results that they would have if the turn had never had a text. No posting of the
// turn remains, and no term that no other turn has. The cost is one pass over the postings of its terms and over all turns from it on.
func (x *Index) Erase(n int) {
	t := &x.turns[n]
	if !t.counted {
		return
	}
	terms := x.Terms(int32(n))
	if r := x.runOf(int32(n)); r != nil {
		x.unpacked.Add(int64(-sizeOfTerm * len(r.forward)))
		r.erase(int32(n))
	}
	for _, id := range terms {
		x.unpost(int32(n), id)
	}
	clear(terms)
	t.kinds = 0
	x.part(int32(n))
	c := &x.conversations[x.of[n]]
	for _, later := range c.turns[t.place+1:] {
		x.turns[later].earlier -= int64(t.length)
	}
	c.length -= int64(t.length)
	t.length, t.counted = 0, false
	if c.first == int32(n) {
		c.first = -1
		if at := slices.IndexFunc(c.turns, func(n int32) bool { return x.turns[n].length > 0 }); at >= 0 {
			c.first = c.turns[at]
		}
	}
	for i := n; i < len(x.turns); i++ {
		x.sum(int32(i))
	}
}

// A View is an index as of a sequence number.
type View struct {
	x   *Index
	cut int32 // number of turns in the view
}

// At returns the view as of a number.
func (x *Index) At(asOf dag.Seq) View {
	cut, _ := slices.BinarySearchFunc(x.turns, asOf+1, func(t turn, seq dag.Seq) int {
		if t.seq < seq {
			return -1
		}
		return 1
	})
	return View{x, int32(cut)}
}

// whole reports whether the view contains all turns of the index.
func (v View) whole() bool { return int(v.cut) == len(v.x.turns) }

// Has reports whether a turn is in the view.
func (v View) Has(turn int32) bool { return turn < v.cut }

// counted returns the sums over the turns of the view.
func (v View) counted() sums {
	if v.cut == 0 {
		return sums{}
	}
	return v.x.sums[v.cut-1]
}

// having returns the postings of a term in the view, and the reading of all its postings in the index; nil if the index has no such term.
func (v View) having(term string) ([]posting, *reading) {
	all, r := v.x.list(term)
	if n := len(all); n == 0 || all[n-1].turn < v.cut {
		return all, r
	}
	return all[:placeOf(all, int(v.cut))], r
}
