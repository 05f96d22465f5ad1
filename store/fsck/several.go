package fsck

import (
	"sync"
	"sync/atomic"
)

// askers is the number of concurrent queries where the contract has no query for
// several things at once. One after the other, these queries would take most of the time of a check.
const askers = 8

// atOnce calls ask n times, with several calls at once.
func atOnce(n int, ask func(i int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(askers, n) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				ask(i)
			}
		})
	}
	wait.Wait()
}
