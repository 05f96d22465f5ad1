package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/secrets"
	"github.com/graphkernel/graphkernel/kernel"
)

// AdmittedVariable is the variable of the environment that says what is done about secrets in what others bring: over stdio, HTTP and MCP, in facts and in
// tasks. The service has it as the setting admitted_secrets.
const AdmittedVariable = "GRAPHKERNEL_ADMITTED_SECRETS"

// ParseAdmitted reads a policy for what others bring: what they gave is not changed.
func ParseAdmitted(text string) (secrets.Policy, error) {
	p, err := secrets.ParsePolicy(text)
	if err == nil && p == secrets.Redact {
		err = fmt.Errorf("%s would change what a caller brings, who may hold digests of it; want report, refuse or off", p)
	}
	return p, err
}

// AdmittedSecrets returns what the flags and the environment say is done about secrets in what others bring.
func (s *Settings) AdmittedSecrets() (secrets.Policy, error) {
	for _, named := range []struct{ by, value string }{{"--admitted-secrets", s.AdmittedFlag}, {AdmittedVariable, s.Getenv(AdmittedVariable)}} {
		if named.value == "" {
			continue
		}
		p, err := ParseAdmitted(named.value)
		if err != nil {
			err = Usagef("%s: %w", named.by, err)
		}
		return p, err
	}
	return secrets.Report, nil
}

// An Admitted looks for secrets in what others bring. Nil: nobody looks.
type Admitted struct {
	screen *secrets.Screen
	report func(ctx context.Context, in Kept)
}

// Kept is what was found, and is kept all the same.
type Kept struct {
	Tenant dag.Tenant
	What   string // "turns" or "texts"
	First  string // the id of the first turn, or where the first text is
	Rules  map[string]int
}

// Counts returns the rules with how often each found something, by name.
func (k *Kept) Counts() string {
	var list []string
	for _, rule := range slices.Sorted(maps.Keys(k.Rules)) {
		list = append(list, fmt.Sprintf("%s:%d", rule, k.Rules[rule]))
	}
	return strings.Join(list, " ")
}

// NewAdmitted returns what applies a policy, nil for Off. Report is called once for what is admitted together.
func NewAdmitted(p secrets.Policy, report func(context.Context, Kept)) *Admitted {
	screen := secrets.NewScreen(p, nil) // it replaces nothing, so it needs no key
	if screen == nil {
		return nil
	}
	return &Admitted{screen, report}
}

// Apply has a kernel show what others bring.
func (a *Admitted) Apply(c *kernel.Config) {
	if a != nil {
		c.Screen, c.ScreenTexts = a.turns, a.texts
	}
}

func (a *Admitted) turns(ctx context.Context, tenant dag.Tenant, drafts []dag.Draft) error {
	kept := Kept{Tenant: tenant, What: "turns", Rules: map[string]int{}}
	for i := range drafts {
		found, err := a.screen.Draft(&drafts[i])
		if err != nil {
			return err
		}
		for _, f := range found {
			if a.screen.Policy() == secrets.Refuse {
				return fmt.Errorf("turns[%d]: %w: turn %s has one in its %s (%s), and they are refused (admitted_secrets); nothing was admitted", i, ingest.ErrSecret, drafts[i].ID, f.In, f.Rule)
			}
			if len(kept.Rules) == 0 {
				kept.First = drafts[i].ID.String()
			}
			kept.Rules[f.Rule]++
		}
	}
	a.tell(ctx, kept)
	return nil
}

func (a *Admitted) texts(ctx context.Context, tenant dag.Tenant, texts []dag.Text) error {
	kept := Kept{Tenant: tenant, What: "texts", Rules: map[string]int{}}
	for _, t := range texts {
		for _, f := range a.screen.Text(t.Name, t.Text) {
			if a.screen.Policy() == secrets.Refuse {
				return fmt.Errorf("%s: %w: it has one (%s), and they are refused (admitted_secrets); nothing was recorded", t.In, ingest.ErrSecret, f)
			}
			if len(kept.Rules) == 0 {
				kept.First = t.In
			}
			kept.Rules[f]++
		}
	}
	a.tell(ctx, kept)
	return nil
}

func (a *Admitted) tell(ctx context.Context, kept Kept) {
	if len(kept.Rules) > 0 {
		a.report(ctx, kept)
	}
}
