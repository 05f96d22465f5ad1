package facts_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/standard"
	"github.com/graphkernel/graphkernel/slice/facts"
)

const defaultFacts = `{"direction":"both","max_hops":3,"max_results":100,"min_confidence_ppm":0,"predicates":[],"type":"fact_policy_v1"}`

func TestFactPolicy(t *testing.T) {
	p := facts.Policy{Predicates: facts.Following("owned-by", "held-by", "owned-by"), Direction: knowledge.Incoming, MaxHops: 2, MaxResults: 7, MinConfidence: 350_000}
	const canonical = `{"direction":"incoming","max_hops":2,"max_results":7,"min_confidence_ppm":350000,"predicates":["held-by","owned-by"],"type":"fact_policy_v1"}`
	for want, p := range map[string]facts.Policy{defaultFacts: facts.DefaultPolicy(), canonical: p} {
		if got := string(p.Canonical()); got != want {
			t.Errorf("canonical form %s, want %s", got, want)
		}
		if p.Hash() != sha256.Sum256([]byte(want)) || p.Type() != "fact_policy_v1" || p.Check() != nil {
			t.Errorf("%+v: hash %s, %v", p, p.Hash(), p.Check())
		}
		bound, err := policy.Bind("p@1", p)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := facts.PolicyOf(bound); err != nil || got != p || bound.Params() != policy.Parameters(p) {
			t.Errorf("got %+v, %v", got, err)
		}
		if _, err := bound.Slice(); !errors.Is(err, policy.ErrMismatch) {
			t.Errorf("as a policy of turns: %v", err)
		}
		hash := bound.Hash()
		if again, err := standard.Forms().Restore("p@1", hash[:], p.Canonical()); err != nil || again != bound {
			t.Errorf("restored %+v, %v", again, err)
		}
		if _, err := standard.Forms().Restore("p@1", make([]byte, 32), p.Canonical()); err == nil {
			t.Error("restored with another hash")
		}
		if _, err := policy.ParseCanonical(p.Canonical()); !errors.Is(err, policy.ErrType) {
			t.Errorf("read as a policy of turns: %v", err)
		}
		if again, err := standard.Forms().ParseRegistration(registration(wire(p))); err != nil || again != bound {
			t.Errorf("registered %+v, %v", again, err)
		}
	}
	if got := p.Follows(); !slices.Equal(got, []string{"held-by", "owned-by"}) || facts.DefaultPolicy().Follows() != nil {
		t.Errorf("follows %q", got)
	}
	spelled, err := standard.Forms().ParseRegistration(registration(`{"type":"fact_policy_v1","predicates":["Owned By","held by","OWNED  by"],"direction":"incoming","max_hops":2,"max_results":7,"min_confidence":0.35}`))
	if err != nil || spelled.Hash() != p.Hash() {
		t.Errorf("got %+v, %v", spelled, err)
	}
	for _, same := range []string{"0.35", "3.5e-1", "35E-02", "0.3500000"} {
		p, err := standard.Forms().ParseRegistration(registration(`{"type":"fact_policy_v1","predicates":["owned by","held by"],"direction":"incoming","max_hops":2,"max_results":7,"min_confidence":` + same + `}`))
		if err != nil || p.Hash() != spelled.Hash() {
			t.Errorf("%s: %v", same, err)
		}
	}
	if brief, err := standard.Forms().ParseRegistration(registration(`{"type":"fact_policy_v1"}`)); err != nil || brief.Hash() != facts.DefaultPolicy().Hash() {
		t.Errorf("got %+v, %v", brief, err)
	}
	turns, err := policy.Bind("p@1", policy.DefaultV1())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := facts.PolicyOf(turns); !errors.Is(err, policy.ErrMismatch) {
		t.Errorf("a policy of turns as one of facts: %v", err)
	}
	if _, err := facts.PolicyOf(policy.Registered{}); !errors.Is(err, policy.ErrUnknown) {
		t.Errorf("the zero value: %v", err)
	}
	if _, err := policy.Bind("p@1", nil); !errors.Is(err, policy.ErrType) {
		t.Errorf("no parameters: %v", err)
	}
}

