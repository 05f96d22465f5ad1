package history

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// A Change is a write that is about to be made. Within the transaction that writes, the store asks the change what it needs to know,
// reads that, and writes what the change plans. Both methods are pure: a store may start over, and relies on the same answers.
type Change interface {
	// Needs returns what must be read in addition to k. It returns nothing if k is enough.
	Needs(k *State) Needs

	// Plan decides what is written. After an error nothing is written.
	Plan(k *State) (*Plan, error)
}

// Needs lists what a change must know.
type Needs struct {
	Newest  []Key        // for each key, the term that begins last
	Ranges  []Range      // for each range, all its terms
	Entries []dag.Seq    // numbers of entries of the Known stream
	Records []dag.Seq    // numbers of entries of the record
	Size    bool         // the newest number of the record
	Turns   []dag.TurnID // turns whose Admitted is needed

	Snapshots []string // names of snapshots
}

// None reports whether nothing is needed.
func (n *Needs) None() bool {
	return len(n.Newest)+len(n.Ranges)+len(n.Entries)+len(n.Records)+len(n.Turns)+len(n.Snapshots) == 0 && !n.Size
}

// ErrNotFound is wrapped when the object of a change does not exist.
var ErrNotFound = errors.New("not found")

// ErrDamaged is wrapped when a store contains impossible data: bytes that nobody wrote, an edge without its act.
var ErrDamaged = errors.New("the store is damaged: run graphkernel fsck")

// State contains everything that was read for a change, as of one moment.
type State struct {
	Tenant  dag.Tenant
	Head    dag.Seq
	Round   int               // how many times Needs was asked and answered
	Newest  map[Key]Term      // for Needs.Newest; keys without a term are missing
	Ranges  [][]Term          // for Needs.Ranges, in the order in which they were asked for
	Entries map[dag.Seq]Entry // for Needs.Entries; numbers without an entry are missing
	Records map[dag.Seq]Entry // for Needs.Records; numbers without an entry are missing
	Size    dag.Seq           // the newest number of the record, if it was asked for

	Turns map[dag.TurnID]Admitted // for Needs.Turns; unknown turns are missing

	Snapshots map[string][]byte // for Needs.Snapshots, the values; names without a snapshot are missing
}

// Admitted describes an admitted turn to a change.
type Admitted struct {
	Seq      dag.Seq
	Body     bool // the store has its body
	Withheld bool // the body never came
}

// PlanOf returns the plan of a change, with the parts of the change numbered; no other function
// numbers parts. Entries of another store keep the parts that they have there, see Exactly.
func PlanOf(c Change, k *State) (*Plan, error) {
	p, err := c.Plan(k)
	if err != nil || p.adopted || len(p.Entries) < 2 {
		return p, err
	}
	if uint64(len(p.Entries)) > math.MaxUint32 {
		return nil, fmt.Errorf("%w: a change has %d entries, at most %d", dag.ErrForm, len(p.Entries), uint32(math.MaxUint32))
	}
	for i := range p.Entries {
		e := &p.Entries[i]
		if want := k.Head + 1 + dag.Seq(i); e.Seq != want {
			return nil, fmt.Errorf("%w: a change has the number %d, but the next number is %d", dag.ErrForm, e.Seq, want)
		}
		e.Part, e.Parts = uint32(i+1), uint32(len(p.Entries))
	}
	return p, nil
}

// Know reads until a change needs nothing more, and returns the resulting state. The function read adds the answers to k.
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

// An Ending ends a stored term, or removes it.
type Ending struct {
	Index Index
	Key   []byte
	Since dag.Seq
	Until dag.Seq // 0: the term is removed, as if it had never counted
}

// A Plan is what a change writes.
type Plan struct {
	Entries []Entry // ascending, and above State.Head
	Records []Entry // for the record, numbered from State.Size + 1 without a gap
	Begin   []Term  // some may already be ended by the same plan
	End     []Ending

	// Forget and ForgetRecords are the numbers of the Known and Record entries whose private halves are removed.
	Forget, ForgetRecords []dag.Seq

	// Bodies are the turns whose bodies, salts and external ids are removed. Needs.Turns must have asked for them.
	Bodies []dag.TurnID

	// Snapshots replace the stored snapshots of the same names, if there are any. A snapshot without a value drops the stored one.
	Snapshots []Snapshot

	adopted bool // the entries keep the parts that they have in another store

	// Erases says that nothing that this plan or an earlier one removed may remain in the store's own files, even if this plan removes nothing.
	Erases bool
}

// Head returns the newest number after the plan, given the newest number before it.
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

// Check reports the first reason why no store can write the plan, given the newest
// numbers before it. A plan that fails the check is a defect of the change.
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
			return fmt.Errorf("%w: an entry of the record has the number %d, but the next number is %d, or it has a time or a part, which it must not have", dag.ErrForm, e.Seq, size)
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

// Sort sorts terms and endings into the order of the terms, so that a store that keeps terms sorted changes each page once.
func (p *Plan) Sort() {
	slices.SortFunc(p.Begin, func(a, b Term) int { return a.Compare(&b) })
	slices.SortFunc(p.End, func(a, b Ending) int {
		x, y := Term{Index: a.Index, Key: a.Key, Since: a.Since}, Term{Index: b.Index, Key: b.Key, Since: b.Since}
		return x.Compare(&y)
	})
}
