package standard_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/standard"
)

// TestStandard makes sure that every tenant begins with policies that this program can read again.
func TestStandard(t *testing.T) {
	r, err := standard.Registry()
	if err != nil || len(r.All()) != 24 {
		t.Fatalf("%d policies, %v", len(r.All()), err)
	}
	if got := r.Fingerprint(); got != "37c3a1c155f93dd6" {
		t.Errorf("fingerprint %s", got)
	}
	for _, p := range r.All() {
		hash, params := p.Hash(), p.Params()
		again, err := standard.Forms().Restore(p.ID(), hash[:], params.Canonical())
		if err != nil || again != p || !standard.Has(p.ID()) {
			t.Errorf("%s: %+v, %v", p.ID(), again, err)
		}
		if _, err := (policy.Forms{}).Restore(p.ID(), hash[:], params.Canonical()); !errors.Is(err, policy.ErrType) {
			t.Errorf("%s, read by a program that knows no type: %v", p.ID(), err)
		}
	}
	if p, err := r.Get(policy.DefaultID); err != nil || p != policy.Default() {
		t.Errorf("a request without a policy gets %+v, %v, which is not policy.Default", p, err)
	}
	if standard.Has("other@1") {
		t.Error("a policy of a tenant's own is there from the start")
	}
}

// TestUnknownType makes sure that the error names the types that are known.
func TestUnknownType(t *testing.T) {
	_, err := standard.Forms().ParseRegistration([]byte(`{"policy_id":"p@1","policy":{"type":"other_policy_v1"}}`))
	if !errors.Is(err, policy.ErrType) || !strings.Contains(err.Error(), `"other_policy_v1", want "slice_policy_v1" or "slice_policy_v2" or "slice_policy_v3" or "fact_policy_v1" or "retrieval_policy_v1" or "context_policy_v1" or "context_policy_v2" or "deny_rules_v1" or "retention_v1" or "kind_policy_v1" or "promotion_policy_v1"`) {
		t.Errorf("got %v", err)
	}
}
