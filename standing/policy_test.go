package standing_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/standing"
)

func registration(doc string) (policy.Registered, error) {
	return policy.Forms{standing.Form}.ParseRegistration([]byte(`{"policy_id":"s@1","policy":` + doc + `}`))
}

// TestForm makes sure that reading a written policy returns the same policy.
func TestForm(t *testing.T) {
	conversation := dag.ConversationID{15: 1}
	rules := []standing.Rule{
		{Author: "human:reviewer", Channel: standing.Import, Standing: standing.Member},
		{Channel: "api", Conversation: &conversation, Grant: dag.GrantSpeaks, Key: "0123456789abcdef", Role: dag.RoleUser, Standing: standing.Owner},
		{Standing: standing.Outside},
	}
	p := standing.NewPolicy(rules...)
	const want = `{"rules":[{"author":"human:reviewer","channel":"import","standing":"member"},{"channel":"api","conversation":"00000000-0000-0000-0000-000000000001","grant":"speaks","key":"0123456789abcdef","role":"user","standing":"owner"},{"standing":"outside"}],"type":"standing_policy_v1"}`
	if got := string(p.Canonical()); got != want {
		t.Errorf("canonical form %s", got)
	}
	registered, err := registration(want)
	if err != nil {
		t.Fatal(err)
	}
	read, err := standing.PolicyOf(registered)
	if err != nil || read != p || registered.Hash() != p.Hash() {
		t.Errorf("read is %v, %v", read, err)
	}
	if got := read.Rules(); !slices.EqualFunc(got, rules, func(a, b standing.Rule) bool {
		if a.Conversation != nil && b.Conversation != nil && *a.Conversation == *b.Conversation {
			a.Conversation = b.Conversation
		}
		return a == b
	}) {
		t.Errorf("the rules are %+v", got)
	}
	if _, err := registration(`{"type":"standing_policy_v1","rules":[]}`); err != nil {
		t.Errorf("no rules: %v", err)
	}
}

// TestRefused gives policies that say nothing clear, or that would let a caller's word decide. The refusal names the place.
func TestRefused(t *testing.T) {
	many := strings.Repeat(`{"standing":"guest"},`, standing.MaxRules) + `{"standing":"guest"}`
	for rule, place := range map[string]string{
		`{}`:                    `policy.rules[0]: "standing"`,
		`{"standing":"king"}`:   `"king"`,
		`{"standing":"system"}`: "rules[0].standing",
		`{"author":"human:reviewer","standing":"member"}`:                                                      "rules[0].standing",
		`{"role":"user","standing":"owner"}`:                                                                   "rules[0].standing",
		`{"conversation":"00000000-0000-0000-0000-000000000001","author":"human:reviewer","standing":"owner"}`: "rules[0].standing",
		`{"grant":"owner","standing":"owner"}`:                                                                 "rules[0].standing",
		`{"author":"","standing":"guest"}`:                                                                     "policy.rules[0].author",
		`{"channel":"fax","standing":"guest"}`:                                                                 "rules[0].channel",
		`{"grant":"all","standing":"guest"}`:                                                                   "policy.rules[0].grant",
		`{"role":"king","standing":"guest"}`:                                                                   "policy.rules[0].role",
		`{"conversation":"x","standing":"guest"}`:                                                              "policy.rules[0].conversation",
		`{"standing":"guest","standing":"guest"}`:                                                              "repeated",
		`{"standing":"guest","text":"x"}`:                                                                      `"text"`,
		`{"standing":1}`:                                                                                       "policy.rules[0].standing",
		`{"author":"` + strings.Repeat("x", standing.MaxText+1) + `","standing":"guest"}`:                      "rules[0].author",
		many: "rules, want at most 256",
	} {
		_, err := registration(`{"type":"standing_policy_v1","rules":[` + rule + `]}`)
		if err == nil || !strings.Contains(err.Error(), place) || len(err.Error()) > 1000 {
			t.Errorf("%.100s: got %v, want a refusal that names %s", rule, err, place)
		}
	}
	if _, err := registration(`{"type":"standing_policy_v1"}`); err == nil || !strings.Contains(err.Error(), "rules") {
		t.Errorf("without rules: %v", err)
	}
	if _, err := standing.PolicyOf(policy.Default()); !errors.Is(err, policy.ErrMismatch) {
		t.Errorf("a policy of another type: %v", err)
	}
}
