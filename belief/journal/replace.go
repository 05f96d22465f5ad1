package journal

import (
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
)

// A revision is all that its item says (Kumiho, revisions): the statements of a request that names an item are in the place of those that the item stated.

// setAside removes the statements of the item that the request names from the base, and returns them. The operator then decides as if they
// were not there.
func (w *writing) setAside(b *base) (own []Part) {
	s := w.items[w.Item]
	if w.Item == "" || w.Adds || w.Operator == Contract || s == nil || s.live() == 0 {
		return nil
	}
	b.elements = slices.DeleteFunc(slices.Clone(b.elements), func(e belief.Element) bool { return b.from[e.Rank.ID].Revision.Item == w.Item })
	for i := range s.current.Statements {
		own = append(own, Part{s.current, i})
	}
	return own
}

// unprotected refuses to replace what a protected revision states and the request does not.
func (w *writing) unprotected(own []Part) error {
	for _, p := range own {
		if w.guards(p.Revision) && !w.repeated(p.Stated()) {
			return &belief.ConflictError{Err: fmt.Errorf("%w: %q of %s", belief.ErrProtected, p.Stated().Literal, p.Revision.Address())}
		}
	}
	return nil
}

// repeated reports whether the request states what an older statement says, at times that overlap.
func (w *writing) repeated(old *Stated) bool {
	return slices.ContainsFunc(w.Statements, func(l belief.Literal) bool {
		s := Stated{Literal: l, Premises: w.Premises, Span: w.Span}
		return s.continues(old)
	})
}

// gaveWay returns the statements that the request replaces and does not repeat.
func (w *writing) gaveWay(own []Part) (list []Loss) {
	for _, p := range own {
		if !w.repeated(p.Stated()) {
			list = append(list, Loss{Part: p, Conflict: []Stated{*p.Stated()}})
		}
	}
	return list
}

// speaksFor reports whether the text of the request, if it has one, may take the place of an item's: the item is of the kind that was asked for, and
// each of its statements is lost or repeated.
func (w *writing) speaksFor(r *Revision, lost []Loss) bool {
	if w.Revision.Text == "" {
		return true
	}
	for i := range r.Statements {
		if s := &r.Statements[i]; !w.repeated(s) && !slices.ContainsFunc(lost, func(l Loss) bool { return l.Revision == r && l.At == i }) {
			return false
		}
	}
	return r.Item.Kind() == w.Kind
}
