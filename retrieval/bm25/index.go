package bm25

import (
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// MaxReach bounds the neighbours on either side that count as a part of a turn.
const MaxReach = 8

// An Index holds the terms of a tenant's turns. It must not be changed while it is read.
type Index struct {
	terms         map[string]int32
	postings      [][]posting // by term; ascending
	turns         []turn      // ascending by number
	conversations []conversation
	placed        map[dag.ConversationID]int32
	sums          []sums // by turn: of it and those before it
}

// A posting says how often a term is in a turn.
type posting struct{ turn, count int32 }

type turn struct {
	seq          dag.Seq
	conversation int32 // in Index.conversations
	place        int32 // among the conversation's turns
	length       int32 // in terms; 0 if it was erased
	counted      bool  // it was not erased
}

type conversation struct{ turns []int32 }

// sums are of what is counted up to a turn.
type sums struct{ turns, length int64 }

// New returns an empty index.
func New() *Index {
	return &Index{terms: map[string]int32{}, placed: map[dag.ConversationID]int32{}}
}

// Len returns the number of turns, erased ones included.
func (x *Index) Len() int { return len(x.turns) }

// Conversation returns the place of a turn's conversation among those of [View.Conversations].
func (x *Index) Conversation(turn int) int { return int(x.turns[turn].conversation) }

// Turns returns the places of a conversation's turns, ascending. They must not be changed.
func (x *Index) Turns(of dag.ConversationID) []int32 {
	at, ok := x.placed[of]
	if !ok {
		return nil
	}
	return x.conversations[at].turns
}

// Add adds a turn after all others, and returns its place. If terms is nil its text is not known: then it counts
// nowhere, as if it had been erased.
func (x *Index) Add(seq dag.Seq, of dag.ConversationID, terms []string) (int, error) {
	n := int32(len(x.turns))
	if n > 0 && x.turns[n-1].seq >= seq {
		return 0, fmt.Errorf("bm25: turn number %d after number %d", seq, x.turns[n-1].seq)
	}
	at, ok := x.placed[of]
	if !ok {
		at = int32(len(x.conversations))
		x.placed[of], x.conversations = at, append(x.conversations, conversation{})
	}
	c := &x.conversations[at]
	x.turns = append(x.turns, turn{seq: seq, conversation: at, place: int32(len(c.turns)), length: int32(len(terms)), counted: terms != nil})
	c.turns = append(c.turns, n)
	for _, term := range terms {
		id, ok := x.terms[term]
		if !ok {
			id = int32(len(x.postings))
			x.terms[term], x.postings = id, append(x.postings, nil)
		}
		list := &x.postings[id]
		if last := len(*list) - 1; last >= 0 && (*list)[last].turn == n {
			(*list)[last].count++
		} else {
			*list = append(*list, posting{n, 1})
		}
	}
	before := sums{}
	if n > 0 {
		before = x.sums[n-1]
	}
	x.sums = append(x.sums, before)
	x.sum(n)
	return int(n), nil
}

// sum sets the sums of a turn, given those of the turn before.
func (x *Index) sum(n int32) {
	s := sums{}
	if n > 0 {
		s = x.sums[n-1]
	}
	if t := &x.turns[n]; t.counted {
		s.turns++
		s.length += int64(t.length)
	}
	x.sums[n] = s
}

// Erase takes a turn's terms out. What is found later is what would be found if the turn had never had a
// text, and no posting of it is left. It costs a look at every posting from the turn on.
func (x *Index) Erase(n int) {
	t := &x.turns[n]
	if !t.counted {
		return
	}
	for i, list := range x.postings {
		if at, ok := slices.BinarySearchFunc(list, int32(n), func(p posting, n int32) int { return int(p.turn) - int(n) }); ok {
			x.postings[i] = slices.Delete(list, at, at+1)
		}
	}
	t.length, t.counted = 0, false
	for i := n; i < len(x.turns); i++ {
		x.sum(int32(i))
	}
}

// A View is an index as of a sequence number.
type View struct {
	x   *Index
	cut int32 // how many of the turns it has
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

// Has reports whether a turn is in the view.
func (v View) Has(turn int32) bool { return turn < v.cut }

// counted returns how many turns count, and their length.
func (v View) counted() sums {
	if v.cut == 0 {
		return sums{}
	}
	return v.x.sums[v.cut-1]
}

// Conversations returns the number of conversations in the index, begun in the view or later.
func (v View) Conversations() int { return len(v.x.conversations) }

// having returns the postings of a term in the view.
func (v View) having(term string) []posting {
	id, ok := v.x.terms[term]
	if !ok {
		return nil
	}
	list := v.x.postings[id]
	if n := len(list); n == 0 || list[n-1].turn < v.cut {
		return list
	}
	cut, _ := slices.BinarySearchFunc(list, v.cut, func(p posting, n int32) int { return int(p.turn) - int(n) })
	return list[:cut]
}
