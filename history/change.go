package history

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// A Change is a write on its way. A store asks it what it needs to know, reads that within
// the transaction that will write, and does what it plans. Both methods are pure: a store may
// begin again, and then counts on the same answers.
type Change interface {
	// Needs says what must be read in addition to what is known; nothing, if that is all.
	Needs(k *State) Needs

	// Plan decides what is written. If there is an error nothing is.
	Plan(k *State) (*Plan, error)
}

// Needs is what a change must know.
type Needs struct {
	Newest  []Key        // of each key the term that begins last
	Ranges  []Range      // all terms of each
	Entries []dag.Seq    // the entries of numbers
	Records []dag.Seq    // those of the record
	Size    bool         // the newest number of the record
	Turns   []dag.TurnID // what is known of turns

	Snapshots []string // those of names
}

// None reports whether nothing is needed.
func (n *Needs) None() bool {
	return len(n.Newest)+len(n.Ranges)+len(n.Entries)+len(n.Records)+len(n.Turns)+len(n.Snapshots) == 0 && !n.Size
}

// ErrNotFound is wrapped when a change is about something that is not there.
var ErrNotFound = errors.New("not found")

// ErrDamaged is wrapped when a store holds what cannot be: bytes that nobody wrote, an edge without its act.
var ErrDamaged = errors.New("the store is damaged: run graphkernel fsck")

// State is what was read for a change, at one moment.
type State struct {
	Tenant  dag.Tenant
	Head    dag.Seq
	Round   int               // how often Needs was asked and answered
	Newest  map[Key]Term      // of Needs.Newest, those that there are
	Ranges  [][]Term          // of Needs.Ranges, in the order in which they were asked for
	Entries map[dag.Seq]Entry // of Needs.Entries, those that there are
	Records map[dag.Seq]Entry // of Needs.Records
	Size    dag.Seq           // the newest number of the record, if it was asked for

	Turns map[dag.TurnID]Admitted // of Needs.Turns, those that there are

	Snapshots map[string][]byte // the values of Needs.Snapshots, of those that there are
}

// Admitted is what a change can know of a turn.
type Admitted struct {
	Seq      dag.Seq
	Body     bool // the store has its body
	Withheld bool // the body never came
}

// PlanOf lets a change plan with what it asked for, and numbers the parts of the change: the one place where a part is made.
// Entries that another store has keep the parts that they have there, see Exactly.
func PlanOf(c Change, k *State) (*Plan, error) {
	p, err := c.Plan(k)
	if err != nil || p.adopted || len(p.Entries) < 2 {
		return p, err
	}
	if uint64(len(p.Entries)) > math.MaxUint32 {
		return nil, fmt.Errorf("%w: a change of %d entries, at most %d", dag.ErrForm, len(p.Entries), uint32(math.MaxUint32))
	}
	for i := range p.Entries {
		e := &p.Entries[i]
		if want := k.Head + 1 + dag.Seq(i); e.Seq != want {
			return nil, fmt.Errorf("%w: a change has the number %d where %d comes next", dag.ErrForm, e.Seq, want)
		}
		e.Part, e.Parts = uint32(i+1), uint32(len(p.Entries))
	}
	return p, nil
}

// Know reads until a change needs nothing more. What a reader is asked for it adds with the
// methods of State.
func Know(c Change, tenant dag.Tenant, head dag.Seq, read func(n *Needs, k *State) error) (*State, error) {
	k := &State{Tenant: tenant, Head: head, Newest: map[Key]Term{}, Entries: map[dag.Seq]Entry{}, Records: map[dag.Seq]Entry{}, Turns: map[dag.TurnID]Admitted{}, Snapshots: map[string][]byte{}}
	for {
		n := c.Needs(k)
		if n.None() {
			return k, nil
		}
		if err := read(&n, k); err != nil {
			return nil, err
		}
		k.Round++
	}
}

// AddNewest adds the newest term of a key.
func (k *State) AddNewest(t Term) { k.Newest[Key{t.Index, string(t.Key)}] = t }

// AddEntries adds entries of a stream.
func (k *State) AddEntries(of Stream, list []Entry) {
	into := k.Entries
	if of == Record {
		into = k.Records
	}
	for _, e := range list {
		into[e.Seq] = e
	}
}

// An Ending ends a stored term, or takes it away.
type Ending struct {
	Index Index
	Key   []byte
	Since dag.Seq
	Until dag.Seq // 0: the term goes, as one that never counted
}

// A Plan is what a change writes.
type Plan struct {
	Entries []Entry // ascending, and above State.Head
	Records []Entry // of the record, from State.Size and one on, without a gap
	Begin   []Term  // some may have ended already, within the plan
	End     []Ending

	// Forget and ForgetRecords are numbers of entries of either stream whose private halves go.
	Forget, ForgetRecords []dag.Seq

	// Bodies are turns whose bodies, salts and external ids go. Needs.Turns must have asked for them.
	Bodies []dag.TurnID

	// Snapshots replace those of their names, whether or not there are any. One without a value drops what is there.
	Snapshots []Snapshot

	adopted bool // the entries have the parts that they have in another store

	// Erases says that nothing which the plan takes away, or an earlier one took, may be left in the
	// store's own files, even if the plan takes nothing.
	Erases bool
}

// Head is the newest number after the plan, if it was that before it.
func (p *Plan) Head(before dag.Seq) dag.Seq {
	if n := len(p.Entries); n > 0 {
		return p.Entries[n-1].Seq
	}
	return before
}

// Empty reports whether the plan writes nothing.
func (p *Plan) Empty() bool {
	return len(p.Entries)+len(p.Records)+len(p.Begin)+len(p.End)+len(p.Forget)+len(p.ForgetRecords)+len(p.Bodies)+len(p.Snapshots) == 0
}

// Check reports the first thing about a plan that no store does, given the newest numbers before
// it. A plan that fails it is a defect of the change.
func (p *Plan) Check(head, size dag.Seq) error {
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
	for i := range p.Records {
		e := &p.Records[i]
		if err := e.Check(); err != nil {
			return err
		}
		if size++; e.Seq != size || e.At != 0 || e.Parts != 0 {
			return fmt.Errorf("%w: the record has the number %d where %d comes next, or with a time or a part", dag.ErrForm, e.Seq, size)
		}
	}
	for i := range p.Begin {
		if err := p.Begin[i].Check(); err != nil {
			return err
		}
	}
	for i := range p.Snapshots {
		if err := p.Snapshots[i].Check(); err != nil {
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
