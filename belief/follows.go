package belief

import (
	"slices"
)

// A Conclusion is a literal that follows from a base, with the times at which it does.
type Conclusion struct {
	Literal Literal
	Spans   []Span // ascending, apart from each other
	Stated  bool   // an element states it, at some of these times
	Support []int  // the elements of the base by which it follows, at the first of these times; ascending
}

// Follows returns what follows from a base by its rules and what it states, by ascending literal. A negation that follows by a constraint is
// listed only if a rule or an element names it.
//
// What alone is in a slot that no rule names follows by itself. Only the rest is closed, which costs one step for each premise and segment.
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
	var at []int // of the rest, in b
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

// closed is Follows by the closure of the whole base, in any order.
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

// support returns the elements by which a literal is believed where it begins to be.
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

// Fallen returns the conclusions of rules that follow before a decision and nowhere after it.
func Fallen(c *Constraints, before, after Base) []Conclusion {
	if !slices.ContainsFunc(before, func(e Element) bool { return e.Premises != nil }) {
		return nil // what follows without rules is stated
	}
	left := map[Literal]bool{}
	for _, f := range Follows(c, after) {
		left[f.Literal] = true
	}
	return slices.DeleteFunc(Follows(c, before), func(f Conclusion) bool { return f.Stated || left[f.Literal] })
}

// kernel returns a smallest subset that entails the literal without some elements; nil if there is none.
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

// Support returns elements of a base from which a literal follows at some instant of a span, ascending, of which none can be left out; nil: it does not.
func Support(c *Constraints, b Base, of Literal, in Span) []int { return b.kernel(c, of, in, nil) }
