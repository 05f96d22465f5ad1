package service

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/store"
)

// notifySystemd sends a state to the service manager, if there is one: sd_notify(3).
func notifySystemd(a *cli.App, state string) error {
	path := a.Settings.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return nil
	}
	if path[0] == '@' { // an abstract socket
		path = "\x00" + path[1:]
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return err
	}
	_, err = c.Write([]byte(state))
	return errors.Join(err, c.Close())
}

// feedWatchdog reports READY to the service manager, and then, twice in each period of the manager's watchdog, that the service is alive, until ctx ends. It
// stops if the store is broken, so that the manager restarts the service; a store that is busy, full or unreachable does not need a restart.
func feedWatchdog(a *cli.App, ctx context.Context, alive func(context.Context) error, log *slog.Logger) {
	if err := notifySystemd(a, "READY=1"); err != nil {
		log.Warn("the service manager could not be told that the service is ready", "error", err)
	}
	period, err := strconv.ParseInt(a.Settings.Getenv("WATCHDOG_USEC"), 10, 64)
	if err != nil || period <= 0 {
		return
	}
	tick := time.NewTicker(max(time.Duration(period)*time.Microsecond/2, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := alive(ctx); errors.Is(err, store.ErrBroken) {
			log.Error("the store must be opened again; the watchdog is no longer notified", "error", err)
			return
		}
		if err := notifySystemd(a, "WATCHDOG=1"); err != nil {
			log.Warn("the watchdog could not be notified", "error", err)
		}
	}
}
