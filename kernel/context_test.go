package kernel_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/token"
)

func TestContext(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			k := named(t, open(t, name), token.NewAuthority(ring(t, "k1")), somebody(t))
			ids := talk(t, k, "one")
			fact := must(knowledge.NewFact("migration 042", "drops", "orders", "user"))
			fact.Turn = ids[3]
			must(k.Facts().Learn(ctx, tenant, []knowledge.Act{{Kind: knowledge.Assert, Fact: fact}}))
			last := ids[len(ids)-1]
			head := must(k.Turns().Head(ctx, tenant))
			made := must(k.Contexts().Assemble(ctx, tenant, api.ContextRequest{Task: "why did migration 042 delete the orders table", Anchor: last.String(), AsOf: head}))
			b := made.Context
			if len(b.Turns) != len(ids) || len(b.Facts) != 1 {
				t.Errorf("%d turns and %d facts, want all of them:\n%s", len(b.Turns), len(b.Facts), made.Prompt)
			}
			evidence, verdict := k.Contexts().VerifyFor(tenant, made.Bundle)
			if !evidence.OK() || verdict.Outcome != token.Verified || !bytes.Equal(evidence.Prompt(), made.Prompt) {
				t.Fatalf("verification: %+v", verdict)
			}
			if _, verdict := k.Contexts().VerifyFor("other", made.Bundle); verdict.Outcome == token.Verified {
				t.Error("it is evidence for another tenant")
			}
			for what, replay := range map[string]*kernel.Replay{
				"bundle": must(k.Slices().Replay(ctx, tenant, made.Bundle)), "record": must(k.Slices().ReplayIssued(ctx, tenant, b.Provenance.SliceID)),
			} {
				if replay.Outcome != kernel.Identical || replay.Token != nil {
					t.Errorf("replay by %s: %s, %s, %+v", what, replay.Outcome, replay.Reason, replay.Difference)
				}
			}
			must(k.Ledger().Attest(ctx, tenant, made.Bundle))
			if list := must(k.Contexts().Showing(ctx, tenant, ids[2])); len(list) != 1 || list[0].Bundle != made.Record.Bundle {
				t.Errorf("contexts that showed the turn: %+v", list)
			}

			must(k.Turns().Erase(ctx, tenant, ids[2], "asked to"))
			if r := must(k.Slices().Replay(ctx, tenant, made.Bundle)); r.Outcome != kernel.Erased || len(r.Erased) != 1 || r.Erased[0] != ids[2] {
				t.Errorf("replay after an erasure: %s, %s, erased %s", r.Outcome, r.Reason, r.Erased)
			}
			if r := must(k.Slices().ReplayIssued(ctx, tenant, b.Provenance.SliceID)); r.Outcome != kernel.Erased || !slices.Contains(r.Erased, ids[2]) {
				t.Errorf("replay of the record after an erasure: %s, %s, erased %s", r.Outcome, r.Reason, r.Erased)
			}
			for _, r := range must(k.Slices().Issued(ctx, tenant, b.Provenance.SliceID)) {
				if r.Question != "" {
					t.Errorf("the task of a context that showed an erased turn is still on record: %s", r.Question)
				}
			}
			again := must(k.Contexts().Assemble(ctx, tenant, api.ContextRequest{Task: "why did migration 042 delete the orders table", Anchor: last.String()}))
			if bytes.Contains(again.Bundle, []byte("DROP TABLE orders")) {
				t.Error("an erased text is in a context")
			}
		})
	}
}

