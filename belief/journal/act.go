package journal

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/knowledge"
)

// An Act changes the belief in an item without an operator: it moves a tag, or deprecates or restores the item. An act that makes a
// revision believed is refused if the revision contradicts other beliefs.
type Act struct {
	Item        belief.Item
	Tag         string // the tag that moves; "": the item is deprecated or restored
	Number      int    // of the revision that the tag will point to; 0: the tag is removed
	Deprecates  bool
	Newest      int // the expected number of the item's newest revision, otherwise the error is ErrChanged; 0: any
	By, Reason  string
	At          dag.Time
	Salt        dag.Salt // the salts of assertions are made from it
	Policy      string   // as in Request
	Constraints *belief.Constraints
	Limits      Limits // on the constraints of the space
}

// An Acted is the result of an act.
type Acted struct {
	Result   string
	Seq      dag.Seq          // the number of the act's last entry; 0: the act added no entry
	Conflict []belief.Element // the elements that the act conflicts with
	Wording  Wording          // how the literals of Conflict were written
}

// Do performs an act. It is decided with the beliefs at the time of the commit.
func (b Changes) Do(ctx context.Context, tenant dag.Tenant, a Act) (*Acted, error) {
	if len(a.Reason) > MaxText || a.Number < 0 || a.Tag != "" && !belief.IsTag(a.Tag) {
		return nil, fmt.Errorf("%w: the tag is %.40q, the revision %d and the reason has %d bytes, and one of them is malformed or too long", belief.ErrForm, a.Tag, a.Number, len(a.Reason))
	}
	c := &acting{Act: a}
	whole, err := b.write(ctx, tenant, c)
	if err != nil {
		return nil, err
	}
	c.acted.Seq = whole
	return c.acted, nil
}

type acting struct {
	Act
	exploring
	bound limiting
	acted *Acted
}

// target returns the revision that the tag will point to, or that the restored item has; nil if there is none, or if it was not read yet.
func (c *acting) target(k *history.State) *Revision {
	var seq dag.Seq
	switch {
	case c.Tag == "" && !c.Deprecates:
		seq, _ = currentOf(k, c.Item)
	case c.Tag != "" && c.Number != 0:
		for _, t := range termsOf(k, indexRevisions) {
			if p, err := readPlace(&t); err == nil && p.number == c.Number {
				seq = p.entry
			}
		}
	}
	if e, ok := k.Entries[seq]; ok && e.Kind == KindRevision {
		if r, err := ReadRevision(&e); err == nil {
			return r
		}
	}
	return nil
}

// Needs asks for the records that the act touches; then for the constraints of the space, if the act may add one.
func (c *acting) Needs(k *history.State) history.Needs {
	if k.Round == 0 {
		c.bound = limiting{Limits: c.Limits}
	}
	n := c.explore(k)
	if adds := c.Tag == Current || c.Tag == "" && !c.Deprecates; n.None() && adds && c.bound.may(nil, c.Item.Kind()) {
		n = c.bound.needs(k, c.Item.Space())
	}
	return n
}

// explore asks for the item and its revisions, then for the target, then for the elements connected with the target's statements.
func (c *acting) explore(k *history.State) (n history.Needs) {
	switch k.Round {
	case 0:
		c.begin(c.Item.Space())
		n.Newest = append([]history.Key{{Index: indexSpaces, Key: string(c.Item.Space())}}, keysOf(c.Item, c.Tag, Published)...)
		n.Newest = slices.DeleteFunc(n.Newest, func(key history.Key) bool { return key.Index == indexTags && len(key.Key) == len(belief.Key{}) })
		c.of[c.Item] = true
		n.Ranges = []history.Range{{Index: indexRevisions, Prefix: keyBytes(c.Item.Key())}}
	case 1:
		if seq, err := currentOf(k, c.Item); err == nil && seq != 0 {
			n.Entries = append(n.Entries, seq)
		}
		for _, t := range termsOf(k, indexRevisions) {
			if p, err := readPlace(&t); err == nil && p.number == c.Number {
				n.Entries = append(n.Entries, p.entry)
			}
		}
	default:
		to := c.target(k)
		if to == nil || c.Tag != "" && c.Tag != Current || to.Erased {
			return n
		}
		if k.Round == 2 {
			for i := range to.Statements {
				c.ask(&n, to.Statements[i].slots(), nil)
			}
			c.know(&n, to)
			return n
		}
		return c.more(k)
	}
	return n
}

