package notary_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/ledger/notary"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// TestFactsAttested attests slices of facts: a third party verifies them without a proof and with one,
// and both ways to the envelope give the same bytes. Once a fact or the question was erased, the bundle
// itself is needed, as for turns.
func TestFactsAttested(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			s, a, id := open(t, name), token.NewAuthority(ring(t, "k1")), somebody(t)
			k, judge := named(t, s, a, id), trusting(t, somebody(t))
			turns := chain(t, k, 3)
			taken := fact(t, "Ada", "knows", "Quillon Okapi")
			taken.Fact.Turn = turns[1]
			must(k.Facts().Learn(ctx, tenant, []knowledge.Act{fact(t, "Ada", "wrote", "Note G"), taken}))
			ask := func(start string) *kernel.IssuedFacts {
				return must(k.Facts().Slice(ctx, tenant, api.FactSliceRequest{Start: []string{start}}))
			}
			whole, asked := ask("Ada"), ask("Quillon Okapi")
			for _, i := range []*kernel.IssuedFacts{whole, asked} {
				e := must(k.Ledger().Attest(ctx, tenant, i.Bundle))
				if again := must(k.Ledger().AttestRecorded(ctx, tenant, i.Facts.Provenance.SliceID, &i.Record.Bundle)); !bytes.Equal(again.Envelope, e.Envelope) {
					t.Errorf("cut again, another envelope: %s, %s", again.Envelope, e.Envelope)
				}
				if got := e.Statement.Counts; got[2].Name != "facts" || got[2].N != 2 || e.Statement.Provenance != i.Facts.Provenance {
					t.Errorf("stated: %+v", e.Statement)
				}
				if v := judge.Judge(evidence.Files{Bundle: i.Bundle, Attestation: e.Envelope, Proof: e.Proof}); v.Outcome != evidence.Verified {
					t.Errorf("%s: %s", v.Outcome, v.Reason)
				}
				payload := must(attest.ParseEnvelope(e.Envelope)).Unverified()
				if !bytes.Contains(payload, []byte(facts.Bundles.Forms[0].Predicate)) {
					t.Errorf("another predicate type: %s", payload)
				}
			}
			for what, tc := range map[string]struct{ err, want error }{
				"another tenant": {second(k.Ledger().Attest(ctx, "other", whole.Bundle)), token.ErrTenant},
				"never issued":   {second(k.Ledger().Attest(ctx, tenant, bytes.Replace(whole.Bundle, []byte(whole.Record.Token), []byte("00112233445566778899aabbccddeeff"), 1))), store.ErrNotFound},
				"as PROV":        {second(k.Ledger().Prov(ctx, tenant, whole.Bundle)), notary.ErrNoExport},
				"as OpenLineage": {second(k.Ledger().OpenLineage(ctx, tenant, whole.Bundle)), notary.ErrNoExport},
			} {
				if !errors.Is(tc.err, tc.want) {
					t.Errorf("%s: %v, want %v", what, tc.err, tc.want)
				}
			}
			if out := must(k.Ledger().Sigstore(ctx, tenant, whole.Bundle)); len(out.Bundle) == 0 {
				t.Error("no export to Sigstore")
			}
			must(k.Turns().Erase(ctx, tenant, turns[1], "asked for"))
			for _, i := range []*kernel.IssuedFacts{whole, asked} {
				if _, err := k.Ledger().AttestRecorded(ctx, tenant, i.Facts.Provenance.SliceID, nil); !errors.Is(err, issued.ErrErasedSince) {
					t.Errorf("after an erasure: %v", err)
				}
				e := must(k.Ledger().Attest(ctx, tenant, i.Bundle))
				if v := judge.Judge(evidence.Files{Bundle: i.Bundle, Attestation: e.Envelope, Proof: e.Proof}); v.Outcome != evidence.Verified {
					t.Errorf("after an erasure, %s: %s", v.Outcome, v.Reason)
				}
			}
		})
	}
}
