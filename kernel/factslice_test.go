package kernel_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/storetest"
	"github.com/graphkernel/graphkernel/token"
)

// factPolicies are what slices of facts are cut under in tests.
var factPolicies = map[policy.ID]facts.Policy{
	facts.PolicyID: facts.DefaultPolicy(),
	"near@1":       {Direction: knowledge.Outgoing, MaxHops: 1, MaxResults: 3},
	"sure@1":       {Direction: knowledge.Both, MaxHops: 8, MaxResults: 100, MinConfidence: 300_000, Predicates: facts.Following("p0")},
	"back@1":       {Direction: knowledge.Incoming, MaxHops: 2, MaxResults: 2},
}

// TestFactSlices cuts slices of facts, of the present and of the past, while acts come at
// random: each verifies, says what Traverse says, names the leaves of its evidence, and is in
// the ledger; in the end all are replayed, and the store is in order.
func TestFactSlices(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			s := open(t, name)
			k := named(t, s, token.NewAuthority(ring(t, "k1")), somebody(t))
			turns := chain(t, k, 5)
			for id, p := range factPolicies {
				if err := k.Policies().Register(ctx, tenant, must(policy.Bind(id, p))); err != nil {
					t.Fatal(err)
				}
			}
			r := seeded(t)
			var bundles [][]byte
			counted, named, aliased := 0, 0, 0
			rounds, least := 60, [3]int{60, 15, 7} // facts, turns of evidence, aliases
			if testing.Short() {
				rounds, least = 15, [3]int{1, 0, 0}
			}
			few := func() bool { return counted < least[0] || named < least[1] || aliased < least[2] }
			// Chance may leave out aliases for long, so a run goes on until it has enough of each.
			for round := 0; round < rounds || few() && round < 20*rounds; round++ {
				acts := []knowledge.Act{storetest.RandomAct(r), storetest.RandomAct(r), storetest.RandomAct(r)}
				for i := range acts {
					if acts[i].Kind == knowledge.Assert {
						acts[i].Fact.Slice, acts[i].Fact.Turn = "", dag.TurnID{}
						if r.IntN(2) == 0 {
							acts[i].Fact.Turn = turns[r.IntN(len(turns))]
						}
					}
				}
				if _, err := k.Facts().Learn(ctx, tenant, acts); err != nil {
					continue // an alias that is another's
				}
				head := must(k.Turns().Head(ctx, tenant))
				request := api.FactSliceRequest{Start: []string{fmt.Sprintf("E%d", r.IntN(6)), "other name 1", "Other-Name-1"}}
				if r.IntN(2) == 0 {
					request.AsOf = 1 + dag.Seq(r.IntN(int(head)))
				}
				if r.IntN(3) == 0 {
					at := dag.Time(r.IntN(9))
					request.ValidAt = &at
				}
				for id, p := range factPolicies {
					request.Policy = id
					issued := must(k.Facts().Slice(ctx, tenant, request))
					bundles = append(bundles, issued.Bundle)
					b := checkFactSlice(t, k, issued, request, p)
					counted, named, aliased = counted+len(b.Facts), named+len(b.Evidence), aliased+len(b.Aliases)
				}
			}
			if few() {
				t.Errorf("only %d facts, %d turns of evidence, %d aliases", counted, named, aliased)
			}
			k = over(t, s, token.NewAuthority(ring(t, "k1"))) // which has kept nothing
			for _, data := range bundles {
				replayed := must(k.Slices().Replay(ctx, tenant, data))
				id := must(facts.Parse(data)).Provenance.SliceID
				if byID := must(k.Slices().ReplayIssued(ctx, tenant, id)); replayed.Outcome != kernel.Identical || byID.Outcome != kernel.Identical {
					t.Fatalf("%s\n%+v\n%+v", data, replayed, byID)
				}
			}
			report := must(fsck.Store(ctx, s, fsck.Options{}))
			if err := report.Err(); err != nil || report.Counts.Recut != report.Counts.Issued || report.Counts.Issued < len(bundles)/2 {
				t.Errorf("%+v: %v", report.Counts, err)
			}
		})
	}
}

