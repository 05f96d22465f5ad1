package belief

import (
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// A closure contains the literals that follow from some of the elements of a base, with their times. Nothing changes between two instants at
// which spans begin or end, so time is a row of segments, and the times at which a literal is believed are a set of segments.
//
// Elements are added one after another, and the last ones can be undone; a walk through a base needs no more. Adding a whole
// base costs one step for each premise and segment.
type closure struct {
	constraints *Constraints
	elements    []Element
	begins      []dag.Time // of the segments, ascending; the last one has no end
	nodes       map[Literal]*node
	rules       []*rule // one for each element; nil: the element is a stated literal
	trail       []change
	queue       []raise

	found   *clash // of the last call of add
	ignores bool   // conflicts do not count as clashes
}

// A node is a literal that the elements or the question name.
type node struct {
	literal   Literal
	believed  segments
	watched   segments // in these segments, believing the literal is a clash
	causes    []cause  // why it is believed; no two causes share a segment
	premiseOf []*rule
	conflicts []*node // literals of the slot that conflict with it
	implies   []*node // negations that follow from it by a constraint
}

// A cause is an element, or a literal that implies another by a constraint.
type cause struct {
	at      segments
	element int
	by      *node
}

type rule struct {
	element  int
	premises []*node
	head     *node
	span     segments
	added    bool
}

// A clash is a segment in which two literals conflict, or in which a watched literal is believed.
type clash struct {
	a, b    *node // b is nil if a is a watched literal
	segment int
}

type change struct {
	node     *node
	believed segments // before the change
	rule     *rule    // the rule that was added, or nil
}

type raise struct {
	node *node
	cause
}

// newClosure returns a closure to which no element has been added. Its nodes include the literals of also, and its segments include the
// instants at which spans begin or end.
func newClosure(c *Constraints, elements []Element, also []Literal, spans ...Span) *closure {
	l := &closure{constraints: c, elements: elements, nodes: make(map[Literal]*node, len(elements)+len(also)), rules: make([]*rule, len(elements))}
	l.begins = []dag.Time{0}
	divide := func(s Span) {
		l.begins = append(l.begins, s.From)
		if s.Until != dag.MaxTime {
			l.begins = append(l.begins, s.Until)
		}
	}
	for i := range elements {
		divide(elements[i].Span)
	}
	for _, s := range spans {
		divide(s)
	}
	slices.Sort(l.begins)
	l.begins = slices.Compact(l.begins)
	slots := map[Slot][]*node{}
	know := func(of Literal) *node {
		n := l.nodes[of]
		if n == nil {
			n = &node{literal: of, believed: l.none()}
			l.nodes[of] = n
			slots[of.Slot()] = append(slots[of.Slot()], n)
		}
		return n
	}
	for i := range elements {
		e := &elements[i]
		head := know(e.Literal)
		if e.Premises == nil {
			continue
		}
		r := &rule{element: i, head: head, span: l.segments(e.Span)}
		for _, p := range e.Premises {
			n := know(p)
			r.premises = append(r.premises, n)
			n.premiseOf = append(n.premiseOf, r)
		}
		l.rules[i] = r
	}
	for _, of := range also {
		know(of)
	}
	for slot, nodes := range slots {
		l.connect(slot, nodes)
	}
	return l
}

// connect finds the literals of a slot that conflict with each other, and the negations that each literal implies.
func (l *closure) connect(slot Slot, nodes []*node) {
	for _, n := range nodes {
		if o := l.nodes[n.literal.Negated()]; o != nil {
			n.conflicts = append(n.conflicts, o)
		}
	}
	if !l.constraints.limits(slot.Predicate) {
		return
	}
	for _, n := range nodes {
		if n.literal.Not {
			continue
		}
		for _, o := range nodes {
			switch {
			case !l.constraints.Excludes(slot.Predicate, n.literal.Object, o.literal.Object):
			case o.literal.Not:
				n.implies = append(n.implies, o)
			default:
				n.conflicts = append(n.conflicts, o)
			}
		}
	}
}

// watch makes believing a literal in a span a clash.
func (l *closure) watch(of Literal, s Span) { l.nodes[of].watched = l.segments(s) }

// add adds an element, and reports whether there was no clash. After a clash, which is l.found, the caller must undo the addition.
func (l *closure) add(i int) bool {
	l.found = nil
	e := &l.elements[i]
	if r := l.rules[i]; r != nil {
		r.added = true
		l.trail = append(l.trail, change{rule: r})
		l.fire(r)
	} else {
		l.queue = append(l.queue, raise{l.nodes[e.Literal], cause{at: l.segments(e.Span), element: i}})
	}
	for len(l.queue) > 0 && l.found == nil {
		next := l.queue[0]
		l.queue = l.queue[1:]
		l.raise(next)
	}
	l.queue = l.queue[:0]
	return l.found == nil
}

// fire queues the conclusion of a rule for the segments in which all of its premises are believed.
func (l *closure) fire(r *rule) {
	at := slices.Clone(r.span)
	for _, p := range r.premises {
		at.and(p.believed)
	}
	if at.any() {
		l.queue = append(l.queue, raise{r.head, cause{at: at, element: r.element}})
	}
}

func (l *closure) raise(q raise) {
	n, fresh := q.node, slices.Clone(q.at)
	fresh.without(n.believed)
	if !fresh.any() {
		return
	}
	l.trail = append(l.trail, change{node: n, believed: slices.Clone(n.believed)})
	n.believed.or(fresh)
	q.at = fresh
	n.causes = append(n.causes, q.cause)
	if at := fresh.common(n.watched); at >= 0 {
		l.found = &clash{a: n, segment: at}
		return
	}
	if !l.ignores {
		for _, o := range n.conflicts {
			if at := fresh.common(o.believed); at >= 0 {
				l.found = &clash{n, o, at}
				return
			}
		}
	}
	for _, o := range n.implies {
		l.queue = append(l.queue, raise{o, cause{at: fresh, by: n}})
	}
	for _, r := range n.premiseOf {
		if r.added {
			l.fire(r)
		}
	}
}

// mark returns the current state of the closure, for undo.
func (l *closure) mark() int { return len(l.trail) }

// undo removes everything that was added since a mark.
func (l *closure) undo(mark int) {
	for len(l.trail) > mark {
		c := l.trail[len(l.trail)-1]
		l.trail = l.trail[:len(l.trail)-1]
		if c.rule != nil {
			c.rule.added = false
			continue
		}
		c.node.believed = c.believed
		c.node.causes = c.node.causes[:len(c.node.causes)-1]
	}
}

// reasons adds to into the elements by which a literal is believed in a segment.
func (l *closure) reasons(into map[int]bool, n *node, segment int) {
	for i := range n.causes {
		c := &n.causes[i]
		switch {
		case !c.at.has(segment):
			continue
		case c.by != nil:
			l.reasons(into, c.by, segment)
		case !into[c.element]:
			into[c.element] = true
			if r := l.rules[c.element]; r != nil {
				for _, p := range r.premises {
					l.reasons(into, p, segment)
				}
			}
		}
		return
	}
}

// clashing returns the elements that cause l.found, ascending.
func (l *closure) clashing() []int {
	into := map[int]bool{}
	l.reasons(into, l.found.a, l.found.segment)
	if l.found.b != nil {
		l.reasons(into, l.found.b, l.found.segment)
	}
	list := make([]int, 0, len(into))
	for i := range into {
		list = append(list, i)
	}
	slices.Sort(list)
	return list
}

// segments are a set of segments of time.
type segments []uint64

func (l *closure) none() segments { return make(segments, (len(l.begins)+63)/64) }

// segments returns the segments of a span. The bounds of the span must be among l.begins.
func (l *closure) segments(s Span) segments {
	set := l.none()
	from, _ := slices.BinarySearch(l.begins, s.From)
	until := len(l.begins)
	if s.Until != dag.MaxTime {
		until, _ = slices.BinarySearch(l.begins, s.Until)
	}
	for i := from; i < until; i++ {
		set[i/64] |= 1 << (i % 64)
	}
	return set
}

// spans returns the segments as ascending spans. Adjacent segments become one span.
func (l *closure) spans(set segments) (list []Span) {
	for i := range l.begins {
		if !set.has(i) {
			continue
		}
		until := dag.MaxTime
		if i+1 < len(l.begins) {
			until = l.begins[i+1]
		}
		if n := len(list); n > 0 && list[n-1].Until == l.begins[i] {
			list[n-1].Until = until
		} else {
			list = append(list, Span{l.begins[i], until})
		}
	}
	return list
}

func (s segments) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

func (s segments) and(o segments) {
	for i := range s {
		s[i] &= o[i]
	}
}

func (s segments) or(o segments) {
	for i := range s {
		s[i] |= o[i]
	}
}

func (s segments) without(o segments) {
	for i := range s {
		s[i] &^= o[i]
	}
}

func (s segments) any() bool {
	for i := range s {
		if s[i] != 0 {
			return true
		}
	}
	return false
}

// common returns the first segment that both sets contain, or -1. A nil set contains none.
func (s segments) common(o segments) int {
	for i := range o {
		if both := s[i] & o[i]; both != 0 {
			for k := range 64 {
				if both&(1<<k) != 0 {
					return i*64 + k
				}
			}
		}
	}
	return -1
}
