package belief

import (
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// Errors of operators.
var (
	// ErrInput is wrapped if the input of an operator contradicts itself.
	ErrInput = errors.New("the request contradicts itself")
	// ErrConflict is wrapped if an operator is refused because its input contradicts the base.
	ErrConflict = errors.New("the request contradicts the beliefs of the space")
	// ErrProtected is wrapped if a protected element would give way.
	ErrProtected = errors.New("the request would replace a protected belief")
)

// A Decision says how an operator changes a base.
type Decision struct {
	Input []Element // the input as it is believed afterwards, with its rank; empty after a contraction
	Kept  Base      // the elements of the base that stay, from the most entrenched to the least
	Lost  []Loss    // the elements of the base that give way, in the same order
}

// A Loss is an element that gives way.
type Loss struct {
	Element Element

	// Conflict is a minimal set of elements, including this one, that the operator cannot keep together. It includes elements of
	// the input.
	Conflict []Element

	// Until is the new end of the element's span if the span began before the span of the operation; otherwise it is 0, and the element is
	// no longer believed.
	Until dag.Time
}

// After returns the base after the decision.
func (d *Decision) After() Base {
	after := slices.Concat(d.Input, d.Kept)
	for i := range d.Lost {
		if l := &d.Lost[i]; l.Until != 0 {
			e := l.Element
			e.Span.Until = l.Until
			after = append(after, e)
		}
	}
	return after
}

// A ConflictError says why an operator was refused. It wraps ErrInput, ErrConflict or ErrProtected.
type ConflictError struct {
	Err      error
	Lost     []Loss    // the elements that would have given way
	Elements []Element // a minimal set that contradicts itself
}

func (e *ConflictError) Error() string {
	if len(e.Elements) == 0 && len(e.Lost) > 0 {
		return fmt.Sprintf("%v: %q", e.Err, e.Lost[0].Element.Literal)
	}
	literals := make([]string, len(e.Elements))
	for i := range e.Elements {
		literals[i] = e.Elements[i].Literal.String()
	}
	return fmt.Sprintf("%v: %q", e.Err, literals)
}

func (e *ConflictError) Unwrap() error { return e.Err }

// Contract gives up each of some literals in a span. The base must be consistent.
func Contract(c *Constraints, b Base, give []Literal, in Span) (*Decision, error) {
	ranked := b.ranked()
	l := newClosure(c, ranked, give, in)
	l.ignores = true
	for _, g := range give {
		l.watch(g, in)
	}
	return l.walk(0, in.From)
}

// Revise adds elements, which all have the same span. The base must be consistent. The ranks of the input are raised above those of
// the elements that gave way, or the next walk would lose the input.
func Revise(c *Constraints, b Base, input []Element) (*Decision, error) {
	l := newClosure(c, slices.Concat(input, b.ranked()), nil)
	for i := range input {
		if !l.add(i) {
			return nil, &ConflictError{Err: ErrInput, Elements: l.smallest(l.clashing())}
		}
	}
	d, err := l.walk(len(input), startOf(input))
	if err != nil {
		return nil, err
	}
	d.Input = slices.Clone(input)
	for i := range d.Input {
		r := &d.Input[i].Rank
		for k := range d.Lost {
			if o := d.Lost[k].Element.Rank; o.Class > r.Class || o.Class == r.Class && o.Criterion > r.Criterion {
				r.Class, r.Criterion = o.Class, o.Criterion
			}
		}
	}
	return d, nil
}

// Expand adds elements, and is refused if they contradict the base.
func Expand(c *Constraints, b Base, input []Element) (*Decision, error) {
	d, err := Revise(c, b, input)
	if err != nil {
		return nil, err
	}
	if len(d.Lost) > 0 {
		return nil, &ConflictError{Err: ErrConflict, Lost: d.Lost, Elements: d.Lost[0].Conflict}
	}
	d.Input = slices.Clone(input)
	return d, nil
}

// Propose is for sources that may be wrong. It revises if every element that would give way is unprotected and less entrenched than each
// element of the input. Otherwise it is refused.
func Propose(c *Constraints, b Base, input []Element) (*Decision, error) {
	d, err := Revise(c, b, input)
	if err != nil {
		return nil, err
	}
	for i := range d.Lost {
		for k := range input {
			if input[k].Rank.Compare(d.Lost[i].Element.Rank) <= 0 {
				return nil, &ConflictError{Err: ErrConflict, Lost: d.Lost, Elements: d.Lost[i].Conflict}
			}
		}
	}
	return d, nil
}

func startOf(input []Element) dag.Time {
	if len(input) == 0 {
		return 0
	}
	return input[0].Span.From
}

// walk visits the elements from an index on, the most entrenched first, and keeps each element that does not clash with the kept ones. A
// lost element whose span began before the time ends gets that time as the new end of its span.
func (l *closure) walk(from int, ends dag.Time) (*Decision, error) {
	d := &Decision{}
	var protected []Loss
	for i := from; i < len(l.elements); i++ {
		e := &l.elements[i]
		mark := l.mark()
		if l.add(i) {
			d.Kept = append(d.Kept, *e)
			continue
		}
		lost := Loss{Element: *e, Conflict: l.smallest(l.clashing())}
		l.undo(mark)
		if e.Span.From < ends {
			lost.Until = ends
		}
		d.Lost = append(d.Lost, lost)
		if e.Guarded {
			protected = append(protected, lost)
		}
	}
	if len(protected) > 0 {
		return nil, &ConflictError{Err: ErrProtected, Lost: protected, Elements: protected[0].Conflict}
	}
	return d, nil
}

// smallest returns the elements of a clash without those that the clash does not need.
func (l *closure) smallest(list []int) []Element {
	for i := 0; i < len(list) && len(list) > 1; {
		fewer := slices.Delete(slices.Clone(list), i, i+1)
		if l.clashes(fewer) {
			list = fewer
		} else {
			i++
		}
	}
	elements := make([]Element, len(list))
	for i, n := range list {
		elements[i] = l.elements[n]
	}
	return elements
}

// clashes reports whether the listed elements clash without the others.
func (l *closure) clashes(list []int) bool {
	some := make([]Element, len(list))
	for i, n := range list {
		some[i] = l.elements[n]
	}
	var watched []Literal
	for of, n := range l.nodes {
		if n.watched != nil {
			watched = append(watched, of)
		}
	}
	var spans []Span
	for _, of := range watched {
		spans = append(spans, l.spans(l.nodes[of].watched)...)
	}
	o := newClosure(l.constraints, some, watched, spans...)
	o.ignores = l.ignores
	for _, of := range watched {
		for _, s := range l.spans(l.nodes[of].watched) {
			o.watch(of, s)
		}
	}
	for i := range some {
		if !o.add(i) {
			return true
		}
	}
	return false
}

// Consistent reports whether the closure of a base contains no conflict. If it contains one, Consistent returns a minimal set of
// elements that contradicts itself.
func Consistent(c *Constraints, b Base) (conflict []Element, ok bool) {
	l := newClosure(c, b, nil)
	for i := range b {
		if !l.add(i) {
			return l.smallest(l.clashing()), false
		}
	}
	return nil, true
}
