package history

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// A Decide decides what is written. It reads what is stored at the commit and adds entries, all through a Tx. A read that
// the Tx cannot answer yet fails; Decide then returns that error, and runs again when the store has read the answer. Since
// it may run several times, Decide is pure except for the Tx; a variable outside of it has the value that the last run set.
type Decide func(tx *Tx) error

// A Folder is a Codec that knows which terms an entry begins and ends.
type Folder interface {
	Codec

	// Fold checks that an entry can follow on what is stored before it, and begins and ends
	// the entry's terms. It is called for new entries and for entries of another store.
	Fold(tx *Tx, e *Entry) error
}

// Deciding returns a change that runs decide; of is the codec of the entries that it adds.
func Deciding(of Folder, decide Decide) Change { return &decision{of: of, decide: decide} }

// Adopting returns a change that adopts entries of a codec from another store, under their numbers there.
func Adopting(of Folder, entries []Entry) Change {
	return Deciding(of, func(tx *Tx) error {
		var missing error
		for i := range entries {
			err := tx.add(entries[i])
			if errors.Is(err, errUnread) { // go on, so that the reads of all entries are asked for at once
				missing = err
			} else if err != nil && missing == nil {
				return err
			}
		}
		return missing
	})
}

// errUnread is returned by a read that has been asked for and has no answer yet.
var errUnread = errors.New("history: a decision ended before it had everything that it asked for")

// A Tx answers the reads of a Decide and collects the entries that it adds.
type Tx struct {
	*decision
	state *State
	plan  Plan
	begun map[Key]Term // the newest term of each key that this run began
	next  dag.Seq      // the number of the next added entry; 0: none was added yet
	needs Needs        // the reads of this run that had no answer
}

// A decision is the Change of a Decide. It remembers what was asked for, since a
// State does not distinguish a missing answer from a question that was not asked.
type decision struct {
	of     Folder
	decide Decide

	newest  map[Key]bool
	records map[dag.Seq]bool
	known   map[dag.Seq]bool
	ranges  []Range          // in the order of State.Ranges
	places  map[string][]int // from a prefix to the positions in ranges of the ranges with this prefix
	sized   bool             // State.Size was asked for

	made           *Plan // the plan of the last run of Needs, nil after Plan returned it
	ofHead, ofSize dag.Seq
}

// Needs runs the decision, and returns the reads that had no answer.
func (d *decision) Needs(k *State) Needs {
	if k.Round == 0 {
		d.newest, d.records, d.known, d.ranges, d.sized = map[Key]bool{}, map[dag.Seq]bool{}, map[dag.Seq]bool{}, nil, false
		d.places = map[string][]int{}
	}
	tx := d.run(k)
	d.made = nil
	if err := d.decide(tx); !errors.Is(err, errUnread) && k.Round > 0 {
		if err == nil {
			d.made, d.ofHead, d.ofSize = tx.planned(), k.Head, k.Size
		}
		return Needs{} // the decision is complete; it needs nothing more of what it fetched in advance
	}
	n := tx.needs
	n.Size = n.Size || k.Round == 0 && d.of.Stream() == Record
	d.sized = d.sized || n.Size
	for _, key := range n.Newest {
		d.newest[key] = true
	}
	for _, seq := range n.Records {
		d.records[seq] = true
	}
	for _, seq := range n.Entries {
		d.known[seq] = true
	}
	for _, r := range n.Ranges {
		d.places[string(r.Prefix)] = append(d.places[string(r.Prefix)], len(d.ranges))
		d.ranges = append(d.ranges, r)
	}
	return n
}

// Plan returns the plan of the last run of Needs, or runs the decision again if the head or the size has moved.
func (d *decision) Plan(k *State) (*Plan, error) {
	if p := d.made; p != nil && k.Head == d.ofHead && k.Size == d.ofSize {
		d.made = nil
		return p, nil
	}
	tx := d.run(k)
	if err := d.decide(tx); err != nil {
		return nil, err
	}
	return tx.planned(), nil
}

func (d *decision) run(k *State) *Tx { return &Tx{decision: d, state: k, begun: map[Key]Term{}} }

// Tenant returns the tenant of the history.
func (tx *Tx) Tenant() dag.Tenant { return tx.state.Tenant }

// Newest returns the term of a key that begins last, including terms that this change began.
func (tx *Tx) Newest(key Key) (t Term, there bool, err error) {
	if t, there = tx.begun[key]; there {
		return t, true, nil
	}
	if !tx.newest[key] {
		tx.needs.Newest = append(tx.needs.Newest, key)
		return Term{}, false, errUnread
	}
	t, there = tx.state.Newest[key]
	return t, there, nil
}

