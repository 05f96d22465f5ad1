package space_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/internal/kerneltest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	counts "github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/token"
)

const (
	tenant      = kerneltest.Tenant
	beliefSpace = kerneltest.Space
)

var (
	ring, noise, standing, over        = kerneltest.Ring, kerneltest.Noise, kerneltest.Standing, kerneltest.Over
	stores, chain                      = kerneltest.Stores, kerneltest.Chain
	believing, asking, stated, soundly = kerneltest.Believing, kerneltest.Asking, kerneltest.Stated, kerneltest.Soundly
	projected                          = kerneltest.Projected
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestBeliefsTogether revises one slot from two kernels and many goroutines at once. Each is told what it overrode, and that is a chain: what
// the operation before it, by number, had stated.
func TestBeliefsTogether(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			s := stores[name](t)
			a := token.NewAuthority(ring(t, "k1"))
			kernels := make([]*kernel.Kernel, 2)
			for i := range kernels {
				kernels[i] = must(kernel.Open(kernel.Config{Store: s, Authority: a, Clock: standing, Rand: noise(byte(10 + i))}))
			}
			believing(t, kernels[0], "is-led-by")
			const writers, each = 6, 8
			outcomes := make([][]*journal.Outcome, writers)
			said := make([][]string, writers)
			var all sync.WaitGroup
			for w := range writers {
				all.Go(func() {
					for i := range each {
						who := fmt.Sprintf("person-%d-%d", w, i)
						o, err := kernels[w%2].Beliefs().Operate(ctx, tenant, asking(journal.Revise, "project", "is led by", who))
						if err != nil {
							t.Errorf("%s: %v", who, err)
							return
						}
						outcomes[w], said[w] = append(outcomes[w], o), append(said[w], who)
					}
				})
			}
			all.Wait()
			type done struct {
				o   *journal.Outcome
				who string
			}
			var order []done
			for w := range outcomes {
				for i, o := range outcomes[w] {
					order = append(order, done{o, said[w][i]})
				}
			}
			slices.SortFunc(order, func(a, b done) int { return int(a.o.Seq) - int(b.o.Seq) })
			if len(order) != writers*each {
				t.Fatalf("%d operations", len(order))
			}
			for i, d := range order {
				switch {
				case i == 0 && len(d.o.GaveWay) != 0:
					t.Errorf("the first one overrode %+v", d.o.GaveWay)
				case i > 0 && (len(d.o.GaveWay) != 1 || d.o.GaveWay[0].Stated().Object != order[i-1].who):
					t.Errorf("%s, number %d, was not told that %s gave way: %+v", d.who, d.o.Seq, order[i-1].who, d.o.GaveWay)
				}
				if got := stated(t, kernels[i%2], d.o.Seq); len(got) != 1 || got[0] != "project is-led-by "+d.who {
					t.Errorf("as of %d: %q, want %s", d.o.Seq, got, d.who)
				}
			}
			soundly(t, s)
		})
	}
}