// checkFactSlice holds an issued slice of facts against what it should be.
func checkFactSlice(t *testing.T, k *kernel.Kernel, given *kernel.IssuedFacts, r api.FactSliceRequest, p facts.Policy) *facts.Bundle {
	t.Helper()
	ctx := t.Context()
	evidence, verdict := k.Facts().VerifyFor(tenant, given.Bundle)
	if !evidence.OK() || verdict.Outcome != token.Verified {
		t.Fatalf("%s\n%+v", given.Bundle, verdict)
	}
	b := must(facts.Parse(given.Bundle))
	want := must(k.Facts().Traverse(ctx, tenant, api.TraverseRequest{
		Start: r.Start, Predicates: p.Follows(), Direction: p.Direction, MaxHops: p.MaxHops, MaxResults: p.MaxResults,
		MinConfidence: p.MinConfidence, AsOf: r.AsOf, ValidAt: r.ValidAt,
	}))
	if b.AsOf != want.AsOf || string(b.Cut) != want.Cut || len(b.Reached) != len(want.Reached) {
		t.Fatalf("%s\nTraverse gives %+v", given.Bundle, want)
	}
	used := map[knowledge.ID]bool{}
	for i := range want.Reached {
		got, of := &b.Reached[i], &want.Reached[i]
		if got.Entity != of.Entity || got.From != of.From || got.MinConfidence != of.MinConfidence || len(got.Path) != len(of.Path) {
			t.Fatalf("reached[%d] of\n%s\nTraverse gives %+v", i, given.Bundle, of)
		}
		for j := range of.Path {
			used[of.Path[j].Statement] = true
			if got.Path[j].Fact != of.Path[j].Statement || got.Path[j].Incoming != (of.Path[j].Direction == string(knowledge.Incoming)) {
				t.Fatalf("reached[%d].path[%d] of\n%s", i, j, given.Bundle)
			}
		}
	}
	if len(used) != len(b.Facts) {
		t.Fatalf("%d facts, and the paths have %d", len(b.Facts), len(used))
	}
	for _, turn := range b.Evidence {
		if record := must(k.Turns().Get(ctx, tenant, turn.ID)); turn.Leaf != slice.TurnLeaf(&record.Turn) {
			t.Fatalf("turn %s has leaf %s", turn.ID, turn.Leaf)
		}
	}
	proof := must(k.Ledger().Prove(ctx, tenant, given.Record.Leaf))
	leaf, ok := must(ledger.ParseLeaf(proof.Leaf, issued.Forms()...)).(*issued.AskedLeaf)
	if !ok || leaf.Bundle != dag.Digest(sha256.Sum256(given.Bundle)) || leaf.PolicyID != b.Provenance.PolicyID || leaf.AsOf != b.AsOf {
		t.Fatalf("leaf %d of the ledger is %s", given.Record.Leaf, proof.Leaf)
	}
	for _, named := range []string{string(b.Provenance.SliceID), b.Provenance.Anchor.String(), b.Provenance.GraphSnapshotHash.String()} {
		if strings.Contains(string(proof.Leaf), named) {
			t.Fatalf("the leaf lets questions be tried out by %s: %s", named, proof.Leaf)
		}
	}
	if at := must(k.Ledger().Located(ctx, tenant, given.Bundle)); at != given.Record.Leaf {
		t.Fatalf("the bundle is said to be leaf %d, not %d", at, given.Record.Leaf)
	}
	return b
}

