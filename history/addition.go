package history

import (
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
)

// Additions is a change that adds entries to the record, those that it does not have. A key says
// which those are: the term of a key leads to its entry.
type Additions struct {
	List     []Addition
	Adopting bool      // the entries have their numbers, and none may be there
	Numbers  []dag.Seq // after planning: the number of the entry that is there for each of List
}

// An Addition is an entry that may be added.
type Addition struct {
	Entry
	Tenant dag.Tenant // that its leaf names; "" if it names none
	Key    Key
	Value  []byte // of the term of Key
	More   []Term // further terms that begin with the entry; their Since and Until are set

	// Again refuses an entry where the record has one of the same key, by its term. Nil refuses
	// none: it is the same then.
	Again func(t *Term) error
}

// Needs asks for the terms of all keys.
func (a *Additions) Needs(k *State) (n Needs) {
	if k.Round > 0 || len(a.List) == 0 {
		return n
	}
	n.Size = true
	n.Newest = make([]Key, len(a.List))
	for i := range a.List {
		n.Newest[i] = a.List[i].Key
	}
	return n
}

// Plan adds what is new, in the order of List.
func (a *Additions) Plan(k *State) (*Plan, error) {
	p := &Plan{}
	a.Numbers = make([]dag.Seq, len(a.List))
	added := map[Key]Term{}
	next := k.Size
	for i := range a.List {
		it := &a.List[i]
		if it.Tenant != "" && it.Tenant != k.Tenant {
			return nil, fmt.Errorf("%w: the leaf of number %d is of tenant %.80q", dag.ErrForm, it.Seq, it.Tenant)
		}
		known, there := k.Newest[it.Key]
		if !there {
			known, there = added[it.Key]
		}
		switch {
		case there && a.Adopting:
			return nil, fmt.Errorf("%w: number %d of the record is what number %d is already", dag.ErrForm, it.Seq, known.Since)
		case there && it.Again != nil:
			if err := it.Again(&known); err != nil {
				return nil, err
			}
			fallthrough
		case there:
			a.Numbers[i] = known.Since
			continue
		}
		e := it.Entry
		if !a.Adopting {
			next++
			e.Seq = next
		}
		a.Numbers[i] = e.Seq
		leads := Term{Index: it.Key.Index, Key: []byte(it.Key.Key), Since: e.Seq, Until: Forever, Value: it.Value}
		added[it.Key] = leads
		p.Records, p.Begin = append(p.Records, e), append(p.Begin, leads)
		for _, t := range it.More {
			t.Since, t.Until = e.Seq, Forever
			p.Begin = append(p.Begin, t)
		}
	}
	return p, nil
}