func TestFactPolicyFaults(t *testing.T) {
	many := make([]string, facts.LimitPredicates+1)
	for i := range many {
		many[i] = fmt.Sprintf("p%03d", i)
	}
	for name, change := range map[string]func(p *facts.Policy){
		"no hops":              func(p *facts.Policy) { p.MaxHops = 0 },
		"too far":              func(p *facts.Policy) { p.MaxHops = knowledge.MaxHops + 1 },
		"no results":           func(p *facts.Policy) { p.MaxResults = 0 },
		"too many results":     func(p *facts.Policy) { p.MaxResults = knowledge.MaxResults + 1 },
		"no direction":         func(p *facts.Policy) { p.Direction = "" },
		"an unknown direction": func(p *facts.Policy) { p.Direction = "up" },
		"too sure":             func(p *facts.Policy) { p.MinConfidence = dag.One + 1 },
		"no name":              func(p *facts.Policy) { p.Predicates = "Owned" },
		"two spaces":           func(p *facts.Policy) { p.Predicates = "a  b" },
		"another order":        func(p *facts.Policy) { p.Predicates = "b a" },
		"one twice":            func(p *facts.Policy) { p.Predicates = "a a" },
		"too many predicates":  func(p *facts.Policy) { p.Predicates = strings.Join(many, " ") },
	} {
		p := facts.DefaultPolicy()
		change(&p)
		if err := p.Check(); !errors.Is(err, policy.ErrRange) {
			t.Errorf("%s: %v, want ErrRange", name, err)
		}
		if _, err := policy.Bind("p@1", p); !errors.Is(err, policy.ErrRange) {
			t.Errorf("%s: bound, %v", name, err)
		}
	}
	if err := (facts.Policy{}).Check(); err == nil {
		t.Error("the zero value is valid")
	}
	for text, place := range map[string]string{
		`{"type":"fact_policy_v1","max_nodes":3}`:              "max_nodes",
		`{"type":"fact_policy_v1","min_confidence":0.00001}`:   "",
		`{"type":"fact_policy_v1","min_confidence":1e-7}`:      "min_confidence",
		`{"type":"fact_policy_v1","min_confidence":0.1234567}`: "min_confidence",
		`{"type":"fact_policy_v1","predicates":["?"]}`:         "predicates[0]",
		`{"type":"fact_policy_v1","predicates":"a"}`:           "predicates",
		`{"type":"fact_policy_v1","max_hops":9}`:               "max_hops",
		`{"type":"fact_policy_v1","max_hops":2.5}`:             "max_hops",
		`{"type":"fact_policy_v2"}`:                            "type",
		`{"type":"slice_policy_v1","max_hops":2}`:              "max_hops",
	} {
		_, err := standard.Forms().ParseRegistration(registration(text))
		if place == "" && err != nil || place != "" && (err == nil || !strings.Contains(err.Error(), place)) {
			t.Errorf("%s: %v, want a fault at %q", text, err, place)
		}
		var field *canon.FieldError
		if place != "" && !errors.As(err, &field) {
			t.Errorf("%s: the error names no place: %v", text, err)
		}
	}
	for _, text := range []string{
		strings.Replace(defaultFacts, `"predicates":[]`, `"predicates":["b","a"]`, 1), strings.Replace(defaultFacts, `"predicates":[]`, `"predicates":["A"]`, 1),
		strings.Replace(defaultFacts, `"max_hops":3,`, ``, 1), " " + defaultFacts, strings.Replace(defaultFacts, "_ppm", "", 1),
	} {
		hash := sha256.Sum256([]byte(text))
		if p, err := standard.Forms().Restore("p@1", hash[:], []byte(text)); err == nil {
			t.Errorf("%s is restored as %+v", text, p)
		}
	}
}

func wire(p policy.Parameters) string {
	w := canon.NewWriter(nil)
	p.AppendWire(w)
	return string(w.Bytes)
}

func registration(params string) []byte {
	return []byte(`{"policy_id":"p@1","policy":` + params + `}`)
}