// TestFactSliceReplays holds what a replay says of a slice that another history, another key or
// somebody's hand made different.
func TestFactSliceReplays(t *testing.T) {
	ctx := t.Context()
	s := open(t, "memory")
	k := over(t, s, token.NewAuthority(ring(t, "k1")))
	must(k.Facts().Learn(ctx, tenant, []knowledge.Act{fact(t, "Ada", "wrote", "Note G"), fact(t, "Note G", "about", "numbers")}))
	issued := must(k.Facts().Slice(ctx, tenant, api.FactSliceRequest{Start: []string{"Ada"}}))
	again := must(k.Facts().Slice(ctx, tenant, api.FactSliceRequest{Start: []string{"ADA"}}))
	if string(again.Bundle) != string(issued.Bundle) || again.Record != issued.Record {
		t.Errorf("the same question has another answer: %s", again.Bundle)
	}
	must(k.Facts().Learn(ctx, tenant, []knowledge.Act{fact(t, "Ada", "knew", "Babbage"), alias("countess", "ada")}))
	replay := func(change func(b *facts.Bundle)) *kernel.Replay {
		b := must(facts.Parse(issued.Bundle))
		change(b)
		return must(k.Slices().Replay(ctx, tenant, b.Append(nil)))
	}
	if r := replay(func(*facts.Bundle) {}); r.Outcome != kernel.Identical {
		t.Errorf("%+v", r)
	}
	for what, change := range map[string]func(b *facts.Bundle){
		"another number":     func(b *facts.Bundle) { b.AsOf = 3 },
		"number 0":           func(b *facts.Bundle) { b.AsOf = 0 },
		"beyond the head":    func(b *facts.Bundle) { b.AsOf = 99 },
		"an unknown policy":  func(b *facts.Bundle) { b.Provenance.PolicyID = "none@1" },
		"a policy of turns":  func(b *facts.Bundle) { b.Provenance.PolicyID = policy.DefaultV1ID },
		"another confidence": func(b *facts.Bundle) { b.Facts[0].Fact.Confidence-- },
		"a fact left out":    func(b *facts.Bundle) { b.Facts = b.Facts[1:] },
		"another question":   func(b *facts.Bundle) { b.Question.Start = []string{"numbers"} },
		"a time":             func(b *facts.Bundle) { at := dag.Time(1); b.Question.ValidAt = &at },
		"another parameter":  func(b *facts.Bundle) { b.Policy.MaxHops = 2 },
		"an alias":           func(b *facts.Bundle) { b.Aliases = []facts.Alias{{Alias: "ada", Canonical: "adam"}} },
		"a cut":              func(b *facts.Bundle) { b.Cut = knowledge.CutWork },
	} {
		if r := replay(change); r.Outcome != kernel.Different {
			t.Errorf("%s: %+v", what, r)
		}
	}
	if _, err := k.Slices().Replay(ctx, "other", issued.Bundle); !errors.Is(err, token.ErrTenant) {
		t.Errorf("another tenant's: %v", err)
	}
	if _, err := k.Slices().Replay(ctx, tenant, issued.Bundle[:len(issued.Bundle)-1]); !errors.Is(err, slice.ErrMalformed) {
		t.Errorf("cut short: %v", err)
	}
	if _, v := k.Facts().VerifyFor("other", issued.Bundle); v.Outcome != token.KeyUnknown {
		t.Errorf("for another tenant: %+v", v)
	}
	if a, v := k.Slices().Verify(issued.Bundle); a.OK() || v.Outcome != token.UnknownVersion {
		t.Errorf("as a bundle of turns: %+v", v)
	}
	// fsck cuts again in the order of issue: under the alias, then as of a number before it.
	for _, asOf := range []dag.Seq{4, 3} {
		b := must(k.Facts().Slice(ctx, tenant, api.FactSliceRequest{Start: []string{"countess"}, AsOf: asOf})).Facts
		if (len(b.Aliases) == 1) != (asOf != 3) {
			t.Errorf("as of %d: aliases %v", asOf, b.Aliases)
		}
	}
	if report := must(fsck.Store(ctx, s, fsck.Options{})); report.Err() != nil || report.Counts.Recut != 3 {
		t.Errorf("%+v: %v", report.Counts, report.Err())
	}
	// A third party finds it in the ledger.
	signed := named(t, s, token.NewAuthority(ring(t, "k1")), somebody(t))
	proof := must(signed.Ledger().Prove(ctx, tenant, issued.Record.Leaf)).Append(nil)
	judge := trusting(t, somebody(t))
	if v := judge.Judge(evidence.Files{Bundle: issued.Bundle, Proof: proof}); v.Outcome != evidence.Verified || v.Claim.Facts != 2 || v.Inclusion == nil {
		t.Errorf("%+v", v)
	}
	other := must(signed.Facts().Slice(ctx, tenant, api.FactSliceRequest{Start: []string{"Ada"}}))
	if v := judge.Judge(evidence.Files{Bundle: other.Bundle, Proof: proof}); v.Outcome != evidence.NotInLog {
		t.Errorf("with the proof of another: %+v", v)
	}
	if _, err := signed.Ledger().Located(ctx, tenant, again.Bundle[:9]); !errors.Is(err, slice.ErrMalformed) {
		t.Errorf("located: %v", err)
	}
}