// Plan decides the act and plans its entries.
func (c *acting) Plan(k *history.State) (*history.Plan, error) {
	c.acted = &Acted{Result: Unchanged}
	t, ok := k.Newest[history.Key{Index: indexSpaces, Key: string(c.Item.Space())}]
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: %s", ErrSpace, c.Item.Space())
	case string(t.Value) != c.Policy:
		return nil, fmt.Errorf("%w: %s now has the policy %.80q", ErrMoved, c.Item.Space(), t.Value)
	}
	p := &history.Plan{}
	f := newFolding(p)
	if err := f.know(k, c.Item, c.Tag, Published); err != nil {
		return nil, err
	}
	s := f.items[c.Item]
	to := c.target(k)
	if s.newest == 0 || c.Number != 0 && to == nil {
		return nil, fmt.Errorf("%w: %s", ErrNoItem, belief.Address{Item: c.Item, Revision: c.Number})
	}
	if c.Newest != 0 && s.newest != c.Newest {
		return nil, fmt.Errorf("%w: %s has %d revisions now, but had %d when it was read", ErrChanged, c.Item, s.newest, c.Newest)
	}
	lapsed := s.lapsed != nil && s.lapsed.Until == history.Forever
	if c.Tag == "" {
		if lapsed == c.Deprecates {
			return p, nil
		}
	} else {
		at, points := s.tags[c.Tag], 0
		if at != nil && at.Until == history.Forever {
			place, err := readPlace(at)
			if err != nil {
				return nil, err
			}
			points = place.number
		}
		if points == c.Number {
			return p, nil
		}
	}
	if protected := s.tags[Published]; c.Tag == Current && protected != nil && protected.Until == history.Forever && s.current != nil {
		if at, err := readPlace(protected); err != nil || at.number == s.current.Number {
			return nil, fmt.Errorf("%w: revision %d of %s is published; first remove its tag published", belief.ErrProtected, s.current.Number, c.Item)
		}
	}
	believes := to != nil && !to.Erased && (c.Tag == Current && !lapsed || c.Tag == "")
	if believes {
		b, err := f.explored(k, &c.exploring)
		if err != nil {
			return nil, err
		}
		var rest belief.Base
		for _, e := range b.elements {
			if b.from[e.Rank.ID].Revision.Item != c.Item {
				rest = append(rest, e)
			}
		}
		for i := range to.Statements {
			rest = append(rest, Part{to, i}.element(false))
		}
		if conflict, ok := belief.Consistent(c.Constraints, rest); !ok {
			c.acted.Result, c.acted.Conflict = Refused, conflict
			c.acted.Wording = Worded(maps.Values(b.from)).With(to.Wording)
			return p, nil
		}
	}
	var ends []knowledge.Holding
	if c.Tag == Current || c.Tag == "" && c.Deprecates {
		ends = s.ending(nil)
	}
	head, err := f.retract(ends, c.Salt, c.Reason, k.Head, c.At)
	if err != nil {
		return nil, err
	}
	r, e := c.record(to, head+1)
	p.Entries = append(p.Entries, e)
	c.acted.Result = Changed
	if err := f.fold(k, nil, r); err != nil {
		return nil, err
	}
	if err := c.bound.check(k, c.Item.Space(), p); err != nil || !believes {
		return p, err
	}
	_, err = f.assert(k, s, c.Salt, e.Seq, c.At)
	return p, err
}

// record returns the record of the act and its entry.
func (c *acting) record(to *Revision, seq dag.Seq) (record, history.Entry) {
	if c.Tag == "" {
		d := &Deprecation{Item: c.Item, Deprecated: c.Deprecates, By: c.By, Reason: c.Reason, Seq: seq, At: c.At}
		return d, d.entry()
	}
	d := &Tag{Item: c.Item, Name: c.Tag, Number: c.Number, By: c.By, Reason: c.Reason, Seq: seq, At: c.At}
	if to != nil {
		d.Entry = to.Seq
	}
	return d, d.entry()
}
