package space_test

import (
	"errors"
	"slices"
	"testing"

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
	"github.com/graphkernel/graphkernel/store/transfer"
	"github.com/graphkernel/graphkernel/token"
)

func ruledBeliefs(t *testing.T, predicates ...string) (*kernel.Kernel, *inmem.Store, *token.Authority) {
	t.Helper()
	s := inmem.Open(&inmem.Disk{}, inmem.Options{})
	a := token.NewAuthority(ring(t, "k1"))
	k := over(t, s, a)
	believing(t, k, predicates...)
	return k, s, a
}

// TestResolveConflict empties the queue in each way. A copy says the same.
func TestResolveConflict(t *testing.T) {
	k, s, a := ruledBeliefs(t, "lives-in")
	ctx := t.Context()
	agent := access.As(ctx, access.Identity{Role: access.Agent, Subject: access.Stdio})
	must(k.Beliefs().Operate(ctx, tenant, asking(journal.Revise, "ada", "lives-in", "oslo")))
	propose := func(city string) *journal.Outcome {
		o := must(k.Beliefs().Operate(agent, tenant, asking(journal.Propose, "ada", "lives-in", city)))
		if o.Result != journal.Refused {
			t.Fatalf("%+v", o)
		}
		return o
	}
	waiting := func() int {
		return len(must(k.Beliefs().Conflicts(ctx, tenant, api.ConflictsQuery{Space: beliefSpace})).Conflicts)
	}
	resolve := func(o *journal.Outcome, how string, dry bool) api.ResolvedConflict {
		return must(k.Beliefs().ResolveConflict(ctx, tenant, api.ConflictResolution{Space: beliefSpace, Conflict: o.Seq, How: how, Reason: "looked", DryRun: dry}))
	}
	one, two, three := propose("rome"), propose("bonn"), propose("lima")
	if _, err := k.Beliefs().ResolveConflict(agent, tenant, api.ConflictResolution{Space: beliefSpace, Conflict: one.Seq, How: journal.Dropped}); !errors.Is(err, access.ErrMayNot) {
		t.Errorf("an agent: %v", err)
	}
	if r := resolve(one, journal.Taken, true); r.Seq != 0 || len(r.Outcome.GaveWay) != 1 || len(r.Advice) != 1 || r.Advice[0].Reason == "" || waiting() != 3 {
		t.Errorf("dry: %+v, %d wait", r, waiting())
	}
	if r := resolve(one, journal.Taken, false); r.Outcome.Outcome != journal.Changed || r.Seq != r.Outcome.Seq || waiting() != 2 {
		t.Errorf("taken: %+v, %d wait", r, waiting())
	}
	if got := stated(t, k, 0); len(got) != 1 || got[0] != "ada lives-in rome" {
		t.Errorf("%q", got)
	}
	resolve(two, journal.Dropped, false)
	must(k.Beliefs().Act(ctx, tenant, journal.Act{Item: must(k.Beliefs().ItemsNow(ctx, tenant, beliefSpace, "", 1, 0))[0].Item, Tag: journal.Published, Number: 2}))
	if r := resolve(three, journal.Taken, false); r.Outcome.Outcome != journal.Refused || r.Seq != 0 || waiting() != 1 {
		t.Errorf("what is published: %+v, %d wait", r.Outcome, waiting())
	}
	resolve(three, journal.Deferred, false)
	if waiting() != 0 {
		t.Errorf("%d wait", waiting())
	}
	if _, err := k.Beliefs().ResolveConflict(ctx, tenant, api.ConflictResolution{Space: beliefSpace, Conflict: three.Seq, How: journal.Dropped}); !errors.Is(err, journal.ErrNoConflict) {
		t.Errorf("twice: %v", err)
	}
	soundly(t, s)
	projected(t, k)
	other := inmem.Open(&inmem.Disk{}, inmem.Options{})
	must(transfer.Copy(ctx, other, s, transfer.Options{}))
	soundly(t, other)
	if list := must(over(t, other, a).Beliefs().Conflicts(ctx, tenant, api.ConflictsQuery{Space: beliefSpace})).Conflicts; len(list) != 0 {
		t.Errorf("in a copy: %+v", list)
	}
}

