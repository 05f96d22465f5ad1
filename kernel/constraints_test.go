package kernel_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/contexts/assemble"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// rule asks for a hard rule whose text has so many bytes.
func rule(op journal.Operator, item belief.Item, n, bytes int) space.Operation {
	r := asking(op, "agent", fmt.Sprint("keeps-", n), "it")
	r.Item, r.Kind = item, "hard_rule"
	if item != "" {
		r.Space = item.Space()
	}
	bare := len(contexts.BeliefText(&journal.Revision{Statements: []journal.Stated{{Literal: r.Statements[0], Span: belief.Always}}}))
	if bytes > bare {
		r.Summary = strings.Repeat("x", bytes-bare-1)
	}
	return r
}

// beforeBounds records a revision as kernels did that knew neither bounds nor who may share an item.
func beforeBounds(t *testing.T, s store.Store, in space.Operation, by string, class belief.Class) {
	t.Helper()
	o, err := journal.Of(s, nil).Operate(t.Context(), tenant, journal.Request{
		Operator: journal.Revise, Space: in.Space, Item: in.Item, Kind: in.Kind, Statements: in.Statements, Span: belief.SpanOf(in.ValidFrom, in.ValidUntil), Rank: journal.Rank{Class: class}, By: by, At: 1_780_000_000_000_000,
		Revision: journal.Revision{Title: in.Title, Summary: in.Summary, Confidence: dag.One, Source: "manual"}, Salt: dag.Salt{byte(in.Statements[0].Predicate[len(in.Statements[0].Predicate)-1])},
		Policy: "desk@1", Constraints: &belief.Constraints{},
	})
	if err != nil || o.Result != journal.Changed {
		t.Fatal(o, err)
	}
}

// mandatory lists the beliefs of a context that every context has.
func mandatory(b *contexts.Bundle) (list []string) {
	for i := range b.Candidates {
		c := &b.Candidates[i]
		if c.Mandatory() && slices.ContainsFunc(b.Beliefs, func(r journal.Revision) bool { return r.Address().String() == c.ID }) {
			list = append(list, strings.TrimPrefix(c.ID, "kref://acme/"))
		}
	}
	return list
}

// TestReadings replays contexts of each reading on stores of each kind: an agent's rule is a constraint of the old ones and of no new one, and of what an agent
// restated only words that are a person's count.
func TestReadings(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			ctx, s := t.Context(), open(t, name)
			k := over(t, s, token.NewAuthority(ring(t, "k1")))
			talk(t, k, "one")
			believing(t, k)
			_, ofAgent := createKey(t, k, tenant, access.Agent)
			_, ofAdmin := createKey(t, k, tenant, access.Admin)
			must(k.Beliefs().Operate(access.As(ctx, ofAgent.Identity()), tenant, rule(journal.Propose, "kref://acme/desk/proposed.hard_rule", 1, 100)))
			for item, by := range map[string]string{"by-key": ofAgent.ID, "by-stdio": access.Stdio, "by-admin": ofAdmin.ID, "by-local": access.Local, "by-nobody": "", "by-jwt": "jwt:ci"} {
				beforeBounds(t, s, rule(journal.Revise, belief.Item("kref://acme/desk/"+item+".hard_rule"), len(item), 100), by, belief.HardRule)
			}
			beforeBounds(t, s, rule(journal.Revise, "kref://acme/desk/bare.hard_rule", 9, 0), ofAgent.ID, belief.HardRule)
			ask := api.ContextRequest{Task: "zebra", AsOf: must(k.Turns().Head(ctx, tenant))}
			old := must(k.Contexts().AssembleAs(ctx, tenant, ask, dag.ReadStructure))
			made := must(k.Contexts().Assemble(ctx, tenant, ask))
			all := "desk/bare desk/by-admin desk/by-jwt desk/by-key desk/by-local desk/by-nobody desk/by-stdio desk/proposed"
			for _, tc := range []struct {
				is      *assemble.Issued
				want    string
				reading dag.Reading
			}{{old, all, dag.ReadStructure}, {made, "desk/bare desk/by-admin desk/by-jwt desk/by-local desk/by-nobody", dag.ReadNow}} {
				if got := strings.ReplaceAll(strings.Join(mandatory(tc.is.Context), " "), ".hard_rule?r=1", ""); got != tc.want || tc.is.Record.Reading != tc.reading {
					t.Errorf("reading %d: %s, want %s", tc.is.Record.Reading, got, tc.want)
				}
			}
			// a kernel that keeps nothing replays both, from the bytes and from the record
			k = over(t, s, token.NewAuthority(ring(t, "k1")))
			for _, i := range []*assemble.Issued{old, made} {
				if r := must(k.Slices().Replay(ctx, tenant, i.Bundle)); r.Outcome != kernel.Identical {
					t.Errorf("reading %d: %s, %s", i.Record.Reading, r.Outcome, r.Reason)
				}
			}
			records := must(k.Slices().After(ctx, tenant, 0, 10))
			if len(records) != 2 || records[0].Reading == records[1].Reading {
				t.Errorf("%+v", records)
			}
			for _, r := range records {
				if again := must(k.Slices().ReplayIssued(ctx, tenant, r.Provenance.SliceID)); again.Outcome != kernel.Identical {
					t.Errorf("from the record of reading %d: %s, %s", r.Reading, again.Outcome, again.Reason)
				}
			}
			if rules := must(k.Beliefs().Constraints(ctx, tenant, beliefSpace, 0)); len(rules.Held) != 5 {
				t.Errorf("%d rules", len(rules.Held))
			}
			if l := must(k.Beliefs().Spaces(ctx, tenant, api.SpacesQuery{Constraints: true})).Spaces; len(l) != 1 || l[0].Constraints.Proposed != 3 {
				t.Errorf("%+v", l)
			}
			if report := must(fsck.Store(ctx, s, fsck.Options{})); report.Err() != nil {
				t.Error(report.Err())
			}
		})
	}
}

