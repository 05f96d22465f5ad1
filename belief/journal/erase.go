package journal

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// An Erasure is the part of the erasure of a turn that concerns beliefs. A revision loses its private half if one of its statements rests
// on turns that have all lost their text, and all of its elements are removed as of every number. If the revision is believed, a new
// revision states again the statements that other turns support, with their wording and without a title and a summary. They are believed
// from the erasure on.
type Erasure struct {
	Turn     dag.TurnID
	At       dag.Time
	Adopting bool // another store erased the turn; the revisions that it made are adopted as entries
}

// resting returns the revisions and conflicts that rest on the turn and are not erased, and the numbers of the entries that cannot be read.
func (c *Erasure) resting(k *history.State) (revisions []*Revision, conflicts []*Conflict, damaged []dag.Seq) {
	for _, t := range termsOf(k, indexRests) {
		e, ok := k.Entries[t.Since]
		if !ok || !bytes.Equal(t.Key, c.Turn[:]) || e.Private == nil {
			continue
		}
		read, err := readEntry(&e)
		if err != nil {
			damaged = append(damaged, t.Since)
			continue
		}
		switch r := read.(type) {
		case *Revision:
			revisions = append(revisions, r)
		case *Conflict:
			conflicts = append(conflicts, r)
		}
	}
	slices.SortFunc(revisions, func(a, b *Revision) int { return cmp.Compare(a.Seq, b.Seq) })
	return revisions, conflicts, damaged
}

// Needs asks for the revisions and conflicts that rest on the turn; then for their other turns, the elements of the revisions and the
// states of their items; and then for the current revisions of these items.
func (c *Erasure) Needs(k *history.State) (n history.Needs) {
	switch k.Round {
	case 0:
		n.Ranges = []history.Range{{Index: indexRests, Prefix: c.Turn[:]}}
	case 1:
		for _, t := range termsOf(k, indexRests) {
			n.Entries = append(n.Entries, t.Since)
		}
	case 2:
		revisions, conflicts, _ := c.resting(k)
		for _, r := range revisions {
			for i := range r.Statements {
				n.Turns = append(n.Turns, r.Statements[i].Turns...)
			}
			r.elements(func(key []byte) { n.Ranges = append(n.Ranges, history.Range{Index: indexElements, Prefix: key}) })
			n.Newest = append(n.Newest, keysOf(r.Item)...)
		}
		for _, f := range conflicts {
			n.Turns = append(n.Turns, f.Turns...)
		}
	case 3:
		revisions, _, _ := c.resting(k)
		for _, r := range revisions {
			if seq, err := currentOf(k, r.Item); err == nil && seq != 0 {
				n.Entries = append(n.Entries, seq)
			}
		}
	}
	return n
}

// lost reports whether none of some turns has its text after the erasure. It is false if there are no turns.
func (c *Erasure) lost(k *history.State, turns []dag.TurnID) bool {
	return len(turns) > 0 && !slices.ContainsFunc(turns, func(t dag.TurnID) bool { return t != c.Turn && k.Turns[t].Body })
}

// Plan erases the revisions and conflicts of which a statement has lost all of its turns, and states the remaining statements again. An entry that cannot
// be read loses its private half with the first of its turns, because its text may be of that turn.
func (c *Erasure) Plan(k *history.State) (*history.Plan, error) {
	p := &history.Plan{Erases: true}
	f := newFolding(p)
	revisions, conflicts, damaged := c.resting(k)
	p.Forget = damaged
	head := k.Head
	for _, r := range revisions {
		kept := slices.DeleteFunc(slices.Clone(r.Statements), func(s Stated) bool { return c.lost(k, s.Turns) })
		gone := len(kept) < len(r.Statements)
		if gone {
			p.Forget = append(p.Forget, r.Seq)
			c.forget(k, p, r)
		}
		if c.Adopting || len(kept) == 0 || !readable(k, r.Item) {
			continue
		}
		if err := f.know(k, r.Item); err != nil {
			return nil, err
		}
		var err error
		if head, err = c.again(k, f, r, kept, head); err != nil {
			return nil, err
		}
	}
	for _, x := range conflicts {
		if c.lost(k, x.Turns) {
			p.Forget = append(p.Forget, x.Seq)
		}
	}
	return p, nil
}

