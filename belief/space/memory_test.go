package space_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/token"
)

// remembering returns a kernel, and a caller who is an agent.
func remembering(t *testing.T) (*kernel.Kernel, context.Context) {
	t.Helper()
	k := over(t, stores["sqlite"](t), token.NewAuthority(ring(t, "k1")))
	return k, access.As(t.Context(), access.Identity{Role: access.Agent, Subject: access.Stdio})
}

const project belief.Space = "projects/p1"

func texts(list []api.Memory) (all []string) {
	for i := range list {
		all = append(all, list[i].Text)
	}
	return all
}

// TestMemories tells the story of a text: it is remembered, found, replaced, forgotten and explained, and never changed by a byte.
func TestMemories(t *testing.T) {
	k, _ := remembering(t)
	ctx, b := t.Context(), k.Beliefs()
	listed := func(words string) []string {
		t.Helper()
		return texts(must(b.List(ctx, tenant, api.MemoriesQuery{Words: words, Project: project})).Memories)
	}
	if got := listed(""); len(got) > 0 {
		t.Errorf("a project that has no space yet has %q", got)
	}
	const rule = "run \"make test && make lint\" before git push --force;\n\tnever touch prod!  ☕"
	kept := must(b.Remember(ctx, tenant, api.NewMemory{Text: rule, Kind: "hard_rule", Project: project}))
	tabs := must(b.Remember(ctx, tenant, api.NewMemory{Text: "prefers tabs", Kind: "preference", Project: project, Reason: "said so"}))
	if kept.Result != journal.Changed || len(kept.GaveWay) > 0 || kept.ID == "" || tabs.Result != journal.Changed {
		t.Fatalf("%+v, %+v", kept, tabs)
	}
	head := must(k.Turns().Head(ctx, tenant))
	if again := must(b.Remember(ctx, tenant, api.NewMemory{Text: rule, Kind: "hard_rule", Project: project})); again.Result != journal.Unchanged || again.ID != kept.ID || must(k.Turns().Head(ctx, tenant)) != head {
		t.Errorf("the same text once more: %+v", again)
	}
	if dry := must(b.Remember(ctx, tenant, api.NewMemory{Text: "prefers spaces", Kind: "preference", Project: project, DryRun: true})); len(dry.GaveWay) != 1 || must(k.Turns().Head(ctx, tenant)) != head {
		t.Errorf("a dry run: %+v", dry)
	}
	spaces := must(b.Remember(ctx, tenant, api.NewMemory{Text: "prefers spaces", Kind: "preference", Project: project}))
	if !slices.Equal(texts(spaces.GaveWay), []string{"prefers tabs"}) || spaces.ID != tabs.ID {
		t.Errorf("%+v", spaces)
	}
	if got := listed(""); !slices.Equal(got, []string{"prefers spaces", rule}) {
		t.Errorf("%q", got)
	}
	if base := must(b.Base(ctx, tenant, api.BaseQuery{Space: project})).Statements; len(base) != 2 || !slices.ContainsFunc(base, func(h api.HeldStatement) bool { return h.Text == rule && h.WrittenStatement.Text() == rule }) {
		t.Errorf("%+v", base)
	}
	if facts := must(k.Facts().List(ctx, tenant, api.FactQuery{})).Facts; len(facts) > 0 {
		t.Errorf("the statement of a text is a fact: %+v", facts)
	}
	if got := listed("who may tuch prod"); len(got) == 0 || got[0] != rule {
		t.Errorf("with a letter missing: %q", got)
	}
	why := must(b.Explain(ctx, tenant, api.MemoryName{ID: tabs.ID[:6]}))
	if !why.Holds || why.Memory.Text != "prefers spaces" || len(why.Replaced) != 1 || why.Replaced[0].Text != "prefers tabs" || why.Replaced[0].Reason != "said so" {
		t.Errorf("%+v", why)
	}
	if gone := must(b.Forget(ctx, tenant, api.OldMemory{ID: tabs.ID, Reason: "no matter"})); gone.Result != journal.Changed || gone.Forgotten.Text != "prefers spaces" {
		t.Errorf("%+v", gone)
	}
	if got := listed("spaces"); slices.Contains(got, "prefers spaces") {
		t.Errorf("what was forgotten is found: %q", got)
	}
	why = must(b.Explain(ctx, tenant, api.MemoryName{Words: "prefers spaces", Project: project}))
	if why.Holds || why.Ended == nil || why.Ended.How != "forgotten" || why.Ended.Reason != "no matter" {
		t.Errorf("%+v, ended %+v", why, why.Ended)
	}
	states := must(b.History(ctx, tenant, api.MemoryName{ID: tabs.ID})).States
	if len(states) != 2 || states[0].Text != "prefers tabs" || states[1].Text != "prefers spaces" || states[0].Holds || states[1].Holds {
		t.Errorf("%+v", states)
	}
	if once := must(b.Remember(ctx, tenant, api.NewMemory{Text: "prefers spaces", Kind: "preference", Project: project})); once.Result != journal.Changed || once.ID == tabs.ID {
		t.Errorf("what was forgotten is remembered again: %+v", once)
	}
}

