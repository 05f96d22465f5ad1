package belief_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

var lawCases = flag.Int("law-cases", 100_000, "random worlds for each law")

// A law holds in a world, or does not apply there.
type law struct {
	name  string
	holds func(o operators, w world) (applies, holds bool)
}

func literal(f fact) []fact { return []fact{f} }

func consistentWith(base []fact, more ...fact) bool {
	return consistent(slices.Concat(base, more))
}

// subsets calls fn with each subset of a base.
func subsets(base []fact, fn func([]fact) bool) bool {
	for n := range 1 << len(base) {
		var some []fact
		for i := range base {
			if n&(1<<i) != 0 {
				some = append(some, base[i])
			}
		}
		if !fn(some) {
			return false
		}
	}
	return true
}

func gives(base []fact, f fact) bool { return entails(base, f.head, f.from, f.to) }

func revised(o operators, base []fact, input ...fact) ([]fact, bool) { return o.revise(base, input) }

func (w *world) hasRules() bool {
	return slices.ContainsFunc(w.base, func(f fact) bool { return f.rule })
}

// always reports whether a fact follows at each instant of its span.
func always(base []fact, f fact) bool {
	for t := f.from; t < f.to; t++ {
		if !entails(base, f.head, t, t+1) {
			return false
		}
	}
	return true
}

// iterated compares the base that was revised by a and then by c with that which was revised by c alone.
func iterated(o operators, w world, holds func(both, only []fact) bool) (bool, bool) {
	once, ok := revised(o, w.base, w.a)
	if !ok {
		return false, true
	}
	both, ok := revised(o, once, w.c)
	if !ok {
		return false, true
	}
	only, _ := revised(o, w.base, w.c)
	return true, holds(both, only)
}

