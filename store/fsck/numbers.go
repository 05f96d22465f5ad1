package fsck

import (
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
)

// checkNumbers checks the events, and that each number up to the head is a turn's, an event's or
// an entry's, and of one of them alone.
func checkNumbers(c *checker) error {
	n := numbering{c: c, next: 1}
	for after := dag.Seq(0); after < c.head; {
		page, err := c.s.Events(c.ctx, c.tenant, after, c.o.Page)
		if err != nil {
			if err := c.unreadable(fmt.Sprintf("event %d and on", after+1), err); err != nil {
				return err
			}
			return nil
		}
		if len(page) == 0 {
			break
		}
		for i := range page {
			e := &page[i]
			if e.Seq <= after {
				c.find(eventName(e), "number", "it has number %d, and is listed behind %d", e.Seq, after)
				after = dag.MaxSeq
				break
			}
			if after = e.Seq; after > c.head {
				c.saw(e.Seq, eventName(e))
				break
			}
			n.event(e)
			event(c, e)
			if err := inLedger(c, eventName(e), store.EventLeaf(c.tenant, e)); err != nil {
				return err
			}
		}
		c.progress("events", int(min(after, c.head)), int(c.head))
	}
	n.below(dag.MaxSeq + 1)
	n.taken(c.head + 1)
	return nil
}

// A numbering goes through the numbers of all that has one, in order.
type numbering struct {
	c              *checker
	next           dag.Seq // the first number that nothing had so far
	turns, entries uint32  // how many were passed
}

func (n *numbering) taken(seq dag.Seq) {
	if seq > n.next && n.c.whole && n.c.allEntries {
		missing(n.c, n.next, seq-1)
	}
	n.next = max(n.next, seq+1)
}

// turn returns the next turn's number; one that is none if there is no more.
func (n *numbering) turn() dag.Seq {
	if int(n.turns) == n.c.len() {
		return dag.MaxSeq + 1
	}
	return n.c.turn(n.turns).seq
}

func (n *numbering) entry() dag.Seq {
	if int(n.entries) == n.c.numbered.len() {
		return dag.MaxSeq + 1
	}
	return *n.c.numbered.at(n.entries)
}

// below passes the turns and the entries with numbers below one.
func (n *numbering) below(seq dag.Seq) {
	for {
		turn, entry := n.turn(), n.entry()
		least := min(turn, entry)
		if least >= seq {
			return
		}
		n.taken(least)
		if turn == least {
			if entry == least {
				n.c.find(entryName(entry), "number", "turn %s has the same", n.c.turn(n.turns).id)
			}
			n.turns++
		}
		if entry == least {
			n.entries++
		}
	}
}

func (n *numbering) event(e *store.Event) {
	n.below(e.Seq)
	if n.turn() == e.Seq {
		n.c.find(eventName(e), "number", "turn %s has the same", n.c.turn(n.turns).id)
	}
	if n.entry() == e.Seq {
		n.c.find(eventName(e), "number", "an entry has the same")
	}
	n.taken(e.Seq)
}

func eventName(e *store.Event) string { return fmt.Sprintf("event %d", e.Seq) }

func missing(c *checker, first, last dag.Seq) {
	where := fmt.Sprintf("number %d", first)
	if last > first {
		where = fmt.Sprintf("numbers %d to %d", first, last)
	}
	c.find(where, "number", "no turn, event or entry has it, and the head is %d", c.head)
}

func event(c *checker, e *store.Event) {
	c.counts.Events++
	if err := store.CheckEvent(e); err != nil {
		c.find(eventName(e), "form", "%v", err)
	}
	i, known := c.lookup(e.Turn)
	if !known {
		if c.whole {
			c.find(eventName(e), "event", "its turn %s is not there", e.Turn)
		}
		return
	}
	t := c.turn(i)
	switch {
	case t.seq > e.Seq:
		c.find(eventName(e), "event", "its turn %s has the number %d, which is greater", e.Turn, t.seq)
	case t.erased:
		c.find(eventName(e), "event", "turn %s was erased by an event before", e.Turn)
	case t.body != 0:
		c.find(turnName(t.id), "body", "event %d erased it, and it is there", e.Seq)
	}
	t.erased = true
}
