package belief

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/normalize"
)

// ErrForm is wrapped by every error about a malformed part of a belief.
var ErrForm = errors.New("not in the form of a belief")

// ErrKind is wrapped if the policy of a space does not list the kind of a new item.
var ErrKind = errors.New("no such kind of items")

// A Literal is a ground statement or its negation. Its names are canonical, as normalize.Name returns them.
type Literal struct {
	Subject   string `json:"subject" is:"Name" tool:"What it is about."`
	Predicate string `json:"predicate" is:"Name" tool:"A verb or an attribute."`
	Object    string `json:"object" is:"Name" tool:"An entity or a value; text: and a text, for a text."`
	Not       bool   `json:"not,omitempty" doc:"The statement is denied." tool:"true to deny it."`
}

// Negated returns the literal that contradicts this one.
func (l Literal) Negated() Literal {
	l.Not = !l.Not
	return l
}

// String returns the literal as people read it.
func (l Literal) String() string {
	s := l.Subject + " " + l.Predicate + " " + l.Object
	if l.Not {
		return "not " + s
	}
	return s
}

// Compare orders literals by subject, predicate and object; a negation comes after the literal that it negates.
func (l Literal) Compare(o Literal) int {
	c := cmp.Or(strings.Compare(l.Subject, o.Subject), strings.Compare(l.Predicate, o.Predicate), strings.Compare(l.Object, o.Object))
	if c != 0 || l.Not == o.Not {
		return c
	}
	if l.Not {
		return 1
	}
	return -1
}

// Slot returns the part of the literal within which it can conflict with others.
func (l Literal) Slot() Slot { return Slot{l.Subject, l.Predicate} }

// Check refuses a literal whose names are not canonical.
func (l Literal) Check() error {
	for _, n := range [...]struct{ what, name string }{{"subject", l.Subject}, {"predicate", l.Predicate}, {"object", l.Object}} {
		if name, err := normalize.Name(n.name); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrForm, n.what, err)
		} else if name != n.name {
			return fmt.Errorf("%w: %s %.80q is not a canonical name, want %.80q", ErrForm, n.what, n.name, name)
		}
	}
	return nil
}

// A Slot is a subject with a predicate. Only literals of the same slot can conflict.
type Slot struct{ Subject, Predicate string }

// A Span is the time for which a literal is believed to hold: from From on and before Until. Until is
// dag.MaxTime if there is no end.
type Span struct{ From, Until dag.Time }

// Always is the span without a beginning and an end.
var Always = Span{0, dag.MaxTime}

// SpanOf returns the span between two times; nil is no beginning or no end.
func SpanOf(from, until *dag.Time) Span {
	s := Always
	if from != nil {
		s.From = *from
	}
	if until != nil {
		s.Until = *until
	}
	return s
}

// Bounds returns the two ends of a span; nil is no beginning or no end. It is the inverse of SpanOf.
func (s Span) Bounds() (from, until *dag.Time) {
	if s.From != 0 {
		from = &s.From
	}
	if s.Until != dag.MaxTime {
		until = &s.Until
	}
	return from, until
}

// Holds reports whether the span contains an instant.
func (s Span) Holds(at dag.Time) bool {
	return s.From <= at && (at < s.Until || s.Until == dag.MaxTime)
}

// Overlaps reports whether two spans share an instant.
func (s Span) Overlaps(o Span) bool { return s.From < o.Until && o.From < s.Until }

// Check refuses a span that contains no instant.
func (s Span) Check() error {
	if !s.From.Valid() || !s.Until.Valid() || s.From >= s.Until {
		return fmt.Errorf("%w: it holds from %s until before %s, want an end after the beginning", ErrForm, s.From, s.Until)
	}
	return nil
}
