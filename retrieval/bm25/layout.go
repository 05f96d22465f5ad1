package bm25

import (
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// A layout has the lengths of turns, and the conversations in which they are neighbours.
type layout struct {
	reach         int    // the reach of windows and sums
	turns         []turn // ascending by number
	of            conversationsOf
	apart         bool     // the turns of some conversation are not adjacent
	windows       []window // by turn
	conversations []conversation
	placed        map[dag.ConversationID]int32
	sums          []sums // by turn: the sums up to it
}

// conversationsOf has the conversation of each turn, as an index in the layout's conversations.
type conversationsOf []int32

type turn struct {
	seq     dag.Seq
	earlier int64 // the length of the turns before it in its conversation, in terms
	place   int32 // index among the conversation's turns
	length  int32 // in terms; 0 if it was erased
	from    int   // beginning of its terms in forward
	kinds   int32 // number of distinct terms
	counted bool  // its text is known
	person  bool  // a person wrote it
}

type conversation struct {
	turns  []int32
	begin  int32 // turns[0]
	first  int32 // the first turn with a length; -1: none
	length int64 // of all turns, in terms
}

// sums are totals over the turns up to a turn.
type sums struct {
	turns, length int64
	window        window // the sum of the windows of turns that count
	begun         int64  // number of conversations with a length
}

// Conversation returns the place of a turn's conversation, as in the result of [View.ScoreConversations].
func (x *layout) Conversation(turn int32) int32 { return x.of[turn] }

// Turns returns the places of a conversation's turns, ascending. They must not be changed.
func (x *layout) Turns(of dag.ConversationID) []int32 {
	at, ok := x.placed[of]
	if !ok {
		return nil
	}
	return x.conversations[at].turns
}

// Beside reports whether some contains the turn just before or just after a turn in its conversation.
func (x *layout) Beside(turn int32, some map[int32]bool) bool {
	all, at := x.conversations[x.of[turn]].turns, int(x.turns[turn].place)
	return at > 0 && some[all[at-1]] || at+1 < len(all) && some[all[at+1]]
}

// place adds a turn after all others, without its terms.
func (x *layout) place(p Placed, length int32) (int32, error) {
	n := int32(len(x.turns))
	if n > 0 && x.turns[n-1].seq >= p.Seq {
		return 0, fmt.Errorf("bm25: turn number %d comes after number %d, want ascending numbers", p.Seq, x.turns[n-1].seq)
	}
	at, ok := x.placed[p.Conversation]
	if !ok {
		at = int32(len(x.conversations))
		x.placed[p.Conversation], x.conversations = at, append(x.conversations, conversation{begin: n, first: -1})
	}
	c := &x.conversations[at]
	t := turn{seq: p.Seq, place: int32(len(c.turns)), length: length, counted: p.Counted, person: p.Person}
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

// sum sets the sums up to a turn from the sums up to the turn before.
func (x *layout) sum(n int32) {
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
	s.window.all += x.brought(n, Params{Reach: x.reach})
	s.window.people += x.brought(n, Params{Reach: x.reach, People: true})
	x.sums[n] = s
}

// Reserve makes room for a number of further turns.
func (x *layout) Reserve(more int) {
	x.turns, x.of, x.sums, x.windows = slices.Grow(x.turns, more), slices.Grow(x.of, more), slices.Grow(x.sums, more), slices.Grow(x.windows, more)
}

// empty removes the length of a turn, which from then on does not count.
func (x *layout) empty(n int32) {
	t := &x.turns[n]
	x.part(n)
	c := &x.conversations[x.of[n]]
	for _, later := range c.turns[t.place+1:] {
		x.turns[later].earlier -= int64(t.length)
	}
	c.length -= int64(t.length)
	t.length, t.counted = 0, false
	if c.first == n {
		c.first = -1
		if at := slices.IndexFunc(c.turns, func(n int32) bool { return x.turns[n].length > 0 }); at >= 0 {
			c.first = c.turns[at]
		}
	}
	for i := n; i < int32(len(x.turns)); i++ {
		x.sum(i)
	}
}