// TestFactSliceRefuses holds what cannot be asked.
func TestFactSliceRefuses(t *testing.T) {
	ctx := t.Context()
	k := over(t, open(t, "memory"), token.NewAuthority(ring(t, "k1")))
	ada := []string{"Ada"}
	if _, err := k.Facts().Slice(ctx, tenant, api.FactSliceRequest{Start: ada}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("of nothing: %v", err)
	}
	must(k.Facts().Learn(ctx, tenant, []knowledge.Act{fact(t, "Ada", "wrote", "Note G")}))
	at := func(us int64) *dag.Time { v := dag.Time(us); return &v }
	many := make([]string, knowledge.MaxStarts+1)
	for i := range many {
		many[i] = fmt.Sprint("e", i)
	}
	for what, tc := range map[string]struct {
		api.FactSliceRequest
		want error
	}{
		"nobody":             {api.FactSliceRequest{}, knowledge.ErrQuery},
		"too many":           {api.FactSliceRequest{Start: many}, knowledge.ErrQuery},
		"no name":            {api.FactSliceRequest{Start: []string{"?!"}}, knowledge.ErrQuery},
		"beyond the head":    {api.FactSliceRequest{Start: ada, AsOf: 2}, projection.ErrBeyondHead},
		"an unknown policy":  {api.FactSliceRequest{Start: ada, Policy: "none@1"}, policy.ErrUnknown},
		"a policy of turns":  {api.FactSliceRequest{Start: ada, Policy: policy.DefaultV1ID}, policy.ErrMismatch},
		"a time before all":  {api.FactSliceRequest{Start: ada, ValidAt: at(-1)}, knowledge.ErrQuery},
		"a time after all":   {api.FactSliceRequest{Start: ada, ValidAt: at(int64(dag.MaxTime) + 1)}, knowledge.ErrQuery},
		"another's defaults": {api.FactSliceRequest{Start: ada, Policy: "facts@2"}, policy.ErrUnknown},
	} {
		if _, err := k.Facts().Slice(ctx, tenant, tc.FactSliceRequest); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", what, err, tc.want)
		}
	}
	taken := must(policy.Bind(facts.PolicyID, facts.Policy{Direction: knowledge.Both, MaxHops: 1, MaxResults: 1}))
	if err := k.Policies().Register(ctx, tenant, taken); !errors.Is(err, policy.ErrConflict) {
		t.Errorf("facts@1 was given other parameters: %v", err)
	}
	turn := chain(t, k, 1)[0]
	if _, err := k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: turn, Policy: facts.PolicyID}); !errors.Is(err, policy.ErrMismatch) {
		t.Errorf("turns under facts@1: %v", err)
	}
	var ids []policy.ID
	for _, p := range must(k.Policies().All(ctx, tenant)).All() {
		ids = append(ids, p.ID())
	}
	if !slices.Equal(ids, []policy.ID{"beliefs@1", "beliefs@2", "brief@1", "context@1", "context@2", policy.DefaultV1ID, policy.DefaultV2ID, policy.DefaultV3ID, "elephant-base@1", "elephant-coding@1", "elephant-managerial@1", "elephant-personal@1", "elephant-research@1", "elephant-worker@1", facts.PolicyID, "find@1", "find@2", "promotion@1", "promotion@2", "recall-dense@1", "recall@1", "standing-alone@1", "standing-service@1", "standing-team@1"}) {
		t.Errorf("policies %v", ids)
	}
}
