package journal

import (
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
)

// A revision has every statement of its item (Kumiho, revisions): the statements of a request that names an item replace the item's earlier
// statements.

// replaces reports whether the statements take the place of those of the named item.
func (r *Request) replaces() bool { return r.Item != "" && !r.Adds && r.Operator != Contract }

// restates reports whether the request states what an older statement says, at times that overlap.
func (r *Request) restates(old *Stated) bool {
	return slices.ContainsFunc(r.Statements, func(l belief.Literal) bool {
		s := Stated{Literal: l, Premises: r.Premises, Span: r.Span}
		return s.continues(old)
	})
}

// speaksFor reports whether the text of the request, if it has one, may take the place of a revision's: the item is of the kind that was asked
// for, and each of its statements is lost or stated again.
func (r *Request) speaksFor(of *Revision, lost []Loss) bool {
	if r.Revision.Text == "" {
		return true
	}
	for i := range of.Statements {
		if !r.restates(&of.Statements[i]) && !slices.ContainsFunc(lost, func(l Loss) bool { return l.Revision == of && l.At == i }) {
			return false
		}
	}
	return of.Item.Kind() == r.Kind
}

// setAside removes the statements of the named item from the base, and returns the statements that the request does not repeat. The operator then
// decides without them. The error is a belief.ConflictError if the revision is protected.
func (w *writing) setAside(b *base) (lost []Loss, err error) {
	s := w.items[w.Item]
	if !w.replaces() || s == nil || s.live() == 0 {
		return nil, nil
	}
	b.elements = slices.DeleteFunc(slices.Clone(b.elements), func(e belief.Element) bool { return b.from[e.Rank.ID].Revision.Item == w.Item })
	for i := range s.current.Statements {
		p := Part{s.current, i}
		if w.restates(p.Stated()) {
			continue
		}
		lost = append(lost, Loss{Part: p, Conflict: []Stated{*p.Stated()}})
		if w.guards(s.current) {
			err = &belief.ConflictError{Err: fmt.Errorf("%w: %q of %s", belief.ErrProtected, p.Stated().Literal, s.current.Address())}
		}
	}
	return lost, err
}
