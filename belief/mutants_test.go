package belief_test

import (
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/belief"
)

// Mutants are operators with one defect each, which a law must find.

type neverRetracts struct{ ours }

func (neverRetracts) contract(base, _ []fact) []fact { return base }

type acceptsContradictions struct{ ours }

func (acceptsContradictions) revise(base, input []fact) ([]fact, bool) {
	return slices.Concat(base, input), true
}

// wholeSlot takes everything that shares a slot with what gives way.
type wholeSlot struct{ ours }

func (o wholeSlot) contract(base, give []fact) []fact {
	after := o.ours.contract(base, give)
	if same(after, base) {
		return base
	}
	return slices.DeleteFunc(after, func(f fact) bool { return f.head%literals/objectCount == give[0].head%literals/objectCount })
}

// comesBack believes what gave way again as soon as nothing is in its way.
type comesBack struct {
	ours
	lost []fact
}

func (o *comesBack) revise(base, input []fact) ([]fact, bool) {
	after, ok := o.ours.revise(base, input)
	o.lost = slices.DeleteFunc(slices.Clone(base), func(f fact) bool { return has(after, f) })
	return after, ok
}

func (o *comesBack) contract(base, give []fact) []fact {
	after := o.ours.contract(base, give)
	for _, f := range o.lost {
		if consistentWith(after, f) {
			after = append(after, f)
		}
	}
	return after
}

// inputBelow leaves the rank of the input as it was.
type inputBelow struct{ ours }

func (o inputBelow) revise(base, input []fact) ([]fact, bool) {
	after, ok := o.ours.revise(base, input)
	for i := range after {
		for _, f := range input {
			if after[i].is(f) {
				after[i].rank = f.rank
			}
		}
	}
	return after, ok
}

// byArrival breaks ties by the order of arrival.
type byArrival struct{ ours }

func (o byArrival) revise(base, input []fact) ([]fact, bool) {
	var after []fact
	for _, f := range base {
		if consistent(slices.Concat(after, literal(f), input)) {
			after = append(after, f)
		}
	}
	return append(after, input...), consistent(input)
}

// givesUpOne contracts a package by its first member alone.
type givesUpOne struct{ ours }

func (o givesUpOne) contract(base, give []fact) []fact { return o.ours.contract(base, give[:1]) }

// forgetsTime takes away as a whole what only ends earlier.
type forgetsTime struct{ ours }

func (o forgetsTime) revise(base, input []fact) ([]fact, bool) {
	after, ok := o.ours.revise(base, input)
	return slices.DeleteFunc(after, func(f fact) bool { return !has(base, f) && !has(input, f) }), ok
}

func TestMutants(t *testing.T) {
	for name, o := range map[string]operators{
		"it never retracts": neverRetracts{}, "it accepts contradictions": acceptsContradictions{}, "it takes a whole slot": wholeSlot{},
		"a loser comes back": &comesBack{}, "the input is below what it overrode": inputBelow{}, "ties are broken by arrival": byArrival{},
		"a package is given up by its first member alone": givesUpOne{}, "what ends earlier goes": forgetsTime{}, "criteria do not count": ours{tied: true},
	} {
		t.Run(name, func(t *testing.T) {
			found, _ := judge(o, laws, 20_000, 1)
			if found == nil {
				t.Fatal("no law finds it")
			}
			t.Logf("%s does not hold in\n%v", found.law, found.world)
		})
	}
}

// A told literal is one of slot 2 or 0 that holds always, by order of telling.
func told(event, head int) fact { return fact{head: head, to: instants, rank: 1, event: event} }

