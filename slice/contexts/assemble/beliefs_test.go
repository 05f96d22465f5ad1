package assemble_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/kerneltest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/contexts/assemble"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/token"
)

// heldIn lists the beliefs of a context, each with "!" if every context has it and "?" if it is contested.
func heldIn(b *contexts.Bundle) (list []string) {
	for i := range b.Candidates {
		c := &b.Candidates[i]
		if c.Kind != contexts.KindBelief || !slices.ContainsFunc(b.Beliefs, func(r journal.Revision) bool { return r.Address().String() == c.ID }) {
			continue
		}
		marks := ""
		if c.Mandatory() {
			marks += "!"
		}
		if c.Features[contexts.FeatureContested] > 0 {
			marks += "?"
		}
		list = append(list, strings.TrimPrefix(c.ID, "kref://acme/")+marks)
	}
	return list
}

// TestContextBeliefs follows what a context has of beliefs: hard rules whatever it is about and however small the budget, others by words and by
// what their facts reach, none of another space, none that is over or deprecated, and what is in question is marked.
func TestContextBeliefs(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			s := stores[name](t)
			k := must(kernel.Open(kernel.Config{
				Store: s, Authority: token.NewAuthority(ring(t, "k1")), Rand: kerneltest.Noise(1), Clock: kerneltest.Standing, Identity: must(identity.New(kerneltest.Noise(9), "kernel.example", 0)),
			}))
			ids := talk(t, k, "one")
			believing(t, k, "prefers")
			must(k.Beliefs().SetSpace(ctx, tenant, api.NewSpace{Space: "acme/other", Policy: "desk@1"}))
			hold := func(item, subject, predicate, object string, change func(*space.Operation)) {
				t.Helper()
				r := asking(journal.Revise, subject, predicate, object)
				r.Item = belief.Item("kref://acme/" + item)
				r.Space = r.Item.Space()
				if change != nil {
					change(&r)
				}
				must(k.Beliefs().Operate(ctx, tenant, r))
			}
			hold("desk/never-drop.hard_rule", "agent", "drops", "table", func(r *space.Operation) {
				r.Statements[0].Not, r.Title, r.Summary = true, "Never drop a table", "Ask the owner first."
			})
			hold("other/own.hard_rule", "agent", "asks", "nobody", nil)
			hold("desk/editor.preference", "anna", "prefers", "vim", nil)
			hold("desk/orders.fact", "orders", "is-in", "postgres", nil)
			hold("desk/backup.fact", "postgres", "has", "snapshots", nil)
			hold("desk/past.fact", "orders", "was-in", "mysql", func(r *space.Operation) { r.ValidUntil = new(dag.Time(1_770_000_000_000_000)) })
			hold("other/orders.fact", "orders", "is-in", "oracle", nil)
			agent := access.As(ctx, access.Identity{Subject: "agent", Role: access.Agent})
			proposal := asking(journal.Propose, "anna", "prefers", "emacs")
			if o := must(k.Beliefs().Operate(agent, tenant, proposal)); o.Result != journal.Refused {
				t.Fatalf("the proposal was %s", o.Result)
			}
			ask := func(task string, change func(*api.ContextRequest)) (*assemble.Issued, error) {
				r := api.ContextRequest{Task: task, Spaces: []belief.Space{"acme/desk"}}
				if change != nil {
					change(&r)
				}
				i, err := k.Contexts().Assemble(ctx, tenant, r)
				if err != nil {
					return nil, err
				}
				if _, verdict := k.Contexts().VerifyFor(tenant, i.Bundle); verdict.Outcome != token.Verified {
					t.Fatalf("%s: %+v", task, verdict)
				}
				if r := must(k.Slices().Replay(ctx, tenant, i.Bundle)); r.Outcome != kernel.Identical {
					t.Errorf("%s: replay: %s, %s, %+v", task, r.Outcome, r.Reason, r.Difference)
				}
				return i, nil
			}
			for _, tc := range []struct {
				task   string
				change func(*api.ContextRequest)
				want   string
			}{
				{"nothing that anybody said", nil, "desk/never-drop.hard_rule?r=1!"},
				{"which editor does anna like", nil, "desk/editor.preference?r=1? desk/never-drop.hard_rule?r=1!"},
				// by its words, over two edges, and not that it was in mysql
				{"where are the orders", nil, "desk/backup.fact?r=1 desk/never-drop.hard_rule?r=1! desk/orders.fact?r=1"},
				{"where are the orders", func(r *api.ContextRequest) { r.Spaces = []belief.Space{"acme/other"} }, "other/orders.fact?r=1 other/own.hard_rule?r=1!"},
				{"where are the orders", func(r *api.ContextRequest) { r.Spaces = nil }, "desk/backup.fact?r=1 desk/never-drop.hard_rule?r=1! desk/orders.fact?r=1 other/orders.fact?r=1 other/own.hard_rule?r=1!"},
				{"where are the orders", func(r *api.ContextRequest) { r.Budget = 80 }, "desk/never-drop.hard_rule?r=1!"},
			} {
				i := must(ask(tc.task, tc.change))
				if got := strings.Join(heldIn(i.Context), " "); got != tc.want {
					t.Errorf("%s: got %s\nwant %s", tc.task, got, tc.want)
				}
				if len(i.Context.Facts) > 0 {
					t.Errorf("%s: a belief is there as a fact, too: %v", tc.task, i.Context.Facts)
				}
			}
			_, err := ask("anything", func(r *api.ContextRequest) { r.Budget = 15 })
			if !errors.Is(err, contexts.ErrRequest) || !strings.Contains(err.Error(), "never-drop.hard_rule?r=1 (") {
				t.Errorf("a budget that is too small for what every context has: %v", err)
			}
			if _, err := ask("anything", func(r *api.ContextRequest) { r.Spaces = []belief.Space{"acme/none"} }); !errors.Is(err, journal.ErrSpace) {
				t.Errorf("a space that there is not: %v", err)
			}
			if text := string(must(ask("which editor does anna like", nil)).Prompt); !strings.Contains(text, "Never drop a table\nnot \"agent\" \"drops\" \"table\"\nAsk the owner first.") || !strings.Contains(text, "editor.preference?r=1` owner contested\n") {
				t.Errorf("the prompt is\n%s", text)
			}

			// what rests on a turn goes with it, and the record says so
			hold("desk/why.fact", "orders", "was-dropped-by", "migration-042", func(r *space.Operation) { r.Turns = ids[2:3] })
			before := must(ask("who dropped the orders", func(r *api.ContextRequest) { r.Budget = 125 }))
			if slices.ContainsFunc(before.Context.Turns, func(t contexts.ChosenTurn) bool { return t.ID == ids[2] }) {
				t.Fatal("the turn that the belief rests on is there itself")
			}
			if !slices.Contains(before.Context.Shown(), ids[2]) {
				t.Errorf("what a belief rests on is not said to be shown: %s", before.Context.Shown())
			}
			must(k.Turns().Erase(ctx, tenant, ids[2], "asked to"))
			if r := must(k.Slices().Replay(ctx, tenant, before.Bundle)); r.Outcome != kernel.Erased {
				t.Errorf("replay after an erasure: %s, %s, %+v", r.Outcome, r.Reason, r.Difference)
			}
			after, err := k.Contexts().Assemble(ctx, tenant, api.ContextRequest{Task: "who dropped the orders"})
			if err != nil || strings.Contains(string(after.Bundle), "migration-042") {
				t.Errorf("what rested on an erased turn is in a context (%v)", err)
			}
			if e, _, err := k.Contexts().Explain(ctx, tenant, after.Context.Provenance.SliceID, contexts.KindBelief, "kref://acme/desk/never-drop.hard_rule?r=1"); err != nil || e.Outcome != contexts.Required {
				t.Errorf("explained: %+v, %v", e, err)
			}
			if report := must(fsck.Store(ctx, s, fsck.Options{})); report.Err() != nil {
				t.Error(report.Err())
			}
		})
	}
}