// TestStale sets and retracts values of 60 streams between turns that are about nothing, and asks at 500 moments: for what holds now, and for what held
// as of an earlier number. No answer may be stale.
func TestStale(t *testing.T) {
	const streams, probes = 60, 500
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 4))
	k := over(t, stores["memory"](t), token.NewAuthority(ring(t, "k1")))
	believing(t, k, "is-set-to")
	type moment struct {
		seq   dag.Seq
		value string // "": none
	}
	var model [streams][]moment
	last := func(stream int) string {
		if m := model[stream]; len(m) > 0 {
			return m[len(m)-1].value
		}
		return ""
	}
	subject := func(stream int) string { return fmt.Sprint("stream-", stream) }
	asked := map[string]int{}
	for n := 0; asked["now"] < probes; n++ {
		stream := r.IntN(streams)
		switch r.IntN(6) {
		case 0, 1:
			value := fmt.Sprint("value-", n)
			o := must(k.Beliefs().Operate(t.Context(), tenant, asking(journal.Revise, subject(stream), "is set to", value)))
			model[stream] = append(model[stream], moment{o.Seq, value})
		case 2:
			if value := last(stream); value != "" {
				o := must(k.Beliefs().Operate(t.Context(), tenant, asking(journal.Contract, subject(stream), "is set to", value)))
				model[stream] = append(model[stream], moment{o.Seq, ""})
			}
		case 3:
			d := dag.Draft{ID: dag.ExternalTurnID("filler", fmt.Sprint(n)), Conversation: dag.ExternalConversationID("filler", "c"), Role: dag.RoleUser, CreatedAt: dag.Time(n), Author: "human:user", Content: "about nothing"}
			must(k.Turns().Admit(t.Context(), tenant, []dag.Draft{d}))
		default:
			value := func(asOf dag.Seq) string {
				for _, h := range must(k.Beliefs().Held(t.Context(), tenant, beliefSpace, asOf, nil)).Held {
					if h.Stated().Subject == subject(stream) {
						return h.Stated().Object
					}
				}
				return ""
			}
			asked["now"]++
			if got := value(0); got != last(stream) {
				t.Fatalf("%s is %q now, want %q", subject(stream), got, last(stream))
			}
			if m := model[stream]; len(m) > 1 {
				asked["then"]++
				then := m[r.IntN(len(m)-1)]
				if got := value(then.seq); got != then.value {
					t.Fatalf("%s was %q as of %d, want %q", subject(stream), got, then.seq, then.value)
				}
			}
		}
	}
	if asked["then"] < probes/4 {
		t.Errorf("%v", asked)
	}
}

// TestWhoMayBelieve makes sure that an agent proposes and does not revise, and that what it says is worth less than what a person says.
func TestWhoMayBelieve(t *testing.T) {
	k := over(t, stores["memory"](t), token.NewAuthority(ring(t, "k1")))
	believing(t, k, "is")
	agent := access.As(t.Context(), access.Identity{Role: access.Agent, Subject: access.Stdio})
	for _, op := range []journal.Operator{journal.Revise, journal.Contract, journal.Expand} {
		if _, err := k.Beliefs().Operate(agent, tenant, asking(op, "a", "is", "b")); !errors.Is(err, access.ErrMayNot) {
			t.Errorf("%s: %v", op, err)
		}
	}
	made := must(k.Beliefs().Operate(agent, tenant, asking(journal.Propose, "a", "is", "b")))
	if _, err := k.Beliefs().Act(agent, tenant, journal.Act{Item: made.Item, Tag: journal.Published, Number: 1}); !errors.Is(err, access.ErrMayNot) {
		t.Errorf("publishing: %v", err)
	}
	if _, err := k.Beliefs().Act(agent, tenant, journal.Act{Item: made.Item, Tag: "seen", Number: 1}); err != nil {
		t.Errorf("a tag of its own: %v", err)
	}
	if o := must(k.Beliefs().Operate(t.Context(), tenant, asking(journal.Propose, "a", "is", "c"))); o.Result != journal.Changed {
		t.Errorf("a person's proposal did not win: %+v", o)
	}
	if o := must(k.Beliefs().Operate(agent, tenant, asking(journal.Propose, "a", "is", "b"))); o.Result != journal.Refused {
		t.Errorf("an agent's proposal won: %+v", o)
	}
}