// TestConstraintBounds holds the bounds at each way by which a constraint can come: one more than fits is refused and leaves nothing behind, one that fits is taken, and after
// one ended there is room for another.
func TestConstraintBounds(t *testing.T) {
	ctx := t.Context()
	fresh := func() (*kernel.Kernel, store.Store) {
		s := open(t, "memory")
		k := over(t, s, token.NewAuthority(ring(t, "k1")))
		believing(t, k)
		return k, s
	}
	refused := func(what string, s store.Store, do func() error, want ...string) {
		t.Helper()
		head := must(s.Head(ctx, tenant))
		err := do()
		if !errors.Is(err, journal.ErrTooManyConstraints) || must(s.Head(ctx, tenant)) != head {
			t.Errorf("%s: %v, %d entries more", what, err, must(s.Head(ctx, tenant))-head)
			return
		}
		for _, part := range append(want, string(beliefSpace)) {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q lacks %q", what, err, part)
			}
		}
	}
	operate := func(k *kernel.Kernel, in space.Operation) error {
		_, err := k.Beliefs().Operate(ctx, tenant, in)
		return err
	}
	k, s := fresh()
	for bytes := journal.MaxConstraint - 2; bytes <= journal.MaxConstraint+2; bytes++ {
		in := rule(journal.Revise, belief.Item(fmt.Sprintf("kref://acme/desk/long-%d.hard_rule", bytes)), bytes, bytes)
		if bytes <= journal.MaxConstraint {
			must(k.Beliefs().Operate(ctx, tenant, in))
			continue
		}
		refused(fmt.Sprint(bytes, " bytes"), s, func() error { return operate(k, in) }, fmt.Sprint(bytes), "2048")
		in.DryRun = true
		refused("dry", s, func() error { return operate(k, in) })
		in.Operator = journal.Expand
		refused("expand", s, func() error { return operate(k, in) })
	}
	k, s = fresh()
	for n := range 8 { // 16 KiB
		must(k.Beliefs().Operate(ctx, tenant, rule(journal.Revise, belief.Item(fmt.Sprintf("kref://acme/desk/full-%d.hard_rule", n)), n, journal.MaxConstraint)))
	}
	refused("bytes of a space", s, func() error { return operate(k, rule(journal.Revise, "", 9, 0)) }, "would have 9 constraints in", "16384", "belief rules", "belief contract")

	k, s = fresh()
	addOf := func(n int) belief.Item { return belief.Item(fmt.Sprintf("kref://acme/desk/rule-%d.hard_rule", n)) }
	for n := range journal.MaxConstraints {
		must(k.Beliefs().Operate(ctx, tenant, rule(journal.Revise, addOf(n), n, 0)))
	}
	must(k.Beliefs().Operate(ctx, tenant, rule(journal.Revise, addOf(3), 3, 200))) // another revision of one
	must(k.Beliefs().SetSpace(ctx, tenant, api.NewSpace{Space: "acme/other"}))
	must(k.Beliefs().Operate(ctx, tenant, rule(journal.Revise, "kref://acme/other/own.hard_rule", 1, 0)))
	one := rule(journal.Revise, "", 100, 0)
	refused("the count", s, func() error { return operate(k, one) }, "would have 65", "at most 64")
	// an instruction counts, too, and a statement that joins a constraint by what it says
	instruction := rule(journal.Revise, "", 101, 0)
	instruction.Kind = "instruction"
	refused("an instruction", s, func() error { return operate(k, instruction) })
	long := rule(journal.Revise, "", 5, journal.MaxConstraint+1)
	long.Kind = "fact"
	refused("a fact that becomes a revision of a rule", s, func() error { return operate(k, long) }, "2049")
	// ending one makes room; restoring it does not fit then
	must(k.Beliefs().Act(ctx, tenant, journal.Act{Item: addOf(0), Deprecates: true}))
	must(k.Beliefs().Operate(ctx, tenant, one))
	refused("restore", s, func() error { _, err := k.Beliefs().Act(ctx, tenant, journal.Act{Item: addOf(0)}); return err })
	contract := asking(journal.Contract, "agent", "keeps-1", "it")
	must(k.Beliefs().Operate(ctx, tenant, contract))
	must(k.Beliefs().Act(ctx, tenant, journal.Act{Item: addOf(0)}))
	refused("the tag current", s, func() error {
		_, err := k.Beliefs().Act(ctx, tenant, journal.Act{Item: addOf(1), Tag: journal.Current, Number: 1})
		return err
	})
	// a conflict that is taken, and a policy under which more kinds bind
	agent := access.As(ctx, access.Identity{Role: access.Agent, Subject: access.Stdio})
	against := asking(journal.Propose, "agent", "keeps-2", "it")
	against.Statements[0].Not, against.Kind = true, "hard_rule"
	against.Statements = append(against.Statements, belief.Literal{Subject: "a", Predicate: "b", Object: "c"})
	o := must(k.Beliefs().Operate(agent, tenant, against))
	if o.Result != journal.Refused {
		t.Fatal(o)
	}
	must(k.Beliefs().Operate(ctx, tenant, asking(journal.Revise, "some", "fact", "held")))
	binding := must(policy.Bind("binding@1", kinds.New(belief.Constraints{}, []kinds.Kind{{Name: "fact", Always: true, Entrenched: kinds.ByEvent}, {Name: "hard_rule", Level: 3, Always: true, Hard: true, Entrenched: kinds.ByEvent}})))
	if err := k.Policies().Register(ctx, tenant, binding); err != nil {
		t.Fatal(err)
	}
	refused("a policy of the space", s, func() error {
		_, err := k.Beliefs().SetSpace(ctx, tenant, api.NewSpace{Space: beliefSpace, Policy: "binding@1"})
		return err
	})
	soundly(t, s)
}