// TestPromoteBeliefs promotes what three items say to a fact, once, with links from all of them, and lowers the fact when they fall.
func TestPromoteBeliefs(t *testing.T) {
	k, s, _ := ruledBeliefs(t)
	ctx := t.Context()
	say := func(item string, object string) {
		r := asking(journal.Revise, "pump", "feeds", object)
		r.Item = belief.Item("kref://acme/desk/" + item)
		must(k.Beliefs().Operate(ctx, tenant, r))
	}
	for _, item := range []string{"a.observation", "b.observation", "c.observation"} {
		say(item, "tank")
	}
	if list := must(k.Beliefs().Promote(ctx, tenant, api.PromotionRequest{Space: beliefSpace})).Promotions; len(list) != 0 {
		t.Fatalf("two of three, beside each: %+v", list)
	}
	if list := must(k.Beliefs().Promote(ctx, tenant, api.PromotionRequest{Space: beliefSpace, Policy: rules.V1ID, DryRun: true})).Promotions; len(list) == 0 || list[0].To.Kind() != "fact" {
		t.Fatalf("by the first policy each is one of three: %+v", list)
	}
	say("e.observation", "tank")
	say("d.observation", "valve")
	head := must(k.Turns().Head(ctx, tenant))
	dry := must(k.Beliefs().Promote(ctx, tenant, api.PromotionRequest{Space: beliefSpace, DryRun: true})).Promotions
	if len(dry) == 0 || dry[0].To.Kind() != "fact" || must(k.Turns().Head(ctx, tenant)) != head {
		t.Fatalf("dry: %+v", dry)
	}
	list := must(k.Beliefs().Promote(ctx, tenant, api.PromotionRequest{Space: beliefSpace})).Promotions
	if len(list) != 1 || list[0].Outcome != journal.Changed || list[0].To != dry[0].To {
		t.Fatalf("%+v", list)
	}
	if again := must(k.Beliefs().Promote(ctx, tenant, api.PromotionRequest{Space: beliefSpace})).Promotions; len(again) != 0 {
		t.Errorf("the second time: %+v", again)
	}
	kref := must(k.Beliefs().Kref(ctx, tenant, belief.Address{Item: list[0].To}))
	if kref.Revision == nil || kref.Revision.Reason != list[0].Reason || kref.Revision.Statements[0].Rank.Class != belief.Inferred {
		t.Errorf("%+v", kref.Revision)
	}
	impact := func(item string) int {
		return len(must(k.Beliefs().ImpactOf(ctx, tenant, belief.Address{Item: list[0].To}, 1)).Links)
	}
	if n := impact(""); n != 4 {
		t.Errorf("%d links", n)
	}
	if c := must(k.Beliefs().Cascade(ctx, tenant, api.CascadeRequest{Space: beliefSpace})); c.Seq != 0 || len(c.Lowered) != 0 {
		t.Errorf("nothing fell: %+v", c)
	}
	fall := func(item string) {
		must(k.Beliefs().Act(ctx, tenant, journal.Act{Item: belief.Item("kref://acme/desk/" + item), Deprecates: true}))
	}
	fall("a.observation")
	if c := must(k.Beliefs().Cascade(ctx, tenant, api.CascadeRequest{Space: beliefSpace, DryRun: true})); len(c.Lowered) != 1 || c.Seq != 0 {
		t.Errorf("dry: %+v", c)
	}
	c := must(k.Beliefs().Cascade(ctx, tenant, api.CascadeRequest{Space: beliefSpace}))
	if len(c.Lowered) != 1 || c.Lowered[0].After != 750_000 || c.Seq == 0 {
		t.Fatalf("%+v", c)
	}
	now := must(k.Beliefs().Kref(ctx, tenant, belief.Address{Item: list[0].To})).Revision
	if now.Number != 2 || now.Confidence != 750_000 || now.Reason != c.Lowered[0].Reason {
		t.Errorf("%+v", now)
	}
	if c := must(k.Beliefs().Cascade(ctx, tenant, api.CascadeRequest{Space: beliefSpace})); len(c.Lowered) != 0 {
		t.Errorf("the second time: %+v", c)
	}
	fall("b.observation")
	fall("c.observation")
	fall("e.observation")
	if c := must(k.Beliefs().Cascade(ctx, tenant, api.CascadeRequest{Space: beliefSpace})); len(c.Lowered) != 1 || !c.Lowered[0].Invalid {
		t.Fatalf("%+v", c)
	}
	gone := must(k.Beliefs().Kref(ctx, tenant, belief.Address{Item: list[0].To})).Revision
	if gone == nil || gone.Statements[0].Span.Until > gone.At || len(gone.Statements) != 1 {
		t.Errorf("it does not end: %+v", gone)
	}
	if c := must(k.Beliefs().Cascade(ctx, tenant, api.CascadeRequest{Space: beliefSpace})); len(c.Lowered) != 0 {
		t.Errorf("after the end: %+v", c)
	}
	soundly(t, s)
	projected(t, k)
}

// TestBeliefRules returns all rules of a space, and nothing else, and counts uses.
func TestBeliefRules(t *testing.T) {
	k, s, _ := ruledBeliefs(t)
	ctx := t.Context()
	p := must(policy.Bind("binding@1", kinds.New(belief.Constraints{}, []kinds.Kind{{Name: "law", Hard: true, Entrenched: kinds.ByEvent}, {Name: "habit", Always: true, Entrenched: kinds.ByEvent}, {Name: "fact", Entrenched: kinds.ByEvent}})))
	if err := k.Policies().Register(ctx, tenant, p); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"preference", "law", "fact", "habit"} { // one that is not listed, since the policy came after it; hard alone, neither, always alone
		if kind == "law" {
			must(k.Beliefs().SetSpace(ctx, tenant, api.NewSpace{Space: beliefSpace, Policy: "binding@1"}))
		}
		r := asking(journal.Revise, kind, "is", "kept")
		r.Kind = kind
		must(k.Beliefs().Operate(ctx, tenant, r))
	}
	if b := must(k.Beliefs().Constraints(ctx, tenant, beliefSpace, 0)); len(b.Held) != 2 || len(must(k.Beliefs().Held(ctx, tenant, beliefSpace, 0, nil)).Held) != 4 {
		t.Errorf("%+v", b.Held)
	}
	item := must(k.Beliefs().ItemsNow(ctx, tenant, beliefSpace, "", 1, 0))[0]
	for i, success := range []bool{true, false, true} {
		record := must(k.Beliefs().Used(ctx, tenant, api.BeliefUse{Ref: string(item.Item), Success: success}))
		if record.Ref != string(item.Item)+"?r=1" || record.Uses != i+1 {
			t.Fatalf("%+v", record)
		}
		if i == 2 && (record.Successes != 2 || record.Rate != 666_666) {
			t.Errorf("%+v", record)
		}
	}
	if _, err := k.Beliefs().Used(ctx, tenant, api.BeliefUse{Ref: "kref://acme/desk/none.fact", Success: true}); !errors.Is(err, journal.ErrNoItem) {
		t.Errorf("got %v", err)
	}
	soundly(t, s)
	projected(t, k)
}

