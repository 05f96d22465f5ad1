package space_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/rules"
	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
)

// tell states that the job fails in an item: on a turn that was said at a time, or, if that is zero, on its author's word.
func tell(t *testing.T, k *kernel.Kernel, item belief.Item, said time.Time) {
	t.Helper()
	in := asking(journal.Revise, "job", "fails", "at night")
	if in.Item = item; !said.IsZero() {
		d := dag.Draft{
			ID: dag.ExternalTurnID("test", string(item)), Conversation: dag.ExternalConversationID("test", string(item)), Role: dag.RoleUser, CreatedAt: must(dag.TimeOf(said)), Author: "human:user",
			Content: "of " + string(item), Attrs: map[string]string{dag.AttrExternalID: string(item)},
		}
		must(k.Turns().Admit(t.Context(), tenant, []dag.Draft{d}))
		in.Turns = []dag.TurnID{d.ID}
	}
	must(k.Beliefs().Operate(t.Context(), tenant, in))
}

func promoted(list []api.Promotion) (names []string) {
	for i := range list {
		names = append(names, must(belief.ParseAddress(list[i].From)).Item.Name()+" to "+cmp.Or(list[i].Tag, list[i].To.Kind()))
	}
	return names
}

// TestPromotionTimes promotes episodes by when the turns were said that they rest on, however they were recorded: in one import, or one by one. Without turns the time of
// recording counts.
func TestPromotionTimes(t *testing.T) {
	day := standing().Add(-48 * time.Hour)
	for _, c := range []struct {
		name     string
		said     []time.Time
		apart    time.Duration // between the recordings
		promoted bool
	}{
		{"hours apart, recorded at once", []time.Time{day, day.Add(2 * time.Hour)}, 0, true},
		{"a minute apart, recorded on two days", []time.Time{day, day.Add(time.Minute)}, 24 * time.Hour, false},
		{"without turns, recorded on two days", []time.Time{{}, {}}, 24 * time.Hour, true},
		{"without turns, recorded at once", []time.Time{{}, {}}, 0, false},
	} {
		w := newClocked(t)
		believing(t, w.Kernel)
		tell(t, w.Kernel, "kref://acme/desk/a.episodic", c.said[0])
		w.now = w.now.Add(c.apart)
		tell(t, w.Kernel, "kref://acme/desk/b.episodic", c.said[1])
		list := must(w.Beliefs().Promote(t.Context(), tenant, api.PromotionRequest{Space: beliefSpace, DryRun: true})).Promotions
		if got := len(list) > 0; got != c.promoted {
			t.Errorf("%s: %v", c.name, promoted(list))
		}
	}
}

// TestPromotionOnce makes an observation of three episodes: they do not make a fact of it in the next run, nor do more of them; three other observations do.
func TestPromotionOnce(t *testing.T) {
	k, _, _ := ruledBeliefs(t)
	ctx, day := t.Context(), standing().Add(-96*time.Hour)
	for n := range 3 {
		tell(t, k, belief.Item(fmt.Sprintf("kref://acme/desk/e%d.episodic", n)), day.Add(time.Duration(2*n)*time.Hour))
	}
	list := must(k.Beliefs().Promote(ctx, tenant, api.PromotionRequest{Space: beliefSpace})).Promotions
	if len(list) != 1 || list[0].To.Kind() != "observation" || len(list[0].Sources) != 3 {
		t.Fatalf("%v", promoted(list))
	}
	made := list[0].To
	if v1 := must(k.Beliefs().Promote(ctx, tenant, api.PromotionRequest{Space: beliefSpace, Policy: rules.V1ID, DryRun: true})).Promotions; !slices.Contains(promoted(v1), made.Name()+" to fact") {
		t.Fatalf("by promotion@1 they count again: %v", promoted(v1))
	}
	again := asking(journal.Revise, "job", "fails", "at night") // another revision, to which no link leads
	again.Item, again.Confidence = made, new(dag.PPM(990_000))
	must(k.Beliefs().Operate(ctx, tenant, again))
	tell(t, k, "kref://acme/desk/late.episodic", day)
	if list := must(k.Beliefs().Promote(ctx, tenant, api.PromotionRequest{Space: beliefSpace})).Promotions; len(list) != 0 {
		t.Errorf("the second run: %v", promoted(list))
	}
	others := rules.New([]rules.Step{{From: "observation", To: "fact", Counts: rules.Evidence, Threshold: 3, Others: true}})
	if err := k.Policies().Register(ctx, tenant, must(policy.Bind("others@1", others))); err != nil {
		t.Fatal(err)
	}
	if list := must(k.Beliefs().Promote(ctx, tenant, api.PromotionRequest{Space: beliefSpace, Policy: "others@1", DryRun: true})).Promotions; len(list) != 0 {
		t.Errorf("what it was promoted from counts again: %v", promoted(list))
	}
	for n := range 3 {
		tell(t, k, belief.Item(fmt.Sprintf("kref://acme/desk/more%d.observation", n)), time.Time{})
	}
	list = must(k.Beliefs().Promote(ctx, tenant, api.PromotionRequest{Space: beliefSpace})).Promotions
	if at := slices.IndexFunc(list, func(p api.Promotion) bool { return p.To.Kind() == "fact" }); at < 0 || !strings.Contains(list[at].Reason, "each of the kind observation") {
		t.Errorf("three others: %v", promoted(list))
	}
}

// TestResolveAdvice judges what no space can hold both of, and what one can since its policy was changed.
func TestResolveAdvice(t *testing.T) {
	k, _, _ := ruledBeliefs(t, "lives-in")
	ctx := t.Context()
	agent := access.As(ctx, access.Identity{Role: access.Agent, Subject: access.Stdio})
	must(k.Beliefs().Operate(ctx, tenant, asking(journal.Revise, "agents", "never", "push to main")))
	must(k.Beliefs().Operate(ctx, tenant, asking(journal.Revise, "ada", "lives-in", "oslo")))
	denied := asking(journal.Propose, "agents", "never", "push to main")
	denied.Statements[0].Not = true
	for _, c := range []struct {
		proposed space.Operation
		policy   string // under which the space is then
		want     rules.Advice
	}{
		{denied, "desk@1", rules.AskPerson},
		{asking(journal.Propose, "ada", "lives-in", "rome"), "desk@1", rules.AskPerson},
		{asking(journal.Propose, "ada", "lives-in", "rome"), "beliefs@1", rules.KeepBoth},
	} {
		must(k.Beliefs().SetSpace(ctx, tenant, api.NewSpace{Space: beliefSpace, Policy: "desk@1"}))
		waits := must(k.Beliefs().Operate(agent, tenant, c.proposed))
		must(k.Beliefs().SetSpace(ctx, tenant, api.NewSpace{Space: beliefSpace, Policy: policy.ID(c.policy)}))
		r := must(k.Beliefs().ResolveConflict(ctx, tenant, api.ConflictResolution{Space: beliefSpace, Conflict: waits.Seq, How: journal.Dropped}))
		if len(r.Advice) != 1 || r.Advice[0].Advice != string(c.want) {
			t.Errorf("%v under %s: %+v, want %s", c.proposed.Statements, c.policy, r.Advice, c.want)
		}
	}
}
