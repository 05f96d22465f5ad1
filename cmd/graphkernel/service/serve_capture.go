package service

import (
	"context"
	"errors"
	"log/slog"

	"github.com/graphkernel/graphkernel/capture"
	hooks "github.com/graphkernel/graphkernel/cmd/graphkernel/capture"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/ingest/secrets"
)

// attend imports the sessions that hooks report on this machine, and answers hooks, until ctx ends.
func attend(a *cli.App, ctx context.Context, s *cli.Session, spool *capture.Spool, screen *secrets.Screen, log *slog.Logger) {
	at, err := hooks.Attend(a, s, spool, screen, log, true)
	if err != nil {
		log.Warn("hooks are not answered", "error", err)
		return
	}
	go func() {
		if err := at.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
			log.Warn("hooks are no longer answered", "error", err)
		}
	}()
}
