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
	Redact Policy = "redact" // tokens take the places of the secrets
	Report Policy = "report" // it is admitted as it is, and the secrets are counted
	Refuse Policy = "refuse" // it is left out
	Off    Policy = "off"    // nobody looks
)

// Policies lists them in the order in which they are documented.
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

// NewScreen returns a screen, nil if nobody is to look. The key is asked for once, when there is a secret to be replaced.
func NewScreen(p Policy, key func() (Key, error)) *Screen {
	if p == Off {
		return nil
	}
	return &Screen{p, sync.OnceValues(key), Standard()}
}

// Policy returns what the screen does.
func (s *Screen) Policy() Policy {
	if s == nil {
		return Off
	}
	return s.policy
}

// Found is a secret in a turn.
type Found struct {
	Rule string
	In   string // "content", "author", or the name of an attribute with "attr " before it
}

// Text returns the rules that find a secret in a text, for each finding one. name says what the text is a value of, such as "password"; it may be empty.
// Nothing is replaced.
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

// Draft looks at all text of a draft, and under the policy Redact replaces what it finds, unless the draft has a salt: then its digest was
// computed elsewhere already, and another text would not be that turn. It does not look at erased ones.
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
		if text("attr "+name, name+`="`, &is, `"`); is == was { // the name is a part of what a rule looks for
			continue
		}
		if !own {
			d.Attrs, own = maps.Clone(d.Attrs), true
		}
		d.Attrs[name] = is
	}
	return found, err
}
