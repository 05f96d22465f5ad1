package space_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/rules"
	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
)

// TestAbstract states something more general than two observations: they stay below 0.7, and are deprecated in the same change from there on.
func TestAbstract(t *testing.T) {
	for _, c := range []struct {
		specificity dag.PPM
		kept        bool
	}{{0, true}, {699_999, true}, {700_000, false}, {dag.One, false}} {
		k, s, _ := ruledBeliefs(t)
		ctx := t.Context()
		turns := chain(t, k, 2)
		var from []string
		for i, name := range []string{"a", "b"} {
			in := asking(journal.Revise, "pump "+name, "is", "loud")
			in.Item, in.Turns, in.Confidence = belief.Item("kref://acme/desk/"+name+".observation"), turns[:i+1], new(dag.PPM(800_000+100_000*i))
			must(k.Beliefs().Operate(ctx, tenant, in))
			from = append(from, string(in.Item))
		}
		in := api.AbstractionRequest{Space: beliefSpace, Statements: asking("", "pumps", "are", "loud").Statements, From: from, Specificity: c.specificity, Reason: "heard"}
		head := must(k.Turns().Head(ctx, tenant))
		in.DryRun = true
		if dry := must(k.Beliefs().Abstract(ctx, tenant, in)); dry.Outcome.Outcome != journal.Changed || dry.Kept != c.kept || must(k.Turns().Head(ctx, tenant)) != head {
			t.Errorf("dry: %+v", dry)
		}
		in.DryRun = false
		done := must(k.Beliefs().Abstract(ctx, tenant, in))
		r := must(k.Beliefs().Kref(ctx, tenant, belief.Address{Item: done.Outcome.Item})).Revision
		if done.Kept != c.kept || r.Confidence != 800_000 || len(r.Statements[0].Turns) != 2 || !strings.Contains(r.Reason, "abstracted from 2 items with the specificity "+c.specificity.String()+": heard") {
			t.Errorf("%+v, %+v", done, r)
		}
		links := must(k.Beliefs().ImpactOf(ctx, tenant, belief.Address{Item: done.Outcome.Item}, 1)).Links
		if len(links) != 2 || links[0].Type != rules.AbstractedTo || string(links[0].From.Item) != from[0] {
			t.Errorf("%+v", links)
		}
		want := []string{"pump-a is loud", "pump-b is loud", "pumps are loud"}
		if !c.kept {
			want = want[2:]
		}
		if got := stated(t, k, 0); !slices.Equal(got, want) {
			t.Errorf("with %s: %q, want %q", c.specificity, got, want)
		}
		for _, a := range from {
			if record := must(k.Beliefs().Kref(ctx, tenant, must(belief.ParseAddress(a)))).Record; record.Deprecated == c.kept {
				t.Errorf("%+v", record)
			}
		}
		soundly(t, s)
		projected(t, k)
		for _, turn := range turns { // what it was made of is gone, and so is what it says
			must(k.Turns().Erase(ctx, tenant, turn, "asked"))
		}
		if got := stated(t, k, 0); len(got) != 0 {
			t.Errorf("after the erasure: %q", got)
		}
		soundly(t, s)
	}
}

// TestAbstractRefused: nothing is recorded of what is no abstraction, and a proposal that is not taken leaves the originals.
func TestAbstractRefused(t *testing.T) {
	k, s, _ := ruledBeliefs(t, "is")
	ctx := t.Context()
	say := func(item, subject, object string) belief.Address {
		in := asking(journal.Revise, subject, "is", object)
		in.Item = belief.Item("kref://acme/desk/" + item)
		o := must(k.Beliefs().Operate(ctx, tenant, in))
		return belief.Address{Item: o.Item, Revision: o.Revision}
	}
	old := say("a.fact", "pump", "new")
	first := say("a.fact", "pump", "loud")
	shown := say("shown.fact", "fan", "quiet")
	gone := say("gone.fact", "bell", "quiet")
	must(k.Beliefs().Act(ctx, tenant, journal.Act{Item: shown.Item, Tag: journal.Published, Number: 1}))
	must(k.Beliefs().Act(ctx, tenant, journal.Act{Item: gone.Item, Deprecates: true}))
	head := must(k.Turns().Head(ctx, tenant))
	ask := func(subject, object string, specificity dag.PPM, from ...belief.Address) api.AbstractionRequest {
		in := api.AbstractionRequest{Space: beliefSpace, Statements: asking("", subject, "is", object).Statements, Specificity: specificity}
		for _, a := range from {
			in.From = append(in.From, a.String())
		}
		return in
	}
	onto := ask("all", "loud", 0, first)
	onto.Item = first.Item
	for name, c := range map[string]struct {
		in   api.AbstractionRequest
		want error
	}{
		"of nothing": {ask("all", "loud", 0), belief.ErrForm}, "too specific": {ask("all", "loud", dag.One+1, first), belief.ErrForm}, "twice": {ask("all", "loud", 0, first, first), belief.ErrForm},
		"of what is deprecated": {ask("all", "loud", 0, gone), space.ErrOriginal}, "of an old revision": {ask("all", "loud", 0, old), space.ErrOriginal},
		"of no revision": {ask("all", "loud", 0, belief.Address{Item: first.Item, Revision: 9}), journal.ErrNoItem},
		"elsewhere":      {ask("all", "loud", 0, belief.Address{Item: "kref://acme/shop/a.fact"}), belief.ErrForm}, "published": {ask("all", "quiet", dag.One, shown), belief.ErrProtected},
		"the same": {ask("pump", "loud", 0, first), belief.ErrInput}, "its own item": {onto, belief.ErrInput}, "the contrary": {ask("pump", "quiet", 0, first), belief.ErrInput},
	} {
		for _, dry := range []bool{true, false} {
			if c.in.DryRun = dry; dry && name == "published" {
				continue // a plan of the proposal alone
			}
			if o, err := k.Beliefs().Abstract(ctx, tenant, c.in); !errors.Is(err, c.want) || must(k.Turns().Head(ctx, tenant)) != head {
				t.Errorf("%s: %+v, %v", name, o, err)
			}
		}
	}
	agent := access.As(ctx, access.Identity{Role: access.Agent, Subject: access.Stdio})
	if _, err := k.Beliefs().Abstract(agent, tenant, ask("all", "loud", 0, first)); !errors.Is(err, access.ErrMayNot) {
		t.Errorf("an agent: %v", err)
	}
	if o := must(k.Beliefs().Abstract(ctx, tenant, ask("fan", "loud", dag.One, first))); o.Outcome.Outcome != journal.Refused || !o.Kept || len(stated(t, k, 0)) != 2 {
		t.Errorf("what contradicts what is published: %+v", o)
	}
	soundly(t, s)
	projected(t, k)
}
