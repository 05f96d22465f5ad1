package kernel

import (
	"context"
	"runtime"
)

// link extends the graph of vectors of the index, beside whatever else is asked, since that may take minutes. Half of the processors do it. It ends
// when all vectors are linked, or when the index is dropped.
func (w *tenantWords) link(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	into := w.index
	if !into.WantsLinks() {
		return // another search was faster
	}
	into.BeginLinks(max(1, runtime.GOMAXPROCS(0)/2))
	_, observed := w.held.observe(context.WithoutCancel(ctx), "link")
	go func() {
		for more := true; more; {
			w.mu.RLock() // nothing is changed meanwhile, and searches go on
			more = into.Link() && w.index == into
			w.mu.RUnlock()
		}
		w.mu.Lock()
		into.EndLinks()
		w.mu.Unlock()
		observed(nil)
	}()
}
