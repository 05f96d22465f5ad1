package journal

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/history"
)

// What a person states and what is proposed do not share an item, unless a person says so. An item has one name, one kind, one title and one summary for all that it
// states, so whoever adds a revision speaks for the others.

// errVouched says that a proposal would change an item in which a person vouches for something.
var errVouched = errors.New("a person vouches for what the item states")

// unvouched refuses a proposal that names an item in which a person vouches for something, or that would take a statement out of one.
func (w *writing) unvouched(b *base, d *belief.Decision) error {
	refuse := func(item belief.Item) error {
		if w.vouchedFor(item) {
			return &belief.ConflictError{Err: errVouched, Lost: d.Lost}
		}
		return nil
	}
	err := refuse(w.Item)
	for i := range d.Lost {
		err = errors.Join(err, refuse(b.from[d.Lost[i].Element.Rank.ID].Revision.Item))
	}
	return err
}

// vouchedFor reports whether a person vouches for something that is believed of an item.
func (w *writing) vouchedFor(item belief.Item) bool {
	s := w.items[item]
	return s != nil && s.live() != 0 && slices.ContainsFunc(s.current.Statements, func(s Stated) bool { return s.Rank.Class >= belief.Human })
}

// shares reports whether the request may become a revision of an item that it does not name: one that says nothing but what persons vouch for, or nothing but
// what was proposed, as the request does.
func (w *writing) shares(item belief.Item) bool {
	s := w.items[item]
	if s == nil || s.live() == 0 {
		return true
	}
	if w.Rank.Class >= belief.Human {
		return s.current.Vouched()
	}
	return !w.vouchedFor(item)
}

// onlyVouched returns those of an item's statements for which a person vouches. The others give way: a constraint is a person's word throughout.
func (w *writing) onlyVouched(was *Revision, kept []Stated) []Stated {
	return slices.DeleteFunc(kept, func(s Stated) bool {
		if s.Rank.Class >= belief.Human {
			return false
		}
		at := slices.IndexFunc(was.Statements, func(o Stated) bool { return o.id(was.Item) == s.id(was.Item) })
		w.outcome.GaveWay = append(w.outcome.GaveWay, Loss{Part: Part{was, at}, Conflict: []Stated{s}})
		return true
	})
}

// MaxWaiting bounds the proposals that wait of one caller whose word is not a person's.
const MaxWaiting = 50

// ErrTooManyWaiting is wrapped if a proposal would have to wait, and too many of the same caller do.
var ErrTooManyWaiting = errors.New("too many proposals wait")

// waiting asks for the proposals of a tenant that wait, and reads those of a space. The others are read only if there are so many that one caller's can be too many.
func waiting(k *history.State, space belief.Space) (n history.Needs) {
	switch k.Round {
	case 0:
		n.Ranges = []history.Range{{Index: indexConflicts, AsOf: history.Forever - 1}}
	case 1:
		terms, key := termsOf(k, indexConflicts), space.Key()
		for i := range terms {
			if len(terms) >= MaxWaiting || bytes.Equal(terms[i].Key, key[:]) {
				n.Entries = append(n.Entries, terms[i].Since)
			}
		}
	}
	return n
}

// room refuses one more proposal that waits, if as many of the caller's do as may.
func (w *writing) room() error {
	if w.Waiting == 0 {
		return nil
	}
	n := 0
	for _, t := range termsOf(w.k, indexConflicts) {
		e, ok := w.k.Entries[t.Since]
		if !ok {
			continue
		}
		if c, err := ReadConflict(&e); err == nil && c.By == w.By {
			n++
		}
	}
	if n < w.Waiting {
		return nil
	}
	return fmt.Errorf("%w: %d of %q wait for a decision, at most %d; a person lists them with graphkernel belief conflicts %s, and ends one with belief resolve", ErrTooManyWaiting, n, w.By, w.Waiting, w.Space)
}
