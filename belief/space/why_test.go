package space_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/store/inmem"
)

// A moment is a number with which an operation of a random history ended.
type moment struct {
	head       dag.Seq
	reason     string // of the operation
	functional string // the predicate that has one object under the policy of the space; "": none
}

// follows is an account of what is believed of a literal that shares nothing with package belief: statements and rules are applied until nothing changes.
func follows(held []journal.Believed, functional string, of belief.Literal) bool {
	known := map[belief.Literal]bool{}
	holds := func(l belief.Literal) bool {
		if known[l] {
			return true
		}
		for other := range known {
			if l.Not && !other.Not && other.Subject == l.Subject && other.Predicate == l.Predicate && other.Object != l.Object && l.Predicate == functional {
				return true
			}
		}
		return false
	}
	for changed := true; changed; {
		changed = false
		for i := range held {
			s := held[i].Stated()
			if !known[s.Literal] && !slices.ContainsFunc(s.Premises, func(p belief.Literal) bool { return !holds(p) }) {
				known[s.Literal], changed = true, true
			}
		}
	}
	return holds(of)
}

// A history is a random course of a space, with literals that may have been believed in it.
type beliefHistory struct {
	*rand.Rand
	k       *kernel.Kernel
	moments []moment
	now     string // the functional predicate
	turns   []dag.TurnID
}

func (d *beliefHistory) literal() belief.Literal {
	return belief.Literal{Subject: fmt.Sprint("s", d.IntN(2)), Predicate: []string{"is", "has"}[d.IntN(2)], Object: fmt.Sprint("o", d.IntN(2)), Not: d.IntN(5) == 0}
}

func (d *beliefHistory) item() belief.Item {
	return belief.Item(fmt.Sprintf("kref://%s/i%d.fact", beliefSpace, d.IntN(5)))
}

// act does one thing, which may be refused.
func (d *beliefHistory) act(t *testing.T) {
	t.Helper()
	ctx, k, reason := t.Context(), d.k, fmt.Sprint("reason ", len(d.moments))
	switch what := d.IntN(20); {
	case what < 9:
		in := space.Operation{Operator: journal.Revise, BeliefRequest: api.BeliefRequest{Space: beliefSpace, Item: d.item(), Statements: []belief.Literal{d.literal()}, Reason: reason}}
		if d.IntN(2) == 0 {
			in.Premises = []belief.Literal{d.literal()}
			if d.IntN(3) == 0 {
				in.Premises = append(in.Premises, d.literal())
			}
		}
		if len(d.turns) > 0 && d.IntN(4) == 0 {
			in.Turns = d.turns[:1]
		}
		_, _ = k.Beliefs().Operate(ctx, tenant, in)
	case what < 13:
		_, _ = k.Beliefs().Operate(ctx, tenant, space.Operation{Operator: journal.Contract, BeliefRequest: api.BeliefRequest{Space: beliefSpace, Statements: []belief.Literal{d.literal()}, Reason: reason}})
	case what < 16:
		_, _ = k.Beliefs().Act(ctx, tenant, journal.Act{Item: d.item(), Deprecates: d.IntN(2) == 0, Reason: reason})
	case what < 18:
		_, _ = k.Beliefs().Act(ctx, tenant, journal.Act{Item: d.item(), Tag: journal.Current, Number: d.IntN(3), Reason: reason})
	case what == 18:
		to, id := "is", policy.ID("desk@1")
		if d.now != "" {
			to, id = "", "free@1"
		}
		if _, err := k.Beliefs().SetSpace(ctx, tenant, api.NewSpace{Space: beliefSpace, Policy: id}); err == nil {
			d.now, reason = to, ""
		}
	case len(d.turns) > 1 && d.IntN(2) == 0:
		must(k.Turns().Erase(ctx, tenant, d.turns[0], "asked for"))
		d.turns, reason = d.turns[1:], ""
	}
	if head := must(k.Turns().Head(ctx, tenant)); len(d.moments) == 0 || head > d.moments[len(d.moments)-1].head {
		d.moments = append(d.moments, moment{head, reason, d.now})
	}
}