// TestLowered makes sure that a person's key which the standing policy counts as a guest's is refused every operation that needs the permission to believe. Its
// proposals wait and end no statement of a person. Once no rule lowers the key, it may revise again.
func TestLowered(t *testing.T) {
	kerneltest.EachStore(t, func(t *testing.T, k *kernel.Kernel) {
		believing(t, k, "is")
		person := access.Identity{Tenant: tenant, Role: access.Admin, Subject: "0123456789abcdef"}
		by := access.As(t.Context(), person)
		set := func(id policy.ID) {
			must(k.Standings().Set(t.Context(), tenant, api.NewStanding{PolicyID: id, Retroactive: true}))
		}
		chain(t, k, 1)
		p := must(policy.Bind("lowered@1", counts.NewPolicy(counts.Rule{Key: person.Subject, Standing: counts.Guest})))
		if err := k.Policies().Register(t.Context(), tenant, p); err != nil {
			t.Fatal(err)
		}
		must(k.Beliefs().Operate(t.Context(), tenant, asking(journal.Revise, "the pump", "is", "on")))
		tried := 0
		for i, lowered := range []bool{false, true, false} {
			if set(counts.TeamID); lowered {
				set("lowered@1")
			}
			for _, a := range k.Beliefs().Operations() {
				if a.May != access.Believe || !lowered {
					continue
				}
				tried++
				_, err := a.Ask(by, tenant, a.Read(canon.Open(must(canon.Parse([]byte("{}"))))))
				if !errors.Is(err, access.ErrMayNot) || !strings.Contains(err.Error(), "the standing policy counts requests of "+person.Subject+" as less") {
					t.Errorf("%s by a lowered key: %v", a.ID, err)
				}
			}
			if _, err := k.Beliefs().Operate(by, tenant, asking(journal.Expand, "the valve", "is", "on")); errors.Is(err, access.ErrMayNot) != lowered {
				t.Errorf("by a key, lowered: %t: %v", lowered, err)
			}
			o := must(k.Beliefs().Operate(by, tenant, asking(journal.Propose, "the pump", "is", fmt.Sprint("off ", i))))
			if waits := o.Result == journal.Refused; waits != lowered {
				t.Errorf("a proposal by a key, lowered: %t: %+v", lowered, o)
			}
		}
		if waiting := must(k.Beliefs().Conflicts(by, tenant, api.ConflictsQuery{Space: beliefSpace})); len(waiting.Conflicts) != 1 {
			t.Errorf("waiting: %+v", waiting.Conflicts)
		}
		if tried < 12 {
			t.Errorf("%d operations were tried", tried)
		}
	})
}

// TestWhose compares the standings in lists of statements by the owner, a member's key and an agent, and of their conclusions. Then a policy lowers the key: its
// statements count as a guest's and its rule is no rule any more, while a list as of an earlier number does not change.
func TestWhose(t *testing.T) {
	kerneltest.EachStore(t, func(t *testing.T, k *kernel.Kernel) {
		ctx := t.Context()
		chain(t, k, 1)
		believing(t, k)
		if err := k.Policies().Register(ctx, tenant, must(policy.Bind("lowered@1", counts.NewPolicy(counts.Rule{Key: "0123456789abcdef", Standing: counts.Guest})))); err != nil {
			t.Fatal(err)
		}
		key := access.As(ctx, access.Identity{Tenant: tenant, Role: access.Admin, Subject: "0123456789abcdef"})
		states := func(ctx context.Context, op journal.Operator, kind, subject, predicate, object string, premises ...belief.Literal) {
			o := asking(op, subject, predicate, object)
			o.Kind, o.Premises = kind, premises
			must(k.Beliefs().Operate(ctx, tenant, o))
		}
		states(ctx, journal.Revise, "fact", "tank", "feeds", "pump")
		states(key, journal.Revise, "fact", "pump", "is", "on")
		states(ctx, journal.Revise, "fact", "pump", "runs", "tank", belief.Literal{Subject: "tank", Predicate: "feeds", Object: "pump"}, belief.Literal{Subject: "pump", Predicate: "is", Object: "on"})
		states(access.As(ctx, access.Identity{Role: access.Agent, Subject: access.Stdio}), journal.Propose, "fact", "tank", "feeds", "valve")
		states(ctx, journal.Revise, "fact", "valve", "runs", "tank", belief.Literal{Subject: "tank", Predicate: "feeds", Object: "valve"})
		states(key, journal.Revise, "hard_rule", "valve", "stays", "shut")
		before := must(k.Turns().Head(ctx, tenant))
		whose := func(base api.BeliefBase, err error) (list []string) {
			for _, s := range must(base, err).Statements {
				list = append(list, fmt.Sprintf("%s %s %s %s", s.Subject, s.Predicate, s.Object, s.Standing))
			}
			return list
		}
		base := func(asOf dag.Seq) []string {
			return whose(k.Beliefs().Base(ctx, tenant, api.BaseQuery{Space: beliefSpace, AsOf: asOf}))
		}
		rules := func(asOf dag.Seq) []string {
			return whose(k.Beliefs().Rules(ctx, tenant, api.RulesQuery{Space: beliefSpace, AsOf: asOf}))
		}
		then := []string{"pump is on member", "pump runs tank member", "tank feeds pump owner", "tank feeds valve agent", "valve runs tank agent", "valve stays shut member"}
		now := []string{"pump is on guest", "pump runs tank guest", "tank feeds pump owner", "tank feeds valve agent", "valve runs tank agent", "valve stays shut guest"}
		if got := base(0); !slices.Equal(got, then) {
			t.Errorf("%q, want %q", got, then)
		}
		if got := rules(0); !slices.Equal(got, then[5:]) {
			t.Errorf("rules: %q", got)
		}
		must(k.Standings().Set(ctx, tenant, api.NewStanding{PolicyID: "lowered@1"}))
		if got := base(0); !slices.Equal(got, now) {
			t.Errorf("lowered: %q, want %q", got, now)
		}
		if got := rules(0); len(got) != 0 {
			t.Errorf("rules of a lowered key: %q", got)
		}
		if got, of := base(before), rules(before); !slices.Equal(got, then) || !slices.Equal(of, then[5:]) {
			t.Errorf("as of %d: %q, rules %q", before, got, of)
		}
	})
}

