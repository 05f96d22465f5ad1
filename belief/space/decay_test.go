package space_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/belief/rules"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// A clocked kernel has a clock that tests move.
type clocked struct {
	*kernel.Kernel
	store *inmem.Store
	now   time.Time
}

func newClocked(t *testing.T) *clocked {
	t.Helper()
	c := &clocked{store: inmem.Open(&inmem.Disk{}, inmem.Options{}), now: standing()}
	c.Kernel = must(kernel.Open(kernel.Config{Store: c.store, Authority: token.NewAuthority(ring(t, "k1")), Rand: noise(1), Clock: func() time.Time { return c.now }}))
	p := must(policy.Bind("fading@1", kinds.New(belief.Constraints{Functional: []string{"lives-in"}}, []kinds.Kind{{Name: "fact", Entrenched: kinds.ByEvent}, {Name: "observation", HalfLife: 10, Entrenched: kinds.ByEvent}, {Name: "rumour", HalfLife: 1, Entrenched: kinds.ByEvent}})))
	if err := c.Policies().Register(t.Context(), tenant, p); err != nil {
		t.Fatal(err)
	}
	must(c.Beliefs().SetSpace(t.Context(), tenant, api.NewSpace{Space: beliefSpace, Policy: "fading@1"}))
	return c
}

func (c *clocked) days(n int) { c.now = c.now.Add(time.Duration(n) * 24 * time.Hour) }

// say states something of an item.
func (c *clocked) say(t *testing.T, item, subject string, confidence dag.PPM) {
	t.Helper()
	in := asking(journal.Revise, subject, "is", "kept")
	in.Item, in.Confidence = belief.Item("kref://acme/desk/"+item), &confidence
	must(c.Beliefs().Operate(t.Context(), tenant, in))
}

func (c *clocked) current(t *testing.T, item string) *journal.Revision {
	t.Helper()
	return must(c.Beliefs().Kref(t.Context(), tenant, belief.Address{Item: belief.Item("kref://acme/desk/" + item)})).Revision
}

func (c *clocked) head(t *testing.T) dag.Seq { return must(c.Turns().Head(t.Context(), tenant)) }

// TestDecayIsOfTime: how often decay runs is no matter, a second run at the same time changes nothing, and no confidence rises.
func TestDecayIsOfTime(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	lowered := 0
	for range 20 {
		often, once := newClocked(t), newClocked(t)
		var items []string
		for i, kind := range []string{"observation", "rumour", "fact", "observation", "rumour"} {
			items = append(items, fmt.Sprintf("%d.%s", i, kind))
			c := dag.PPM(r.IntN(1_000_001))
			often.say(t, items[i], fmt.Sprint("s", i), c)
			once.say(t, items[i], fmt.Sprint("s", i), c)
		}
		for range 1 + r.IntN(5) {
			n := r.IntN(8)
			often.days(n)
			once.days(n)
			before := map[string]dag.PPM{}
			for _, item := range items {
				before[item] = often.current(t, item).Confidence
			}
			head := often.head(t)
			if dry := must(often.Beliefs().Decay(t.Context(), tenant, api.DecayRequest{Space: beliefSpace, Least: new(dag.PPM(0)), DryRun: true})); dry.Seq != 0 || often.head(t) != head {
				t.Fatalf("dry: %+v", dry)
			}
			d := must(often.Beliefs().Decay(t.Context(), tenant, api.DecayRequest{Space: beliefSpace, Least: new(dag.PPM(0))}))
			lowered += len(d.Lowered)
			head = often.head(t)
			if again := must(often.Beliefs().Decay(t.Context(), tenant, api.DecayRequest{Space: beliefSpace, Least: new(dag.PPM(0))})); len(again.Lowered) != 0 || again.Seq != 0 || often.head(t) != head {
				t.Fatalf("the second time: %+v", again)
			}
			for _, item := range items {
				if now := often.current(t, item); now.Confidence > before[item] || len(now.Statements) != 1 || now.Statements[0].Span != belief.Always {
					t.Fatalf("%s had %s, and now %+v", item, before[item], now)
				}
			}
		}
		must(once.Beliefs().Decay(t.Context(), tenant, api.DecayRequest{Space: beliefSpace, Least: new(dag.PPM(0))}))
		for _, item := range items {
			if a, b := often.current(t, item), once.current(t, item); a.Confidence != b.Confidence {
				t.Fatalf("%s: often %s, once %s", item, a.Confidence, b.Confidence)
			}
		}
		soundly(t, often.store)
		projected(t, often.Kernel)
	}
	if lowered < 50 {
		t.Errorf("%d lowered", lowered)
	}
}