// TestContextBeliefsAsOf lets beliefs and turns come at random and asks for contexts: each is, byte for byte, what it is as of the same number when much more is
// known, and what a kernel that keeps nothing makes.
func TestContextBeliefsAsOf(t *testing.T) {
	s := stores["memory"](t)
	k := over(t, s, token.NewAuthority(ring(t, "k1")))
	believing(t, k, "p0")
	r := rand.New(rand.NewPCG(18, 1))
	type given struct {
		request api.ContextRequest
		bundle  string
	}
	var all []given
	held := 0
	for round := range 40 {
		if round%8 == 0 {
			talk(t, k, fmt.Sprint("talk ", round))
		}
		request := asking([]journal.Operator{journal.Revise, journal.Revise, journal.Propose, journal.Contract}[r.IntN(4)], fmt.Sprintf("orders%d", r.IntN(4)), fmt.Sprintf("p%d", r.IntN(2)), fmt.Sprintf("table%d", r.IntN(3)))
		if request.Operator != journal.Contract {
			request.Kind = []string{"fact", "hard_rule", "preference"}[r.IntN(3)]
		}
		_, err := k.Beliefs().Operate(t.Context(), tenant, request)
		if err != nil {
			t.Fatal(err)
		}
		q := api.ContextRequest{Task: fmt.Sprintf("orders%d and table%d", r.IntN(4), r.IntN(3)), AsOf: must(k.Turns().Head(t.Context(), tenant)), Budget: 400}
		i, err := k.Contexts().Assemble(t.Context(), tenant, q)
		if errors.Is(err, contexts.ErrRequest) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		held += len(i.Context.Beliefs)
		all = append(all, given{q, string(i.Bundle)})
	}
	if len(all) < 20 || held < 40 {
		t.Fatalf("%d contexts with %d beliefs: too few to tell", len(all), held)
	}
	for _, k := range []*kernel.Kernel{k, over(t, s, token.NewAuthority(ring(t, "k1")))} {
		for _, g := range all {
			if again := must(k.Contexts().Assemble(t.Context(), tenant, g.request)); string(again.Bundle) != g.bundle {
				t.Fatalf("as of %d: %s\nwas %s", g.request.AsOf, again.Bundle, g.bundle)
			}
		}
	}
}

