package kernel_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/transfer"
	"github.com/graphkernel/graphkernel/token"
)

// TestBeliefEvidence hands out evidence of beliefs while they change at random. Each verifies for its tenant alone, says what Why says, and is, byte for byte, what another kernel
// makes as of the same number later; what is not believed has none.
func TestBeliefEvidence(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			s := open(t, name)
			k := named(t, s, token.NewAuthority(ring(t, "k1")), somebody(t))
			turns := chain(t, k, 6)
			believing(t, k, "p0")
			r := rand.New(rand.NewPCG(18, 2))
			var all []*kernel.IssuedBelief
			asked, derived := 0, 0
			for range 50 {
				q := asking([]journal.Operator{journal.Revise, journal.Revise, journal.Revise, journal.Contract}[r.IntN(4)], fmt.Sprintf("e%d", r.IntN(2)), fmt.Sprintf("p%d", r.IntN(2)), fmt.Sprintf("v%d", r.IntN(2)))
				if q.Operator == journal.Revise {
					q.Turns = turns[r.IntN(3):][:r.IntN(3)]
					if r.IntN(3) == 0 {
						q.Premises = []belief.Literal{{Subject: fmt.Sprintf("e%d", r.IntN(2)), Predicate: "p0", Object: fmt.Sprintf("v%d", r.IntN(2)), Not: r.IntN(2) == 0}}
					}
				}
				if _, err := k.Beliefs().Operate(ctx, tenant, q); err != nil {
					t.Fatal(err)
				}
				of := belief.Literal{Subject: fmt.Sprintf("E%d", r.IntN(2)), Predicate: fmt.Sprintf("p%d", r.IntN(2)), Object: fmt.Sprintf("v%d", r.IntN(2)), Not: r.IntN(4) == 0}
				why := must(k.Beliefs().Why(ctx, tenant, api.WhyQuery{Space: beliefSpace, Subject: of.Subject, Predicate: of.Predicate, Object: of.Object, Not: of.Not}))
				i, err := k.Beliefs().Prove(ctx, tenant, api.BeliefProofRequest{Space: beliefSpace, BeliefStatement: of})
				asked++
				if (err == nil) != (why.Believed) || err != nil && !errors.Is(err, kernel.ErrNotBelieved) {
					t.Fatalf("%s: %d elements support it, and %v", of, len(why.Support), err)
				}
				if err != nil {
					continue
				}
				if len(i.Belief.Steps) != len(why.Support) {
					t.Errorf("%s: %d steps of %d elements", of, len(i.Belief.Steps), len(why.Support))
				}
				if len(i.Belief.Steps) > 1 {
					derived++
				}
				admissible, verdict := k.Beliefs().VerifyFor(tenant, i.Bundle)
				if !admissible.OK() || verdict.Outcome != token.Verified || !bytes.Equal(admissible.Bytes(), i.Bundle) {
					t.Fatalf("%s\n%+v", i.Bundle, verdict)
				}
				if _, verdict := k.Beliefs().VerifyFor("other", i.Bundle); verdict.Outcome == token.Verified {
					t.Error("it is evidence for another tenant")
				}
				all = append(all, i)
			}
			if len(all) < 5 || len(all) == asked || derived == 0 {
				t.Fatalf("%d of %d are believed, %d by rules: too few to tell", len(all), asked, derived)
			}
			fresh := named(t, s, token.NewAuthority(ring(t, "k1")), somebody(t))
			for _, i := range all {
				id := i.Belief.Provenance.SliceID
				for what, replay := range map[string]*kernel.Replay{"bundle": must(fresh.Slices().Replay(ctx, tenant, i.Bundle)), "record": must(k.Slices().ReplayIssued(ctx, tenant, id))} {
					if replay.Outcome != kernel.Identical || replay.Token != nil {
						t.Errorf("replay by %s: %s, %s, %+v", what, replay.Outcome, replay.Reason, replay.Difference)
					}
				}
				again := must(fresh.Beliefs().Prove(ctx, tenant, api.BeliefProofRequest{Space: beliefSpace, BeliefStatement: i.Belief.Question.Literal, AsOf: i.Belief.AsOf}))
				if !bytes.Equal(again.Bundle, i.Bundle) || again.Record.Number != i.Record.Number {
					t.Errorf("the same question has other bytes:\n%s\n%s", again.Bundle, i.Bundle)
				}
			}
			last := all[len(all)-1]
			e := must(k.Ledger().Attest(ctx, tenant, last.Bundle))
			judge := trusting(t, somebody(t))
			if v := judge.Judge(evidence.Files{Bundle: last.Bundle, Attestation: e.Envelope, Proof: e.Proof}); v.Outcome != evidence.Verified || v.Inclusion == nil {
				t.Errorf("%+v", v)
			}
			if v := judge.Judge(evidence.Files{Bundle: all[0].Bundle, Attestation: e.Envelope, Proof: e.Proof}); len(all) > 1 && v.Outcome == evidence.Verified {
				t.Error("the attestation of another belief counts")
			}
			changed := bytes.Replace(last.Bundle, []byte(`"as_of":`), []byte(`"as_of":1`), 1)
			if r := must(k.Slices().Replay(ctx, tenant, changed)); r.Outcome != kernel.Different {
				t.Errorf("as of another number: %+v", r)
			}
			if _, err := k.Slices().Replay(ctx, "other", last.Bundle); !errors.Is(err, token.ErrTenant) {
				t.Errorf("another tenant's: %v", err)
			}
			if report := must(fsck.Store(ctx, s, fsck.Options{})); report.Err() != nil {
				t.Error(report.Err())
			}
		})
	}
}

