package belief

import (
	"fmt"
	"slices"
)

// Constraints decide which positive literals of one slot exclude each other. The zero value excludes none.
type Constraints struct {
	Functional []string    // predicates that allow one object for each subject; ascending
	Exclusive  []Exclusion // ascending by predicate and objects
}

// An Exclusion is a set of objects. A subject can have only one of them under a predicate.
type Exclusion struct {
	Predicate string
	Objects   []string // ascending, at least two
}

// limits reports whether the predicate has a constraint.
func (c *Constraints) limits(predicate string) bool {
	return slices.Contains(c.Functional, predicate) || slices.ContainsFunc(c.Exclusive, func(e Exclusion) bool { return e.Predicate == predicate })
}

// Excludes reports whether a subject that has one object under a predicate cannot have the other.
func (c *Constraints) Excludes(predicate, object, other string) bool {
	if object == other {
		return false
	}
	if _, found := slices.BinarySearch(c.Functional, predicate); found {
		return true
	}
	for i := range c.Exclusive {
		e := &c.Exclusive[i]
		if e.Predicate == predicate && slices.Contains(e.Objects, object) && slices.Contains(e.Objects, other) {
			return true
		}
	}
	return false
}

// Conflict reports whether two literals cannot both be believed at the same time.
func (c *Constraints) Conflict(a, b Literal) bool {
	if a.Slot() != b.Slot() {
		return false
	}
	if a.Not != b.Not {
		return a.Object == b.Object
	}
	return !a.Not && c.Excludes(a.Predicate, a.Object, b.Object)
}

// Check refuses constraints that are not sorted, contain duplicates or have an exclusive set of fewer than two objects.
func (c *Constraints) Check() error {
	for i, p := range c.Functional {
		if i > 0 && c.Functional[i-1] >= p {
			return fmt.Errorf("%w: functional predicates must ascend, each once: %.80q is out of order", ErrForm, p)
		}
	}
	for i := range c.Exclusive {
		e := &c.Exclusive[i]
		if i > 0 {
			b := &c.Exclusive[i-1]
			if b.Predicate > e.Predicate || b.Predicate == e.Predicate && slices.Compare(b.Objects, e.Objects) >= 0 {
				return fmt.Errorf("%w: exclusive sets must ascend by predicate and objects, each once: the set of %.80q is out of order", ErrForm, e.Predicate)
			}
		}
		if len(e.Objects) < 2 {
			return fmt.Errorf("%w: an exclusive set of %.80q has %d objects, at least 2", ErrForm, e.Predicate, len(e.Objects))
		}
		for k := 1; k < len(e.Objects); k++ {
			if e.Objects[k-1] >= e.Objects[k] {
				return fmt.Errorf("%w: the objects of an exclusive set of %.80q must ascend, each once: %.80q is out of order", ErrForm, e.Predicate, e.Objects[k])
			}
		}
	}
	return nil
}

// Entails reports whether the second literal follows from the first by the constraints alone: they are equal, or the second is the
// negation of a literal that the first excludes.
func (c *Constraints) Entails(from, to Literal) bool {
	return from == to || c.Conflict(from, to.Negated())
}