// TestOverfull keeps contexts of other spaces going beside a space that had too many constraints before there were bounds. A context of that space alone says what is wrong, one of
// several has the oldest that fit and says which it lacks, and all that is read is replayed.
func TestOverfull(t *testing.T) {
	for name, fill := range map[string]func(int) (bytes int){"many": func(int) int { return 0 }, "long": func(n int) int { return 20_000 + n }} {
		t.Run(name, func(t *testing.T) {
			ctx, s := t.Context(), open(t, "memory")
			k := over(t, s, token.NewAuthority(ring(t, "k1")))
			talk(t, k, "one")
			believing(t, k)
			must(k.Beliefs().SetSpace(ctx, tenant, api.NewSpace{Space: "acme/other"}))
			must(k.Beliefs().Operate(ctx, tenant, rule(journal.Revise, "kref://acme/other/own.hard_rule", 1, 100)))
			rules := 300
			if name == "long" {
				rules = 2
			}
			for n := range rules {
				beforeBounds(t, s, rule(journal.Revise, belief.Item(fmt.Sprintf("kref://acme/desk/rule-%03d.hard_rule", n)), n, fill(n)), access.Local, belief.HardRule)
			}
			k = over(t, s, token.NewAuthority(ring(t, "k1")))
			ask := func(spaces ...belief.Space) (*assemble.Issued, error) {
				i, err := k.Contexts().Assemble(ctx, tenant, api.ContextRequest{Task: "anything", Spaces: spaces})
				if err == nil {
					if r := must(k.Slices().Replay(ctx, tenant, i.Bundle)); r.Outcome != kernel.Identical {
						t.Errorf("%v: %s, %s", spaces, r.Outcome, r.Reason)
					}
				}
				return i, err
			}
			if i := must(ask("acme/other")); !slices.Equal(mandatory(i.Context), []string{"other/own.hard_rule?r=1"}) || i.Overfull != nil {
				t.Errorf("%v, %+v", mandatory(i.Context), i.Overfull)
			}
			if _, err := ask(beliefSpace); !errors.Is(err, journal.ErrTooManyConstraints) || !strings.Contains(err.Error(), fmt.Sprintf("acme/desk has %d", rules)) || !strings.Contains(err.Error(), "belief contract") {
				t.Errorf("of the space alone: %v", err)
			}
			left := map[string]int{"many": 300 + 1 - 256, "long": 1}[name]
			for _, spaces := range [][]belief.Space{nil, {"acme/other", beliefSpace}} {
				i := must(ask(spaces...))
				got := mandatory(i.Context)
				if len(got) != rules+1-left || !slices.Contains(got, "other/own.hard_rule?r=1") || !slices.Contains(got, "desk/rule-000.hard_rule?r=1") || slices.Contains(got, fmt.Sprintf("desk/rule-%03d.hard_rule?r=1", rules-1)) {
					t.Errorf("%v: %d constraints, %v", spaces, len(got), got)
				}
				if len(i.Overfull) != 1 || i.Overfull[0].Space != beliefSpace || i.Overfull[0].Left != left || i.Overfull[0].Count != rules {
					t.Errorf("%v: %+v", spaces, i.Overfull)
				}
			}
			if l := must(k.Beliefs().Spaces(ctx, tenant, api.SpacesQuery{Constraints: true})).Spaces; len(l) != 2 || !l[0].Constraints.Over || l[0].Constraints.Count != rules || l[1].Constraints.Over {
				t.Errorf("%+v", l)
			}
			// each can be said in other words that are not more, each can be ended, and none added
			last := rule(journal.Revise, belief.Item(fmt.Sprintf("kref://acme/desk/rule-%03d.hard_rule", rules-1)), rules-1, 90)
			must(k.Beliefs().Operate(ctx, tenant, last))
			if _, err := k.Beliefs().Operate(ctx, tenant, rule(journal.Revise, "", 900, 0)); !errors.Is(err, journal.ErrTooManyConstraints) {
				t.Errorf("one more: %v", err)
			}
			must(k.Beliefs().Operate(ctx, tenant, asking(journal.Contract, "agent", "keeps-0", "it")))
			must(k.Beliefs().Act(ctx, tenant, journal.Act{Item: "kref://acme/desk/rule-001.hard_rule", Deprecates: true}))
		})
	}
}

