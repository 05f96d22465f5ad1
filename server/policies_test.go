package server_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestPolicyFaults registers policies with a fault of every type: the answer names the member that is wrong, or the type that is not known, and speaks no word of schemas.
func TestPolicyFaults(t *testing.T) {
	t.Parallel()
	s := start(t)
	const registration = `{"policy_id":"mine@1","policy":`
	tried := 0
	for _, one := range []struct{ policy, place, says string }{
		{`{"type":"slice_policy_v9"}`, "policy", "slice_policy_v9"},
		{`{}`, "policy", "type"},
		{`{"type":7}`, "policy", "type"},
		{`{"type":"slice_policy_v1","max_nodes":"many"}`, "policy.max_nodes", "max_nodes"},
		{`{"type":"slice_policy_v1","max_nodes":12,"max_radius":6,"distance_decay":0.85,"include_siblings":1}`, "policy.include_siblings", "include_siblings"},
		{`{"type":"slice_policy_v1","max_nodes":12,"max_radius":6,"distance_decay":0.85,"include_siblings":false,"max_node":1}`, "policy", "max_node"},
		{`{"type":"slice_policy_v2","max_nodes":0}`, "policy", "max_nodes"},
		{`{"type":"fact_policy_v1","max_hops":"x"}`, "policy", "max_hops"},
		{`{"type":"context_policy_v1","weights":3}`, "policy", "weights"},
		{`"slice"`, "policy", "object"},
		{`null`, "policy", "object"},
	} {
		a := s.ask(question{op: "registerPolicy", key: s.admin(), body: json.RawMessage(registration + one.policy + "}")})
		p := a.problem(t)
		if tried++; a.status/100 != 4 || !strings.HasPrefix(p.Place, one.place) || !strings.Contains(p.Detail, one.says) || strings.Contains(p.Detail, "schema") || strings.Contains(p.Detail, "oneOf") || strings.Contains(p.Detail, "discriminator") {
			t.Errorf("%s: %d at %q: %s", one.policy, a.status, p.Place, p.Detail)
		}
	}
	for names, says := range map[string]string{`7`: "want a string or an array", `[7]`: "want a string", `[]`: "0 items, want 1 to 64"} { // one name or several
		a := s.ask(question{op: "cutFacts", key: s.admin(), body: `{"start":` + names + `}`})
		if p := a.problem(t); a.status != 400 || strings.Contains(p.Detail, "oneOf") || !strings.Contains(p.Detail, says) {
			t.Errorf("start %s: %d at %q: %s", names, a.status, p.Place, p.Detail)
		}
	}
	if tried == 0 {
		t.Error("nothing was tried")
	}
}

// TestStandingFollows sets standing policies by callers who saw the same state: the second changes nothing, and is told what is in force.
func TestStandingFollows(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := func(policy, seen string) *answer {
		return s.ask(question{op: "setStanding", key: s.admin(), body: `{"policy_id":"` + policy + `"` + seen + `}`})
	}
	if a := set("standing-team@1", `,"seen":0`); a.status != 200 {
		t.Fatalf("%d: %s", a.status, a.body)
	}
	for _, seen := range []string{`,"seen":0`, `,"seen":0,"dry_run":true`, `,"seen":99`} {
		a := set("standing-service@1", seen)
		if p := a.problem(t); a.status != 409 || p.Code != "standing_changed" || !strings.Contains(p.Detail, "standing-team@1 is in force since setting 1") {
			t.Errorf("%s: %d %s", seen, a.status, a.body)
		}
	}
	if a := set("standing-service@1", `,"seen":-1`); a.status != 400 {
		t.Errorf("a number below 0: %d %s", a.status, a.body)
	}
	for _, seen := range []string{`,"seen":1`, ``} {
		if a := set("standing-service@1", seen); a.status != 200 {
			t.Errorf("%s: %d: %s", seen, a.status, a.body)
		}
	}
}
