package service

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// collectAt is how far the heap may grow, in percent of the memory in use, before it is collected. A service that holds little makes much garbage (a bundle
// is as long as the text in it), so collecting at twice the usual size saves much processor time. If more memory is in use, mostGarbage limits the garbage:
// the percentage falls, but not below leastAt. GOGC overrides all of this.
const (
	collectAt   = 200
	leastAt     = 25
	mostGarbage = 64 << 20
	lookAtHeap  = time.Second
)

// percentFor returns how far, in percent, a heap of live bytes may grow before it is collected.
func percentFor(live uint64) int {
	return int(min(max(mostGarbage*100/max(live, 1), leastAt), collectAt)) //nolint:gosec // at most collectAt
}

// boundGarbage adapts how far the heap may grow to the memory in use, until ctx ends. restore sets the previous value.
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