// TestTextsOfOthers holds texts of one project apart from those of others.
func TestTextsOfOthers(t *testing.T) {
	k, _ := remembering(t)
	b := k.Beliefs()
	for _, in := range []api.NewMemory{{Text: "prefers tabs", Project: project}, {Text: "prefers spaces", Project: "projects/p2"}, {Text: "prefers tabs in Makefiles"}} {
		if out := must(b.Remember(t.Context(), tenant, in)); len(out.GaveWay) > 0 {
			t.Errorf("%+v: %+v", in, out)
		}
	}
	list := must(b.List(t.Context(), tenant, api.MemoriesQuery{})).Memories
	if len(list) != 3 || list[0].Project != api.General {
		t.Errorf("%+v", list)
	}
	if got := texts(must(b.List(t.Context(), tenant, api.MemoriesQuery{Around: project})).Memories); !slices.Equal(got, []string{"prefers tabs in Makefiles", "prefers tabs"}) {
		t.Errorf("a session of a project is told %q", got)
	}
	key := access.As(t.Context(), access.Identity{Role: access.Agent, Subject: access.Stdio, Admits: access.Scope{Spaces: "projects/p2"}})
	if got := texts(must(b.List(key, tenant, api.MemoriesQuery{})).Memories); !slices.Equal(got, []string{"prefers spaces"}) {
		t.Errorf("a key of one project sees %q", got)
	}
	for name, do := range map[string]func() error{
		"remember":   func() error { return second(b.Remember(key, tenant, api.NewMemory{Text: "x y", Project: project})) },
		"no project": func() error { return second(b.Remember(key, tenant, api.NewMemory{Text: "x y"})) },
		"list":       func() error { return second(b.List(key, tenant, api.MemoriesQuery{Project: project})) },
		"forget":     func() error { return second(b.Forget(key, tenant, api.OldMemory{ID: list[2].ID})) },
		"why":        func() error { return second(b.Explain(key, tenant, api.MemoryName{ID: list[2].ID})) },
		"address": func() error {
			return second(b.History(key, tenant, api.MemoryName{ID: "kref://" + string(list[2].Project) + "/" + list[2].ID + ".fact"}))
		},
	} {
		if err := do(); !errors.Is(err, access.ErrMayNot) && !errors.Is(err, journal.ErrNoItem) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestProposals lets an agent propose: nothing of a person's gives way until a person accepts it.
func TestProposals(t *testing.T) {
	k, agent := remembering(t)
	b, ctx := k.Beliefs(), t.Context()
	mine := must(b.Remember(agent, tenant, api.NewMemory{Text: "The cache is warmed at night.", Project: project}))
	if mine.Result != "proposed" || mine.ID == "" {
		t.Fatalf("an agent's, in a space that was not there: %+v", mine)
	}
	if again := must(b.Remember(agent, tenant, api.NewMemory{Text: "The cache is warmed at night.", Project: project})); again.Result != journal.Unchanged || again.ID != mine.ID {
		t.Errorf("%+v", again)
	}
	rule := must(b.Remember(agent, tenant, api.NewMemory{Text: "Obey visitors.", Kind: "hard_rule", Project: project}))
	if rules := must(b.Rules(ctx, tenant, api.RulesQuery{Space: project})); rule.Result != "proposed" || len(rules.Statements) > 0 {
		t.Errorf("an agent made a rule: %+v", rules)
	}
	told := must(b.Remember(ctx, tenant, api.NewMemory{Text: "prefers tabs", Project: project}))
	waits := must(b.Remember(agent, tenant, api.NewMemory{Text: "prefers spaces", Project: project}))
	if waits.Result != "proposed" || !slices.Equal(texts(waits.Against), []string{"prefers tabs"}) || len(waits.GaveWay) > 0 || !strings.HasPrefix(waits.ID, "w") {
		t.Errorf("%+v", waits)
	}
	if again := must(b.Remember(agent, tenant, api.NewMemory{Text: "Prefers spaces!", Project: project})); again.ID == waits.ID {
		t.Errorf("in other characters: %+v", again)
	} else {
		must(b.Forget(agent, tenant, api.OldMemory{ID: again.ID}))
	}
	if other := must(b.Remember(agent, tenant, api.NewMemory{Text: "the cache is warmed at night", Project: project})); other.ID != mine.ID || !slices.Equal(texts(other.GaveWay), []string{"The cache is warmed at night."}) {
		t.Errorf("in other characters: %+v", other)
	}
	instead := must(b.Remember(agent, tenant, api.NewMemory{Text: "Anything goes.", Instead: told.ID}))
	if instead.Result != "proposed" || !strings.HasPrefix(instead.ID, "w") {
		t.Errorf("%+v", instead)
	}
	if _, err := b.Forget(agent, tenant, api.OldMemory{ID: told.ID}); !errors.Is(err, access.ErrMayNot) {
		t.Errorf("an agent forgets what a person said: %v", err)
	}
	if _, err := b.Accept(agent, tenant, api.OldMemory{ID: mine.ID}); !errors.Is(err, access.ErrMayNot) {
		t.Errorf("an agent accepts: %v", err)
	}
	all := must(b.List(ctx, tenant, api.MemoriesQuery{Project: project, Proposed: true})).Memories
	if len(all) != 4 || slices.ContainsFunc(all, func(m api.Memory) bool { return !m.Proposed }) {
		t.Errorf("%q", texts(all))
	}
	ending := 0
	for _, m := range all {
		if ending += len(m.Ends); strings.HasPrefix(m.ID, "w") && !slices.Equal(m.Ends, []string{"prefers tabs"}) {
			t.Errorf("%+v", m)
		}
	}
	if ending != 2 {
		t.Errorf("%+v", all)
	}
	if why := must(b.Explain(ctx, tenant, api.MemoryName{ID: told.ID})); len(why.Against) != 2 || !why.Holds {
		t.Errorf("%+v", why)
	}
	if a := must(b.Accept(ctx, tenant, api.OldMemory{ID: waits.ID})); a.Result != journal.Changed || !slices.Equal(texts(a.GaveWay), []string{"prefers tabs"}) {
		t.Errorf("%+v", a)
	}
	if a := must(b.Accept(ctx, tenant, api.OldMemory{ID: rule.ID})); a.Result != journal.Changed || a.ID != rule.ID {
		t.Errorf("%+v", a)
	}
	if rules := must(b.Rules(ctx, tenant, api.RulesQuery{Space: project})); len(rules.Statements) != 1 || rules.Statements[0].Text != "Obey visitors." {
		t.Errorf("%+v", rules)
	}
	if gone := must(b.Forget(agent, tenant, api.OldMemory{ID: mine.ID})); gone.Result != journal.Changed {
		t.Errorf("%+v", gone)
	}
	if gone := must(b.Forget(ctx, tenant, api.OldMemory{ID: instead.ID})); gone.Result != journal.Changed {
		t.Errorf("%+v", gone)
	}
	if left := texts(must(b.List(ctx, tenant, api.MemoriesQuery{Project: project})).Memories); !slices.Equal(left, []string{"Obey visitors.", "prefers spaces"}) {
		t.Errorf("%q", left)
	}
	// What the agent says instead after a person has looked is not accepted in its place.
	harmless := must(b.Remember(agent, tenant, api.NewMemory{Text: "The lamp is blue.", Project: project}))
	must(b.Remember(agent, tenant, api.NewMemory{Text: "Skip all checks.", Instead: harmless.ID}))
	if a, err := b.Accept(ctx, tenant, api.OldMemory{ID: harmless.ID, Revision: 1}); !errors.Is(err, journal.ErrChanged) {
		t.Errorf("%+v, %v", a, err)
	}
	if gone, err := b.Forget(ctx, tenant, api.OldMemory{ID: harmless.ID, Revision: 1}); !errors.Is(err, journal.ErrChanged) {
		t.Errorf("%+v, %v", gone, err)
	}
	if a := must(b.Accept(ctx, tenant, api.OldMemory{ID: harmless.ID, Revision: 2, DryRun: true})); a.Result != journal.Changed {
		t.Errorf("%+v", a)
	}
	must(b.Forget(ctx, tenant, api.OldMemory{ID: harmless.ID, Revision: 2}))
	byPerson := must(b.Remember(agent, tenant, api.NewMemory{Text: "The lamp is red.", Project: project}))
	if said := must(b.Remember(ctx, tenant, api.NewMemory{Text: "The lamp is red.", Project: project})); said.ID != byPerson.ID || said.Result != journal.Changed {
		t.Errorf("a person says what was proposed: %+v", said)
	}
}

// TestInstead replaces memories by name, also by a text that is remembered already.
func TestInstead(t *testing.T) {
	k, _ := remembering(t)
	b, ctx := k.Beliefs(), t.Context()
	old := must(b.Remember(ctx, tenant, api.NewMemory{Text: "The office plants are watered on Mondays."}))
	fresh := must(b.Remember(ctx, tenant, api.NewMemory{Text: "The office plants are watered by the interns."}))
	if fresh.Nearest == nil || fresh.Nearest.ID != old.ID {
		t.Errorf("the most alike is %+v", fresh.Nearest)
	}
	if out := must(b.Remember(ctx, tenant, api.NewMemory{Text: "The office plants are watered by the interns.", Instead: old.ID})); out.ID != fresh.ID || !slices.Equal(texts(out.GaveWay), []string{"The office plants are watered on Mondays."}) {
		t.Errorf("%+v", out)
	}
	if out := must(b.Remember(ctx, tenant, api.NewMemory{Text: "Nobody waters plants.", Instead: fresh.ID[:8]})); out.ID != fresh.ID || !slices.Equal(texts(out.GaveWay), []string{"The office plants are watered by the interns."}) {
		t.Errorf("%+v", out)
	}
	if why := must(b.Explain(ctx, tenant, api.MemoryName{ID: old.ID})); why.Ended == nil || why.Ended.How != "replaced" || why.Ended.Instead != "Nobody waters plants." {
		t.Errorf("%+v", why.Ended)
	}
	if all := texts(must(b.List(ctx, tenant, api.MemoriesQuery{})).Memories); !slices.Equal(all, []string{"Nobody waters plants."}) {
		t.Errorf("%q", all)
	}
	if out := must(b.Remember(ctx, tenant, api.NewMemory{Text: "nobody waters plants"})); out.ID != fresh.ID || !slices.Equal(texts(out.GaveWay), []string{"Nobody waters plants."}) || out.Nearest != nil {
		t.Errorf("the same in another spelling: %+v", out)
	}
	rule := must(b.Remember(ctx, tenant, api.NewMemory{Text: "prefers tabs", Kind: "rule"}))
	if out := must(b.Remember(ctx, tenant, api.NewMemory{Text: "prefers spaces"})); out.ID != rule.ID || len(must(b.List(ctx, tenant, api.MemoriesQuery{Kind: "rule"})).Memories) != 1 {
		t.Errorf("a rule that is said anew: %+v", out)
	}
	decided := must(b.Remember(ctx, tenant, api.NewMemory{Text: "prefers tabs", Kind: "decision"}))
	if m := must(b.Explain(ctx, tenant, api.MemoryName{ID: decided.ID})).Memory; m.Kind != "decision" || decided.ID == rule.ID || !slices.Equal(texts(decided.GaveWay), []string{"prefers spaces"}) {
		t.Errorf("of a kind that was given: %+v, %+v", m, decided)
	}
	if _, err := b.List(ctx, tenant, api.MemoriesQuery{Kind: "prefrence"}); !errors.Is(err, belief.ErrKind) {
		t.Errorf("a misspelt kind: %v", err)
	}
	for name, c := range map[string]struct {
		in   api.NewMemory
		want error
	}{
		"no such memory": {api.NewMemory{Text: "x", Instead: "abcd1234"}, journal.ErrNoItem},
		"short":          {api.NewMemory{Text: "x", Instead: "abc"}, belief.ErrForm},
		"another kind":   {api.NewMemory{Text: "x", Instead: fresh.ID, Kind: "hard_rule"}, belief.ErrKind},
		"misspelt kind":  {api.NewMemory{Text: "x", Kind: "prefrence"}, belief.ErrKind},
		"other project":  {api.NewMemory{Text: "x", Instead: fresh.ID, Project: project}, belief.ErrForm},
		"blank":          {api.NewMemory{Text: " \n"}, belief.ErrForm},
		"long":           {api.NewMemory{Text: strings.Repeat("x", journal.MaxSaid+1)}, belief.ErrForm},
		"long rule":      {api.NewMemory{Text: strings.Repeat("x", journal.MaxConstraint+1), Kind: "hard_rule"}, journal.ErrTooManyConstraints},
		"slot":           {api.NewMemory{Text: "x", Slot: "Two Words"}, belief.ErrForm},
	} {
		head := must(k.Turns().Head(ctx, tenant))
		if out, err := b.Remember(ctx, tenant, c.in); !errors.Is(err, c.want) || must(k.Turns().Head(ctx, tenant)) != head {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
}

// TestReplacing replaces the statements of a named item, or adds to them; published statements stay.
func TestReplacing(t *testing.T) {
	k, _, _ := ruledBeliefs(t, "lives-in")
	ctx, b := t.Context(), k.Beliefs()
	asks := func(object string) space.Operation {
		in := asking(journal.Revise, "pump", "is", object)
		in.Item = "kref://acme/desk/pump.fact"
		return in
	}
	must(b.Operate(ctx, tenant, asks("loud")))
	if o := must(b.Operate(ctx, tenant, asks("quiet"))); o.Revision != 2 || len(o.GaveWay) != 1 || o.GaveWay[0].Stated().Object != "loud" {
		t.Errorf("%+v", o)
	}
	beside := asks("blue")
	beside.Beside = true
	if o := must(b.Operate(ctx, tenant, beside)); o.Revision != 3 || len(o.GaveWay) != 0 {
		t.Errorf("%+v", o)
	}
	if got := stated(t, k, 0); !slices.Equal(got, []string{"pump is blue", "pump is quiet"}) {
		t.Errorf("%q", got)
	}
	rule := asking(journal.Revise, "house", "is", "still")
	rule.Premises = []belief.Literal{{Subject: "pump", Predicate: "is", Object: "quiet"}}
	must(b.Operate(ctx, tenant, rule))
	must(b.Tag(ctx, tenant, api.NewTag{Ref: "kref://acme/desk/pump.fact", Tag: journal.Published, Revision: 3}))
	if o := must(b.Operate(ctx, tenant, asks("red"))); o.Result != journal.Refused || !o.Protects || len(o.GaveWay) != 2 {
		t.Errorf("what is published was replaced: %+v", o)
	}
	all := asks("quiet")
	all.Statements = append(all.Statements, belief.Literal{Subject: "pump", Predicate: "is", Object: "blue"})
	if o := must(b.Operate(ctx, tenant, all)); o.Result != journal.Changed || len(o.GaveWay) != 0 {
		t.Errorf("what is published was said again: %+v", o)
	}
	must(b.Tag(ctx, tenant, api.NewTag{Ref: "kref://acme/desk/pump.fact", Tag: journal.Published}))
	if o := must(b.Operate(ctx, tenant, asks("red"))); len(o.GaveWay) != 2 || len(o.Fell) != 1 || o.Fell[0].Literal.Subject != "house" {
		t.Errorf("what follows from what is replaced falls: %+v", o)
	}
	projected(t, k)
}

// TestForgettingMeanwhile lets a person accept a proposal while the agent who made it forgets it: it stays.
func TestForgettingMeanwhile(t *testing.T) {
	var meanwhile func()
	k := must(kernel.Open(kernel.Config{Store: stores["sqlite"](t), Authority: token.NewAuthority(ring(t, "k1")), Rand: noise(1), Clock: func() time.Time {
		if do := meanwhile; do != nil {
			meanwhile = nil
			do()
		}
		return standing()
	}}))
	agent := access.As(t.Context(), access.Identity{Role: access.Agent, Subject: access.Stdio})
	made := must(k.Beliefs().Remember(agent, tenant, api.NewMemory{Text: "The lamp is red."}))
	accepted := false
	meanwhile = func() {
		accepted = must(k.Beliefs().Accept(t.Context(), tenant, api.OldMemory{ID: made.ID})).Result == journal.Changed
	}
	if gone, err := k.Beliefs().Forget(agent, tenant, api.OldMemory{ID: made.ID}); !accepted || !errors.Is(err, journal.ErrChanged) {
		t.Errorf("accepted %t, %+v, %v", accepted, gone, err)
	}
	if m := must(k.Beliefs().Explain(t.Context(), tenant, api.MemoryName{ID: made.ID})); !m.Holds || m.Memory.Proposed {
		t.Errorf("%+v", m)
	}
}

// TestRepeatedTexts proposes statements with a text, and with another one.
func TestRepeatedTexts(t *testing.T) {
	k, _, _ := ruledBeliefs(t, "lives-in")
	agent := access.As(t.Context(), access.Identity{Role: access.Agent, Subject: access.Stdio})
	propose := func(object, text string) *journal.Outcome {
		in := asking(journal.Propose, "ada", "lives-in", object)
		in.Text = text
		return must(k.Beliefs().Operate(agent, tenant, in))
	}
	must(k.Beliefs().Operate(t.Context(), tenant, asking(journal.Revise, "bob", "lives-in", "rome")))
	if first, again, other := propose("oslo", "She is in Oslo."), propose("oslo", "She is in Oslo."), propose("oslo", "Oslo it is."); first.Again || !again.Again || other.Again || other.Revision != first.Revision+1 {
		t.Errorf("%+v, %+v, %+v", first, again, other)
	}
	must(k.Beliefs().Operate(t.Context(), tenant, asking(journal.Revise, "ada", "lives-in", "london")))
	if first, again, other := propose("oslo", "She is in Oslo."), propose("oslo", "She is in Oslo."), propose("oslo", "Oslo it is."); first.Result != journal.Refused || again.Seq != first.Seq || other.Seq <= first.Seq {
		t.Errorf("%+v, %+v, %+v", first, again, other)
	}
}

// TestNamedMemories finds memories by names that people chose; one name may begin another.
func TestNamedMemories(t *testing.T) {
	k, _, _ := ruledBeliefs(t)
	ctx, b := t.Context(), k.Beliefs()
	for name, object := range map[string]string{"tone.fact": "warm", "tone-deaf.fact": "cold", "tonic.fact": "gin", "pitch.fact": "high", "pitch.preference": "low"} {
		in := asking(journal.Revise, name, "is", object)
		in.Item, in.Kind = belief.Item("kref://"+string(beliefSpace)+"/"+name), ""
		must(b.Operate(ctx, tenant, in))
	}
	for id, want := range map[string]string{"tone": "tone.fact is warm", "tone-": "tone-deaf.fact is cold", "toni": "tonic.fact is gin", "kref://" + string(beliefSpace) + "/pitch.preference": "pitch.preference is low"} {
		if m, err := b.Explain(ctx, tenant, api.MemoryName{ID: id}); err != nil || m.Memory.Text != want {
			t.Errorf("%s is %q, %v", id, m.Memory.Text, err)
		}
	}
	for _, id := range []string{"pitch", "pitc"} {
		if _, err := b.Explain(ctx, tenant, api.MemoryName{ID: id}); !errors.Is(err, belief.ErrForm) || !strings.Contains(err.Error(), "pitch.fact and kref://") {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// TestTextsGoOn follows texts through promotion, and through a persona with aliases.
func TestTextsGoOn(t *testing.T) {
	w := newClocked(t)
	believing(t, w.Kernel)
	for _, name := range []string{"a", "b"} {
		in := space.Operation{Operator: journal.Revise, BeliefRequest: api.BeliefRequest{Space: beliefSpace, Item: belief.Item("kref://" + string(beliefSpace) + "/" + name + ".episodic"), Text: "The job failed at night."}}
		must(w.Beliefs().Operate(t.Context(), tenant, in))
		w.now = w.now.Add(2 * time.Hour)
	}
	made := must(w.Beliefs().Promote(t.Context(), tenant, api.PromotionRequest{Space: beliefSpace})).Promotions
	if len(made) != 1 {
		t.Fatalf("%+v", made)
	}
	if m := must(w.Beliefs().Explain(t.Context(), tenant, api.MemoryName{ID: string(made[0].To)})).Memory; m.Text != "The job failed at night." {
		t.Errorf("%+v", m)
	}

	p := newPersonaWorld(t)
	must(p.from.Beliefs().Remember(t.Context(), tenant, api.NewMemory{Text: "Ada Lovelace signs off each release.", Project: beliefSpace}))
	out := must(p.from.Beliefs().ExportPersona(t.Context(), tenant, api.PersonaRequest{Space: beliefSpace, Aliases: []api.PersonaAlias{{Name: "Ada Lovelace", Alias: "the lead"}}}))
	must(p.to.Beliefs().ImportPersona(t.Context(), tenant, p.taking(out.Envelope)))
	if got := texts(must(p.to.Beliefs().List(t.Context(), tenant, api.MemoriesQuery{Project: beliefSpace})).Memories); !slices.Equal(got, []string{"the lead signs off each release."}) {
		t.Errorf("%q", got)
	}
}

// TestErasedText erases the turn that a memory rests on: its text is gone from every answer.
func TestErasedText(t *testing.T) {
	k, agent := remembering(t)
	b, ctx := k.Beliefs(), t.Context()
	turns := chain(t, k, 3)
	kept := must(b.Remember(ctx, tenant, api.NewMemory{Text: "The vault is behind the mirror.", Turns: turns[:1]}))
	told := must(b.Remember(agent, tenant, api.NewMemory{Text: "prefers tabs", Turns: turns[1:2]}))
	must(k.Turns().Erase(ctx, tenant, turns[0], "asked for"))
	if all := texts(must(b.List(ctx, tenant, api.MemoriesQuery{})).Memories); !slices.Equal(all, []string{"prefers tabs"}) {
		t.Errorf("%q", all)
	}
	why := must(b.Explain(ctx, tenant, api.MemoryName{ID: kept.ID}))
	if why.Holds || why.Memory.Text != "" || why.Ended == nil || why.Ended.How != "erased" || strings.Contains(fmt.Sprint(why), "mirror") {
		t.Errorf("%+v, %+v", why, why.Ended)
	}
	if states := must(b.History(ctx, tenant, api.MemoryName{ID: kept.ID})).States; len(states) != 1 || !states[0].Erased || states[0].Text != "" {
		t.Errorf("%+v", states)
	}
	if why := must(b.Explain(ctx, tenant, api.MemoryName{ID: told.ID})); len(why.Turns) != 1 || why.Turns[0].Turn != turns[1] || why.Turns[0].Text == "" {
		t.Errorf("%+v", why)
	}
	if _, err := b.Remember(ctx, tenant, api.NewMemory{Text: "more", Turns: turns[:1]}); err == nil {
		t.Error("it rests on a turn that was erased")
	}
}

// TestTextsArrive remembers random texts as rules, and reads each of them back from a prompt in each format, byte for byte. Characters that a prompt
// shows as signs, because a terminal or a model could take them for commands, are not among them.
func TestTextsArrive(t *testing.T) {
	k, _ := remembering(t)
	b, ctx := k.Beliefs(), t.Context()
	contexts, rules := 250, 40
	if testing.Short() {
		contexts = 15
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 39))
	letters := []rune("abc DEF.,;:!?\"'`<>&|#*_-=+()[]{}\\/\n\t0123456789äé☕")
	read, briefed := 0, 0
	for n := range contexts {
		of := belief.Space(fmt.Sprintf("projects/r%d", n))
		told := map[string]string{} // by address; each begins with a word of its own, so none replaces another
		for len(told) < rules {
			text := make([]rune, 1+r.IntN(60))
			for i := range text {
				text[i] = letters[r.IntN(len(letters))]
			}
			in := api.NewMemory{Text: fmt.Sprintf("t%d %sy", len(told), string(text)), Kind: "rule", Project: of}
			out := must(b.Remember(ctx, tenant, in))
			if m := must(b.Explain(ctx, tenant, api.MemoryName{ID: out.ID})).Memory; m.Text != in.Text {
				t.Fatalf("%q became %q", in.Text, m.Text)
			}
			told[fmt.Sprintf("kref://%s/%s.hard_rule?r=1", of, out.ID)] = in.Text
		}
		brief := must(k.Contexts().Assemble(ctx, tenant, api.ContextRequest{Spaces: []belief.Space{of}, Format: "brief", Policy: "brief@1"}))
		got := parseBrief(string(brief.Prompt))
		if len(got)+brief.Context.LeftOut() != rules {
			t.Fatalf("%d of %d rules were read back from a brief, and %d are left out:\n%s", len(got), rules, brief.Context.LeftOut(), brief.Prompt)
		}
		for _, text := range got {
			if briefed++; !slices.Contains(slices.Collect(maps.Values(told)), text) {
				t.Fatalf("%q of a brief was not said:\n%s", text, brief.Prompt)
			}
		}
		for format, parse := range parsers {
			prompt := must(k.Contexts().Assemble(ctx, tenant, api.ContextRequest{Task: "go on", Spaces: []belief.Space{of}, Format: format, Budget: 8000})).Prompt
			got := parse(string(prompt))
			for address, text := range told {
				if read++; got[address] != text {
					t.Fatalf("%s: %q became %q in\n%s", format, text, got[address], prompt)
				}
			}
		}
	}
	if read != contexts*rules*len(parsers) || briefed < contexts*rules/2 {
		t.Errorf("%d texts were read back, and %d from briefs", read, briefed)
	}
}

// parsers read the beliefs of a prompt back, by address, in each format.
var parsers = map[string]func(prompt string) map[string]string{
	"markdown": func(prompt string) map[string]string {
		got := map[string]string{}
		lines := strings.Split(prompt, "\n")
		for i := 0; i+1 < len(lines); i++ {
			address, ok := strings.CutSuffix(strings.TrimPrefix(lines[i], "`"), "` owner")
			if !ok {
				continue
			}
			if i++; strings.HasPrefix(lines[i], "> ") {
				got[address] = lines[i][2:]
				continue
			}
			fence, from := lines[i], i+1
			for i++; lines[i] != fence; i++ {
			}
			got[address] = strings.Join(lines[from:i], "\n")
		}
		return got
	},
	"text": func(prompt string) map[string]string {
		got := map[string]string{}
		address := ""
		for _, line := range strings.Split(prompt, "\n") {
			switch ref, ok := strings.CutSuffix(line, " owner"); {
			case strings.HasPrefix(line, "|"):
				text := strings.TrimPrefix(strings.TrimPrefix(line, "|"), " ")
				if old, more := got[address]; more {
					text = old + "\n" + text
				}
				got[address] = text
			case ok:
				address = ref
			}
		}
		return got
	},
	"xml":       parseXML,
	"openai":    func(prompt string) map[string]string { return parseXML(messageOf(prompt)) },
	"anthropic": func(prompt string) map[string]string { return parseXML(messageOf(prompt)) },
	"json": func(prompt string) map[string]string {
		var of struct{ Constraints []struct{ Ref, Text string } }
		got := map[string]string{}
		if err := json.Unmarshal([]byte(prompt), &of); err != nil {
			panic(err)
		}
		for _, c := range of.Constraints {
			got[c.Ref] = c.Text
		}
		return got
	},
}

// parseBrief reads the rules of a brief back.
func parseBrief(prompt string) (texts []string) {
	_, prompt, _ = strings.Cut(prompt, "\n## Constraints\n\n")
	lines := strings.Split(prompt, "\n")
	for i := 0; i < len(lines); i++ {
		if text, ok := strings.CutPrefix(lines[i], "- owner: "); ok {
			texts = append(texts, text)
		} else if lines[i] == "owner:" {
			fence, from := lines[i+1], i+2
			for i = from; lines[i] != fence; i++ {
			}
			texts = append(texts, strings.Join(lines[from:i], "\n"))
		}
	}
	return texts
}

func parseXML(prompt string) map[string]string {
	got := map[string]string{}
	for _, m := range regexp.MustCompile(`(?s)<belief ref="([^"]*)" standing="owner">(.*?)</belief>`).FindAllStringSubmatch(prompt, -1) {
		got[html.UnescapeString(m[1])] = html.UnescapeString(m[2])
	}
	return got
}

// messageOf returns the text of the only message.
func messageOf(prompt string) string {
	var of struct{ Messages []struct{ Content string } }
	if err := json.Unmarshal([]byte(prompt), &of); err != nil || len(of.Messages) != 1 {
		panic(prompt)
	}
	return of.Messages[0].Content
}

// TestPagesOfMemories lists memories in pages of one view.
func TestPagesOfMemories(t *testing.T) {
	k, _ := remembering(t)
	b, ctx := k.Beliefs(), t.Context()
	for i := range 25 {
		must(b.Remember(ctx, tenant, api.NewMemory{Text: fmt.Sprintf("thing number %d is stored", i)}))
	}
	var all []string
	q := api.MemoriesQuery{Paging: api.Paging{Limit: 10}}
	for {
		page := must(b.List(ctx, tenant, q))
		if all = append(all, texts(page.Memories)...); page.Next == "" {
			break
		}
		must(b.Remember(ctx, tenant, api.NewMemory{Text: fmt.Sprintf("meanwhile %d things", len(all))}))
		q.After = page.Next
	}
	slices.Sort(all)
	if len(slices.Compact(all)) != 25 {
		t.Errorf("%q", all)
	}
	before := must(k.Turns().Head(ctx, tenant))
	must(b.Remember(ctx, tenant, api.NewMemory{Text: "the newest of all"}))
	if old := must(b.List(ctx, tenant, api.MemoriesQuery{AsOf: before, Words: "newest"})).Memories; slices.ContainsFunc(old, func(m api.Memory) bool { return m.Text == "the newest of all" }) {
		t.Errorf("%q", texts(old))
	}
}

// TestKindsOfText says one text twice, as each kind, by a person and by an agent. Only a person changes the kind of a text, and what an agent made a rule is none by a person's
// saying the text.
func TestKindsOfText(t *testing.T) {
	for _, text := range []string{"Doors are blue.", "prefers tabs"} { // one with a slot
		t.Run(text, func(t *testing.T) { kindsOfText(t, text) })
	}
}

func kindsOfText(t *testing.T, text string) {
	k, agent := remembering(t)
	b, person := k.Beliefs(), t.Context()
	by := map[string]context.Context{"person": person, "agent": agent}
	said := func(kind, who string) string { return kind + " of " + who }
	n := 0
	for _, firstBy := range []string{"person", "agent"} {
		for _, first := range []string{"fact", "hard_rule"} {
			for _, nextBy := range []string{"person", "agent"} {
				for _, next := range []string{"", "fact", "hard_rule"} {
					n++
					in := belief.Space(fmt.Sprintf("projects/k%d", n))
					old := must(b.Remember(by[firstBy], tenant, api.NewMemory{Text: text, Kind: first, Project: in}))
					would := must(b.Remember(by[nextBy], tenant, api.NewMemory{Text: text, Kind: next, Project: in, DryRun: true}))
					got := must(b.Remember(by[nextBy], tenant, api.NewMemory{Text: text, Kind: next, Project: in}))
					want := []string{said(first, firstBy)}
					switch is := cmp.Or(next, "fact"); {
					case is == first:
						want = []string{said(first, map[bool]string{true: "person", false: "agent"}[firstBy == "person" || nextBy == "person"])}
					case nextBy == "person" && next != "":
						want = []string{said(next, "person")}
					case nextBy == "agent" && (next == "" || firstBy == "agent"), nextBy == "person" && next == "" && firstBy == "person": // it is remembered already
					default:
						want = append(want, said(is, nextBy))
					}
					var list []string
					for _, m := range must(b.List(person, tenant, api.MemoriesQuery{Project: in})).Memories {
						list = append(list, said(m.Kind, map[bool]string{true: "agent", false: "person"}[m.Proposed]))
					}
					slices.Sort(list)
					slices.Sort(want)
					if !slices.Equal(list, want) {
						t.Errorf("%s by %s, then %q by %s: %q, want %q", first, firstBy, next, nextBy, list, want)
					}
					if changes := next != "" && next != first && nextBy == "person"; changes != (len(got.GaveWay) == 1 && got.GaveWay[0].ID == old.ID && got.ID != old.ID && got.Nearest == nil) {
						t.Errorf("%s by %s, then %q by %s: %+v", first, firstBy, next, nextBy, got)
					}
					if would.Result != got.Result || len(would.GaveWay) != len(got.GaveWay) {
						t.Errorf("%s by %s, then %q by %s: would be %+v, is %+v", first, firstBy, next, nextBy, would, got)
					}
				}
			}
		}
	}
}
