package belief_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
)

// The reference is a small world in which everything can be enumerated: three slots with four objects each, and four instants. A set of
// literals at an instant is a mask, and what follows is found by going over all rules until nothing changes. It shares no line with the
// package.
const (
	slotCount   = 3
	objectCount = 4
	literals    = slotCount * objectCount // positive ones; negations follow
	instants    = 4
)

// The first slot is functional, of the second three objects exclude each other, and the third is free.
var constraints = &belief.Constraints{
	Functional: []string{"p0"},
	Exclusive:  []belief.Exclusion{{Predicate: "p1", Objects: []string{"o0", "o1", "o2"}}},
}

func excludes(slot, a, b int) bool {
	switch {
	case a == b:
		return false
	case slot == 0:
		return true
	case slot == 1:
		return a < 3 && b < 3
	}
	return false
}

type mask uint32

const falsum = mask(1) << 31

// A fact is an element of the reference.
type fact struct {
	head     int // of 2*literals
	premises mask
	rule     bool
	from, to int // instants, half-open
	rank     int // the greatest is the most entrenched; of equal ones that with the greater event
	event    int
}

// is compares facts, whatever their rank.
func (f fact) is(o fact) bool {
	f.rank = o.rank
	return f == o
}

func has(base []fact, f fact) bool { return slices.ContainsFunc(base, f.is) }

func (f *fact) at(instant int) bool { return f.from <= instant && instant < f.to }

func negation(l int) int { return (l + literals) % (2 * literals) }

// implied are the negations that follow from literals by the constraints.
var implied = func() (of [literals]mask) {
	for slot := range slotCount {
		for a := range objectCount {
			for b := range objectCount {
				if excludes(slot, a, b) {
					of[slot*objectCount+a] |= 1 << negation(slot*objectCount+b)
				}
			}
		}
	}
	return of
}()

// closed returns what follows at an instant, with falsum if that is a contradiction.
func closed(base []fact, instant int) mask {
	var set mask
	for {
		was := set
		for i := range base {
			if f := &base[i]; f.at(instant) && f.premises&^set == 0 {
				set |= 1 << f.head
			}
		}
		for l := range literals {
			if set&(1<<l) != 0 {
				set |= implied[l]
			}
		}
		if set == was {
			break
		}
	}
	if set&(set>>literals)&(1<<literals-1) != 0 {
		set |= falsum
	}
	return set
}

func consistent(base []fact) bool {
	for t := range instants {
		if closed(base, t)&falsum != 0 {
			return false
		}
	}
	return true
}

// entails reports whether a literal follows at some instant of a span.
func entails(base []fact, l, from, to int) bool {
	for t := from; t < to; t++ {
		if closed(base, t)&(1<<l) != 0 {
			return true
		}
	}
	return false
}

var named = func() (all [2 * literals]belief.Literal) {
	for l := range all {
		all[l] = belief.Literal{Subject: "s", Predicate: fmt.Sprint("p", l%literals/objectCount), Object: fmt.Sprint("o", l%objectCount), Not: l >= literals}
	}
	return all
}()

func literalOf(l int) belief.Literal { return named[l] }

func time(instant int) dag.Time {
	if instant == instants {
		return dag.MaxTime
	}
	return dag.Time(instant * 1000)
}

// element is a fact as the package has it.
func (f *fact) element() belief.Element {
	e := belief.Element{Literal: literalOf(f.head), Span: belief.Span{From: time(f.from), Until: time(f.to)}, Rank: belief.Rank{Class: belief.Tool, Criterion: uint64(f.rank), Event: dag.Seq(f.event)}}
	for l := range 2 * literals {
		if f.premises&(1<<l) != 0 {
			e.Premises = append(e.Premises, literalOf(l))
		}
	}
	return e
}

func elements(base []fact) belief.Base {
	b := make(belief.Base, len(base))
	for i := range base {
		b[i] = base[i].element()
	}
	return b
}

func (f fact) String() string {
	var premises []string
	for l := range 2 * literals {
		if f.premises&(1<<l) != 0 {
			premises = append(premises, literalOf(l).String())
		}
	}
	s := literalOf(f.head).String()
	if f.rule {
		s = strings.Join(premises, ", ") + " => " + s
	}
	return fmt.Sprintf("%s [%d,%d) rank %d, event %d", s, f.from, f.to, f.rank, f.event)
}

// A world is a base and inputs that a law is about.
type world struct {
	base    []fact // consistent; by descending rank
	a, c, d fact   // literals of one span
}

func (w world) String() string {
	var s strings.Builder
	for i := range w.base {
		fmt.Fprintln(&s, "  ", w.base[i])
	}
	fmt.Fprintf(&s, "   a: %v\n   c: %v\n   d: %v", w.a, w.c, w.d)
	return s.String()
}