var laws = []law{
	{"contraction: success", func(o operators, w world) (bool, bool) {
		after := o.contract(w.base, []fact{w.a, w.c})
		return gives(w.base, w.a) || gives(w.base, w.c), !gives(after, w.a) && !gives(after, w.c)
	}},
	{"contraction: inclusion", func(o operators, w world) (bool, bool) {
		return gives(w.base, w.a), restricted(o.contract(w.base, literal(w.a)), w.base)
	}},
	{"contraction: vacuity", func(o operators, w world) (bool, bool) {
		if gives(w.base, w.a) {
			return false, true
		}
		return true, same(o.contract(w.base, literal(w.a)), w.base)
	}},
	{"contraction: relevance", func(o operators, w world) (bool, bool) {
		after := o.contract(w.base, literal(w.a))
		for _, e := range w.base {
			if has(after, e) {
				continue
			}
			if !subsets(w.base, func(more []fact) bool {
				some := slices.Concat(after, more)
				return gives(some, w.a) || !gives(append(some, e), w.a)
			}) {
				continue // one of them needs it
			}
			return true, false
		}
		return len(after) < len(w.base), true
	}},
	{"contraction: core-retainment", func(o operators, w world) (bool, bool) {
		after := o.contract(w.base, literal(w.a))
		for _, e := range w.base {
			if has(after, e) {
				continue
			}
			if subsets(w.base, func(some []fact) bool { return gives(some, w.a) || !gives(append(slices.Clone(some), e), w.a) }) {
				return true, false
			}
		}
		return len(after) < len(w.base), true
	}},
	{"contraction: uniformity", func(o operators, w world) (bool, bool) {
		alike := subsets(w.base, func(some []fact) bool { return gives(some, w.a) == gives(some, w.c) })
		return alike && gives(w.base, w.a), !alike || same(o.contract(w.base, literal(w.a)), o.contract(w.base, literal(w.c)))
	}},
	{"revision: success (K*2)", func(o operators, w world) (bool, bool) {
		after, ok := revised(o, w.base, w.a, w.c)
		return ok, !ok || has(after, w.a) && has(after, w.c)
	}},
	{"revision: inclusion (K*3)", func(o operators, w world) (bool, bool) {
		after, ok := revised(o, w.base, w.a)
		return ok && !consistentWith(w.base, w.a), !ok || restricted(after, slices.Concat(w.base, literal(w.a)))
	}},
	{"revision: vacuity (K*4)", func(o operators, w world) (bool, bool) {
		if !consistentWith(w.base, w.a) {
			return false, true
		}
		after, ok := revised(o, w.base, w.a)
		return true, ok && same(after, slices.Concat(w.base, literal(w.a)))
	}},
	{"revision: consistency (K*5)", func(o operators, w world) (bool, bool) {
		after, ok := revised(o, w.base, w.a, w.c)
		if !consistent([]fact{w.a, w.c}) {
			return true, !ok
		}
		return true, ok && consistent(after)
	}},
	{"revision: extensionality (K*6)", func(o operators, w world) (bool, bool) {
		first, ok := revised(o, w.base, w.a, w.c)
		again := w.a
		again.event = 200
		second, _ := revised(o, w.base, w.c, again, w.a)
		return ok, !ok || follows(first) == follows(second)
	}},
	{"revision: superexpansion (K*7)", func(o operators, w world) (bool, bool) {
		both, ok := revised(o, w.base, w.a, w.c)
		if !ok {
			return false, true
		}
		one, _ := revised(o, w.base, w.a)
		return true, subset(follows(both), follows(append(one, w.c)))
	}},
	{"revision: subexpansion (K*8)", func(o operators, w world) (bool, bool) {
		one, ok := revised(o, w.base, w.a)
		if !ok || !consistentWith(one, w.c) {
			return false, true
		}
		both, ok := revised(o, w.base, w.a, w.c)
		return true, ok && subset(follows(append(one, w.c)), follows(both))
	}},
	{"revision: relevance", func(o operators, w world) (bool, bool) {
		after, ok := revised(o, w.base, w.a)
		if !ok {
			return false, true
		}
		for _, e := range w.base {
			if !has(after, e) && consistentWith(after, e) {
				return true, false
			}
		}
		return len(after) < len(w.base)+1, true
	}},
	{"revision and contraction (Levi), of single literals", func(o operators, w world) (bool, bool) {
		after, ok := revised(o, w.base, w.a)
		if !ok || w.hasRules() {
			return false, true
		}
		no := w.a
		no.head = negation(no.head)
		return !consistentWith(w.base, w.a), same(after, append(o.contract(w.base, literal(no)), w.a))
	}},
	{"iterated revision: DP1", func(o operators, w world) (bool, bool) {
		if !gives(literal(w.c), w.a) || w.hasRules() {
			return false, true
		}
		return iterated(o, w, func(both, only []fact) bool { return follows(both) == follows(only) })
	}},
	{"what was overridden cannot be proposed again", func(o operators, w world) (bool, bool) {
		after, ok := revised(o, w.base, w.a)
		if !ok || consistentWith(w.base, w.a) {
			return false, true
		}
		for _, e := range w.base {
			if !has(after, e) && !consistent([]fact{w.a, e}) {
				if _, ok := o.propose(after, literal(e)); ok {
					return true, false
				}
			}
		}
		return true, true
	}},
	{"revision is what its definition says", func(o operators, w world) (bool, bool) {
		after, ok := revised(o, w.base, w.a, w.c)
		if !ok {
			return false, true
		}
		input := []fact{w.a, w.c}
		return true, same(after, append(walked(w.base, w.a.from, func(kept []fact) bool { return consistent(slices.Concat(kept, input)) }), input...))
	}},
	{"contraction is what its definition says", func(o operators, w world) (bool, bool) {
		return gives(w.base, w.a), same(o.contract(w.base, literal(w.a)), walked(w.base, w.a.from, func(kept []fact) bool { return !gives(kept, w.a) }))
	}},
	{"a proposal wins against what is less entrenched alone", func(o operators, w world) (bool, bool) {
		after, ok := revised(o, w.base, w.a)
		if !ok || consistentWith(w.base, w.a) {
			return false, true
		}
		wins := !slices.ContainsFunc(w.base, func(e fact) bool {
			return !has(after, e) && (e.rank > w.a.rank || e.rank == w.a.rank && e.event > w.a.event)
		})
		_, proposed := o.propose(w.base, literal(w.a))
		return true, proposed == wins
	}},
	{"iterated revision: DP3", func(o operators, w world) (bool, bool) {
		return iterated(o, w, func(both, only []fact) bool { return !always(only, w.a) || always(both, w.a) })
	}},
	{"iterated revision: DP4", func(o operators, w world) (bool, bool) {
		no := w.a
		no.head = negation(no.head)
		return iterated(o, w, func(both, only []fact) bool { return gives(only, no) || !gives(both, no) })
	}},
	{"a loser stays away when the winner falls", func(o operators, w world) (bool, bool) {
		after, ok := revised(o, w.base, w.a)
		if !ok || consistentWith(w.base, w.a) {
			return false, true
		}
		return true, restricted(o.contract(after, literal(w.a)), after)
	}},
	{"revision does not rest on how the base is kept", func(o operators, w world) (bool, bool) {
		first, ok := revised(o, w.base, w.a)
		shuffled := slices.Clone(w.base)
		slices.Reverse(shuffled)
		second, _ := revised(o, shuffled, w.a)
		return ok && len(w.base) > 1, !ok || same(first, second)
	}},
	{"contraction does not rest on how the base is kept", func(o operators, w world) (bool, bool) {
		shuffled := slices.Clone(w.base)
		slices.Reverse(shuffled)
		return gives(w.base, w.a), same(o.contract(w.base, literal(w.a)), o.contract(shuffled, literal(w.a)))
	}},
}

// smaller takes away what a failure does not need.
func smaller(o operators, l law, w world) world {
	for i := 0; i < len(w.base); {
		fewer := w
		fewer.base = slices.Delete(slices.Clone(w.base), i, i+1)
		if _, holds := l.holds(o, fewer); !holds {
			w = fewer
		} else {
			i++
		}
	}
	return w
}

// A finding is a world in which a law does not hold.
type finding struct {
	law   string
	world world
}

// judge looks at laws in random worlds until one does not hold, and counts where each applied.
func judge(o operators, laws []law, cases int, seed uint64) (found *finding, applied map[string]int) {
	r := rand.New(rand.NewPCG(seed, 1))
	applied = map[string]int{}
	for range cases {
		w := randomWorld(r)
		for _, l := range laws {
			applies, holds := l.holds(o, w)
			if !holds {
				return &finding{l.name, smaller(o, l, w)}, applied
			}
			if applies {
				applied[l.name]++
			}
		}
	}
	return nil, applied
}

// TestLaws holds the operators against what docs/belief.md claims, in random worlds.
func TestLaws(t *testing.T) {
	const parts = 4
	for part := range parts {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			seed, cases := rand.Uint64(), *lawCases/parts
			t.Logf("seed %d", seed)
			found, applied := judge(ours{}, laws, cases, seed)
			if found != nil {
				t.Fatalf("%s does not hold in\n%v", found.law, found.world)
			}
			for _, l := range laws {
				if applied[l.name] < cases/1000 {
					t.Errorf("%s applied in %d of %d worlds", l.name, applied[l.name], cases)
				}
			}
		})
	}
}
