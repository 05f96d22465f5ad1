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

// RulesType is the type that policy documents of deny rules have.
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
	Reason   string // shown to the agent and to people
}

// DenyRules are the parameters of a policy: a list of rules, in their order.
type DenyRules struct{ list policy.Rules }

// NewDenyRules makes parameters from rules.
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

// Type returns RulesType.
func (DenyRules) Type() string { return RulesType }

// Check returns an error if there are no rules or too many, or if a rule cannot be applied; the error names the first such rule
// by its number, from 0.
func (d DenyRules) Check() error {
	_, err := d.compile()
	return err
}

// Canonical returns the canonical form, over which Hash is computed.
func (d DenyRules) Canonical() []byte { return d.list.Bytes(RulesType) }

// Hash returns policy_params_hash: SHA-256 of the canonical form.
func (d DenyRules) Hash() dag.Digest { return d.list.Digest(RulesType) }

// AppendWire writes the parameters in the form that people write, which is the canonical form.
func (d DenyRules) AppendWire(w *canon.Writer) { d.list.Append(w, RulesType) }

// Form reads the rules from a policy document.
var Form = policy.RulesForm(RulesType, func(items []*canon.Cursor) DenyRules { return NewDenyRules(readRules(items)...) })

// RulesOf returns the rules of a registered policy. The error is policy.ErrMismatch if the policy is of another type.
func RulesOf(r policy.Registered) (DenyRules, error) {
	return policy.ParametersOf[DenyRules](r, RulesType)
}

// compiled is a Rule with its compiled patterns.
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
		if _, err = regexp.Compile(r.Tool); err != nil { // "a)|(b" is not a pattern, but would become one between parentheses
			return nil, of("tool", err)
		}
		if c.tool, err = regexp.Compile(`(?s)\A(?:` + r.Tool + `)\z`); err != nil {
			return nil, of("tool", err)
		}
		if r.Argument != "" {
			if _, err = regexp.Compile(r.Argument); err != nil { // without (?s), which the rule does not have
				return nil, of("argument", err)
			}
			if c.argument, err = regexp.Compile("(?s)" + r.Argument); err != nil {
				return nil, of("argument", err)
			}
		}
		list[i] = c
	}
	return list, nil
}
