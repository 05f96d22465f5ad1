package service

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/secrets"
)

// parseAdmitted reads a policy for turns that others bring: what they gave is not changed.
func parseAdmitted(text string) (secrets.Policy, error) {
	p, err := secrets.ParsePolicy(text)
	if err == nil && p == secrets.Redact {
		err = fmt.Errorf("%s would change turns of which the caller may hold digests", p)
	}
	return p, err
}

// screenAdmitted looks for secrets in turns that come over HTTP and MCP; nil: nobody looks.
func screenAdmitted(p secrets.Policy, log *slog.Logger) func(context.Context, dag.Tenant, []dag.Draft) error {
	screen := secrets.NewScreen(p, nil) // it replaces nothing, so it needs no key
	if screen == nil {
		return nil
	}
	return func(ctx context.Context, tenant dag.Tenant, drafts []dag.Draft) error {
		counts := map[string]int{}
		var first dag.TurnID
		for i := range drafts {
			found, err := screen.Draft(&drafts[i])
			if err != nil {
				return err
			}
			for _, f := range found {
				if p == secrets.Refuse {
					return fmt.Errorf("turns[%d]: %w: turn %s has one in its %s (%s), and this service refuses them (admitted_secrets); nothing was admitted", i, ingest.ErrSecret, drafts[i].ID, f.In, f.Rule)
				}
				if len(counts) == 0 {
					first = drafts[i].ID
				}
				counts[f.Rule]++
			}
		}
		if len(counts) > 0 {
			log.WarnContext(ctx, "turns with secrets were brought", "tenant", tenant, "first", first, "rules", counts)
		}
		return nil
	}
}