// TestContextTask erases the task of a context that rests on no turn: its words are gone from the record, the bundle still verifies and
// replays, and the record replays as erased, with the reason. Slices have no task, and what was erased with a turn is not there to be erased.
func TestContextTask(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			s := open(t, name)
			k := over(t, s, token.NewAuthority(ring(t, "k1")))
			ids := talk(t, k, "one")
			ctx := access.As(t.Context(), access.Identity{Subject: access.Local})
			const task = "zebra xylophone of a person"
			made := must(k.Contexts().Assemble(ctx, tenant, api.ContextRequest{Task: task}))
			id := made.Context.Provenance.SliceID
			if len(made.Context.Shown()) != 0 {
				t.Fatal("the context shows turns")
			}
			for _, turn := range ids {
				must(k.Turns().Erase(ctx, tenant, turn, "asked to"))
			}
			if r := must(k.Slices().Issued(ctx, tenant, id)); !strings.Contains(r[0].Question, task) {
				t.Fatalf("the task went with a turn: %+v", r[0])
			}
			if _, err := k.Contexts().EraseTask(ctx, tenant, id, ""); !errors.Is(err, dag.ErrForm) {
				t.Errorf("without a reason: %v", err)
			}
			e := must(k.Contexts().EraseTask(ctx, tenant, id, "the person asked"))
			if e.Context != id || e.Reason != "the person asked" || e.By != access.Local || e.At == 0 || e.Seq == 0 {
				t.Errorf("got %+v", e)
			}
			if again := must(k.Contexts().EraseTask(ctx, tenant, id, "again")); again != e {
				t.Errorf("again: %+v, want %+v", again, e)
			}
			if r := must(k.Slices().Issued(ctx, tenant, id)); len(r) != 1 || r[0].Question != "" || r[0].Bundle != made.Record.Bundle {
				t.Errorf("the record is %+v", r)
			}
			if r := must(k.Slices().ReplayIssued(ctx, tenant, id)); r.Outcome != kernel.Erased || !strings.Contains(r.Reason, "task was erased") || !strings.Contains(r.Reason, "the person asked") {
				t.Errorf("replay of the record: %s, %s", r.Outcome, r.Reason)
			}
			if evidence, _ := k.Contexts().VerifyFor(tenant, made.Bundle); !evidence.OK() {
				t.Error("the bundle does not verify")
			}
			if _, err := k.Slices().Bundle(ctx, tenant, id, nil); !errors.Is(err, issued.ErrErasedSince) || !strings.Contains(err.Error(), "the person asked") {
				t.Errorf("made again: %v", err)
			}
			if list := must(k.Contexts().TaskErasures(ctx, tenant, 0, 9)); len(list) != 1 || list[0] != e {
				t.Errorf("listed: %+v", list)
			}
			if _, err := k.Contexts().EraseTask(ctx, tenant, "0000000000000000", "x"); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("of nothing: %v", err)
			}
			more := talk(t, k, "two")
			cut := must(k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: more[0]}))
			if _, err := k.Contexts().EraseTask(ctx, tenant, cut.Slice.Provenance.SliceID, "x"); !errors.Is(err, kernel.ErrKind) {
				t.Errorf("of a slice: %v", err)
			}
			shown := must(k.Contexts().Assemble(ctx, tenant, api.ContextRequest{Task: "migration"}))
			must(k.Turns().Erase(ctx, tenant, shown.Context.Shown()[0], "asked to"))
			if _, err := k.Contexts().EraseTask(ctx, tenant, shown.Context.Provenance.SliceID, "x"); !errors.Is(err, kernel.ErrTaskGone) {
				t.Errorf("of a context whose task went with a turn: %v", err)
			}
			if report := must(fsck.Store(ctx, s, fsck.Options{})); !report.OK() {
				t.Errorf("fsck: %v", report.Findings)
			}
		})
	}
}

