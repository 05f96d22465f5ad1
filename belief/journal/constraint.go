package journal

import (
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// Bounds of the constraints of a space.
const (
	MaxConstraint      = 2 << 10  // bytes of the text of one constraint
	MaxConstraints     = 64       // in a space
	MaxConstraintBytes = 16 << 10 // of all texts in a space together
)

// ErrTooManyConstraints is wrapped if the constraints of a space would exceed their bounds after a change.
var ErrTooManyConstraints = errors.New("too many constraints")

// Limits decide what counts as a constraint of a space. The zero value bounds nothing.
type Limits struct {
	Binds func(kind string) bool // reports whether statements by people in items of a kind are constraints
	Bytes func(*Revision) int    // returns the bytes of a constraint's text
}

// A Load is the number and the size of a space's constraints.
type Load struct{ Count, Bytes, Long, Longest int } // Long counts the constraints longer than MaxConstraint

// Vouched reports whether a person vouches for all statements of the revision. A constraint is a vouched revision of a kind that binds.
func (r *Revision) Vouched() bool {
	for i := range r.Statements {
		if r.Statements[i].Rank.Class < belief.Human {
			return false
		}
	}
	return true
}

// Add adds a revision to a load if it is a constraint.
func (l *Limits) Add(to *Load, r *Revision) {
	if r.Erased || !r.Vouched() || !l.Binds(r.Item.Kind()) {
		return
	}
	n := l.Bytes(r)
	to.Count, to.Bytes, to.Longest = to.Count+1, to.Bytes+n, max(to.Longest, n)
	if n > MaxConstraint {
		to.Long++
	}
}

// Over reports whether a bound is exceeded.
func (l Load) Over() bool {
	return l.Count > MaxConstraints || l.Bytes > MaxConstraintBytes || l.Long > 0
}

// Grown refuses a load that exceeds a bound and exceeds it more than the load before. So constraints of an overfull space can be ended
// one by one.
func (l Load) Grown(before Load, space belief.Space) error {
	switch {
	case l.Long > before.Long:
		return fmt.Errorf("%w: the constraint has %d bytes in the space %s, at most %d; use fewer words, or a kind that is not part of every context", ErrTooManyConstraints, l.Longest, space, MaxConstraint)
	case l.Count > MaxConstraints && l.Count > before.Count || l.Bytes > MaxConstraintBytes && l.Bytes > before.Bytes:
		return fmt.Errorf("%w: the space %s would have %d constraints in %d bytes, at most %d in %d bytes; list them with graphkernel belief rules %s, and end one with graphkernel belief contract or belief deprecate",
			ErrTooManyConstraints, space, l.Count, l.Bytes, MaxConstraints, MaxConstraintBytes, space)
	}
	return nil
}

// A limiting asks for the constraints of a space after an exploring has found everything.
type limiting struct {
	Limits
	stage int
}

// may reports whether an item of the given items or of the given kind can be a constraint.
func (l *limiting) may(items map[belief.Item]bool, kind string) bool {
	if l.Binds == nil {
		return false
	}
	for item := range items {
		if l.Binds(item.Kind()) {
			return true
		}
	}
	return kind != "" && l.Binds(kind)
}

// needs asks for the items of a space, and then for the current revisions of the items whose kinds bind.
func (l *limiting) needs(k *history.State, space belief.Space) (n history.Needs) {
	l.stage++
	switch l.stage {
	case 1:
		key := space.Key()
		n.Ranges = []history.Range{{Index: indexItems, Prefix: key[:], AsOf: history.Forever - 1}}
	case 2:
		for _, item := range l.items(k, space) {
			n.Newest = append(n.Newest, keysOf(item)...)
		}
	case 3:
		for _, item := range l.items(k, space) {
			if seq, err := currentOf(k, item); err == nil && seq != 0 {
				n.Entries = append(n.Entries, seq)
			}
		}
	}
	return n
}

func (l *limiting) items(k *history.State, space belief.Space) (list []belief.Item) {
	for _, t := range termsOf(k, indexItems) {
		if len(t.Key) < len(belief.Key{}) {
			continue
		}
		if item, err := belief.NewItem(space, string(t.Key[len(belief.Key{}):])); err == nil && l.Binds(item.Kind()) {
			list = append(list, item)
		}
	}
	return list
}

// check refuses a plan after which the constraints of a space would exceed their bounds.
func (l *limiting) check(k *history.State, space belief.Space, p *history.Plan) error {
	if l.stage == 0 {
		return nil // nothing can be a constraint
	}
	f := newFolding(&history.Plan{})
	for _, item := range l.items(k, space) {
		if err := f.know(k, item); err != nil {
			return err
		}
	}
	before := f.load(&l.Limits)
	planned := map[dag.Seq]*Revision{}
	for i := range p.Entries {
		r, err := readEntry(&p.Entries[i])
		if err != nil {
			continue // a fact, or a link
		}
		switch r := r.(type) {
		case *Revision:
			planned[r.Seq] = r
			if s := f.constraint(&l.Limits, r.Item); s != nil && r.Current {
				s.current, s.tags[Current] = r, &history.Term{Since: r.Seq, Until: history.Forever}
			}
		case *Tag:
			s := f.constraint(&l.Limits, r.Item)
			if s == nil || r.Name != Current {
				continue
			}
			s.current = planned[r.Entry]
			if e, ok := k.Entries[r.Entry]; ok && s.current == nil {
				if s.current, err = ReadRevision(&e); err != nil {
					return err
				}
			}
			s.tags[Current] = &history.Term{Since: r.Seq, Until: history.Forever}
		case *Deprecation:
			if s := f.constraint(&l.Limits, r.Item); s != nil {
				if s.lapsed = nil; r.Deprecated {
					s.lapsed = &history.Term{Since: r.Seq, Until: history.Forever}
				}
			}
		}
	}
	return f.load(&l.Limits).Grown(before, space)
}

// constraint returns the state of an item that may be a constraint; nil if its kind does not bind.
func (f *folding) constraint(l *Limits, item belief.Item) *itemState {
	if !l.Binds(item.Kind()) {
		return nil
	}
	s := f.items[item]
	if s == nil {
		s = &itemState{tags: map[string]*history.Term{}}
		f.items[item] = s
	}
	return s
}

// load adds up the constraints among the believed revisions of the items.
func (f *folding) load(l *Limits) (sum Load) {
	for _, s := range f.items {
		if s.live() != 0 {
			l.Add(&sum, s.current)
		}
	}
	return sum
}