// TestSpacePolicy refuses a policy under which what is believed contradicts itself, and takes it once it does not.
func TestSpacePolicy(t *testing.T) {
	ctx := t.Context()
	k := over(t, stores["memory"](t), token.NewAuthority(ring(t, "k1")))
	believing(t, k)
	for _, object := range []string{"b", "c"} {
		must(k.Beliefs().Operate(ctx, tenant, asking(journal.Revise, "a", "is", object)))
	}
	p := must(policy.Bind("strict@1", kinds.New(belief.Constraints{Functional: []string{"is"}}, nil)))
	if err := k.Policies().Register(ctx, tenant, p); err != nil {
		t.Fatal(err)
	}
	var conflict *belief.ConflictError
	if _, err := k.Beliefs().SetSpace(ctx, tenant, api.NewSpace{Space: beliefSpace, Policy: "strict@1"}); !errors.As(err, &conflict) || len(conflict.Elements) != 2 {
		t.Errorf("%v", err)
	}
	must(k.Beliefs().Operate(ctx, tenant, asking(journal.Contract, "a", "is", "b")))
	must(k.Beliefs().SetSpace(ctx, tenant, api.NewSpace{Space: beliefSpace, Policy: "strict@1"}))
	if o := must(k.Beliefs().Operate(ctx, tenant, asking(journal.Revise, "a", "is", "d"))); len(o.GaveWay) != 1 {
		t.Errorf("%+v", o)
	}
	if _, err := k.Beliefs().SetSpace(ctx, tenant, api.NewSpace{Space: "acme/other", Policy: "default@1"}); !errors.Is(err, policy.ErrMismatch) {
		t.Errorf("a policy of slices: %v", err)
	}
	if s := must(k.Beliefs().SetSpace(ctx, tenant, api.NewSpace{Space: beliefSpace})); s.Policy != "strict@1" {
		t.Errorf("a space that is made again without a policy is under %s", s.Policy)
	}
	if _, err := k.Beliefs().ItemsNow(ctx, tenant, "acme/none", "", 9, 0); !errors.Is(err, journal.ErrSpace) {
		t.Errorf("items of a space that was not made: %v", err)
	}
	if _, err := k.Beliefs().Conflicts(ctx, tenant, api.ConflictsQuery{Space: "acme/none"}); !errors.Is(err, journal.ErrSpace) {
		t.Errorf("conflicts of a space that was not made: %v", err)
	}
	dry := asking(journal.Revise, "a", "is", "e")
	dry.DryRun = true
	if o := must(k.Beliefs().Operate(ctx, tenant, dry)); o.Result != journal.Changed || o.Seq != 0 {
		t.Errorf("a dry run: %+v", o)
	}
	if _, err := k.Beliefs().Held(ctx, tenant, "acme/none", 0, nil); !errors.Is(err, journal.ErrSpace) {
		t.Errorf("a space that was not made: %v", err)
	}
}

