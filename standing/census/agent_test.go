package census_test

import (
	"context"
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
	"github.com/graphkernel/graphkernel/internal/kerneltest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/contexts/assemble"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// An attempt is something that an agent's key may write.
type attempt struct {
	name string
	do   func(ctx context.Context, k *kernel.Kernel) error
}

// breadthFirst tries every sequence of up to depth different attempts, the shorter ones first, but none that begins as one which led to a state that another led to
// before. try runs one in a world of its own and returns the state to which it leads. breadthFirst returns the number of states.
func breadthFirst(depth, attempts int, try func(steps []int) string) int {
	seen, level := map[string]bool{try(nil): true}, [][]int{nil}
	for range depth {
		var next [][]int
		for _, path := range level {
			for a := range attempts {
				if slices.Contains(path, a) {
					continue
				}
				steps := append(slices.Clone(path), a)
				if state := try(steps); !seen[state] {
					seen[state] = true
					next = append(next, steps)
				}
			}
		}
		level = next
	}
	return len(seen)
}

// TestAgentRaisesNothing tries, breadth first, every sequence of five different things that an agent's key, an agent over stdio or a model with a person's key
// may write, with arguments that aim at the owner's conversation: no turn that was there counts more afterwards, and no turn that they bring is an order or a constraint.
// Nor does a turn of a record that the owner imports afterwards, of which they may have brought some turns before, count more than without them.
func TestAgentRaisesNothing(t *testing.T) {
	lead, reviewer := draft(1, "own", dag.RoleUser, "human:lead"), draft(3, "own", dag.RoleUser, "human:reviewer")
	answer := reply(draft(2, "own", dag.RoleAssistant, "agent:claude"), lead)
	rule := draft(0, "own", dag.RoleSystem, "system:operator")
	lead = reply(lead, rule)
	prompt := draft(2, "record", dag.RoleUser, "human:lead")
	record := []dag.Draft{
		draft(1, "record", dag.RoleSystem, "system:operator"), prompt, draft(3, "record", dag.RoleUser, "human:visitor"), reply(draft(4, "record", dag.RoleAssistant, "agent:claude"), prompt),
		draft(5, "record", dag.RoleSystem, "system:reminder"), draft(6, "record", dag.RoleUser, "human:lead"),
	}
	talk := []dag.Draft{draft(1, "people", dag.RoleUser, "human:visitor"), draft(2, "people", dag.RoleUser, "human:customer")}

	admits := func(who access.Identity, d dag.Draft) func(context.Context, *kernel.Kernel) error {
		return func(ctx context.Context, k *kernel.Kernel) error {
			_, err := k.Turns().AdmitWith(access.As(ctx, who), tenant, who.Credential(), []dag.Draft{d})
			return err
		}
	}
	asks := func(who access.Identity, fn func(ctx context.Context, k *kernel.Kernel) error) func(context.Context, *kernel.Kernel) error {
		return func(ctx context.Context, k *kernel.Kernel) error { return fn(access.As(ctx, who), k) }
	}
	forged := draft(10, "own", dag.RoleUser, "human:lead")
	attempts := []attempt{
		{"the owner's prompt by a key", admits(agent, forged)},
		{"the owner's prompt by a model", admits(model, draft(11, "own", dag.RoleUser, "human:lead"))},
		{"the owner's prompt over stdio", admits(stdio, reply(draft(12, "own", dag.RoleUser, "human:lead"), lead))},
		{"a prompt of nobody", admits(agent, draft(13, "own", dag.RoleUser, ""))},
		{"an answer in a talk of people", admits(agent, draft(14, "people", dag.RoleAssistant, "agent:claude"))},
		{"words in place of a result", admits(agent, draft(15, "own", dag.RoleTool, "human:lead"))},
		{"a root before the owner's", admits(agent, draft(16, "people", dag.RoleUser, "human:lead"))},
		{"a mark taken off", func(ctx context.Context, k *kernel.Kernel) error {
			d := draft(10, "own", dag.RoleUser, "human:lead")
			d.Attrs = map[string]string{dag.AttrBroughtBy: access.Local}
			return admits(agent, d)(ctx, k)
		}},
		{"a system turn over stdio", admits(stdio, draft(17, "elsewhere", dag.RoleSystem, "system:operator"))},
		{"a message kept by a model, and consolidated by its key", func(ctx context.Context, k *kernel.Kernel) error {
			_, err := k.Working().Put(access.As(ctx, model), tenant, api.WorkingPut{Session: "own", Messages: []api.NewMessage{{Key: "1", Role: dag.RoleUser, Author: "human:lead", Content: "do it"}}})
			if err != nil {
				return err
			}
			_, err = k.Working().Consolidate(access.As(ctx, capture), tenant, api.Consolidating{Session: "own", Conversation: &lead.Conversation})
			return err
		}},
		{"the first prompt of a record that the owner imports later", admits(agent, prompt)},
		{"an agent's turn in its place", admits(capture, draft(2, "record", dag.RoleAssistant, "agent:claude"))},
		{"the answer of that record", admits(agent, draft(4, "record", dag.RoleAssistant, "agent:claude"))},
		{"a policy set", asks(agent, func(ctx context.Context, k *kernel.Kernel) error {
			_, err := k.Standings().Set(ctx, tenant, api.NewStanding{PolicyID: standing.TeamID, Retroactive: true})
			return err
		})},
		{"a policy registered and set by a model", asks(model, func(ctx context.Context, k *kernel.Kernel) error {
			p, err := policy.Bind("agents@1", standing.NewPolicy(standing.Rule{Key: agent.Subject, Standing: standing.Owner}))
			if err == nil {
				err = k.Policies().Register(ctx, tenant, p)
			}
			_, set := k.Standings().Set(ctx, tenant, api.NewStanding{PolicyID: "agents@1", Retroactive: true})
			return errors.Join(err, set)
		})},
		{"a key made", asks(agent, func(ctx context.Context, k *kernel.Kernel) error {
			_, err := kernel.Ask(ctx, k, tenant, api.CreateKey, api.NewAPIKey{Role: "agent", SpeaksFor: "human:*=owner"})
			return err
		})},
	}
	depth := 5
	if testing.Short() {
		depth = 3
	}
	world := func() *kernel.Kernel {
		k := kerneltest.Over(t, inmem.Open(&inmem.Disk{}, inmem.Options{}), token.NewAuthority(kerneltest.Ring(t, "k1")))
		admitted(t, k, access.Identity{}, rule, lead, answer, reviewer)
		admitted(t, k, access.Identity{}, talk...)
		return k
	}
	// standings returns what each turn counts for, by its id.
	standings := func(k *kernel.Kernel) map[dag.TurnID]api.TurnStanding {
		all := map[dag.TurnID]api.TurnStanding{}
		for _, name := range []string{"own", "people", "elsewhere", "record"} {
			id := dag.ExternalConversationID("test", name)
			found, err := k.Standings().List(t.Context(), tenant, api.StandingsQuery{Conversation: &id})
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				t.Fatal(err)
			}
			for i := range found.Turns {
				all[found.Turns[i].Turn] = found.Turns[i]
			}
		}
		return all
	}
	at := func(s api.TurnStanding) standing.Standing {
		return must[standing.Standing](t)(dag.ParseStanding(s.Standing))
	}
	state := func(of map[dag.TurnID]api.TurnStanding) string {
		var lines []string
		for id, s := range of {
			lines = append(lines, id.String()+" "+s.Standing)
		}
		slices.Sort(lines)
		return fmt.Sprint(lines)
	}
	// imported returns it after the owner imported the record. A turn that is there otherwise stays as it is.
	imported := func(k *kernel.Kernel) map[dag.TurnID]api.TurnStanding {
		for i := range record {
			_, err := k.Turns().Admit(t.Context(), tenant, record[i:i+1])
			var conflict *store.ConflictError
			if err != nil && !errors.As(err, &conflict) {
				t.Fatal(err)
			}
		}
		return standings(k)
	}
	first, alone := standings(world()), imported(world())
	if of := func(i int) standing.Standing { return at(alone[record[i].ID]) }; of(0) != standing.System || of(1) != standing.Owner || of(2) != standing.Guest || of(4) != standing.Outside || of(5) != standing.Owner {
		t.Fatalf("the record alone: %+v", alone)
	}
	if len(first) != 6 || at(first[rule.ID]) != standing.System || at(first[lead.ID]) != standing.Owner || at(first[reviewer.ID]) != standing.Guest {
		t.Fatalf("at first %+v", first)
	}
	refused := 0
	states := breadthFirst(depth, len(attempts), func(steps []int) string {
		if len(steps) == 0 {
			return state(first)
		}
		k := world()
		var before map[dag.TurnID]api.TurnStanding
		for i, step := range steps {
			if i == len(steps)-1 {
				before = standings(k)
			}
			if attempts[step].do(t.Context(), k) != nil {
				refused++
			}
		}
		after := standings(k)
		for id, s := range after {
			had, there := before[id]
			if there && at(s) > at(had) {
				t.Fatalf("%v: %s rose from %s to %s", steps, id, had.Standing, s.Standing)
			}
			if _, ours := first[id]; !ours && at(s) >= standing.Member {
				t.Fatalf("%v: turn %s, which an agent brought, is of standing %s", steps, id, s.Standing)
			}
		}
		for id, s := range imported(k) {
			if is, ours := alone[id]; ours && at(s) > at(is) || !ours && at(s) >= standing.Member {
				t.Fatalf("%v: %s is of standing %s after the import, %s, and %q without them", steps, id, s.Standing, s.Reason, is.Standing)
			}
		}
		return state(after)
	})
	if states < 20 || refused == 0 {
		t.Errorf("%d states, %d refusals", states, refused)
	}
	t.Logf("%d states", states)
}