// TestBeliefEvidenceErased erases a turn that a belief rests on: its evidence can be verified by who holds it, and its replay says what became of it; the question is gone
// from the record. Evidence that another turn supports too is made again.
func TestBeliefEvidenceErased(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			s := open(t, name)
			k := named(t, s, token.NewAuthority(ring(t, "k1")), somebody(t))
			turns := chain(t, k, 3)
			believing(t, k)
			prove := func(object string, of ...dag.TurnID) *kernel.IssuedBelief {
				q := asking(journal.Revise, "quillon", "prefers", object)
				q.Turns = of
				must(k.Beliefs().Operate(ctx, tenant, q))
				return must(k.Beliefs().Prove(ctx, tenant, api.BeliefProofRequest{Space: beliefSpace, BeliefStatement: q.Statements[0]}))
			}
			alone, both := prove("okapi", turns[1]), prove("zebra", turns[1], turns[2])
			if list := must(k.Contexts().Showing(ctx, tenant, turns[1])); len(list) != 0 {
				t.Errorf("evidence of a belief is said to be a context: %+v", list)
			}
			must(k.Turns().Erase(ctx, tenant, turns[1], "asked to"))
			for what, r := range map[string]*kernel.Replay{
				"bundle": must(k.Slices().Replay(ctx, tenant, alone.Bundle)), "record": must(k.Slices().ReplayIssued(ctx, tenant, alone.Belief.Provenance.SliceID)),
			} {
				if r.Outcome != kernel.Erased || len(r.Erased) != 1 || r.Erased[0] != turns[1] {
					t.Errorf("replay by %s: %s, %s, %s", what, r.Outcome, r.Reason, r.Erased)
				}
			}
			if r := must(k.Slices().Replay(ctx, tenant, both.Bundle)); r.Outcome != kernel.Identical {
				t.Errorf("what another turn supports: %s, %s", r.Outcome, r.Reason)
			}
			if _, verdict := k.Beliefs().VerifyFor(tenant, alone.Bundle); verdict.Outcome != token.Verified {
				t.Errorf("%+v", verdict)
			}
			for _, r := range must(k.Slices().Issued(ctx, tenant, alone.Belief.Provenance.SliceID)) {
				if r.Question != "" {
					t.Errorf("the question is still on record: %s", r.Question)
				}
			}
			if _, err := k.Slices().Bundle(ctx, tenant, alone.Belief.Provenance.SliceID, nil); !errors.Is(err, issued.ErrErasedSince) {
				t.Errorf("the bundle: %v", err)
			}
			if report := must(fsck.Store(ctx, s, fsck.Options{})); report.Err() != nil {
				t.Error(report.Err())
			}
		})
	}
}