// TestContextBeliefQuotas holds the quotas of a policy: of beliefs the ones that fit best come in, of what facts reach the nearest, and what every context has is never cut.
func TestContextBeliefQuotas(t *testing.T) {
	ctx := t.Context()
	k := over(t, stores["memory"](t), token.NewAuthority(ring(t, "k1")))
	talk(t, k, "one")
	believing(t, k)
	hold := func(item, subject, predicate, object string) {
		r := asking(journal.Revise, subject, predicate, object)
		r.Item = belief.Item("kref://acme/desk/" + item)
		must(k.Beliefs().Operate(ctx, tenant, r))
	}
	hold("a.fact", "pump", "feeds", "tank")
	hold("b.fact", "pump", "stands-in", "hall")
	hold("c.fact", "valve", "closes", "pump")
	hold("do.instruction", "agent", "asks", "owner")
	hold("never.hard_rule", "agent", "opens", "valve")
	limited := func(id policy.ID, change func(*contexts.Policy)) {
		p := contexts.Default()
		change(&p)
		if err := k.Policies().Register(ctx, tenant, must(policy.Bind(id, p))); err != nil {
			t.Fatal(err)
		}
	}
	limited("words@1", func(p *contexts.Policy) { p.Quotas[contexts.FromBeliefs], p.Quotas[contexts.FromFacts] = 1, 0 })
	limited("paths@1", func(p *contexts.Policy) { p.Quotas[contexts.FromBeliefs], p.Quotas[contexts.FromFacts] = 0, 2 })
	limited("rules@1", func(p *contexts.Policy) { p.Quotas[contexts.FromConstraints] = 1 })
	limited("off@1", func(p *contexts.Policy) {
		p.Quotas[contexts.FromConstraints], p.Quotas[contexts.FromBeliefs], p.Quotas[contexts.FromFacts] = 0, 0, 0
	})
	for _, tc := range []struct {
		id   policy.ID
		want string
	}{
		{"words@1", "desk/a.fact?r=1 desk/do.instruction?r=1! desk/never.hard_rule?r=1!"},
		{"off@1", ""},
	} {
		i := must(k.Contexts().Assemble(ctx, tenant, api.ContextRequest{Task: "does the pump feed the tank", Policy: tc.id}))
		if _, verdict := k.Contexts().VerifyFor(tenant, i.Bundle); verdict.Outcome != token.Verified {
			t.Fatalf("%s: %+v", tc.id, verdict)
		}
		if got := strings.Join(heldIn(i.Context), " "); got != tc.want {
			t.Errorf("%s: got %s\nwant %s", tc.id, got, tc.want)
		}
	}
	i := must(k.Contexts().Assemble(ctx, tenant, api.ContextRequest{Task: "the pump", Policy: "paths@1"}))
	reached := 0
	for n := range i.Context.Candidates {
		if i.Context.Candidates[n].From[contexts.FromFacts] {
			reached++
		}
	}
	if _, verdict := k.Contexts().VerifyFor(tenant, i.Bundle); verdict.Outcome != token.Verified || reached != 2 {
		t.Errorf("%d are reached, want 2: %+v", reached, verdict)
	}
	if _, err := k.Contexts().Assemble(ctx, tenant, api.ContextRequest{Task: "the pump", Policy: "rules@1"}); !errors.Is(err, contexts.ErrRequest) || !strings.Contains(err.Error(), "2 beliefs are constraints, which every context includes") {
		t.Errorf("more than the quota of what every context has: %v", err)
	}
}
