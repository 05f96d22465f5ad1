package journal

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/history"
)

// Statements of a person and proposed statements do not share an item, unless a person says so. An item has one name, one kind, one title
// and one summary for all of its statements, so the author of a revision speaks for the authors of the others.

// errVouched says that a proposal would change an item in which a person vouches for a statement.
var errVouched = errors.New("a person vouches for what the item states")

// unvouched refuses a proposal that names an item in which a person vouches for a statement, or that would remove a statement from such an item.
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

// vouchedFor reports whether a person vouches for a believed statement of an item.
func (f *folding) vouchedFor(item belief.Item) bool {
	s := f.items[item]
	return s != nil && s.live() != 0 && slices.ContainsFunc(s.current.Statements, func(s Stated) bool { return s.Rank.Class >= belief.Human })
}

// shares reports whether the request may become a revision of an item that it does not name. All statements of the item must be vouched for
// by persons if the request is a person's, and none otherwise.
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

// onlyVouched returns the statements of an item for which a person vouches. The others give way, because a person vouches for all
// statements of a constraint.
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

// MaxWaiting bounds the waiting proposals of one caller who does not write as a person.
const MaxWaiting = 50

// ErrTooManyWaiting is wrapped if a proposal would have to wait and too many of the same caller wait already.
var ErrTooManyWaiting = errors.New("too many proposals wait for a decision")

// waiting asks for the waiting proposals of a tenant, and for the entries of those in a space. It asks for the other entries only if at
// least MaxWaiting proposals wait, so one caller may have too many.
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

// room refuses another waiting proposal if the caller already has as many as the request allows.
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
	return fmt.Errorf("%w: %d proposals of %q wait, at most %d; a person can list them with graphkernel belief conflicts %s, and end one with belief resolve", ErrTooManyWaiting, n, w.By, w.Waiting, w.Space)
}
