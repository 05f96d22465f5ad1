package history

import (
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// A Change is a write on its way. A store asks it what it needs to know, reads that within
// the transaction that will write, and does what it plans. Both methods are pure: a store may
// begin again, and then counts on the same answers.
type Change interface {
	// Needs says what must be read in addition to what is known; nothing, if that is all.
	Needs(k *Known) Needs

	// Plan decides what is written. If there is an error nothing is.
	Plan(k *Known) (*Plan, error)
}

// Needs is what a change must know.
type Needs struct {
	Newest  []Key     // of each key the term that begins last
	Ranges  []Range   // all terms of each
	Entries []dag.Seq // the entries of numbers
}

// None reports whether nothing is needed.
func (n *Needs) None() bool { return len(n.Newest)+len(n.Ranges)+len(n.Entries) == 0 }

// Known is what was read for a change, at one moment.
type Known struct {
	Head    dag.Seq
	Round   int               // how often Needs was asked and answered
	Newest  map[Key]Term      // of Needs.Newest, those that there are
	Ranges  [][]Term          // of Needs.Ranges, in the order in which they were asked for
	Entries map[dag.Seq]Entry // of Needs.Entries, those that there are
}

// Reader reads what a change needs.
type Reader interface {
	Newest(keys []Key, fn func(Term)) error
	Ranges(ranges []Range) ([][]Term, error)
	Entries(seqs []dag.Seq) ([]Entry, error)
}

// Know reads until a change needs nothing more.
func Know(c Change, head dag.Seq, r Reader) (*Known, error) {
	k := &Known{Head: head, Newest: map[Key]Term{}, Entries: map[dag.Seq]Entry{}}
	for {
		n := c.Needs(k)
		if n.None() {
			return k, nil
		}
		if err := k.read(&n, r); err != nil {
			return nil, err
		}
		k.Round++
	}
}

func (k *Known) read(n *Needs, r Reader) error {
	if len(n.Newest) > 0 {
		if err := r.Newest(n.Newest, func(t Term) { k.Newest[Key{t.Index, string(t.Key)}] = t }); err != nil {
			return err
		}
	}
	if len(n.Ranges) > 0 {
		lists, err := r.Ranges(n.Ranges)
		if err != nil {
			return err
		}
		k.Ranges = append(k.Ranges, lists...)
	}
	if len(n.Entries) > 0 {
		entries, err := r.Entries(n.Entries)
		if err != nil {
			return err
		}
		for _, e := range entries {
			k.Entries[e.Seq] = e
		}
	}
	return nil
}

// An Ending ends a stored term.
type Ending struct {
	Index Index
	Key   []byte
	Since dag.Seq
	Until dag.Seq
}

// A Plan is what a change writes.
type Plan struct {
	Entries []Entry // ascending, and above Known.Head
	Begin   []Term  // some may have ended already, within the plan
	End     []Ending
}

// Head is the newest number after the plan, if it was that before it.
func (p *Plan) Head(before dag.Seq) dag.Seq {
	if n := len(p.Entries); n > 0 {
		return p.Entries[n-1].Seq
	}
	return before
}

// Check reports the first thing about a plan that no store does, given the head before it. A
// plan that fails it is a defect of the change.
func (p *Plan) Check(head dag.Seq) error {
	last := head
	for i := range p.Entries {
		e := &p.Entries[i]
		if err := e.Check(); err != nil {
			return err
		}
		if e.Seq <= last {
			return fmt.Errorf("%w: number %d comes after %d", dag.ErrForm, e.Seq, last)
		}
		last = e.Seq
	}
	for i := range p.Begin {
		if err := p.Begin[i].Check(); err != nil {
			return err
		}
	}
	return nil
}

// Sort brings terms and endings into the order of the terms, in which a store that keeps them
// sorted changes each page once.
func (p *Plan) Sort() {
	slices.SortFunc(p.Begin, func(a, b Term) int { return a.Compare(&b) })
	slices.SortFunc(p.End, func(a, b Ending) int {
		x, y := Term{Index: a.Index, Key: a.Key, Since: a.Since}, Term{Index: b.Index, Key: b.Key, Since: b.Since}
		return x.Compare(&y)
	})
}