// TestErasedBeliefs erases a turn that beliefs rest on. No file has their words any more; what rested on it alone is not believed as of any
// number; what another turn or nobody's turn supports is, from the erasure on; and a copy says the same, before and after.
func TestErasedBeliefs(t *testing.T) {
	for name, opened := range readableStores {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			s := opened(t)
			a := token.NewAuthority(ring(t, "k1"))
			k := over(t, s, a)
			turns := chain(t, k, 4)
			believing(t, k)
			alone := asking(journal.Revise, "Quillon", "prefers", "Okapi")
			alone.Turns, alone.Title, alone.Summary, alone.Reason = turns[1:2], "about Okapi", "Okapi is preferred", "Okapi, they said"
			must(k.Beliefs().Operate(ctx, tenant, alone))
			both := asking(journal.Revise, "pump", "feeds", "tank")
			both.Turns = turns[1:3]
			must(k.Beliefs().Operate(ctx, tenant, both))
			mixed := asking(journal.Revise, "valve", "is", "Deep Vermilion")
			mixed.Item, mixed.Turns = "kref://acme/desk/mixed.fact", turns[1:2]
			must(k.Beliefs().Operate(ctx, tenant, mixed))
			more := asking(journal.Revise, "valve", "is", "Plain Zebra")
			more.Item, more.Beside, more.Turns = mixed.Item, true, turns[3:4]
			must(k.Beliefs().Operate(ctx, tenant, more))
			early, late := asking(journal.Revise, "lamp", "is", "Lime Green"), asking(journal.Revise, "lamp", "is", "LIME green") // one name, in two spellings
			early.Item, early.Turns, early.ValidUntil = "kref://acme/desk/lamp.fact", turns[3:4], new(dag.Time(100))
			late.Item, late.Beside, late.Turns, late.ValidFrom = early.Item, true, turns[1:2], new(dag.Time(100))
			must(k.Beliefs().Operate(ctx, tenant, early))
			must(k.Beliefs().Operate(ctx, tenant, late))
			gone := asking(journal.Contract, "Quillon", "prefers", "Okapi")
			before := must(k.Turns().Head(ctx, tenant))
			projected(t, k)
			if got := stated(t, k, 0); len(got) != 6 {
				t.Fatalf("%q", got)
			}
			refused := asking(journal.Propose, "quillon", "prefers", "okapi")
			refused.Statements[0].Not, refused.Turns = true, turns[1:2]
			ctx = access.As(ctx, access.Identity{Role: access.Agent, Subject: access.Stdio})
			if o := must(k.Beliefs().Operate(ctx, tenant, refused)); o.Result != journal.Refused {
				t.Fatalf("%+v", o)
			}
			ctx = t.Context()
			if read := s.Read(); !holds(read, "okapi") || !holds(read, "zebra") || !holds(read, "vermilion") {
				t.Fatal("the files do not hold what they must: this test cannot fail")
			}
			earlier, later := inmem.Open(&inmem.Disk{}, inmem.Options{}), inmem.Open(&inmem.Disk{}, inmem.Options{})
			must(transfer.Copy(ctx, earlier, s, transfer.Options{}))
			must(k.Turns().Erase(ctx, tenant, turns[1], "asked for"))
			if read := s.Read(); holds(read, "okapi") || holds(read, "vermilion") || !holds(read, "zebra") {
				t.Errorf("after the erasure a file has okapi: %t, vermilion: %t, zebra: %t", holds(read, "okapi"), holds(read, "vermilion"), holds(read, "zebra"))
			}
			want := []string{"lamp is lime-green", "pump feeds tank", "valve is plain-zebra"}
			if got := stated(t, k, 0); !slices.Equal(got, want) {
				t.Errorf("believed: %q, want %q", got, want)
			}
			if got := stated(t, k, before); !slices.Equal(got, []string{"pump feeds tank"}) { // the rest of the revision is stated once more, later
				t.Errorf("as of %d: %q", before, got)
			}
			if r := must(k.Beliefs().Kref(ctx, tenant, belief.Address{Item: mixed.Item})).Revision; len(r.Wording) != 1 || r.Wording[r.Statements[0].Literal].Object != "Plain Zebra" {
				t.Errorf("what is kept has the wording %v", r.Wording)
			}
			if r := must(k.Beliefs().Kref(ctx, tenant, belief.Address{Item: early.Item})).Revision; len(r.Statements) != 1 || len(r.Wording) != 0 {
				t.Errorf("%d statements have the wording %v, which an erased turn had", len(r.Statements), r.Wording)
			}
			must(transfer.Copy(ctx, later, s, transfer.Options{}))
			must(transfer.Copy(ctx, earlier, s, transfer.Options{})) // goes on with the erasure
			for name, other := range map[string]store.Store{"a copy": later, "a copy that had them": earlier} {
				o := over(t, other, a)
				for asOf := range must(o.Turns().Head(ctx, tenant)) {
					if asOf > 0 && asOf >= 6 && !slices.Equal(stated(t, o, asOf), stated(t, k, asOf)) {
						t.Errorf("%s as of %d: %q, want %q", name, asOf, stated(t, o, asOf), stated(t, k, asOf))
					}
				}
				soundly(t, other)
			}
			soundly(t, s)
			projected(t, k)
			projected(t, over(t, later, a))
			projected(t, over(t, earlier, a))
			if o := must(k.Beliefs().Operate(ctx, tenant, gone)); o.Result != journal.Unchanged {
				t.Errorf("%+v", o)
			}
			// The second turn goes too: then nothing is left of what rested on both.
			must(k.Turns().Erase(ctx, tenant, turns[2], "asked for"))
			if got := stated(t, k, 0); !slices.Equal(got, []string{want[0], want[2]}) {
				t.Errorf("believed: %q", got)
			}
			projected(t, k)
			if r := must(k.Beliefs().Kref(ctx, tenant, belief.Address{Item: mixed.Item})); r.Revision == nil || r.Revision.Number != 3 || !r.Record.Revisions[1].Erased {
				t.Errorf("%+v", r)
			}
			if _, err := k.Beliefs().Operate(ctx, tenant, alone); !errors.Is(err, knowledge.ErrNoEvidence) {
				t.Errorf("stated once more by a turn that was erased: %v", err)
			}
			soundly(t, s)
		})
	}
}
