package retention

import (
	"errors"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
)

const day = dag.Time(86_400_000_000)

// TestExpired is a table of turns: the first rule that matches decides, to the microsecond.
func TestExpired(t *testing.T) {
	d := NewDecider(NewRules(
		Rule{Folder: "/src/kept"},
		Rule{Role: dag.RoleTool, Days: 1},
		Rule{Author: "human:anna", Days: 30},
		Rule{Folder: "/src", Days: 10},
	))
	now := 100 * day
	for _, c := range []struct {
		turn Turn
		want bool
	}{
		{Turn{dag.RoleTool, "tool:x", "/src/kept/below", 0}, false},
		{Turn{dag.RoleTool, "tool:x", "/src/keptnot", now - day}, true},
		{Turn{dag.RoleTool, "tool:x", "", now - day + 1}, false},
		{Turn{dag.RoleUser, "human:anna", "/src", now - 29*day}, false},
		{Turn{dag.RoleUser, "human:anna", "/src", now - 30*day}, true},
		{Turn{dag.RoleUser, "human:ben", "/src", now - 10*day}, true},
		{Turn{dag.RoleUser, "human:ben", "/src", now - 10*day + 1}, false},
		{Turn{dag.RoleUser, "human:ben", "/srcs", 0}, false},
		{Turn{dag.RoleUser, "human:ben", "", 0}, false},
		{Turn{dag.RoleUser, "human:ben", "/src", now + day}, false},
	} {
		if got := d.Expired(&c.turn, now); got != c.want {
			t.Errorf("%+v: expired is %v", c.turn, got)
		}
	}
}

// TestForm reads what was written, and refuses what says nothing clear.
func TestForm(t *testing.T) {
	rules := NewRules(Rule{Author: "human:anna", Folder: "/src", Days: 30, Role: dag.RoleUser}, Rule{Days: MaxDays}, Rule{})
	const want = `{"rules":[{"author":"human:anna","cwd":"/src","days":30,"role":"user"},{"days":36500},{}],"type":"retention_v1"}`
	if got := string(rules.Canonical()); got != want {
		t.Errorf("canonical form %s", got)
	}
	forms := policy.Forms{Form}
	of := func(doc string) (policy.Registered, error) {
		return forms.ParseRegistration([]byte(`{"policy_id":"keep@1","policy":` + doc + `}`))
	}
	registered, err := of(want)
	if err != nil {
		t.Fatal(err)
	}
	if read, err := RulesOf(registered); err != nil || read != rules || read.Hash() != rules.Hash() {
		t.Errorf("read is %v, %v", read, err)
	}
	for doc, want := range map[string]string{
		`{"type":"retention_v1","rules":[]}`:                                                 "0 rules, want 1 to 256",
		`{"type":"retention_v1","rules":[{"days":0}]}`:                                       "leave it out to keep the text for ever",
		`{"type":"retention_v1","rules":[{"days":36501}]}`:                                   "days",
		`{"type":"retention_v1","rules":[{"days":1.5}]}`:                                     "days",
		`{"type":"retention_v1","rules":[{"cwd":"","days":1}]}`:                              "it is empty",
		`{"type":"retention_v1","rules":[{"role":"boss"}]}`:                                  "role",
		`{"type":"retention_v1","rules":[{"day":1}]}`:                                        "day",
		`{"type":"retention_v1","rules":[{"cwd":"` + strings.Repeat("x", MaxText+1) + `"}]}`: "at most 4096 bytes",
	} {
		if _, err := of(doc); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want %s", doc, err, want)
		}
	}
	if err := (Rules{}).Check(); !errors.Is(err, policy.ErrRange) {
		t.Errorf("no rules: %v", err)
	}
}
