package erasures

import (
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
)

// erasing is the change that records an erasure.
type erasing struct {
	asked    Erasure
	recorded Erasure // the erasure that the last plan recorded or found
}

// Needs asks for the turn and for its erasure.
func (c *erasing) Needs(k *history.State) (n history.Needs) {
	switch k.Round {
	case 0:
		n.Size, n.Turns, n.Newest = true, []dag.TurnID{c.asked.Turn}, []history.Key{ofTurn(indexTurn, c.asked.Turn)}
	case 1:
		if t, ok := k.Newest[ofTurn(indexTurn, c.asked.Turn)]; ok {
			n.Entries = []dag.Seq{t.Since}
		}
	}
	return n
}

// Plan records the erasure, unless the turn is already erased or its body never came.
func (c *erasing) Plan(k *history.State) (*history.Plan, error) {
	p := &history.Plan{Erases: true}
	c.recorded = Erasure{}
	turn, ok := k.Turns[c.asked.Turn]
	if !ok {
		return nil, history.ErrNotFound
	}
	if t, ok := k.Newest[ofTurn(indexTurn, c.asked.Turn)]; ok {
		entry := k.Entries[t.Since]
		var err error
		if c.recorded, err = Read(&entry); err != nil {
			return nil, err
		}
		if turn.Body {
			p.Bodies = []dag.TurnID{c.asked.Turn}
		}
		return p, nil
	}
	if turn.Withheld {
		return p, nil
	}
	if k.Head >= dag.MaxSeq {
		return nil, fmt.Errorf("nothing can follow sequence number %d, which is the last possible number", k.Head)
	}
	e := &c.recorded
	*e = c.asked
	e.Seq = k.Head + 1
	logged := history.Entry{Seq: k.Size + 1, Kind: Logged, Public: e.Leaf(k.Tenant)}
	p.Bodies = []dag.TurnID{e.Turn}
	p.Entries, p.Records = []history.Entry{e.Entry()}, []history.Entry{logged}
	p.Begin = append(e.terms(), history.Term{Index: indexLogged, Key: e.Turn[:], Since: logged.Seq, Until: history.Forever})
	return p, nil
}

// Codec is the codec of erasures in the Known stream. With returns the changes that act with an erasure recorded by another store; nil means none.
type Codec struct {
	With func(e *Erasure) []history.Change
}

// Kinds returns Kind.
func (*Codec) Kinds() []history.Kind { return []history.Kind{Kind} }

// Stream returns history.Known.
func (*Codec) Stream() history.Stream { return history.Known }

// Turns returns the turn that was erased.
func (*Codec) Turns(e *history.Entry) []dag.TurnID {
	erasure, err := Read(e)
	if err != nil {
		return nil
	}
	return []dag.TurnID{erasure.Turn}
}

// Adopt returns a change that adopts erasures of another store. It adds no leaves: they are entries of the record.
func (codec *Codec) Adopt(entries []history.Entry) (history.Change, error) {
	a := &adoption{entries: entries, list: make([]Erasure, len(entries))}
	all := []history.Change{a}
	for i := range entries {
		var err error
		if a.list[i], err = Read(&entries[i]); err != nil {
			return nil, err
		}
		if codec.With != nil {
			all = append(all, codec.With(&a.list[i])...)
		}
	}
	return history.Join(all...), nil
}

// An adoption is the change that adopts erasures of another store.
type adoption struct {
	entries []history.Entry
	list    []Erasure
}

func (a *adoption) Needs(k *history.State) (n history.Needs) {
	if k.Round > 0 {
		return n
	}
	for i := range a.list {
		n.Turns = append(n.Turns, a.list[i].Turn)
		n.Newest = append(n.Newest, ofTurn(indexTurn, a.list[i].Turn))
	}
	return n
}

func (a *adoption) Plan(k *history.State) (*history.Plan, error) {
	p := &history.Plan{Entries: a.entries, Erases: len(a.entries) > 0}
	before := map[dag.TurnID]dag.Seq{}
	for i := range a.list {
		e := &a.list[i]
		turn, ok := k.Turns[e.Turn]
		first, twice := before[e.Turn]
		if t, there := k.Newest[ofTurn(indexTurn, e.Turn)]; there {
			first, twice = t.Since, true
		}
		switch {
		case !ok || turn.Seq >= e.Seq:
			return nil, fmt.Errorf("%w: number %d erases turn %s, but no earlier number admits that turn", dag.ErrForm, e.Seq, e.Turn)
		case twice:
			return nil, fmt.Errorf("%w: number %d erases turn %s, but so does number %d; a turn can be erased only once", dag.ErrForm, e.Seq, e.Turn, first)
		}
		before[e.Turn] = e.Seq
		p.Bodies, p.Begin = append(p.Bodies, e.Turn), append(p.Begin, e.terms()...)
	}
	return p, nil
}

// LoggedCodec is the codec of the leaves of erasures.
type LoggedCodec struct{}

// Kinds returns Logged.
func (LoggedCodec) Kinds() []history.Kind { return []history.Kind{Logged} }

// Stream returns history.Record.
func (LoggedCodec) Stream() history.Stream { return history.Record }

// Turns returns no turns: a leaf rests on the erasure.
func (LoggedCodec) Turns(*history.Entry) []dag.TurnID { return nil }

// Adopt returns a change that adopts leaves of another store.
func (c LoggedCodec) Adopt(entries []history.Entry) (history.Change, error) {
	return history.Adopting(c, entries), nil
}

// Fold begins the term of the leaf of an erasure, and refuses a second leaf for the same turn.
func (LoggedCodec) Fold(tx *history.Tx, e *history.Entry) error {
	l, err := ledger.ParseLeaf(e.Public)
	leaf, ok := l.(*ledger.ErasureLeaf)
	if err == nil && (!ok || len(e.Detail)+len(e.Private) > 0) {
		err = errors.New("it must have the leaf of an erasure and nothing else")
	}
	if err != nil {
		return fmt.Errorf("%w: number %d of the record: %w", dag.ErrForm, e.Seq, err)
	}
	key := ofTurn(indexLogged, leaf.Turn)
	if err := history.First(tx, e, leaf.Tenant, key); err != nil {
		return err
	}
	tx.Begin(e, history.Term{Index: key.Index, Key: []byte(key.Key)})
	return nil
}