// TestWhyOfRandomHistories asks of every literal, as of the end of each operation, why it is believed or what became of it. An account that applies statements and rules by
// itself says the same: when it was believed, with which operation that ended and for which reason, and that it never was.
func TestWhyOfRandomHistories(t *testing.T) {
	endings, states := map[journal.Ending]int{}, map[string]int{}
	for seed := range uint64(12) {
		c := newClocked(t)
		k, s := c.Kernel, c.store
		believing(t, k, "is")
		if err := k.Policies().Register(t.Context(), tenant, must(policy.Bind("free@1", kinds.New(belief.Constraints{}, nil)))); err != nil {
			t.Fatal(err)
		}
		d := &beliefHistory{Rand: rand.New(rand.NewPCG(seed, 3)), k: k, now: "is", turns: chain(t, k, 6)}
		for range 45 {
			c.now = c.now.Add(time.Second)
			d.act(t)
		}
		held := make([][]journal.Believed, len(d.moments))
		for i, m := range d.moments {
			held[i] = must(k.Beliefs().Held(t.Context(), tenant, beliefSpace, m.head, nil)).Held
		}
		gone := erasedRevisions(t, s)
		for n := range 16 {
			l := belief.Literal{Subject: fmt.Sprint("s", n%2), Predicate: []string{"is", "has"}[n/2%2], Object: fmt.Sprint("o", n/4%2), Not: n/8 == 1}
			believed := make([]bool, len(d.moments))
			for i, m := range d.moments {
				believed[i] = follows(held[i], m.functional, l)
			}
			for i := range d.moments {
				why := must(k.Beliefs().Why(t.Context(), tenant, whether(l, d.moments[i].head)))
				state := d.compare(t, &why, believed[:i+1], held, gone)
				if t.Failed() {
					t.Fatalf("seed %d, %s as of %d: %+v", seed, l, d.moments[i].head, why)
				}
				if want := upTo(gone, d.moments[i].head); state == "never" && len(why.Erased) != want || state != "never" && len(why.Erased) > 0 {
					t.Fatalf("seed %d, %s as of %d: %d erased revisions, want %d, %s", seed, l, d.moments[i].head, len(why.Erased), want, state)
				}
				if state == "never" && len(why.Erased) > 0 {
					state = "erased"
				}
				if state != why.State {
					t.Fatalf("seed %d, %s as of %d: %s, want %s", seed, l, d.moments[i].head, why.State, state)
				}
				states[state]++
				for _, p := range why.Ended {
					endings[journal.Ending(p.Ending)]++
				}
			}
		}
	}
	t.Log(states, endings)
	if len(states) != 4 || len(endings) != 5 || states["erased"] < 10 || endings[journal.Policy] == 0 {
		t.Errorf("%v, %v: the histories say little", states, endings)
	}
}

// whether asks why a literal is believed as of a number.
func whether(l belief.Literal, asOf dag.Seq) api.WhyQuery {
	return api.WhyQuery{Space: beliefSpace, Subject: l.Subject, Predicate: l.Predicate, Object: l.Object, Not: l.Not, AsOf: asOf}
}

// compare holds an answer against what an account says of each moment up to the one that it is as of.
func (d *beliefHistory) compare(t *testing.T, why *api.Why, believed []bool, held [][]journal.Believed, gone []dag.Seq) string {
	t.Helper()
	last := len(believed) - 1
	if why.Believed != believed[last] || (len(why.Support) > 0) != why.Believed {
		t.Errorf("believed: %t, by %+v", why.Believed, why.Support)
	}
	var runs [][2]int // moments at which it began, and at which it was over
	for i, is := range believed {
		switch was := i > 0 && believed[i-1]; {
		case is && !was:
			runs = append(runs, [2]int{i, -1})
		case !is && was:
			runs[len(runs)-1][1] = i
		}
	}
	state := "never"
	if len(runs) > 0 {
		state = "ended"
	}
	if believed[last] {
		state, runs = "believed", runs[:len(runs)-1]
	}
	if len(runs) != len(why.Ended) {
		t.Errorf("%d times have ended, the account has %v", len(why.Ended), runs)
		return state
	}
	for n, run := range runs {
		p, over := &why.Ended[n], d.moments[run[1]]
		before := dag.Seq(0)
		if run[0] > 0 {
			before = d.moments[run[0]-1].head
		}
		if p.Since <= before || p.Since > d.moments[run[0]].head || p.Until <= d.moments[run[1]-1].head || p.Until > over.head {
			t.Errorf("from %d until %d, the account has %v", p.Since, p.Until, run)
		}
		if journal.Ending(p.Ending) != journal.Policy && over.reason != "" && p.Reason != over.reason && (p.Reason != "" || !slices.Contains(gone, p.Until)) {
			t.Errorf("it ended for %q, want %q", p.Reason, over.reason)
		}
		if stated := slices.ContainsFunc(held[run[1]-1], func(b journal.Believed) bool {
			return b.Stated().Literal == why.Statement.BeliefStatement && b.Stated().Premises == nil
		}); p.Derived == stated {
			t.Errorf("derived: %t", p.Derived)
		}
		if len(p.Lost) == 0 && journal.Ending(p.Ending) != journal.Policy {
			t.Error("nothing was lost with it")
		}
		for _, lost := range p.Lost {
			is := func(at int) bool {
				return slices.ContainsFunc(held[at], func(b journal.Believed) bool {
					return b.Revision.Item == lost.Item && b.Revision.Number == lost.Revision && b.Stated().Literal == lost.Statement.BeliefStatement && slices.EqualFunc(b.Stated().Premises, lost.Premises, func(l belief.Literal, w api.WrittenStatement) bool { return l == w.BeliefStatement })
				})
			}
			if !is(run[1]-1) || is(run[1]) {
				t.Errorf("%s was lost: believed before %t, after %t", lost.Statement, is(run[1]-1), is(run[1]))
			}
		}
		if (journal.Ending(p.Ending) == journal.Contradicted) != (p.Instead != nil) {
			t.Errorf("%s, instead %v", p.Ending, p.Instead)
		}
	}
	return state
}

// erasedRevisions are the numbers of the revisions whose private half is gone, read entry by entry.
func erasedRevisions(t *testing.T, s *inmem.Store) (list []dag.Seq) {
	t.Helper()
	for _, e := range must(s.Entries(t.Context(), tenant, history.Page{Limit: 10_000})) {
		if e.Kind == journal.KindRevision && e.Private == nil {
			list = append(list, e.Seq)
		}
	}
	return list
}

func upTo(list []dag.Seq, asOf dag.Seq) (n int) {
	for _, seq := range list {
		if seq <= asOf {
			n++
		}
	}
	return n
}