// TestResolveRule takes a rule that was proposed for an item: it is a rule of that item then, and no statement.
func TestResolveRule(t *testing.T) {
	k, s, _ := ruledBeliefs(t)
	ctx := t.Context()
	agent := access.As(ctx, access.Identity{Role: access.Agent, Subject: access.Stdio})
	dry := asking(journal.Revise, "pump", "is", "dry")
	dry.Statements[0].Not = true
	must(k.Beliefs().Operate(ctx, tenant, dry))
	must(k.Beliefs().Operate(ctx, tenant, asking(journal.Revise, "valve", "is", "shut")))
	rule := asking(journal.Propose, "pump", "is", "dry")
	rule.Item, rule.Premises, rule.Confidence = "kref://acme/desk/why.preference", []belief.Literal{{Subject: "valve", Predicate: "is", Object: "shut"}}, new(dag.PPM(400_000))
	refused := must(k.Beliefs().Operate(agent, tenant, rule))
	if refused.Result != journal.Refused {
		t.Fatalf("%+v", refused)
	}
	r := must(k.Beliefs().ResolveConflict(ctx, tenant, api.ConflictResolution{Space: beliefSpace, Conflict: refused.Seq, How: journal.Taken}))
	if r.Outcome.Item != rule.Item || r.Advice[0].Proposed > 400_000 {
		t.Errorf("%+v, advice %+v", r.Outcome, r.Advice)
	}
	taken := must(k.Beliefs().Kref(ctx, tenant, belief.Address{Item: rule.Item})).Revision
	if len(taken.Statements) != 1 || !slices.Equal(taken.Statements[0].Premises, rule.Premises) || taken.Confidence != 400_000 {
		t.Errorf("%+v", taken)
	}
	must(k.Beliefs().Operate(ctx, tenant, asking(journal.Contract, "valve", "is", "shut")))
	if w := must(k.Beliefs().Why(ctx, tenant, whether(belief.Literal{Subject: "pump", Predicate: "is", Object: "dry"}, 0))); w.Believed {
		t.Errorf("it is believed without its premise: %+v", w.Support)
	}
	soundly(t, s)
}

// TestCascadeKeepsPublished lowers neither what is published nor what rests on it.
func TestCascadeKeepsPublished(t *testing.T) {
	k, s, _ := ruledBeliefs(t)
	ctx := t.Context()
	made := map[string]belief.Item{}
	for _, name := range []string{"ground", "shown", "above"} {
		made[name] = must(k.Beliefs().Operate(ctx, tenant, asking(journal.Revise, name, "is", "kept"))).Item
	}
	more := asking(journal.Revise, "above", "has", "more")
	more.Item = made["above"]
	must(k.Beliefs().Operate(ctx, tenant, more)) // a revision with a statement of the one before
	for from, to := range map[string]string{"shown": "ground", "above": "shown"} {
		must(k.Beliefs().Link(ctx, tenant, api.NewLink{From: belief.Address{Item: made[from], Revision: map[string]int{"shown": 1, "above": 2}[from]}.String(), Type: "depends_on", To: belief.Address{Item: made[to], Revision: 1}.String()}))
	}
	must(k.Beliefs().Act(ctx, tenant, journal.Act{Item: made["shown"], Tag: journal.Published, Number: 1}))
	must(k.Beliefs().Act(ctx, tenant, journal.Act{Item: made["ground"], Deprecates: true}))
	if c := must(k.Beliefs().Cascade(ctx, tenant, api.CascadeRequest{Space: beliefSpace})); len(c.Lowered) != 0 || len(c.Excepted) != 1 {
		t.Errorf("published: %+v", c)
	}
	must(k.Beliefs().Act(ctx, tenant, journal.Act{Item: made["shown"], Tag: journal.Published}))
	if c := must(k.Beliefs().Cascade(ctx, tenant, api.CascadeRequest{Space: beliefSpace})); len(c.Lowered) != 2 || len(c.Excepted) != 0 {
		t.Errorf("not published: %+v", c)
	}
	soundly(t, s)
	projected(t, k)
}
