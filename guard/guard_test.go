package guard_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/guard"
	"github.com/graphkernel/graphkernel/policy"
)

var forms = policy.Forms{guard.Form}

func register(t *testing.T, rules string) (guard.DenyRules, error) {
	t.Helper()
	p, err := forms.ParseRegistration(fmt.Appendf(nil, `{"policy_id":"deny@1","policy":{"type":"deny_rules_v1","rules":%s}}`, rules))
	if err != nil {
		return guard.DenyRules{}, err
	}
	return guard.RulesOf(p)
}

// TestRules reads rules back from their canonical form, and refuses each that could not be applied, naming the place.
func TestRules(t *testing.T) {
	d, err := register(t, `[{"tool":"Bash","argument":"rm\\s+-rf","reason":"it deletes"},{"reason":"no network","tool":"Web.*"}]`)
	want := []guard.Rule{{Tool: "Bash", Argument: `rm\s+-rf`, Reason: "it deletes"}, {Tool: "Web.*", Reason: "no network"}}
	if err != nil || !slices.Equal(d.Rules(), want) || d != guard.NewDenyRules(want...) {
		t.Fatalf("%+v, %v", d.Rules(), err)
	}
	if got := string(d.Canonical()); got != `{"rules":[{"argument":"rm\\s+-rf","reason":"it deletes","tool":"Bash"},{"argument":"","reason":"no network","tool":"Web.*"}],"type":"deny_rules_v1"}` {
		t.Errorf("canonical form %s", got)
	}
	hash := d.Hash()
	if p, err := forms.Restore("deny@1", hash[:], d.Canonical()); err != nil || p.Params() != policy.Parameters(d) {
		t.Errorf("restored it is %+v, %v", p, err)
	}
	many := "[" + strings.Repeat(`{"tool":"a","reason":"r"},`, guard.MaxRules) + `{"tool":"a","reason":"r"}]`
	for rules, want := range map[string]string{
		`[]`:                              "0 rules",
		many:                              "257 rules",
		`{}`:                              "rules",
		`[{"tool":"a"}]`:                  "reason",
		`[{"reason":"r"}]`:                "tool",
		`[{"tool":"","reason":"r"}]`:      "rules[0].tool: it is empty",
		`[{"tool":"a","reason":""}]`:      "rules[0].reason: it is empty",
		`[{"tool":"a)|(b","reason":"r"}]`: "rules[0].tool: error parsing regexp",
		`[{"tool":"a","reason":"r"},{"tool":"a","argument":"(","reason":"r"}]`:      "rules[1].argument: error parsing regexp: missing closing ): `(`",
		`[{"tool":"a","argument":"(?<=b)a","reason":"r"}]`:                          "rules[0].argument: error parsing regexp",
		`[{"tool":"a","reason":"r","decision":"allow"}]`:                            "decision",
		`[{"tool":"a","reason":"` + strings.Repeat("r", guard.MaxPattern+1) + `"}]`: "rules[0].reason: want at most 1024 bytes",
		`[{"tool":"a","reason":"r\u0000"}]`:                                         "rules[0].reason",
	} {
		if _, err := register(t, rules); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.200s: %v, want %s", rules, err, want)
		}
	}
	if err := (guard.DenyRules{}).Check(); !errors.Is(err, policy.ErrRange) {
		t.Errorf("no rules at all: %v", err)
	}
}