// TestWaiting lets proposals of one caller wait up to the bound. Others go on, and one that ends makes room.
func TestWaiting(t *testing.T) {
	s := inmem.Open(&inmem.Disk{}, inmem.Options{})
	k := over(t, s, token.NewAuthority(ring(t, "k1")))
	believing(t, k, "lives-in")
	ctx := t.Context()
	must(k.Beliefs().Operate(ctx, tenant, asking(journal.Revise, "ada", "lives-in", "oslo")))
	_, one := createKey(t, k, tenant, access.Agent)
	_, two := createKey(t, k, tenant, access.Agent)
	propose := func(by access.Key, n int) (*journal.Outcome, error) {
		return k.Beliefs().Operate(access.As(ctx, by.Identity()), tenant, asking(journal.Propose, "ada", "lives-in", fmt.Sprint("town ", n)))
	}
	var first *journal.Outcome
	for n := range journal.MaxWaiting {
		if o := must(propose(one, n)); n == 0 {
			first = o
		}
	}
	head := must(s.Head(ctx, tenant))
	if _, err := propose(one, 99); !errors.Is(err, journal.ErrTooManyWaiting) || !strings.Contains(err.Error(), one.ID) || must(s.Head(ctx, tenant)) != head {
		t.Errorf("one more: %v", err)
	}
	if o, err := k.Beliefs().Operate(access.As(ctx, one.Identity()), tenant, asking(journal.Propose, "bo", "lives-in", "rome")); err != nil || o.Result != journal.Changed {
		t.Errorf("what does not have to wait: %+v, %v", o, err)
	}
	for n := range journal.MaxWaiting {
		if o := must(propose(two, n)); o.Result != journal.Refused {
			t.Fatal(o)
		}
	}
	must(k.Beliefs().ResolveConflict(ctx, tenant, api.ConflictResolution{Space: beliefSpace, Conflict: first.Seq, How: journal.Dropped}))
	must(propose(one, 99))
	if _, err := propose(one, 100); !errors.Is(err, journal.ErrTooManyWaiting) {
		t.Errorf("one more again: %v", err)
	}
	for n := range journal.MaxWaiting + 5 { // a person's are not bounded
		must(k.Beliefs().Operate(ctx, tenant, rule(journal.Propose, "", n, 0)))
		if n == 10 {
			break
		}
	}
	soundly(t, s)
}
