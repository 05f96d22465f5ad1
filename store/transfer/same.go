package transfer

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/store"
)

// prepare records how far the copy goes, and compares the data that the target has already.
func (c *copying) prepare() error {
	var err error
	if c.head, err = c.from.Head(c.ctx, c.tenant); err != nil {
		return err
	}
	if c.report.Head, err = c.to.Head(c.ctx, c.tenant); err != nil {
		return err
	}
	if c.report.Head > c.head {
		return fmt.Errorf("%w: its head is %d, but the head of the source is %d", ErrDiffers, c.report.Head, c.head)
	}
	for _, compare := range []func() error{c.sameEntries, c.sameTurns, c.sameCells, c.sameLedger} {
		if err := compare(); err != nil {
			return err
		}
	}
	return nil
}

// sameEntries compares every entry that the target has.
func (c *copying) sameEntries() error {
	head := c.report.Head
	if head == 0 {
		return nil
	}
	there, here := c.entries(c.to, 0, head), c.entries(c.from, 0, head)
	for {
		got, err := there.peek()
		if err != nil {
			return err
		}
		want, err := here.peek()
		if err != nil {
			return err
		}
		switch {
		case got == nil && want == nil:
			c.report.Turns.Existing = int(head) - c.report.Events.Existing - c.report.Entries.Existing
			return nil
		case got == nil || want != nil && want.Seq < got.Seq:
			return fmt.Errorf("%w: in the source number %d is an entry of kind %s, but not in the target", ErrDiffers, want.Seq, want.Kind)
		case want == nil || got.Seq != want.Seq:
			return fmt.Errorf("%w: in the target number %d is an entry of kind %s, but not in the source", ErrDiffers, got.Seq, got.Kind)
		case !got.SameButErased(want): // later erasures of the source are copied with the rest of its history
			return fmt.Errorf("%w: number %d is an entry of kind %s with the leaf %s in the target, but of kind %s with the leaf %s in the source, or was recorded at a different time", ErrDiffers, got.Seq, got.Kind, got.Leaf(), want.Kind, want.Leaf())
		}
		c.count(got).Existing++
		there.skip()
		here.skip()
	}
}

// sameTurns compares every turn that the target has, by reading both stores side by side up to the target's head, in
// memory that does not grow. Reading some of the turns would not be enough: histories can differ in a single turn.
func (c *copying) sameTurns() error {
	head := c.report.Head
	if head == 0 {
		return nil
	}
	var failed error
	next, stop := iter.Pull(c.records(c.from, head, &failed))
	defer stop()
	here, more := next()
	lost := lostTexts{c: c}
	err := c.to.Scan(c.ctx, c.tenant, 0, nil, func(there *store.Record) error {
		if there.Seq > head {
			return errEnough
		}
		switch {
		case failed != nil:
			return failed
		case !more:
			return fmt.Errorf("%w: number %d of the target is turn %s, but the source has no turn from that number to %d", ErrDiffers, there.Seq, there.Turn.ID, head)
		case here.Seq != there.Seq:
			return fmt.Errorf("%w: the next turn has number %d in the source, but %d in the target", ErrDiffers, here.Seq, there.Seq)
		case here.Turn != there.Turn || here.Leaf != there.Leaf || !slices.Equal(here.Parents, there.Parents):
			return fmt.Errorf("%w: number %d is turn %s with the leaf %s in the target, but turn %s with the leaf %s in the source",
				ErrDiffers, there.Seq, there.Turn.ID, there.Leaf, here.Turn.ID, here.Leaf)
		case here.Key != there.Key:
			return fmt.Errorf("%w: number %d, turn %s, was admitted with the key %q in the target, but with %q in the source", ErrDiffers, there.Seq, there.Turn.ID, there.Key, here.Key)
		case !here.Marks.Equal(&there.Marks):
			return fmt.Errorf("%w: number %d, turn %s, has different marks in the target and in the source", ErrDiffers, there.Seq, there.Turn.ID)
		case there.Body == nil && here.Body != nil:
			return fmt.Errorf("%w: number %d, turn %s, has a text in the source, but none in the target", ErrDiffers, there.Seq, there.Turn.ID)
		case there.Body != nil && here.Body == nil:
			if err := lost.add(there); err != nil {
				return err
			}
		}
		if c.compared != nil && there.Seq%page == 0 {
			c.compared(there.Seq)
		}
		here, more = next()
		return nil
	})
	switch {
	case err != nil && !errors.Is(err, errEnough):
		return err
	case failed != nil:
		return failed
	case more:
		return fmt.Errorf("%w: number %d of the source is turn %s, but the target has no turn from that number to %d", ErrDiffers, here.Seq, here.Turn.ID, head)
	}
	return lost.explained()
}

// records returns a store's records up to a number. If reading fails, the sequence ends and failed is set to the error.
func (c *copying) records(s store.Store, last dag.Seq, failed *error) iter.Seq[*store.Record] {
	return func(yield func(*store.Record) bool) {
		err := s.Scan(c.ctx, c.tenant, 0, nil, func(r *store.Record) error {
			if r.Seq > last || !yield(r) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			*failed = err
		}
	}
}

// lostTexts are the turns whose texts the target has and the source does not have.
// Erasures above the target's head, which will be copied, must explain them.
type lostTexts struct {
	c     *copying
	turns map[dag.TurnID]dag.Seq
}

// mostLost is the number of turns that are collected before their erasures are looked up in the source.
const mostLost = 100_000

func (l *lostTexts) add(r *store.Record) error {
	if l.turns == nil {
		l.turns = map[dag.TurnID]dag.Seq{}
	}
	l.turns[r.Turn.ID] = r.Seq
	if len(l.turns) < mostLost {
		return nil
	}
	return l.explained()
}

func (l *lostTexts) explained() error {
	erased, err := erasures.Base{History: l.c.from}.Among(l.c.ctx, l.c.tenant, slices.Collect(maps.Keys(l.turns)))
	if err != nil {
		return err
	}
	for turn, at := range erased {
		if at > l.c.report.Head {
			delete(l.turns, turn)
		}
	}
	first, id := dag.MaxSeq+1, dag.TurnID{}
	for turn, seq := range l.turns {
		if seq < first {
			first, id = seq, turn
		}
	}
	if len(l.turns) > 0 {
		return fmt.Errorf("%w: number %d, turn %s, has a text in the target, but in the source it has neither a text nor an erasure", ErrDiffers, first, id)
	}
	return nil
}
