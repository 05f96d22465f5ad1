package belief

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// A Class is the first part of an element's rank: who vouches for it. It depends on the key or person that wrote the element, never on
// a field that callers fill in.
type Class uint8

// The classes, from the least entrenched to the most.
const (
	Inferred Class = iota + 1
	Tool
	Verified
	Human
	Published
	HardRule
)

func (c Class) String() string {
	return [...]string{"", "inferred", "tool", "verified", "human", "published", "hard_rule"}[c]
}

// A Rank is the place of an element in the order of entrenchment. The order is strict and total: no two elements of a base
// have the same rank.
type Rank struct {
	Class     Class
	Criterion uint64     // by kind: a preference's event number, a fact's units of evidence, an inference's confidence
	Event     dag.Seq    // the number of the event that began the unbroken belief
	ID        dag.Digest // of the element
}

// Compare orders ranks from the least entrenched to the most.
func (r Rank) Compare(o Rank) int {
	return cmp.Or(cmp.Compare(r.Class, o.Class), cmp.Compare(r.Criterion, o.Criterion), cmp.Compare(r.Event, o.Event), bytes.Compare(r.ID[:], o.ID[:]))
}

// An Element is a literal that somebody stated or, with premises, a rule from which it follows. A rule does not state its
// literal: the literal is believed where all premises are.
type Element struct {
	Literal  Literal
	Premises []Literal // ascending, each once; nil: the literal is stated
	Span     Span
	Rank     Rank
	Owner    dag.Digest // the revision that carries it
	Guarded  bool       // the revision is protected, so the element must not give way
}

// A Base is a set of elements, in any order.
type Base []Element

// ranked returns the elements from the most entrenched to the least.
func (b Base) ranked() Base {
	b = slices.Clone(b)
	slices.SortFunc(b, func(x, y Element) int { return y.Rank.Compare(x.Rank) })
	return b
}

// slots yields the slots that the element connects: the slot of its literal and those of its premises.
func (e *Element) slots(yield func(Slot) bool) {
	if !yield(e.Literal.Slot()) {
		return
	}
	for i := range e.Premises {
		if !yield(e.Premises[i].Slot()) {
			return
		}
	}
}

// Neighbours returns the elements that rules connect with some slots, over any number of steps, in the order of the base. For
// literals of these slots, operators decide the same with these elements as with the whole base.
func (b Base) Neighbours(of []Slot) Base {
	by := map[Slot][]int{}
	for i := range b {
		for s := range b[i].slots {
			by[s] = append(by[s], i)
		}
	}
	reached := make([]bool, len(b))
	seen := map[Slot]bool{}
	for next := slices.Clone(of); len(next) > 0; {
		s := next[len(next)-1]
		next = next[:len(next)-1]
		if seen[s] {
			continue
		}
		seen[s] = true
		for _, i := range by[s] {
			if !reached[i] {
				reached[i] = true
				for more := range b[i].slots {
					next = append(next, more)
				}
			}
		}
	}
	var near Base
	for i := range b {
		if reached[i] {
			near = append(near, b[i])
		}
	}
	return near
}