// Terms returns the stored terms of a range, without terms that this change began.
func (tx *Tx) Terms(r Range) ([]Term, error) {
	for _, i := range tx.places[string(r.Prefix)] {
		if reflect.DeepEqual(tx.ranges[i], r) {
			return tx.state.Ranges[i], nil
		}
	}
	tx.needs.Ranges = append(tx.needs.Ranges, r)
	return nil, errUnread
}

// Entries returns the stored entries of a stream with the given numbers, in
// the order of the numbers. A missing entry is an error that wraps ErrDamaged.
func (tx *Tx) Entries(of Stream, numbers ...dag.Seq) ([]Entry, error) {
	asked, answers, needs := tx.known, tx.state.Entries, &tx.needs.Entries
	if of == Record {
		asked, answers, needs = tx.records, tx.state.Records, &tx.needs.Records
	}
	var list []Entry
	var missing error
	for _, seq := range numbers {
		e, there := answers[seq]
		switch {
		case !asked[seq]:
			*needs, missing = append(*needs, seq), errUnread
		case !there && missing == nil:
			missing = fmt.Errorf("%w: number %d is not there", ErrDamaged, seq)
		}
		list = append(list, e)
	}
	return list, missing
}

// Size returns the newest number of the record.
func (tx *Tx) Size() (dag.Seq, error) {
	if !tx.sized {
		tx.needs.Size = true
		return 0, errUnread
	}
	return tx.state.Size, nil
}

// Erase removes the private halves of entries of the record, beyond recovery from the store's
// own files. Without arguments it finishes an erasure that a store could not finish before.
func (tx *Tx) Erase(records ...dag.Seq) {
	tx.plan.Erases = true
	tx.plan.ForgetRecords = append(tx.plan.ForgetRecords, records...)
}

// planned returns the plan of a run that ended.
func (tx *Tx) planned() *Plan {
	slices.Sort(tx.plan.ForgetRecords)
	tx.plan.ForgetRecords = slices.Compact(tx.plan.ForgetRecords) // two entries may erase the same record
	return &tx.plan
}

// Fetch asks for terms that the decision reads later, so that one query to the store returns them together.
func (tx *Tx) Fetch(keys []Key, ranges ...Range) {
	for _, key := range keys {
		_, _, _ = tx.Newest(key) // asked for
	}
	for _, r := range ranges {
		_, _ = tx.Terms(r) // asked for
	}
}

// Add adds an entry under the next number of the codec's stream, and returns the number.
func (tx *Tx) Add(e Entry) (dag.Seq, error) {
	if tx.next == 0 {
		if tx.next = tx.state.Size + 1; tx.of.Stream() == Known {
			tx.next = tx.state.Head + 1
		}
	}
	if tx.next > dag.MaxSeq {
		return 0, fmt.Errorf("nothing can follow sequence number %d, which is the last possible number", dag.MaxSeq)
	}
	e.Seq = tx.next
	tx.next++
	return e.Seq, tx.add(e)
}

func (tx *Tx) add(e Entry) error {
	if err := tx.of.Fold(tx, &e); err != nil {
		return err
	}
	if tx.of.Stream() == Record {
		tx.plan.Records = append(tx.plan.Records, e)
	} else {
		tx.plan.Entries = append(tx.plan.Entries, e)
	}
	return nil
}

// Begin begins terms, which count from an entry's number on until they are ended.
func (tx *Tx) Begin(e *Entry, terms ...Term) {
	for _, t := range terms {
		t.Since, t.Until = e.Seq, Forever
		tx.plan.Begin = append(tx.plan.Begin, t)
		tx.begun[Key{t.Index, string(t.Key)}] = t
	}
}

// First refuses an entry whose leaf names another tenant than that of the history, and
// an entry whose key has a term already. The tenant "" means that the leaf names none.
func First(tx *Tx, e *Entry, leaf dag.Tenant, key Key) error {
	known, there, err := tx.Newest(key)
	switch {
	case err != nil:
		return err
	case leaf != "" && leaf != tx.Tenant():
		return fmt.Errorf("%w: the leaf of number %d belongs to tenant %.80q", dag.ErrForm, e.Seq, leaf)
	case there:
		return fmt.Errorf("%w: number %d of the record repeats number %d", dag.ErrForm, e.Seq, known.Since)
	}
	return nil
}