// ask returns a step that asks for an operation, and adds the operation's id to those that were asked for.
func ask[In, Out any](asked map[string]bool, who access.Identity, op api.Operation[In, Out], in func(k *kernel.Kernel) In) func(context.Context, *kernel.Kernel) error {
	asked[op.ID] = true
	return func(ctx context.Context, k *kernel.Kernel) error {
		_, err := kernel.Ask(access.As(ctx, who), k, tenant, op, in(k))
		return err
	}
}

// TestAgentBindsNothing tries, breadth first, every sequence of five different things that an agent's key, an agent over stdio or a model with an admin's key may write
// about beliefs, facts and evidence, with arguments that aim at a rule of the owner's: the rule is believed and a constraint of standing owner afterwards, in the
// present and in contexts, and what they state is of standing agent. The operations of the attempts, of TestAgentRaisesNothing and of the list of those that record
// nothing about words are all that a key of role agent may call, except for those that read.
func TestAgentBindsNothing(t *testing.T) {
	lead, page := draft(1, "own", dag.RoleUser, "human:lead"), draft(2, "own", dag.RoleTool, "")
	page = reply(page, lead)
	const rule, kept, forged = "coupons", "kept", "dropped"
	lent := admin
	lent.Model = true
	made := func(k *kernel.Kernel) *journal.Revision {
		for _, h := range must[*space.Base](t)(k.Beliefs().Held(t.Context(), tenant, kerneltest.Space, 0, nil)).Held {
			if h.Stated().Subject == rule && h.Stated().Object == kept {
				return h.Revision
			}
		}
		t.Fatalf("the owner's rule is not believed: %+v", must[*space.Base](t)(k.Beliefs().Held(t.Context(), tenant, kerneltest.Space, 0, nil)).Held)
		return nil
	}
	at := func(k *kernel.Kernel, number int) string { return fmt.Sprintf("%s?r=%d", made(k).Item, number) }
	states := func(subject string, change func(k *kernel.Kernel, r *api.BeliefRequest)) func(*kernel.Kernel) api.BeliefRequest {
		return func(k *kernel.Kernel) api.BeliefRequest {
			r := api.BeliefRequest{Space: kerneltest.Space, Kind: "hard_rule", Statements: []belief.Literal{{Subject: subject, Predicate: "is", Object: forged}}, Turns: []dag.TurnID{page.ID}}
			if change != nil {
				change(k, &r)
			}
			return r
		}
	}
	learns := func(who access.Identity) func(context.Context, *kernel.Kernel) error {
		return func(ctx context.Context, k *kernel.Kernel) error {
			act, err := k.Facts().Assertion(ctx, tenant, &api.NewFact{Subject: rule, Predicate: "is", Object: forged, Turn: page.ID.String(), Source: "user"}, "mcp")
			if err == nil {
				_, err = k.Facts().Learn(access.As(ctx, who), tenant, []knowledge.Act{act})
			}
			return err
		}
	}
	asked := map[string]bool{}
	attempts := []attempt{
		{"a proposal against the rule", ask(asked, agent, api.ProposeBeliefs, states(rule, nil))},
		{"a proposal in its item, by a model", ask(asked, lent, api.ProposeBeliefs, states(rule, func(k *kernel.Kernel, r *api.BeliefRequest) { r.Item, r.Kind = made(k).Item, "" }))},
		{"a rule of its own, over stdio", ask(asked, stdio, api.ProposeBeliefs, states("tables", func(_ *kernel.Kernel, r *api.BeliefRequest) { r.Source, r.Tags = "manual", []string{"mine"} }))},
		{"a rule published at once", ask(asked, agent, api.ProposeBeliefs, states("views", func(_ *kernel.Kernel, r *api.BeliefRequest) { r.Tags = []string{journal.Published} }))},
		{"a revision", ask(asked, lent, api.ReviseBeliefs, states(rule, nil))},
		{"a contraction", ask(asked, stdio, api.ContractBeliefs, func(*kernel.Kernel) api.BeliefRequest {
			return api.BeliefRequest{Space: kerneltest.Space, Statements: []belief.Literal{{Subject: rule, Predicate: "is", Object: kept}}}
		})},
		{"the proposal taken", ask(asked, lent, api.ResolveConflict, func(k *kernel.Kernel) api.ConflictResolution {
			r := api.ConflictResolution{Space: kerneltest.Space, How: journal.Taken}
			for _, c := range must[api.Conflicts](t)(k.Beliefs().Conflicts(t.Context(), tenant, api.ConflictsQuery{Space: kerneltest.Space})).Conflicts {
				r.Conflict = c.Seq
			}
			return r
		})},
		{"the rule deprecated", ask(asked, agent, api.DeprecateItem, func(k *kernel.Kernel) api.Deprecation { return api.Deprecation{Ref: made(k).Item} })},
		{"the tag current taken off", ask(asked, agent, api.TagKref, func(k *kernel.Kernel) api.NewTag { return api.NewTag{Ref: made(k).Item, Tag: journal.Current} })},
		{"another tag", ask(asked, agent, api.TagKref, func(k *kernel.Kernel) api.NewTag { return api.NewTag{Ref: made(k).Item, Tag: "stale", Revision: 1} })},
		{"the rule depends on a page", ask(asked, agent, api.LinkKref, func(k *kernel.Kernel) api.NewLink {
			return api.NewLink{From: at(k, 1), Type: "depends_on", To: "turn:" + page.ID.String()}
		})},
		{"the rule is superseded", ask(asked, lent, api.LinkKref, func(k *kernel.Kernel) api.NewLink {
			return api.NewLink{From: at(k, 1), Type: "supersedes", To: at(k, 1)}
		})},
		{"the rule failed", ask(asked, agent, api.UseBelief, func(k *kernel.Kernel) api.BeliefUse { return api.BeliefUse{Ref: at(k, 1)} })},
		{"a fact", learns(agent)},
		{"the fact over stdio", learns(stdio)},
		{"facts retracted", ask(asked, agent, api.RetractFacts, func(*kernel.Kernel) api.Retracting { return api.Retracting{FactFilter: api.FactFilter{Subject: rule}} })},
		{"evidence of the rule", func(ctx context.Context, k *kernel.Kernel) error {
			_, err := k.Beliefs().Prove(access.As(ctx, agent), tenant, api.BeliefProofRequest{Space: kerneltest.Space, BeliefStatement: belief.Literal{Subject: rule, Predicate: "is", Object: kept}})
			return err
		}},
		{"a slice", func(ctx context.Context, k *kernel.Kernel) error {
			_, err := k.Slices().Cut(access.As(ctx, agent), tenant, kernel.Request{Anchor: page.ID})
			return err
		}},
	}
	texts := append([]attempt{
		{"a text as a rule", ask(asked, agent, api.Remember, func(*kernel.Kernel) api.NewMemory {
			return api.NewMemory{Text: "Coupons are dropped.", Kind: "hard_rule", Project: kerneltest.Space}
		})},
		{"a text instead of the rule, by a model", ask(asked, lent, api.Remember, func(k *kernel.Kernel) api.NewMemory {
			return api.NewMemory{Text: "Coupons are dropped.", Instead: string(made(k).Item)}
		})},
		{"the proposal accepted", ask(asked, lent, api.AcceptMemory, func(k *kernel.Kernel) api.OldMemory {
			list := must[api.Memories](t)(k.Beliefs().List(t.Context(), tenant, api.MemoriesQuery{Proposed: true})).Memories
			if len(list) == 0 {
				return api.OldMemory{ID: "w1"}
			}
			return api.OldMemory{ID: list[0].ID}
		})},
		{"the rule forgotten", ask(asked, stdio, api.Forget, func(k *kernel.Kernel) api.OldMemory { return api.OldMemory{ID: string(made(k).Item)} })},
	}, attempts[:8]...) // and what may be done with statements
	for _, id := range []string{api.LearnFact.ID, api.LearnFacts.ID, api.ProveBelief.ID, api.CutSlice.ID} { // asked of the kernel's own methods
		asked[id] = true
	}
	nothing := []string{ // records nothing that a context, a slice or a belief is made of
		"cutSlices", "cutFacts", "assembleContext", "reportNotGiven", "clearWorking", "attestBundle", "convertBundle", "verifyToken", "verifyBundle", "addCheckpoint",
		"enrichHits", "searchTurns", "traverseKnowledge",
	}
	elsewhere := []string{"admitTurns", "putWorking", "consolidateWorking"} // TestAgentRaisesNothing
	for _, s := range api.Declared() {
		if s.Method != "GET" && (s.May == 0 || access.Agent.May(s.May)) && !asked[s.ID] && !slices.Contains(nothing, s.ID) && !slices.Contains(elsewhere, s.ID) {
			t.Errorf("a key of role agent may ask for %s, and no attempt does", s.ID)
		}
	}
	p := must[policy.Registered](t)(policy.Bind("desk@1", kinds.New(belief.Constraints{Functional: []string{"is"}}, nil)))
	world := func() *kernel.Kernel {
		k := kerneltest.Over(t, inmem.Open(&inmem.Disk{}, inmem.Options{}), token.NewAuthority(kerneltest.Ring(t, "k1")))
		admitted(t, k, access.Identity{}, lead, page)
		if err := k.Policies().Register(t.Context(), tenant, p); err != nil {
			t.Fatal(err)
		}
		owner := access.As(t.Context(), local)
		must[api.Space](t)(k.Beliefs().SetSpace(owner, tenant, api.NewSpace{Space: kerneltest.Space, Policy: "desk@1"}))
		r := api.BeliefRequest{Space: kerneltest.Space, Kind: "hard_rule", Statements: []belief.Literal{{Subject: rule, Predicate: "is", Object: kept}}}
		must[api.BeliefOutcome](t)(k.Beliefs().Revise(owner, tenant, r))
		return k
	}
	depth := 5
	if testing.Short() {
		depth = 2
	}
	refused, done := 0, map[string]bool{}
	try := func(attempts []attempt, steps []int) string {
		k := world()
		var held []string
		for _, step := range steps {
			if err := attempts[step].do(t.Context(), k); err != nil {
				refused++
				continue
			}
			done[attempts[step].name] = true
			held = append(held, attempts[step].name) // what was recorded may decide about what comes later
		}
		made, err := k.Contexts().Assemble(access.As(t.Context(), agent), tenant, api.ContextRequest{Task: "what is done with coupons", Format: "bundle", Budget: 4000})
		if err != nil {
			t.Fatalf("%v: %v", steps, err)
		}
		bundle, err := contexts.Parse(made.Bundle)
		if err != nil {
			t.Fatal(err)
		}
		owned := 0
		for i := range bundle.Candidates {
			c := &bundle.Candidates[i]
			if c.Kind == contexts.KindBelief && c.Standing >= standing.Member {
				owned++
				if c.Standing != standing.Owner || !c.Mandatory() {
					t.Fatalf("%v: %+v", steps, c)
				}
			}
			held = append(held, fmt.Sprint(c.ID, c.Standing, c.Mandatory()))
		}
		prompt := string(must[*assemble.Issued](t)(k.Contexts().Assemble(access.As(t.Context(), agent), tenant, api.ContextRequest{Task: "what is done with coupons", Budget: 4000})).Prompt)
		_, binds, _ := strings.Cut(prompt, "\n## Constraints\n")
		if binds, _, _ = strings.Cut(binds, "\n## "); owned != 1 || !strings.Contains(binds, kept) || strings.Contains(binds, forged) {
			t.Fatalf("%v: %d beliefs count as a person's:\n%s", steps, owned, prompt)
		}
		for _, c := range must[api.Conflicts](t)(k.Beliefs().Conflicts(t.Context(), tenant, api.ConflictsQuery{Space: kerneltest.Space})).Conflicts {
			held = append(held, fmt.Sprint("waits ", c.Statements))
		}
		slices.Sort(held)
		return fmt.Sprint(held)
	}
	tried := 0
	for _, list := range [][]attempt{attempts, texts} {
		tried += breadthFirst(depth, len(list), func(steps []int) string { return try(list, steps) })
	}
	if tried < 20 || refused == 0 || len(done) < 10 {
		t.Errorf("%d states, %d refusals, done: %v", tried, refused, done)
	}
	t.Logf("%d states", tried)
}
