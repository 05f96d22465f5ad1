package secrets

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
)

// A Policy says what happens to a turn with a secret.
type Policy string

// The policies.
const (
	Redact Policy = "redact" // tokens replace the secrets
	Report Policy = "report" // the turn is admitted unchanged, and the secrets are counted
	Refuse Policy = "refuse" // the turn is not admitted
	Off    Policy = "off"    // no search for secrets
)

// Policies lists the policies in the order of the documentation.
var Policies = [...]Policy{Redact, Report, Refuse, Off}

// ParsePolicy reads the name of a policy.
func ParsePolicy(s string) (Policy, error) {
	if p := Policy(s); slices.Contains(Policies[:], p) {
		return p, nil
	}
	return "", fmt.Errorf("secrets: policy %q, want one of %q", s, Policies)
}

// A Screen applies a policy to turns. It may be used by several goroutines at once.
type Screen struct {
	policy  Policy
	key     func() (Key, error)
	scanner *Scanner
}

// NewScreen returns a screen, or nil for the policy Off. key is called once, when the first secret has to be replaced.
func NewScreen(p Policy, key func() (Key, error)) *Screen {
	if p == Off {
		return nil
	}
	return &Screen{p, sync.OnceValues(key), Standard()}
}

// Policy returns the screen's policy; a nil screen has Off.
func (s *Screen) Policy() Policy {
	if s == nil {
		return Off
	}
	return s.policy
}

// Found is a secret in a turn.
type Found struct {
	Rule string
	In   string // "content", "author", or "attr " followed by the name of an attribute
}

// Text returns the rule of each secret found in a text. name is the name of the text, such as "password"; it may be empty. Text
// replaces nothing.
func (s *Screen) Text(name, text string) (rules []string) {
	if s == nil {
		return nil
	}
	before, after := "", ""
	if name != "" {
		before, after = name+`="`, `"`
	}
	for _, f := range s.scanner.scanWithin(before, text, after) {
		rules = append(rules, f.Rule)
	}
	return rules
}

// Draft searches all text of a draft. Under the policy Redact it replaces the secrets, unless the draft has a salt: then its
// digest was computed elsewhere, and with another text it would not be the same turn. Draft skips redacted drafts.
func (s *Screen) Draft(d *dag.Draft) (found []Found, err error) {
	if s == nil || d.Redacted {
		return nil, nil
	}
	replace := s.policy == Redact && d.Salt == nil
	text := func(in, before string, at *string, after string) {
		list := s.scanner.scanWithin(before, *at, after)
		if len(list) == 0 {
			return
		}
		if replace && err == nil {
			var key Key
			if key, err = s.key(); err == nil {
				*at, list = s.scanner.redactWithin(before, *at, after, list, &key)
			}
		}
		for _, f := range list {
			found = append(found, Found{f.Rule, in})
		}
	}
	text("content", "", &d.Content, "")
	text("author", "", &d.Author, "")
	own := false
	for _, name := range slices.Sorted(maps.Keys(d.Attrs)) {
		was := d.Attrs[name]
		is := was
		if text("attr "+name, name+`="`, &is, `"`); is == was { // the name is part of the text that is scanned
			continue
		}
		if !own {
			d.Attrs, own = maps.Clone(d.Attrs), true
		}
		d.Attrs[name] = is
	}
	return found, err
}
