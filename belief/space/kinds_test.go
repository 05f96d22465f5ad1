package space_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/rules"
	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/store/inmem"
)

// recordedBefore states a literal as kernels did that took every kind.
func recordedBefore(t *testing.T, s *inmem.Store, in journal.Request) *journal.Outcome {
	t.Helper()
	in.Space, in.Span, in.Policy, in.Constraints, in.At = beliefSpace, belief.Always, "desk@1", &belief.Constraints{}, 1_780_000_000_000_000
	in.Revision.Source, in.Revision.Confidence = "manual", dag.One
	return must(journal.Of(s, nil).Operate(t.Context(), tenant, in))
}

// TestUnlistedKinds tries each way in which an item can begin with a kind that the policy of its space does not list. Each is refused with the kind,
// the nearest one and all there are, and records nothing. Items and proposals of such kinds that are there already still change, wait and are taken.
func TestUnlistedKinds(t *testing.T) {
	k, s, _ := ruledBeliefs(t)
	ctx := t.Context()
	agent := access.As(ctx, access.Identity{Role: access.Agent, Subject: access.Stdio})
	plain := asking(journal.Revise, "pump", "is", "loud")
	plain.Item = "kref://acme/desk/pump.observation"
	must(k.Beliefs().Operate(ctx, tenant, plain))
	if err := k.Policies().Register(ctx, tenant, must(policy.Bind("steps@1", rules.New([]rules.Step{
		{From: "observation", To: "reference", Counts: rules.Evidence, Threshold: 1}, {From: "reflection", To: "fakt", Counts: rules.Evidence, Threshold: 1},
	})))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []belief.Item{"kref://acme/desk/twin.observation", "kref://acme/desk/x.reflection", "kref://acme/desk/y.reflection"} {
		twin := asking(journal.Revise, "pump", "is", "loud")
		if twin.Item = name; name.Kind() == "reflection" {
			twin.Statements[0].Object = "warm"
		}
		must(k.Beliefs().Operate(ctx, tenant, twin))
	}
	w := newPersonaWorld(t)
	must(w.from.Beliefs().Operate(ctx, tenant, asking(journal.Revise, "bob", "lives-in", "rome")))
	good := string(w.payload(t, w.smallPersona(t)))
	last := strings.LastIndex(good, `"kind":"fact"`)
	if strings.Index(good, `"kind":"fact"`) == last {
		t.Fatalf("one item alone: %s", good)
	}
	strange := good[:last] + strings.Replace(good[last:], "fact", "fakt", 1) // the first item is good
	envelope := must(attest.SealAs(attest.PersonaType, []byte(strange), must(w.id.Attestor(tenant))))

	head, other := must(s.Head(ctx, tenant)), w.head(t)
	doors := map[string]func() error{
		"persona": func() error {
			_, err := w.to.Beliefs().ImportPersona(ctx, tenant, w.taking(envelope))
			return err
		},
		"promotion": func() error {
			_, err := k.Beliefs().Promote(ctx, tenant, api.PromotionRequest{Space: beliefSpace, Policy: "steps@1"})
			return err
		},
		"abstraction": func() error {
			in := api.AbstractionRequest{Space: beliefSpace, Statements: asking("", "pumps", "are", "loud").Statements, From: []string{string(plain.Item)}, Kind: "fakt"}
			_, err := k.Beliefs().Abstract(ctx, tenant, in)
			return err
		},
	}
	for _, op := range []journal.Operator{journal.Revise, journal.Expand, journal.Propose} {
		for name, set := range map[string]func(*space.Operation){
			" of a kind":        func(in *space.Operation) { in.Kind = "fakt" },
			" to a new name":    func(in *space.Operation) { in.Item = "kref://acme/desk/new.fakt" },
			" of what is there": func(in *space.Operation) { in.Kind, in.Statements = "fakt", plain.Statements },
			" that would wait, as dry": func(in *space.Operation) {
				in.Kind, in.DryRun, in.Statements[0] = "fakt", true, plain.Statements[0].Negated()
			},
			" that would be refused":    func(in *space.Operation) { in.Kind, in.Statements[0] = "fakt", plain.Statements[0].Negated() },
			" with a key and a premise": func(in *space.Operation) { in.Kind, in.Key, in.Premises = "fakt", "k", plain.Statements },
		} {
			doors[string(op)+name] = func() error {
				in, who := asking(op, "valve", "is", "open"), ctx
				if set(&in); op == journal.Propose {
					who = agent
				}
				_, err := k.Beliefs().Operate(who, tenant, in)
				return err
			}
		}
	}
	for name, try := range doors {
		err := try()
		if !errors.Is(err, belief.ErrKind) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, want := range []string{`"fakt"`, "did you mean fact?", "observation", "hard_rule"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v does not say %s", name, err, want)
			}
		}
	}
	if must(s.Head(ctx, tenant)) != head || w.head(t) != other {
		t.Errorf("%d and %d: something was recorded", must(s.Head(ctx, tenant)), w.head(t))
	}

	old := recordedBefore(t, s, journal.Request{Operator: journal.Revise, Kind: "fakt", Statements: []belief.Literal{{Subject: "a", Predicate: "is", Object: "b"}}, Rank: journal.Rank{Class: belief.Human}})
	more := asking(journal.Revise, "a", "is", "c")
	more.Item, more.Statements = old.Item, append(more.Statements, belief.Literal{Subject: "a", Predicate: "is", Object: "b"})
	if o := must(k.Beliefs().Operate(ctx, tenant, more)); o.Revision != 2 {
		t.Errorf("an item of an unlisted kind that was there: %+v", o)
	}
	if o := must(k.Beliefs().Operate(ctx, tenant, asking(journal.Contract, "a", "is", "c"))); o.Revision != 3 {
		t.Errorf("%+v", o)
	}
	waits := recordedBefore(t, s, journal.Request{Operator: journal.Propose, Kind: "fakt", Statements: []belief.Literal{{Subject: "a", Predicate: "is", Object: "b", Not: true}}, Rank: journal.Rank{Class: belief.Inferred}, Salt: dag.Salt{9}})
	if waits.Result != journal.Refused {
		t.Fatalf("%+v", waits)
	}
	if r := must(k.Beliefs().ResolveConflict(ctx, tenant, api.ConflictResolution{Space: beliefSpace, Conflict: waits.Seq, How: journal.Taken})); r.Outcome.Outcome != journal.Changed {
		t.Errorf("%+v", r.Outcome)
	}
}
