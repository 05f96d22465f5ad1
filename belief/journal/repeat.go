package journal

import (
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// A proposal that repeats an earlier one of the same caller changes nothing: agents repeat themselves, and a revision for each repetition
// would say nothing new. A person who revises with a statement that is believed already does make a revision, because it says that the
// statement still holds.

// plain reports whether a proposal adds only statements, and no link, tag or space.
func (r *Request) plain() bool {
	return r.Operator == Propose && len(r.Links)+len(r.Incoming)+len(r.Tags) == 0 && !r.NewSpace
}

// repeats reports whether a believed revision by the same caller says everything that the proposal says, in the same words and on the
// same turns. If so, it sets the outcome.
func (w *writing) repeats(b *base) bool {
	if !w.plain() {
		return false
	}
	var found *Revision
	for _, p := range b.from {
		if r := p.Revision; (found == nil || r.Item < found.Item) && w.said(r) {
			found = r
		}
	}
	if found == nil {
		return false
	}
	w.outcome.Item, w.outcome.Revision, w.outcome.Seq, w.outcome.Again, w.outcome.Wording = found.Item, found.Number, found.Whole, true, w.Request.Wording
	return true
}

// said reports whether a believed revision says everything that the request says.
func (w *writing) said(r *Revision) bool {
	asked := &w.Revision
	if w.Item != "" && r.Item != w.Item || r.By != w.By || r.Confidence != asked.Confidence || r.Source != asked.Source ||
		r.Text != asked.Text || r.Title != asked.Title || r.Summary != asked.Summary || !slices.Equal(r.Keywords, asked.Keywords) || !slices.Equal(r.Topics, asked.Topics) || !slices.Equal(r.Artifacts, asked.Artifacts) {
		return false
	}
	if s := w.items[r.Item]; s == nil || s.live() == 0 || s.current.Seq != r.Seq {
		return false
	}
	for _, l := range w.Statements {
		if !slices.ContainsFunc(r.Statements, func(s Stated) bool {
			return s.Literal == l && slices.Equal(s.Premises, w.Premises) && s.Span.From <= w.Span.From && w.Span.Until <= s.Span.Until && s.Rank.Class >= w.Rank.Class && !slices.ContainsFunc(w.Turns, func(t dag.TurnID) bool { return !slices.Contains(s.Turns, t) })
		}) {
			return false
		}
	}
	return w.writtenAs(r.Wording)
}

// writtenAs reports whether a wording spells the literals of the request as the request does.
func (r *Request) writtenAs(other Wording) bool {
	for _, l := range slices.Concat(r.Statements, r.Premises) {
		if other[l] != r.Wording[l] {
			return false
		}
	}
	return true
}

// waits looks for a waiting proposal of the same caller with the same statements, and returns the number of the last entry of its change; 0 if there is none.
func (w *writing) waits() dag.Seq {
	if !w.plain() || w.Waiting == 0 {
		return 0
	}
	for _, t := range termsOf(w.k, indexConflicts) {
		e, ok := w.k.Entries[t.Since]
		if !ok {
			continue
		}
		c, err := ReadConflict(&e)
		if err == nil && !c.Erased && c.By == w.By && c.Space == w.Space && c.Item == w.Item && c.Kind == w.Kind && c.Span == w.Span && c.Confidence == w.Revision.Confidence && c.Text == w.Revision.Text &&
			slices.Equal(c.Statements, w.Statements) && slices.Equal(c.Premises, w.Premises) && slices.Equal(c.Turns, w.Turns) && w.writtenAs(c.Wording) {
			return e.Whole()
		}
	}
	return 0
}