// readable reports whether the current revision of an item, if it has one, can be read. One that cannot states nothing again.
func readable(k *history.State, item belief.Item) bool {
	seq, err := currentOf(k, item)
	if err != nil || seq == 0 {
		return true
	}
	e, ok := k.Entries[seq]
	if !ok {
		return true
	}
	_, err = ReadRevision(&e)
	return err == nil
}

// forget removes the elements of a revision, as of every number.
func (c *Erasure) forget(k *history.State, p *history.Plan, r *Revision) {
	for _, t := range termsOf(k, indexElements) {
		if len(t.Value) != 8 || dag.Seq(binary.BigEndian.Uint64(t.Value)) != r.Seq {
			continue
		}
		end := history.Ending{Index: t.Index, Key: t.Key, Since: t.Since}
		if !slices.ContainsFunc(p.End, func(e history.Ending) bool { return bytes.Equal(e.Key, end.Key) && e.Since == end.Since }) {
			p.End = append(p.End, end)
		}
	}
}

// again states the kept statements of a believed revision again, if the revision lost statements or the turn's erasure erases an assertion
// of it. An assertion names the first turn that has its text; erasing that turn erases the assertion without this plan.
func (c *Erasure) again(k *history.State, f *folding, r *Revision, kept []Stated, head dag.Seq) (dag.Seq, error) {
	s := f.items[r.Item]
	if s.live() == 0 || s.current.Seq != r.Seq || len(kept) == 0 {
		return head, nil
	}
	gone, unproved := len(kept) < len(r.Statements), false
	for i := range kept {
		st := &kept[i]
		st.Fact = 0
		for _, p := range s.projected() {
			was := &s.current.Statements[p.at]
			if was.id(r.Item) != st.id(r.Item) {
				continue
			}
			if st.evidence(k) == c.Turn {
				unproved = true
			} else {
				st.Fact = p.number
			}
		}
		if st.Rank.Event == 0 {
			st.Rank.Event = r.Seq
		}
	}
	if !gone && !unproved {
		return head, nil
	}
	again := &Revision{Item: r.Item, Supersedes: r.Number, Withheld: gone || r.Withheld, Wording: c.wordingLeft(k, r)}
	if !gone {
		*again = *r
		again.Supersedes, again.Key = r.Number, dag.Digest{}
	}
	again.Number, again.Current, again.By, again.Statements, again.Confidence, again.Source, again.Seq, again.At = s.newest+1, true, "", kept, r.Confidence, r.Source, head+1, c.At
	digest := sha256.Sum256(append([]byte("again"), r.Salt[:]...))
	again.Salt = dag.Salt(digest[:len(dag.Salt{})])
	if gone {
		s.current.Erased = true // its elements are removed as of every number, so they need not be ended
	}
	f.plan.Entries = append(f.plan.Entries, again.entry())
	if err := f.revision(again); err != nil {
		return head, err
	}
	after := *k
	after.Turns = maps.Clone(k.Turns)
	delete(after.Turns, c.Turn)
	return f.assert(&after, s, again.Salt, again.Seq, c.At)
}

// wordingLeft returns the wording of a revision after an erasure. A literal that a lost statement names is left out: its spelling may come from the lost turns.
func (c *Erasure) wordingLeft(k *history.State, r *Revision) Wording {
	var named []belief.Literal
	for i := range r.Statements {
		if s := &r.Statements[i]; c.lost(k, s.Turns) {
			named = append(append(named, s.Literal), s.Premises...)
		}
	}
	return r.Wording.without(named)
}

var _ history.Change = (*Erasure)(nil)

// Believed is an element that is believed as of a number.
type Believed struct {
	Part
	Since dag.Seq // the number since which it is believed
}

// Element returns the element as an element of package belief.
func (b *Believed) Element() belief.Element { return b.element(false) }
