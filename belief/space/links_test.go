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
	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
)

// TestAttachedMay lets agents propose with links and tags of their own. Nothing is recorded of what needs the permission to revise, or leads to nothing.
func TestAttachedMay(t *testing.T) {
	k, s, _ := ruledBeliefs(t, "lives-in")
	agent := access.As(t.Context(), access.Identity{Role: access.Agent, Subject: access.Stdio})
	turns := chain(t, k, 2)
	held := must(k.Beliefs().Operate(t.Context(), tenant, asking(journal.Revise, "ada", "lives-in", "london")))
	at := belief.Address{Item: held.Item, Revision: 1}.String()
	must(k.Turns().Erase(t.Context(), tenant, turns[1], "asked for"))
	head := must(k.Turns().Head(t.Context(), tenant))
	to := func(kind, target string) []api.BeliefLink { return []api.BeliefLink{{Type: kind, To: target}} }
	for name, c := range map[string]struct {
		change func(in *space.Operation)
		want   error
	}{
		"published":             {func(in *space.Operation) { in.Tags = []string{"mine", journal.Published} }, access.ErrMayNot},
		"current":               {func(in *space.Operation) { in.Tags = []string{journal.Current} }, access.ErrMayNot},
		"a new space":           {func(in *space.Operation) { in.Space, in.NewSpace = "acme/new", true }, access.ErrMayNot},
		"a space that is there": {func(in *space.Operation) { in.NewSpace = true }, access.ErrMayNot},
		"no space":              {func(in *space.Operation) { in.Space = "acme/new" }, journal.ErrSpace},
		"a reserved type":       {func(in *space.Operation) { in.Links = to(rules.DecayedFrom, at) }, belief.ErrForm},
		"an erased turn":        {func(in *space.Operation) { in.Links = to("created_from", "turn:"+turns[1].String()) }, knowledge.ErrNoEvidence},
		"an unknown turn":       {func(in *space.Operation) { in.Links = to("created_from", "turn:"+dag.TurnID{9}.String()) }, knowledge.ErrNoEvidence},
		"an unknown artifact":   {func(in *space.Operation) { in.Links = to("referenced", at+"&a=none") }, journal.ErrNoItem},
		"an unknown revision":   {func(in *space.Operation) { in.Links = to("referenced", string(held.Item)+"?r=7") }, journal.ErrNoItem},
		"an item":               {func(in *space.Operation) { in.Links = to("referenced", string(held.Item)) }, belief.ErrForm},
		"no address":            {func(in *space.Operation) { in.Links = to("referenced", "https://x.example") }, belief.ErrForm},
	} {
		in := asking(journal.Propose, "pump", "feeds", "tank")
		c.change(&in)
		if o, err := k.Beliefs().Operate(agent, tenant, in); !errors.Is(err, c.want) || must(k.Turns().Head(t.Context(), tenant)) != head {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
	}
	in := asking(journal.Propose, "pump", "feeds", "tank")
	in.Tags, in.Links = []string{"mine"}, append(to("depends_on", at), to("created_from", "turn:"+turns[0].String())...)
	o := must(k.Beliefs().Operate(agent, tenant, in))
	if got := must(k.Beliefs().Kref(t.Context(), tenant, belief.Address{Item: o.Item, Tag: "mine"})); got.Revision == nil || got.Revision.Number != 1 {
		t.Errorf("%+v", got)
	}
	if links := must(k.Beliefs().ImpactOf(t.Context(), tenant, belief.Address{Item: held.Item}, 1)).Links; len(links) != 1 || links[0].From.Item != o.Item || links[0].By == "" {
		t.Errorf("%+v", links)
	}
	soundly(t, s)
	projected(t, k)
}

// TestNewSpace makes a space under the policy of new spaces; one that is there keeps its policy.
func TestNewSpace(t *testing.T) {
	k, s, _ := ruledBeliefs(t, "lives-in")
	for range 2 {
		for _, space := range []belief.Space{"acme/new", beliefSpace} {
			in := asking(journal.Revise, "ada", "lives-in", "london")
			in.Space, in.NewSpace, in.Tags = space, true, []string{journal.Published}
			if o := must(k.Beliefs().Operate(t.Context(), tenant, in)); o.Result != journal.Changed {
				t.Errorf("%+v", o)
			}
		}
	}
	if got := must(k.Beliefs().Spaces(t.Context(), tenant, api.SpacesQuery{})).Spaces; !slices.Equal(got, []api.Space{{Space: beliefSpace, Policy: "desk@1"}, {Space: "acme/new", Policy: kinds.ID}}) {
		t.Errorf("%v", got)
	}
	contrary := asking(journal.Revise, "ada", "lives-in", "oslo")
	if o := must(k.Beliefs().Operate(t.Context(), tenant, contrary)); o.Result != journal.Refused || !o.Protects {
		t.Errorf("what is published gave way: %+v", o)
	}
	if got := stated(t, k, 0); !slices.Equal(got, []string{"ada lives-in london"}) {
		t.Errorf("%q", got)
	}
	soundly(t, s)
}