// randomWorld draws a world. Half of them know no time.
func randomWorld(r *rand.Rand) world {
	timed := r.IntN(2) == 0
	span := func(f *fact) {
		f.from, f.to = 0, instants
		if timed {
			f.from = r.IntN(instants)
			f.to = f.from + 1 + r.IntN(instants-f.from)
		}
	}
	draw := func() int { return r.IntN(2 * literals) }
	var w world
	rules := 2
	for n := 3 + r.IntN(6); n > 0; n-- {
		f := fact{head: r.IntN(literals)}
		if r.IntN(3) == 0 {
			f.head = draw()
		}
		if span(&f); rules > 0 && r.IntN(3) == 0 {
			rules--
			f.rule, f.head = true, draw()
			for range 1 + r.IntN(2) {
				f.premises |= 1 << draw()
			}
		}
		if next := append(slices.Clone(w.base), f); consistent(next) {
			w.base = next
		}
	}
	for i, rank := range r.Perm(len(w.base)) {
		w.base[i].rank, w.base[i].event = rank/2, rank+1
	}
	slices.SortFunc(w.base, func(x, y fact) int { return y.event - x.event })
	input := fact{}
	span(&input)
	for i, f := range []*fact{&w.a, &w.c, &w.d} {
		*f = input
		f.head, f.rank, f.event = draw(), r.IntN(4), 100+i
	}
	return w
}

// operators are those that laws are about; mutants have others. They know the reference's facts.
type operators interface {
	revise(base []fact, input []fact) (after []fact, ok bool)
	propose(base []fact, input []fact) (after []fact, ok bool)
	contract(base []fact, give []fact) []fact
}

// ours are the package's.
type ours struct{ tied bool } // tied: without what breaks ties

func (o ours) elements(base []fact) belief.Base {
	b := elements(base)
	for i := range b {
		if o.tied {
			b[i].Rank.Criterion = 0
		}
	}
	return b
}

func back(d *belief.Decision, base, input []fact) []fact {
	var after []fact
	find := func(e *belief.Element) fact {
		for _, f := range slices.Concat(input, base) {
			if f.event == int(e.Rank.Event) {
				return f
			}
		}
		panic("an element that nobody has given")
	}
	for i := range d.Input {
		f := find(&d.Input[i])
		f.rank = int(d.Input[i].Rank.Criterion)
		after = append(after, f)
	}
	for i := range d.Kept {
		after = append(after, find(&d.Kept[i]))
	}
	for i := range d.Lost {
		if l := &d.Lost[i]; l.Until != 0 {
			f := find(&l.Element)
			f.to = int(l.Until / 1000)
			after = append(after, f)
		}
	}
	return after
}

func (o ours) revise(base, input []fact) ([]fact, bool) {
	d, err := belief.Revise(constraints, o.elements(base), elements(input))
	if err != nil {
		return nil, false
	}
	return back(d, base, input), true
}

func (o ours) propose(base, input []fact) ([]fact, bool) {
	d, err := belief.Propose(constraints, o.elements(base), elements(input))
	if err != nil {
		return nil, false
	}
	return back(d, base, input), true
}

func (o ours) contract(base, give []fact) []fact {
	literals := make([]belief.Literal, len(give))
	for i := range give {
		literals[i] = literalOf(give[i].head)
	}
	d, err := belief.Contract(constraints, o.elements(base), literals, belief.Span{From: time(give[0].from), Until: time(give[0].to)})
	if err != nil {
		panic(err)
	}
	return back(d, base, nil)
}

// walked goes through a base by the definition: the most entrenched first, and keeps what may be kept.
func walked(base []fact, from int, may func(kept []fact) bool) (after []fact) {
	ranked := slices.Clone(base)
	slices.SortFunc(ranked, func(x, y fact) int { return cmp.Or(y.rank-x.rank, y.event-x.event) })
	for _, f := range ranked {
		switch {
		case may(append(slices.Clone(after), f)):
			after = append(after, f)
		case f.from < from:
			f.to = from
			after = append(after, f)
		}
	}
	return after
}

// same compares two bases as sets.
func same(a, b []fact) bool {
	return within(a, b) && within(b, a)
}

func within(a, b []fact) bool {
	for i := range a {
		if !has(b, a[i]) {
			return false
		}
	}
	return true
}

// restricted reports whether each fact of a is one of b, or one of b that ends earlier.
func restricted(a, b []fact) bool {
	for i := range a {
		if !slices.ContainsFunc(b, func(f fact) bool {
			whole := a[i]
			whole.to = f.to
			return a[i].to <= f.to && whole.is(f)
		}) {
			return false
		}
	}
	return true
}

// follows is what follows, at each instant.
func follows(base []fact) (all [instants]mask) {
	for t := range instants {
		all[t] = closed(base, t)
	}
	return all
}

// subset reports whether all that follows from one base follows from the other: from a contradiction at any instant everything does.
func subset(a, b [instants]mask) bool {
	for t := range instants {
		if b[t]&falsum != 0 {
			return true
		}
	}
	for t := range instants {
		if a[t]&^b[t] != 0 {
			return false
		}
	}
	return true
}

func worldOf(seed uint64) world { return randomWorld(rand.New(rand.NewPCG(seed, 2))) }
