package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/find"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// Bounds of contexts among 100 000 turns.
const (
	boundAssembled = 3 * time.Millisecond // under 8 000 tokens, with all sources, without the durable record
	boundOpened    = 200 * time.Millisecond
	contextFacts   = 2_000
)

// everything is a policy with every source on, and what compares candidates with one another.
const everything policy.ID = "everything@1"

// agents measures contexts and searches of a kernel, with the store and the texts that they need, and what erasures cost them.
func agents(ctx context.Context, r *report, y *yard, turns, length, rounds int, clients []int, each time.Duration) (err error) {
	l := newLibrary(turns, length)
	s, a, err := y.keyed(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	k, err := newKernel(s, a, 0)
	if err != nil {
		return err
	}
	if err := l.admit(ctx, k); err != nil {
		return err
	}
	p := contexts.Default()
	p.Quotas[contexts.FromRecent], p.Weights[contexts.FeatureRecent], p.Weights[contexts.FeatureRecency], p.Weights[contexts.FeatureSalience] = 50, 500_000, 100_000, 100_000
	p.Overlap, p.Alike = 500_000, 850_000
	registered, err := policy.Bind(everything, p)
	if err != nil {
		return err
	}
	if err := k.Policies().Register(ctx, dag.DefaultTenant, registered); err != nil {
		return err
	}

	find := func(ctx context.Context, k *kernel.Kernel, i int, id policy.ID) error {
		_, err := k.Turns().Search(ctx, dag.DefaultTenant, find.Request{Policy: id, Query: retrieval.Query{Text: l.queries[i%len(l.queries)], Limit: searchHits}})
		return err
	}
	first := func(name string, id policy.ID) error {
		filling, err := newKernel(s, a, 0)
		if err != nil {
			return err
		}
		began := time.Now()
		if err := find(ctx, filling, 0, id); err != nil {
			return err
		}
		filled := time.Since(began)
		opened := &candidate{name: name + ", opened from segments", run: func(ctx context.Context, i int) error {
			fresh, err := newKernel(s, a, 0)
			if err != nil {
				return err
			}
			return find(ctx, fresh, i, id)
		}}
		if err := inTurn(ctx, min(rounds, 10), []*candidate{opened}); err != nil {
			return err
		}
		searched := &candidate{name: string(id) + ", later searches", run: func(ctx context.Context, i int) error { return find(ctx, filling, i, id) }}
		if err := inTurn(ctx, rounds, []*candidate{searched}); err != nil {
			return err
		}
		open := row{name: opened.name, p50: opened.sample.p50(), p99: opened.sample.p99()}
		if id == retrieval.PolicyID {
			open.bounds = []bound{atMost(open.p50, boundOpened)}
		}
		r.table(fmt.Sprintf("The first search of a process by %s, %d turns in SQLite", name, turns),
			[]row{{name: name + ", texts read and indexed, and segments kept", rate: float64(turns) / filled.Seconds(), unit: "turns"}, open, rowOf(searched, nil)})
		return nil
	}
	if err := first("words", retrieval.PolicyID); err != nil {
		return err
	}

	// A hundred tasks come again and again. Later ones come once: the words of each are those of another turn, and so is its anchor.
	const tasks = 100
	request := func(i int, id policy.ID) api.ContextRequest {
		words := strings.Fields(l.turns[(i*104_729)%turns].Content)[:searchWords]
		anchor := l.turns[(i*7919+turns/2)%turns].ID
		return api.ContextRequest{Task: strings.Join(words, " ") + " thing " + fmt.Sprint(i%100), Anchor: anchor.String(), Policy: id, AsOf: dag.Seq(turns)}
	}
	assembled := func(name string, id policy.ID, which func(i int) int) *candidate {
		return &candidate{name: name, run: func(ctx context.Context, i int) error {
			b, err := k.Contexts().Preview(ctx, dag.DefaultTenant, request(which(i), id))
			if err == nil && len(b.Turns) == 0 {
				err = errors.New("nothing was chosen")
			}
			return err
		}}
	}
	search := &candidate{name: "search through the kernel", run: func(ctx context.Context, i int) error { return find(ctx, k, i, retrieval.PolicyID) }}
	again := func(i int) int { return i % tasks }
	seen := tasks
	fresh := func(int) int { seen++; return seen }
	all := []*candidate{
		assembled("a context, without the record", "", again),
		assembled("every source on, without the record", everything, again),
		assembled("a context for a task and an anchor not seen before, without the record", "", fresh),
		{name: "the same, signed and recorded", run: func(ctx context.Context, i int) error {
			_, err := k.Contexts().Assemble(ctx, dag.DefaultTenant, request(fresh(i), ""))
			return err
		}},
		search,
	}
	for _, c := range all {
		if err := c.warm(ctx, tasks); err != nil {
			return err
		}
	}
	if err := inTurn(ctx, rounds, all); err != nil {
		return err
	}
	rows := make([]row, len(all))
	for i, c := range all {
		rows[i] = rowOf(c, search)
	}
	if turns <= 100_000 {
		rows[0].bounds = []bound{atMost(all[0].sample.p50(), boundAssembled)}
		rows[1].bounds = []bound{atMost(all[1].sample.p50(), boundAssembled)}
	}
	r.table(fmt.Sprintf("Contexts of 8000 tokens among %d turns", turns), rows)

	rows = nil
	for _, n := range clients {
		c := &crowd{clients: n, candidate: &candidate{name: fmt.Sprintf("%d clients search", n), run: search.run}}
		if err := c.together(ctx, each); err != nil {
			return err
		}
		rows = append(rows, row{name: c.name, p50: c.sample.p50(), p99: c.sample.p99(), rate: float64(len(c.sample)) / c.ran.Seconds(), unit: "searches"})
	}
	r.table(fmt.Sprintf("Clients that search %d turns at once", turns), rows)

	erase := &candidate{name: "erasing a turn", run: func(ctx context.Context, i int) error {
		_, err := k.Turns().Erase(ctx, dag.DefaultTenant, l.turns[(i*6131)%turns].ID, "asked to")
		return err
	}}
	after := &candidate{name: "the search after it, which takes the text out of the index", run: search.run}
	if err := inTurn(ctx, min(rounds, 20), []*candidate{erase, after}); err != nil {
		return err
	}
	r.table(fmt.Sprintf("An erasure among %d turns", turns), []row{rowOf(erase, search), rowOf(after, search)})
	return first("words and vectors", retrieval.FindPolicyID) // at last: the graph of many vectors is made beside what comes after it
}

// admit admits the turns, each a reply to the one before in its conversation, and facts that were learned from some of them.
func (l *library) admit(ctx context.Context, k *kernel.Kernel) error {
	roles := []dag.Role{dag.RoleUser, dag.RoleAssistant, dag.RoleTool, dag.RoleAssistant}
	var drafts []dag.Draft
	for i := range l.turns {
		t := &l.turns[i]
		d := dag.Draft{ID: t.ID, Conversation: t.Conversation, Role: roles[i%len(roles)], Author: t.Author, CreatedAt: t.CreatedAt, Content: t.Content}
		if i > 0 && l.turns[i-1].Conversation == t.Conversation {
			d.Parents = []dag.Parent{{ID: l.turns[i-1].ID, Kind: dag.Reply}}
		}
		if drafts = append(drafts, d); len(drafts) == 1_000 || i == len(l.turns)-1 {
			if _, err := k.Turns().Admit(ctx, dag.DefaultTenant, drafts); err != nil {
				return err
			}
			drafts = drafts[:0]
		}
	}
	var acts []knowledge.Act
	for i := range min(contextFacts, len(l.turns)) {
		f, err := knowledge.NewFact(fmt.Sprintf("thing %d", i%100), "leads to", fmt.Sprintf("thing %d", (i*7+1)%500), "bench")
		if err != nil {
			return err
		}
		f.Turn = l.turns[i*(len(l.turns)/min(contextFacts, len(l.turns)))].ID
		acts = append(acts, knowledge.Act{Kind: knowledge.Assert, Fact: f})
	}
	_, err := k.Facts().Learn(ctx, dag.DefaultTenant, acts)
	return err
}
