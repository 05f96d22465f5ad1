package guard

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
)

// RulesType is the type that documents name.
const RulesType = "deny_rules_v1"

// Bounds of the parameters.
const (
	MaxRules   = 256
	MaxPattern = 1 << 10 // bytes of a pattern, and of a reason
)

// A Rule denies calls of tools. Its patterns are regular expressions of RE2 (package regexp), which match in linear time.
type Rule struct {
	Tool     string // matches the whole name of a tool
	Argument string // matches a part of any text, number or name in the arguments; "": every call of the tool
	Reason   string // told to the agent and to people
}

// DenyRules are parameters of a policy: rules, in their order.
type DenyRules struct{ list policy.Rules }

// NewDenyRules makes parameters of rules.
func NewDenyRules(rules ...Rule) DenyRules {
	return DenyRules{policy.NewRules(len(rules), func(w *canon.Writer, i int) {
		w.BeginObject()
		w.Key("argument")
		w.String(rules[i].Argument)
		w.Key("reason")
		w.String(rules[i].Reason)
		w.Key("tool")
		w.String(rules[i].Tool)
		w.EndObject()
	})}
}

// Rules returns the rules.
func (d DenyRules) Rules() []Rule { return readRules(d.list.Items()) }

func readRules(items []*canon.Cursor) (rules []Rule) {
	for _, item := range items {
		r := Rule{Tool: item.Field("tool").String(), Reason: item.Field("reason").String()}
		if argument := item.Optional("argument"); argument != nil {
			r.Argument = argument.String()
		}
		item.Close()
		rules = append(rules, r)
	}
	return rules
}

// Type is RulesType.
func (DenyRules) Type() string { return RulesType }

// Check reports the first rule that cannot be applied, by its number, from 1.
func (d DenyRules) Check() error {
	_, err := d.compile()
	return err
}

// Canonical returns the canonical form, which Hash is taken of.
func (d DenyRules) Canonical() []byte { return d.list.Bytes(RulesType) }

// Hash is policy_params_hash: SHA-256 of the canonical form.
func (d DenyRules) Hash() dag.Digest { return d.list.Digest(RulesType) }

// AppendWire writes the parameters as people do, which is the canonical form.
func (d DenyRules) AppendWire(w *canon.Writer) { d.list.Append(w, RulesType) }

// Form is how the rules are read.
var Form = policy.RulesForm(RulesType, func(items []*canon.Cursor) DenyRules { return NewDenyRules(readRules(items)...) })

// RulesOf returns the rules of a registered policy. Of another type, it is policy.ErrMismatch.
func RulesOf(r policy.Registered) (DenyRules, error) {
	return policy.ParametersOf[DenyRules](r, RulesType)
}

// A compiled rule.
type compiled struct {
	Rule
	tool, argument *regexp.Regexp // argument is nil if it matches every call
}

func (d DenyRules) compile() ([]compiled, error) {
	rules := d.Rules()
	if len(rules) == 0 || len(rules) > MaxRules {
		return nil, fmt.Errorf("%w: %d rules, want 1 to %d", policy.ErrRange, len(rules), MaxRules)
	}
	list := make([]compiled, len(rules))
	for i, r := range rules {
		of := func(member string, err error) error {
			return fmt.Errorf("%w: rules[%d].%s: %w", policy.ErrRange, i, member, err)
		}
		for _, text := range []struct{ member, value string }{{"tool", r.Tool}, {"argument", r.Argument}, {"reason", r.Reason}} {
			if len(text.value) > MaxPattern || !utf8.ValidString(text.value) || strings.ContainsRune(text.value, 0) {
				return nil, of(text.member, fmt.Errorf("want at most %d bytes of UTF-8 without U+0000", MaxPattern))
			}
			if text.value == "" && text.member != "argument" {
				return nil, of(text.member, errors.New("it is empty"))
			}
		}
		c := compiled{Rule: r}
		var err error
		if _, err = regexp.Compile(r.Tool); err != nil { // "a)|(b" is no pattern, and would be one between parentheses
			return nil, of("tool", err)
		}
		if c.tool, err = regexp.Compile(`(?s)\A(?:` + r.Tool + `)\z`); err != nil {
			return nil, of("tool", err)
		}
		if r.Argument != "" {
			if c.argument, err = regexp.Compile("(?s)" + r.Argument); err != nil {
				return nil, of("argument", err)
			}
		}
		list[i] = c
	}
	return list, nil
}
