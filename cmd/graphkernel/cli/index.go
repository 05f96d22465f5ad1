package cli

import (
	"context"
	"sync"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/segments"
)

// indexEach is the time that a command which admits turns spends on the search index for each of them, and indexLeast the least such time. Indexing a turn
// takes a fifth of indexEach. The session's clock is checked after each segment, so at least one segment is made.
const (
	indexEach  = 600 * time.Microsecond
	indexLeast = time.Second
)

// BesideIndex updates the search index while turns are admitted to a store, until stop is called. A service updates its own index.
func (s *Session) BesideIndex(ctx context.Context) (stop func()) {
	if s.Kernel == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var making sync.WaitGroup
	making.Go(func() {
		s.Kernel.Turns().KeepIndex(ctx, []dag.Tenant{s.Tenant}, false, func(dag.Tenant, error) {}) // FinishIndex tries again what fails here
	})
	return func() { cancel(); making.Wait() }
}

// FinishIndex makes the missing parts of a store's search index after this many turns were admitted: for a time that depends on the number of turns or, with
// wait, until the index is complete. It reports whether the index is complete. A service makes its own index, and FinishIndex only waits for it. The rest is
// made by the next command that admits turns, or by a service.
func (s *Session) FinishIndex(ctx context.Context, admitted int, wait bool, progress func(done, of int64)) (whole bool, err error) {
	if s.Kernel == nil {
		if wait {
			err = s.awaitIndex(ctx)
		}
		return err == nil, err
	}
	bounded, stop := context.WithCancel(ctx)
	defer stop()
	until := s.clock().Add(max(indexLeast, time.Duration(admitted)*indexEach))
	done, err := s.Kernel.Turns().MakeIndex(bounded, s.Tenant, projection.Indexing{Check: wait, Progress: func(reached, of dag.Seq) {
		progress(int64(reached), int64(of)) //nolint:gosec // numbers are small
		if last := of / segments.Least * segments.Least; !wait && reached < last && !s.clock().Before(until) {
			stop()
		}
	}})
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return false, nil
	}
	return err == nil && done.Lacking == 0, err
}

// RemakeIndex makes the segments of the search index that erasures dropped. Segments that fail, or that would take longer than a command may, are left to the
// next command.
func (s *Session) RemakeIndex(ctx context.Context, erased int) {
	_, _ = s.FinishIndex(ctx, erased*segments.TextsOfRequest, false, func(_, _ int64) {})
}

// lookAtIndex is how often a service is asked whether its index is complete.
const lookAtIndex = 500 * time.Millisecond

// awaitIndex waits until a search of a service covers every turn.
func (s *Session) awaitIndex(ctx context.Context) error {
	tick := time.NewTicker(lookAtIndex)
	defer tick.Stop()
	for {
		found, err := Do(ctx, s, api.SearchTurns, api.Search{Query: "index", Limit: 1, Policy: retrieval.FindPolicyID})
		if err != nil || found.NotIndexed == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