// TestDecide is a table of calls. What one rule denies no other permits.
func TestDecide(t *testing.T) {
	d := guard.NewDenyRules(
		guard.Rule{Tool: "Bash", Argument: `\brm\s+-[a-z]*r`, Reason: "deletes"},
		guard.Rule{Tool: "mcp__.*", Reason: "remote"},
		guard.Rule{Tool: ".*", Argument: `(^|/)\.env$`, Reason: "secret"},
		guard.Rule{Tool: "Pay", Argument: `^[0-9]{4,}$`, Reason: "much"},
	)
	for _, c := range []struct{ tool, arguments, want string }{
		{"Bash", `{"command":"ls -r"}`, ""},
		{"Bash", `{"command":"cd x && rm  -rf /"}`, "1 deletes at command"},
		{"Bash", `{"command":"rm\u0020-\u0072f ."}`, "1 deletes at command"},
		{"Bash", `{"a":{"b":["x",{"command":"rm\n-r"}]}}`, "1 deletes at a.b[1].command"},
		{"Bash", `{"command":"rm -r x","command":"ls"}`, "1 deletes at command"},
		{"Bash", `{"command":"ls","command":"rm -r x"}`, "1 deletes at command"},
		{"BashOutput", `{"command":"rm -rf /"}`, ""},
		{"shell", `{"command":["rm","-rf","/"]}`, "1 deletes at command"},
		{"shell", `{"command":["bash","-lc","cd x && rm -r /"]}`, "1 deletes at command[2]"},
		{"shell", `{"command":["ls","-r"],"then":["rm"]}`, ""},
		{"local_shell", `{"action":{"command":["rm","-r","x"]}}`, "1 deletes at action.command"},
		{"exec_command", `{"cmd":"rm -r x"}`, "1 deletes at cmd"},
		{"run_shell_command", `{"command":"rm -r x"}`, "1 deletes at command"},
		{"Bash", "{\"command\":\"rm\u00a0-r x\"}", "1 deletes at command"},
		{"Bash", `{"command":"rm\u2003-r x"}`, "1 deletes at command"},
		{"Bash", `{"command":"rm \\\n -r x"}`, "1 deletes at command"},
		{"Bash", `{"command":"r\\\nm -r x"}`, "1 deletes at command"},
		{"Bash", `{"command":"rm \\\r\n-r x"}`, "1 deletes at command"},
		{"Bash", `{"command":"\uff52\uff4d -r x"}`, "1 deletes at command"},
		{"shells", `{"command":"rm -r x"}`, ""},
		{"Not Bash", `{"command":"rm -rf /"}`, ""},
		{"mcp__x__y", ``, "2 remote at "},
		{"mcp__x__y", `{"path":"/p/.env"}`, "2 remote at , 3 secret at path"},
		{"Read", `{".env":1}`, "3 secret at .env"},
		{"Read", `".env"`, "3 secret at "},
		{"Read", `{"path":"/p/.envrc"}`, ""},
		{"shell", `{"command":["rm","[1]","-r"]}`, ""},
		{"shell", `{"command":["rm","-r","[1]"]}`, "1 deletes at command"},
		{"Bash", `"{\"command\":\"rm\\t-r x\"}"`, "1 deletes at command"},
		{"Bash", `{"arguments":" {\"command\":\"rm\\u0020-r x\"} "}`, "1 deletes at arguments.command"},
		{"shell", `"{\"command\":[\"rm\",\"-r\",\"x\"]}"`, "1 deletes at command"},
		{"Bash", `"\"rm\\u0020-r\""`, "1 deletes at "},
		{"Bash", `{"command":"{ ls; } [0]"}`, ""},
		{"Pay", `{"amount":999}`, ""},
		{"Pay", `{"amount":1000}`, "4 much at amount"},
		{"Pay", `[true,false,null,12345]`, "4 much at [3]"},
	} {
		matches, err := d.Decide(guard.Call{Tool: c.tool, Arguments: json.RawMessage(c.arguments)})
		var got []string
		for _, m := range matches {
			got = append(got, fmt.Sprintf("%d %s at %s", m.Rule, m.Reason, m.Where))
		}
		if strings.Join(got, ", ") != c.want || err != nil {
			t.Errorf("%s %s: %q, %v; want %q", c.tool, c.arguments, got, err, c.want)
		}
	}
	for _, c := range []struct{ tool, arguments string }{
		{"", `{}`}, {"Bash", `{`}, {"Bash", `{} {}`}, {"Bash", "\"\xff\""}, {"Bash", strings.Repeat("[", 2000) + strings.Repeat("]", 2000)}, {"Bash", `{"a":1]`}, {"Bash", `]`},
		{"Bash", ``}, {"Bash", ` null `}, {"Read", `null`},
	} {
		if m, err := d.Decide(guard.Call{Tool: c.tool, Arguments: json.RawMessage(c.arguments)}); !errors.Is(err, guard.ErrCall) || len(m) > 0 {
			t.Errorf("%s %.40q: %v, %v", c.tool, c.arguments, m, err)
		}
	}
}

// TestWithoutArguments makes sure that a call without arguments passes only if no rule could deny it for them.
func TestWithoutArguments(t *testing.T) {
	d := guard.NewDenyRules(guard.Rule{Tool: "Bash", Argument: "rm", Reason: "deletes"}, guard.Rule{Tool: "Bash|Web", Reason: "never"}, guard.Rule{Tool: "Pay", Argument: "1", Reason: "much"})
	for tool, want := range map[string]struct {
		matches int
		err     error
	}{"Bash": {1, nil}, "Web": {1, nil}, "Pay": {0, guard.ErrCall}, "Read": {0, nil}} {
		for _, arguments := range []string{"", " ", "null"} {
			if matches, err := d.Decide(guard.Call{Tool: tool, Arguments: json.RawMessage(arguments)}); len(matches) != want.matches || !errors.Is(err, want.err) {
				t.Errorf("%s %q: %v, %v; want %+v", tool, arguments, matches, err, want)
			}
		}
	}
	if matches, err := d.Decide(guard.Call{Tool: "Pay", Arguments: json.RawMessage("{}")}); len(matches) > 0 || err != nil {
		t.Errorf("arguments that are empty: %v, %v", matches, err)
	}
}

// FuzzDecide makes sure that whatever JSON a pattern's word is in, the word is found.
func FuzzDecide(f *testing.F) {
	d := guard.NewDenyRules(guard.Rule{Tool: "T", Argument: "forbidden", Reason: "r"})
	f.Add([]byte(`{"a":["forbidden"]}`))
	f.Add([]byte(`{"forbidden":0,"b":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		matches, err := d.Decide(guard.Call{Tool: "T", Arguments: data})
		var v any
		if err == nil && len(data) > 0 && !json.Valid(data) && strings.Trim(string(data), " \t\r\n") != "" {
			t.Fatalf("%q is judged, and is no JSON", data)
		}
		if err != nil || len(matches) > 0 || json.Unmarshal(data, &v) != nil {
			return
		}
		if again, err := json.Marshal(v); err == nil && strings.Contains(string(again), "forbidden") {
			t.Errorf("%q passes", data)
		}
	})
}