// TestNotClaimed has what does not hold, as docs/belief.md says.
func TestNotClaimed(t *testing.T) {
	o := ours{}
	monday, tuesday := told(1, 0), told(2, 1) // two objects of the functional slot
	notTuesday := told(3, negation(1))
	first, _ := o.revise(nil, literal(monday))
	second, _ := o.revise(first, literal(tuesday))
	third, _ := o.revise(second, literal(notTuesday))
	if entails(third, monday.head, 0, 1) {
		t.Error("DP2: Monday is believed again, which nobody has said")
	}
	if only, _ := o.revise(first, literal(notTuesday)); !entails(only, monday.head, 0, 1) {
		t.Error("without Tuesday, Monday is believed no longer")
	}
	// Recovery: what followed by a rule does not come back with the literal alone.
	rule := fact{head: 9, premises: 1 << 8, rule: true, to: instants, event: 1}
	base := []fact{told(2, 8), rule}
	after := o.contract(base, []fact{told(3, 9), told(3, 8)})
	if again, _ := o.revise(after, literal(told(4, 9))); entails(again, 8, 0, 1) {
		t.Error("recovery: the premise came back")
	}
	// Levi needs rules the other way round.
	rules := []fact{{head: negation(8), premises: 1 << 9, rule: true, to: instants, rank: 0, event: 1}, told(2, 8)}
	yes, no := told(3, 9), told(3, negation(9))
	revised, _ := o.revise(rules, literal(yes))
	if same(revised, append(o.contract(rules, literal(no)), yes)) {
		t.Error("Levi holds with rules")
	}
	// DP1, with a rule of two premises.
	w := world{base: []fact{
		{head: negation(0), to: instants, rank: 2, event: 6},
		{head: 0, premises: 1<<negation(1) | 1<<negation(5), rule: true, to: instants, rank: 2, event: 5},
		{head: 6, to: instants, rank: 0, event: 2},
	}, a: told(100, negation(1)), c: told(101, 0)}
	if _, holds := iterated(o, w, func(both, only []fact) bool { return follows(both) == follows(only) }); holds {
		t.Error("DP1 holds with rules")
	}
}

// TestKernels compares with all subsets.
func TestKernels(t *testing.T) {
	found, many := 0, 0
	for seed := range uint64(3000) {
		w := worldOf(seed)
		var want [][]int
		for n := range 1 << len(w.base) {
			var some []fact
			var at []int
			for i := range w.base {
				if n&(1<<i) != 0 {
					some, at = append(some, w.base[i]), append(at, i)
				}
			}
			if !gives(some, w.a) || slices.ContainsFunc(want, func(k []int) bool {
				return !slices.ContainsFunc(k, func(i int) bool { return !slices.Contains(at, i) })
			}) {
				continue
			}
			want = slices.DeleteFunc(want, func(k []int) bool {
				return !slices.ContainsFunc(at, func(i int) bool { return !slices.Contains(k, i) })
			})
			want = append(want, at)
		}
		slices.SortFunc(want, slices.Compare)
		got := belief.Kernels(constraints, elements(w.base), literalOf(w.a.head), belief.Span{From: time(w.a.from), Until: time(w.a.to)})
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("seed %d: %v, want %v in\n%v", seed, got, want, w)
		}
		if len(want) > 0 {
			found++
		}
		if len(want) > 1 {
			many++
		}
	}
	if found < 100 || many < 10 {
		t.Errorf("%d worlds have a kernel, and %d several", found, many)
	}
}

// TestNeighbours decides with the neighbours of a question as with the whole base.
func TestNeighbours(t *testing.T) {
	fewer := 0
	for seed := range uint64(5000) {
		w := worldOf(seed)
		whole := elements(w.base)
		near := whole.Neighbours([]belief.Slot{literalOf(w.a.head).Slot()})
		input := elements(literal(w.a))
		a, errA := belief.Revise(constraints, whole, input)
		b, errB := belief.Revise(constraints, near, input)
		if (errA == nil) != (errB == nil) {
			t.Fatalf("%v, and of the neighbours %v", errA, errB)
		}
		if errA != nil {
			continue
		}
		if len(near) < len(whole) {
			fewer++
		}
		if !slices.EqualFunc(a.Lost, b.Lost, func(x, y belief.Loss) bool { return x.Element.Rank == y.Element.Rank && x.Until == y.Until }) || len(a.Kept)-len(b.Kept) != len(whole)-len(near) {
			t.Fatalf("seed %d: it decides otherwise in\n%v", seed, w)
		}
	}
	if fewer < 1000 {
		t.Errorf("%d bases have more than the neighbours", fewer)
	}
}

// TestFollows compares what follows with the reference, for what the base names.
func TestFollows(t *testing.T) {
	for seed := range uint64(5000) {
		w := worldOf(seed)
		base := elements(w.base)
		for _, f := range belief.Follows(constraints, base) {
			var support []fact
			for _, i := range f.Support {
				support = append(support, w.base[i])
			}
			for instant := range instants {
				believed := slices.ContainsFunc(f.Spans, func(s belief.Span) bool { return s.Holds(time(instant)) })
				l := slices.Index(named[:], f.Literal)
				if believed != (closed(w.base, instant)&(1<<l) != 0) {
					t.Fatalf("seed %d: %v at %d: %v in\n%v", seed, f.Literal, instant, believed, w)
				}
				if f.Spans[0].Holds(time(instant)) && f.Spans[0].From == time(instant) && closed(support, instant)&(1<<l) == 0 {
					t.Fatalf("seed %d: %v does not follow from %v", seed, f.Literal, support)
				}
			}
		}
	}
}
