package belief

import (
	"slices"
)

// A Conclusion is a literal that follows from a base, with the times at which it follows.
type Conclusion struct {
	Literal Literal
	Spans   []Span // ascending, apart from each other
	Stated  bool   // an element states the literal, at some of these times
	Support []int  // the elements of the base from which it follows at the first of these times; ascending
}

// Follows returns the literals that a base states or that follow by its rules, ascending. A negation that follows by a constraint is
// listed only if a rule or an element names it.
//
// A literal that is alone in a slot that no rule names is copied to the result. Follows computes the closure of the other elements only,
// which costs one step for each premise and segment.
func Follows(c *Constraints, b Base) []Conclusion {
	in := make(map[Slot]int, len(b)) // elements of each slot; a rule counts as several
	for i := range b {
		if b[i].Premises == nil {
			in[b[i].Literal.Slot()]++
			continue
		}
		in[b[i].Literal.Slot()] += 2
		for _, p := range b[i].Premises {
			in[p.Slot()] += 2
		}
	}
	list := make([]Conclusion, 0, len(b))
	var rest Base
	var at []int // the index in b of each element of rest
	for i := range b {
		if e := &b[i]; e.Premises == nil && in[e.Literal.Slot()] == 1 {
			list = append(list, Conclusion{Literal: e.Literal, Spans: []Span{e.Span}, Stated: true, Support: []int{i}})
		} else {
			rest, at = append(rest, *e), append(at, i)
		}
	}
	for _, f := range closed(c, rest) {
		for i := range f.Support {
			f.Support[i] = at[f.Support[i]]
		}
		list = append(list, f)
	}
	slices.SortFunc(list, func(x, y Conclusion) int { return x.Literal.Compare(y.Literal) })
	return list
}

// closed is like Follows, but always computes the closure of the whole base and returns the literals in any order.
func closed(c *Constraints, b Base) []Conclusion {
	l := newClosure(c, b, nil)
	l.ignores = true
	stated := make(map[Literal]bool, len(b))
	for i := range b {
		l.add(i)
		if b[i].Premises == nil {
			stated[b[i].Literal] = true
		}
	}
	list := make([]Conclusion, 0, len(l.nodes))
	for of, n := range l.nodes {
		if !n.believed.any() {
			continue
		}
		list = append(list, Conclusion{Literal: of, Spans: l.spans(n.believed), Stated: stated[of], Support: l.support(n)})
	}
	return list
}

// support returns the elements from which a literal follows in the first segment in which it is believed.
func (l *closure) support(n *node) []int {
	into := map[int]bool{}
	l.reasons(into, n, n.believed.common(n.believed))
	list := make([]int, 0, len(into))
	for i := range into {
		list = append(list, i)
	}
	slices.Sort(list)
	return list
}

// Fallen returns the conclusions of rules that follow before a decision and at no time after it.
func Fallen(c *Constraints, before, after Base) []Conclusion {
	if !slices.ContainsFunc(before, func(e Element) bool { return e.Premises != nil }) {
		return nil // without rules every conclusion is stated
	}
	left := map[Literal]bool{}
	for _, f := range Follows(c, after) {
		left[f.Literal] = true
	}
	return slices.DeleteFunc(Follows(c, before), func(f Conclusion) bool { return f.Stated || left[f.Literal] })
}

// kernel returns a minimal set of elements that entails the literal at some instant of the span and contains none of the elements
// without; nil if there is no such set.
func (b Base) kernel(c *Constraints, of Literal, in Span, without []int) []int {
	var rest Base
	var at []int
	for i := range b {
		if !slices.Contains(without, i) {
			rest, at = append(rest, b[i]), append(at, i)
		}
	}
	l := newClosure(c, rest, []Literal{of}, in)
	l.ignores = true
	l.watch(of, in)
	for i := range rest {
		if l.add(i) {
			continue
		}
		list := l.clashing()
		for k := 0; k < len(list) && len(list) > 1; {
			fewer := slices.Delete(slices.Clone(list), k, k+1)
			if l.clashes(fewer) {
				list = fewer
			} else {
				k++
			}
		}
		for k := range list {
			list[k] = at[list[k]]
		}
		return list
	}
	return nil
}

// Support returns a minimal set of elements of a base from which a literal follows at some instant of a span, ascending; nil if the
// literal does not follow.
func Support(c *Constraints, b Base, of Literal, in Span) []int { return b.kernel(c, of, in, nil) }