// TestContextAsOf is TestSearchAsOf for contexts: what is chosen as of a number, and why, is what is chosen in a store that
// stopped there and saw the same erasures. Several kernels on the grown store, of which any erases, assemble the same bytes.
func TestContextAsOf(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			r := seeded(t)
			a := token.NewAuthority(ring(t, "k1"))
			shared := open(t, name)
			k, beside := over(t, shared, a), over(t, shared, a) // as two processes on one store
			drafts := chat(r, 60)
			stop := 10 + r.IntN(40)
			must(k.Turns().Admit(t.Context(), tenant, drafts[:stop]))
			head := must(k.Turns().Head(t.Context(), tenant))
			for _, asked := range []*kernel.Kernel{k, beside} {
				must(asked.Turns().Search(t.Context(), tenant, question(r, 0)))
			}
			must(k.Turns().Admit(t.Context(), tenant, drafts[stop:]))
			small := over(t, open(t, "memory"), a)
			must(small.Turns().Admit(t.Context(), tenant, drafts[:stop]))
			for range r.IntN(5) {
				id := drafts[r.IntN(stop)].ID
				eraser := []*kernel.Kernel{k, beside}[r.IntN(2)]
				must(eraser.Turns().Erase(t.Context(), tenant, id, "asked to"))
				must(small.Turns().Erase(t.Context(), tenant, id, "asked to"))
			}
			chosen, late := 0, over(t, shared, a)
			for range 12 {
				anchor := drafts[r.IntN(stop)].ID
				q := api.ContextRequest{Task: question(r, 0).Text, Anchor: anchor.String(), AsOf: head, Budget: 80 + r.IntN(200), Policy: eitherContext(r)}
				first := must(k.Contexts().Assemble(t.Context(), tenant, q))
				for _, asked := range []*kernel.Kernel{beside, late} {
					if again := must(asked.Contexts().Assemble(t.Context(), tenant, q)); !bytes.Equal(again.Bundle, first.Bundle) {
						t.Fatalf("%q around %s as of %d: two kernels on one store:\n%s\n%s", q.Task, anchor, head, again.Bundle, first.Bundle)
					}
				}
				got, want := bare(first.Context), bare(must(small.Contexts().Assemble(t.Context(), tenant, q)).Context)
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("%q around %s as of %d:\ngot  %+v\nwant %+v", q.Task, anchor, head, got, want)
				}
				chosen += len(got)
			}
			if chosen < 12 {
				t.Errorf("%d candidates and turns: too few to say anything", chosen)
			}
		})
	}
}

// eitherContext draws a policy for contexts, with or without vectors.
func eitherContext(r *rand.Rand) policy.ID {
	return []policy.ID{contexts.DefaultID, contexts.DefaultV1ID}[r.IntN(2)]
}

// bare is what was chosen from what, without leaves, which rest on random salts.
func bare(b *contexts.Bundle) (all []any) {
	for _, c := range b.Candidates {
		c.Leaf = dag.Digest{}
		all = append(all, c)
	}
	for _, t := range b.Turns {
		all = append(all, t.ID, t.Body.Content)
	}
	return all
}

// TestContextLost takes a text away without an erasure on record. No context is made of the turn, and replay of one that showed it does not call
// it erased.
func TestContextLost(t *testing.T) {
	inner := open(t, "memory")
	a := token.NewAuthority(ring(t, "k1"))
	k := over(t, inner, a)
	ids := talk(t, k, "one")
	q := api.ContextRequest{Task: "which migration dropped the table", Anchor: ids[5].String()}
	made := must(k.Contexts().Assemble(t.Context(), tenant, q))
	lost := over(t, &damagedStore{Store: inner, record: func(r *store.Record) {
		if r.Turn.ID == ids[2] {
			r.Body, r.Salt, r.External = nil, dag.Salt{}, ""
		}
	}}, a)
	if _, err := lost.Contexts().Assemble(t.Context(), tenant, q); !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), ids[2].String()) {
		t.Errorf("a context: %v", err)
	}
	if r := must(lost.Slices().Replay(t.Context(), tenant, made.Bundle)); r.Outcome != kernel.Different || !strings.Contains(r.Reason, ids[2].String()) {
		t.Errorf("replay: %s, %s", r.Outcome, r.Reason)
	}
}
