package service

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/store"
)

// errWritable ends a read-only service, because its store can be written to again.
var errWritable = errors.New("the store takes writes again")

// lookForRoom is how often a read-only service checks whether its store can be written to again.
const lookForRoom = 5 * time.Second

// openServed opens the store of a service. If its disk is full or read-only, the store is opened only to read, and unwritable is the reason: every write is
// then answered with store.ErrUnwritable.
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

// awaitRoom checks at each tick whether the store can be opened for writing and has room for a write, until ctx ends, and calls writable once it can.
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
		if err == nil { // a store can be opened with less room than a write needs
			err = stores.HasRoom()
		}
		if err == nil {
			log.InfoContext(ctx, "the store takes writes again, so the service restarts")
			writable()
			return
		}
	}
}
