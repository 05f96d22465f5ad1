package attest_test

import (
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// TestContextStatement reads statements about contexts of every policy that ships: some weights are above 1.
func TestContextStatement(t *testing.T) {
	anchor := dag.ExternalTurnID("attest", "anchor")
	policies := contexts.Profiles()
	policies[contexts.DefaultV1ID] = contexts.DefaultV1()
	above := 0
	for id, p := range policies {
		request := contexts.Request{Anchor: &anchor, Budget: 100, Format: contexts.Markdown}
		b := must(contexts.New(request, 7, must(policy.Bind(id, p)), contexts.Choice{}))
		b.Seal = slice.Seal{Tenant: "default", KeyID: "k1", Token: strings.Repeat("0", 32)}
		digest := dag.Digest(sha256.Sum256(b.Append(nil)))
		text := attest.NewStatement(b, digest, dag.MaxTime, 9, origin, whyErased).Append(nil)
		s, err := attest.ParseStatement(text)
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		if string(s.Append(nil)) != string(text) {
			t.Errorf("%s: written again it is %s", id, s.Append(nil))
		}
		if _, err := s.Match(b, digest); err != nil {
			t.Errorf("%s: %v", id, err)
		}
		if strings.Contains(string(text), `"task":1.`) {
			above++
		}
	}
	if above == 0 {
		t.Error("no weight is above 1 and no integer")
	}
}
