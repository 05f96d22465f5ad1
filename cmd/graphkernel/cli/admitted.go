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

// AdmittedVariable is the environment variable that says what to do about secrets in text that others bring: over stdio, HTTP and MCP, in turns, facts and
// tasks. For a service it is the setting admitted_secrets.
const AdmittedVariable = "GRAPHKERNEL_ADMITTED_SECRETS"

// ParseAdmitted reads a policy for text that others bring. The policy must not change the text.
func ParseAdmitted(text string) (secrets.Policy, error) {
	p, err := secrets.ParsePolicy(text)
	if err == nil && p == secrets.Redact {
		err = fmt.Errorf("%s would change the text of a caller who may already have its digest; want report, refuse or off", p)
	}
	return p, err
}

// AdmittedSecrets returns the policy of the flags and the environment for secrets in text that others bring.
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

// An Admitted looks for secrets in text that others bring. A nil Admitted does nothing.
type Admitted struct {
	screen *secrets.Screen
	report func(ctx context.Context, in Kept)
}

// Kept describes secrets that were found and stored all the same.
type Kept struct {
	Tenant dag.Tenant
	What   string // "turns" or "texts"
	First  string // the id of the first turn, or the place of the first text
	Rules  map[string]int
}

// Counts returns the rules, sorted by name, with the number of finds of each.
func (k *Kept) Counts() string {
	var list []string
	for _, rule := range slices.Sorted(maps.Keys(k.Rules)) {
		list = append(list, fmt.Sprintf("%s:%d", rule, k.Rules[rule]))
	}
	return strings.Join(list, " ")
}

// NewAdmitted returns an Admitted for a policy, nil for Off. It calls report once for each group of texts that are admitted together.
func NewAdmitted(p secrets.Policy, report func(context.Context, Kept)) *Admitted {
	screen := secrets.NewScreen(p, nil) // it replaces nothing, so no key is needed
	if screen == nil {
		return nil
	}
	return &Admitted{screen, report}
}

// Apply makes a kernel check the text that others bring.
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
				return fmt.Errorf("turns[%d]: %w: turn %s has a secret in its %s (%s), and secrets are refused (admitted_secrets); nothing was admitted", i, ingest.ErrSecret, drafts[i].ID, f.In, f.Rule)
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
				return fmt.Errorf("%s: %w: the text has a secret (%s), and secrets are refused (admitted_secrets); nothing was recorded", t.In, ingest.ErrSecret, f)
			}
			if t.Told {
				return fmt.Errorf("%s: %w: the text has a secret (%s), and what is remembered is told to agents and models; nothing was recorded. Leave the secret out, or say where it is kept; %s=off, the setting admitted_secrets of a service, keeps it all the same", t.In, ingest.ErrSecret, f, AdmittedVariable)
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
