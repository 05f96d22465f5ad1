package fsck

import (
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/ledger"
)

// checkNumbers checks that each number up to the head belongs to a turn or to an entry, and not to both.
func checkNumbers(c *checker) error {
	n := numbering{c: c, next: 1}
	n.below(dag.MaxSeq + 1)
	n.taken(c.head + 1)
	return nil
}

// A numbering walks through the numbers of all turns and entries, in order.
type numbering struct {
	c              *checker
	next           dag.Seq // the first number that was not passed yet
	turns, entries uint32  // how many of each were passed
}

func (n *numbering) taken(seq dag.Seq) {
	if seq > n.next && n.c.whole && n.c.allEntries {
		missing(n.c, n.next, seq-1)
	}
	n.next = max(n.next, seq+1)
}

// turn returns the next turn's number, or dag.MaxSeq+1 if there are no more turns.
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

// below passes the turns and the entries with numbers below seq.
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
				n.c.find(entryName(entry), "number", "turn %s has the same number", n.c.turn(n.turns).id)
			}
			n.turns++
		}
		if entry == least {
			n.entries++
		}
	}
}

func eventName(e *erasures.Erasure) string { return fmt.Sprintf("event %d", e.Seq) }

func missing(c *checker, first, last dag.Seq) {
	where := fmt.Sprintf("number %d", first)
	if last > first {
		where = fmt.Sprintf("numbers %d to %d", first, last)
	}
	c.find(where, "number", "no turn or entry has this number, but the head is %d", c.head)
}

// checkErasures checks erasures against the turns, and that the ledger has a leaf for each.
func checkErasures(c *checker, page []history.Entry) error {
	var leafless []dag.TurnID
	where := map[dag.TurnID]string{}
	for i := range page {
		if page[i].Kind != erasures.Kind {
			c.counts.Entries++
			continue
		}
		c.counts.Events++
		e, err := erasures.Read(&page[i])
		if err != nil {
			continue // planning reports it
		}
		if i, known := c.lookup(e.Turn); known {
			t := c.turn(i)
			if t.body != 0 {
				c.find(turnName(t.id), "body", "event %d erased the body, but it is still stored", e.Seq)
			}
			t.erased = true
		}
		if _, ok := c.leaves[halfOf(ledger.LeafHash(e.Leaf(c.tenant)))]; !ok {
			leafless = append(leafless, e.Turn)
			where[e.Turn] = eventName(&e)
		}
	}
	if len(leafless) == 0 {
		return nil
	}
	// The leaf may have been added after the ledger was read.
	logged, err := erasures.Base{History: c.s}.LoggedAmong(c.ctx, c.tenant, leafless)
	if err != nil {
		return c.unreadable("erasures", err)
	}
	for _, id := range leafless {
		if since := logged[id]; since <= c.size {
			c.find(where[id], "ledger", "its leaf is missing from the ledger")
		}
	}
	return nil
}
