package service

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/store"
)

// errWritable ends a service that reads alone, since its store takes writes again.
var errWritable = errors.New("the store takes writes again")

// lookForRoom is how often a service that reads alone looks whether its store takes writes again.
const lookForRoom = 5 * time.Second

// openServed opens the store of a service. One whose disk is full or read-only is opened to be read, and unwritable says why: every write is answered with
// store.ErrUnwritable then.
func openServed(ctx context.Context, stores *cli.Stores) (s store.Store, unwritable, err error) {
	s, err = stores.OpenStore(ctx, cli.ToMake)
	if !errors.Is(err, store.ErrUnwritable) {
		return s, nil, err
	}
	reading, cannot := stores.OpenStore(ctx, cli.ToRead)
	if cannot != nil {
		return nil, nil, err
	}
	return reading, err, nil
}

// awaitRoom looks with each tick whether the store can be opened to be written to, until ctx ends, and calls writable once it can.
func awaitRoom(ctx context.Context, stores *cli.Stores, tick <-chan time.Time, log *slog.Logger, writable func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		s, err := stores.OpenStore(ctx, cli.ToWrite)
		if err == nil {
			err = s.Close()
		}
		if err == nil {
			log.InfoContext(ctx, "the store takes writes again, so the service begins again")
			writable()
			return
		}
	}
}