// TestDecayKeeps: what is published keeps its confidence, little losses wait, links go on, and only decay makes its links.
func TestDecayKeeps(t *testing.T) {
	c := newClocked(t)
	ctx := t.Context()
	c.say(t, "ground.fact", "ground", dag.One)
	c.say(t, "above.observation", "above", dag.One)
	c.say(t, "shown.observation", "shown", dag.One)
	ref := func(item string, n int) belief.Address {
		return belief.Address{Item: belief.Item("kref://acme/desk/" + item), Revision: n}
	}
	must(c.Beliefs().Link(ctx, tenant, api.NewLink{From: ref("above.observation", 1).String(), Type: "depends_on", To: ref("ground.fact", 1).String()}))
	must(c.Beliefs().Act(ctx, tenant, journal.Act{Item: ref("shown.observation", 0).Item, Tag: journal.Published, Number: 1}))
	c.now = c.now.Add(time.Hour)
	if d := must(c.Beliefs().Decay(ctx, tenant, api.DecayRequest{Space: beliefSpace, Least: new(dag.PPM(10_000))})); len(d.Lowered) != 0 {
		t.Errorf("after an hour: %+v", d)
	}
	c.now = c.now.Add(-time.Hour)
	for want := dag.One / 2; want > 100_000; want /= 2 {
		c.days(10)
		changed := c.Turns().Changed(tenant)
		d := must(c.Beliefs().Decay(ctx, tenant, api.DecayRequest{Space: beliefSpace, Least: new(dag.PPM(10_000))}))
		select {
		case <-changed:
		default:
			t.Error("nobody was told")
		}
		if c.current(t, "above.observation").Salt == (dag.Salt{}) {
			t.Error("its words have no salt")
		}
		if len(d.Lowered) != 1 || d.Lowered[0].After != want || len(d.Excepted) != 1 || d.Lowered[0].Origin != ref("above.observation", 1).String() {
			t.Fatalf("%+v, want %s", d, want)
		}
	}
	if got := c.current(t, "shown.observation"); got.Confidence != dag.One {
		t.Errorf("%+v", got)
	}
	must(c.Beliefs().Act(ctx, tenant, journal.Act{Item: ref("ground.fact", 0).Item, Deprecates: true}))
	if d := must(c.Beliefs().Cascade(ctx, tenant, api.CascadeRequest{Space: beliefSpace})); len(d.Lowered) != 1 || !d.Lowered[0].Invalid || d.Lowered[0].Before != 125_000 {
		t.Errorf("what it rests on fell: %+v", d)
	}
	if _, err := c.Beliefs().Link(ctx, tenant, api.NewLink{From: ref("shown.observation", 1).String(), Type: rules.DecayedFrom, To: ref("above.observation", 1).String()}); !errors.Is(err, belief.ErrForm) {
		t.Errorf("a link of decay: %v", err)
	}
	agent := access.As(ctx, access.Identity{Role: access.Agent, Subject: access.Stdio})
	if _, err := c.Beliefs().Decay(agent, tenant, api.DecayRequest{Space: beliefSpace, Least: new(dag.PPM(0))}); !errors.Is(err, access.ErrMayNot) {
		t.Errorf("an agent: %v", err)
	}
	if _, err := c.Beliefs().Cascade(agent, tenant, api.CascadeRequest{Space: beliefSpace}); !errors.Is(err, access.ErrMayNot) {
		t.Errorf("an agent lowers: %v", err)
	}
	if _, err := c.Beliefs().Decay(ctx, tenant, api.DecayRequest{Space: "acme/none", Least: new(dag.PPM(0)), DryRun: true}); !errors.Is(err, journal.ErrSpace) {
		t.Errorf("no space: %v", err)
	}
	c.now = c.now.Add(-365 * 24 * time.Hour)
	if d := must(c.Beliefs().Decay(ctx, tenant, api.DecayRequest{Space: beliefSpace, Least: new(dag.PPM(0))})); len(d.Lowered) != 0 {
		t.Errorf("a clock that went back: %+v", d)
	}
	soundly(t, c.store)
	projected(t, c.Kernel)
}
