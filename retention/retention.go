// Package retention owns how long turns keep their text: the rules that a tenant registers as a policy, and the decision of
// those rules about a turn. The decision is a pure function of the policy, the turn and the time. Expired text is erased in the
// same way as any other, so bundles that were handed out still verify.
package retention

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
)

// RulesType is the type that policy documents of retention rules have.
const RulesType = "retention_v1"

// Bounds of the parameters.
const (
	MaxRules = 256
	MaxDays  = 36_500
	MaxText  = 4 << 10 // bytes of a folder or an author
)

// A Rule says how long some turns keep their text. The first rule that a turn matches decides. A turn that matches no rule
// keeps its text for ever.
type Rule struct {
	Folder string   // the attribute cwd, or a folder above it; "": any
	Author string   // "": any
	Role   dag.Role // 0: any
	Days   int      // counted from the turn's created_at; 0: for ever
}

// Rules are the parameters of a policy: a list of rules, in their order.
type Rules struct{ list policy.Rules }

// NewRules makes parameters from rules.
func NewRules(rules ...Rule) Rules {
	return Rules{policy.NewRules(len(rules), func(w *canon.Writer, i int) {
		r := &rules[i]
		w.BeginObject()
		if r.Author != "" {
			w.Key("author")
			w.String(r.Author)
		}
		if r.Folder != "" {
			w.Key("cwd")
			w.String(r.Folder)
		}
		if r.Days > 0 {
			w.Key("days")
			w.Uint(uint64(r.Days))
		}
		if r.Role != 0 {
			w.Key("role")
			w.String(r.Role.String())
		}
		w.EndObject()
	})}
}

// List returns the rules.
func (p Rules) List() []Rule { return readRules(p.list.Items()) }

func readRules(items []*canon.Cursor) (rules []Rule) {
	for _, item := range items {
		var r Rule
		for _, m := range [...]struct {
			key string
			to  *string
		}{{"author", &r.Author}, {"cwd", &r.Folder}} {
			if c := item.Optional(m.key); c != nil {
				if *m.to = c.String(); *m.to == "" {
					c.Fail(errors.New("it is empty; leave it out for any"))
				}
			}
		}
		if c := item.Optional("days"); c != nil {
			if r.Days = int(c.Uint(MaxDays)); r.Days == 0 {
				c.Fail(fmt.Errorf("want 1 to %d; leave it out to keep the text for ever", MaxDays))
			}
		}
		if c := item.Optional("role"); c != nil {
			var err error
			if r.Role, err = dag.ParseRole(c.String()); err != nil {
				c.Fail(err)
			}
		}
		item.Close()
		rules = append(rules, r)
	}
	return rules
}

// Type returns RulesType.
func (Rules) Type() string { return RulesType }

// Check returns an error if there are no rules or too many, or if a rule cannot be applied; the error names the first such rule
// by its number, from 0.
func (p Rules) Check() error {
	rules := p.List()
	if len(rules) == 0 || len(rules) > MaxRules {
		return fmt.Errorf("%w: %d rules, want 1 to %d", policy.ErrRange, len(rules), MaxRules)
	}
	for i := range rules {
		r := &rules[i]
		for _, m := range [...]struct{ name, text string }{{"author", r.Author}, {"cwd", r.Folder}} {
			if len(m.text) > MaxText || !utf8.ValidString(m.text) {
				return fmt.Errorf("%w: rules[%d].%s: want at most %d bytes of UTF-8", policy.ErrRange, i, m.name, MaxText)
			}
		}
		if r.Days < 0 || r.Days > MaxDays {
			return fmt.Errorf("%w: rules[%d].days: %d, want 1 to %d", policy.ErrRange, i, r.Days, MaxDays)
		}
	}
	return nil
}

// Canonical returns the canonical form, over which Hash is computed.
func (p Rules) Canonical() []byte { return p.list.Bytes(RulesType) }

// Hash returns policy_params_hash: SHA-256 of the canonical form.
func (p Rules) Hash() dag.Digest { return p.list.Digest(RulesType) }

// AppendWire writes the parameters in the form that people write, which is the canonical form.
func (p Rules) AppendWire(w *canon.Writer) { p.list.Append(w, RulesType) }

// Form reads the rules from a policy document.
var Form = policy.RulesForm(RulesType, func(items []*canon.Cursor) Rules { return NewRules(readRules(items)...) })

// RulesOf returns the rules of a registered policy. The error is policy.ErrMismatch if the policy is of another type.
func RulesOf(r policy.Registered) (Rules, error) { return policy.ParametersOf[Rules](r, RulesType) }

// A Turn has the properties of a turn that rules can match.
type Turn struct {
	Role      dag.Role
	Author    string
	Folder    string // the attribute cwd; "" if there is none
	CreatedAt dag.Time
}

// Decider applies rules to many turns.
type Decider struct{ rules []Rule }

// NewDecider returns a decider that applies the given rules.
func NewDecider(p Rules) *Decider { return &Decider{p.List()} }

// Expired reports whether a turn has kept its text for as long as the rules allow.
func (d *Decider) Expired(t *Turn, now dag.Time) bool {
	for i := range d.rules {
		if r := &d.rules[i]; r.matches(t) {
			return r.Days > 0 && now-t.CreatedAt >= dag.Time(int64(r.Days)*(24*time.Hour).Microseconds())
		}
	}
	return false
}

func (r *Rule) matches(t *Turn) bool {
	return (r.Role == 0 || r.Role == t.Role) && (r.Author == "" || r.Author == t.Author) && (r.Folder == "" || below(t.Folder, r.Folder))
}

// below reports whether folder is top or a folder below it.
func below(folder, top string) bool {
	rest, ok := strings.CutPrefix(folder, top)
	return ok && (rest == "" || rest[0] == '/' || rest[0] == '\\' || strings.HasSuffix(top, "/"))
}
