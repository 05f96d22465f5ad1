package service

import (
	"context"
	"log/slog"
	"time"

	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/ingest/secrets"
)

// lookAtSpool is how often a service looks whether hooks said that a session has more.
const lookAtSpool = time.Second

// takeCaptured takes in what hooks say of sessions on this machine, until ctx ends.
func takeCaptured(ctx context.Context, spool *capture.Spool, s *cli.Session, screen *secrets.Screen, now func() time.Time, log *slog.Logger) {
	tick := time.NewTicker(lookAtSpool)
	defer tick.Stop()
	said := ""
	for {
		done, err := cli.TakeIn(ctx, spool, s, screen, now())
		if done.Turns > 0 {
			log.Info("captured sessions were taken in", "sessions", done.Sessions, "turns", done.Turns)
		}
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			said = ""
		} else if err.Error() != said { // it is tried again with every look
			said = err.Error()
			log.Warn("some of what was captured could not be taken in, and waits", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