// TestLinks leads links to what is there, and to nothing else. The same link again changes nothing.
func TestLinks(t *testing.T) {
	ctx := t.Context()
	s := stores["sqlite"](t)
	k := over(t, s, token.NewAuthority(ring(t, "k1")))
	turns := chain(t, k, 3)
	believing(t, k)
	made := must(k.Beliefs().Operate(ctx, tenant, asking(journal.Revise, "pump", "feeds", "tank")))
	cut := must(k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: turns[2]}))
	from := belief.Address{Item: made.Item, Revision: 1}
	for _, to := range []string{"turn:" + turns[1].String(), "slice:" + cut.Record.Provenance.SliceID.String()} {
		l := api.NewLink{From: from.String(), Type: "referenced", To: to}
		first := must(k.Beliefs().Link(ctx, tenant, l))
		again := must(k.Beliefs().Link(ctx, tenant, l))
		if first.Outcome != journal.Changed || again.Outcome != journal.Unchanged || again.Seq != first.Seq {
			t.Errorf("%s: %+v, then %+v", to, first, again)
		}
	}
	for _, to := range []string{"slice:0123456789abcdef", "slice:x", "turn:" + dag.TurnID{1}.String()} {
		if l, err := k.Beliefs().Link(ctx, tenant, api.NewLink{From: from.String(), Type: "referenced", To: to}); err == nil {
			t.Errorf("%s: %+v", to, l)
		}
	}
	soundly(t, s)
}

// TestRestated states something once more on another turn, and with another confidence: the fact says what the last one did, and what did not change goes on.
func TestRestated(t *testing.T) {
	ctx := t.Context()
	s := stores["sqlite"](t)
	k := over(t, s, token.NewAuthority(ring(t, "k1")))
	turns := chain(t, k, 3)
	believing(t, k)
	r := asking(journal.Revise, "pump", "feeds", "tank")
	r.Item, r.Turns = "kref://acme/desk/pump.fact", turns[:1]
	must(k.Beliefs().Operate(ctx, tenant, r))
	more := asking(journal.Revise, "pump", "is", "loud")
	more.Item, more.Turns, more.Statements = r.Item, r.Turns, append(more.Statements, r.Statements...)
	must(k.Beliefs().Operate(ctx, tenant, more))
	version := func() api.Fact {
		t.Helper()
		list := must(k.Facts().List(ctx, tenant, api.FactQuery{FactFilter: api.FactFilter{Predicate: "feeds"}})).Facts
		if len(list) != 1 {
			t.Fatalf("%+v", list)
		}
		return list[0]
	}
	first := version()
	if first.Turn != turns[0] || first.Source != "belief:acme/desk/pump.fact?r=1" {
		t.Errorf("after a statement beside it: %+v", first)
	}
	r.Turns = turns[1:2]
	must(k.Beliefs().Operate(ctx, tenant, r))
	second := version()
	if second.Turn != turns[1] || second.Since <= first.Since || second.Source != "belief:acme/desk/pump.fact?r=3" {
		t.Errorf("on another turn: %+v", second)
	}
	r.Confidence = new(dag.One / 2)
	must(k.Beliefs().Operate(ctx, tenant, r))
	if third := version(); third.Confidence != dag.One/2 || third.Turn != turns[1] {
		t.Errorf("with half the confidence: %+v", third)
	}
	projected(t, k)
	soundly(t, s)
}
