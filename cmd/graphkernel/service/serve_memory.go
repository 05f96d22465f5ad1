package service

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// collectAt is how far the heap may grow, in percent of what is in use, before it is
// collected. A service that holds little makes much garbage (a bundle
// is as long as the text in it), so twice the usual memory between collections buys a
// good part of the processor back. Once more is in use, mostGarbage bounds what waits to be collected: the percentage falls, to leastAt at the least. GOGC counts more than all of this.
const (
	collectAt   = 200
	leastAt     = 25
	mostGarbage = 64 << 20
	lookAtHeap  = time.Second
)

// percentFor returns how far a heap of so many bytes may grow before it is collected.
func percentFor(live uint64) int {
	return int(min(max(mostGarbage*100/max(live, 1), leastAt), collectAt)) //nolint:gosec // at most collectAt
}

// boundGarbage sets how far the heap may grow by what is in use, until ctx ends. restore sets what was before.
func boundGarbage(ctx context.Context) (restore func()) {
	before := debug.SetGCPercent(collectAt)
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer close(done)
		tick := time.NewTicker(lookAtHeap)
		defer tick.Stop()
		live, now := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}, collectAt
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				metrics.Read(live)
				if percent := percentFor(live[0].Value.Uint64()); percent != now {
					debug.SetGCPercent(percent)
					now = percent
				}
			}
		}
	}()
	return func() {
		cancel()
		<-done
		debug.SetGCPercent(before)
	}
}
